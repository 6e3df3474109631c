//! The expected content of every sector, as far as requests were read.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nand_model::Stamp;

use super::grid::Grid;
use crate::input::trace::{Op, Request};

/// The stamp of a sector that was never written, or was trimmed.
pub(super) const NEVER: u32 = 0;

/// The stamp of a sector of a filled device: each sector was written once, in order.
#[inline]
pub(crate) const fn first_stamp(sector: u32) -> Stamp {
    Stamp::new(NEVER + 1 + sector)
}

/// The stamp of the next sector to be written. After the largest one the numbers restart: four thousand million writes
/// later, no old version is left that could be taken for a new one.
#[inline]
pub(super) const fn next_stamp(latest: u32) -> u32 {
    if latest < Stamp::MAX.get() { latest + 1 } else { NEVER + 1 }
}

/// What sectors hold that were not written since the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    /// Their [`first_stamp`].
    Full,
    /// Nothing.
    Empty,
}

impl Begin {
    fn stamp(self, sector: u64) -> u32 {
        match self {
            Self::Full => first_stamp(sector as u32).get(),
            Self::Empty => NEVER,
        }
    }

    fn stamps(self, sectors: Range<u64>) -> impl Iterator<Item = u32> {
        sectors.map(move |sector| self.stamp(sector))
    }
}

/// Bytes of the store per allocated part of stamps.
const PART: u64 = 4 << 20;

/// Computes what reads must find. Memory for stamps is allocated at the first write or trim near a sector, and not for
/// untouched sectors.
pub(crate) struct Witness {
    pub(super) grid: Grid,
    /// The stamps that sectors must hold, in parts of one size. A part without writes or trims is empty: its sectors
    /// hold their [`first_stamp`].
    parts: Vec<Box<[u32]>>,
    part_sectors: u64,
    latest: u32,
    begin: Begin,
}

/// A witness shared by the reader of requests and the hosts. Hosts use it to explain a wrong read.
#[derive(Clone)]
pub(crate) struct SharedWitness(Arc<Mutex<Witness>>);

impl Witness {
    /// The witness of stores of that sector size and capacity, each sector of which holds its [`first_stamp`].
    pub(crate) fn of_full_stores(sector: u64, capacity: u64) -> Self {
        let sectors = capacity / sector;
        let grid = Grid { sector, capacity: sectors * sector };
        let part_sectors = PART / sector;
        let parts = vec![Box::default(); sectors.div_ceil(part_sectors) as usize];
        Self { grid, parts, part_sectors, latest: NEVER + sectors as u32, begin: Begin::Full }
    }

    /// The witness of stores to which nothing was ever written.
    pub(crate) fn of_empty_stores(sector: u64, capacity: u64) -> Self {
        Self { latest: NEVER, begin: Begin::Empty, ..Self::of_full_stores(sector, capacity) }
    }

    /// Follows a request: adds the stamps that its reads must find, in their order.
    #[inline]
    pub(crate) fn follow(&mut self, request: &Request, must: &mut Vec<u32>) {
        for span in self.grid.parts(request) {
            match request.op {
                Op::Read => {
                    for sectors in self.by_parts(span.range()) {
                        let (part, range) = self.place(sectors.clone());
                        match self.parts[part].get(range) {
                            Some(stamps) => must.extend_from_slice(stamps),
                            None => must.extend(self.begin.stamps(sectors)),
                        }
                    }
                }
                Op::Write => {
                    must.extend(span.partial().map(|sector| self.must_hold(sector)));
                    let mut latest = self.latest;
                    for sectors in self.by_parts(span.range()) {
                        for stamp in self.stamps(sectors) {
                            latest = next_stamp(latest);
                            *stamp = latest;
                        }
                    }
                    self.latest = latest;
                }
                Op::Trim => {
                    for sectors in self.by_parts(span.covered()) {
                        self.stamps(sectors).fill(NEVER);
                    }
                }
                Op::Flush => {}
            }
        }
    }

    /// The sectors that a request changes, each with the stamp that it must hold before.
    pub(crate) fn changes(&self, request: &Request) -> impl Iterator<Item = (u64, u32)> {
        let op = request.op;
        let spans = self.grid.parts(request).flat_map(move |span| match op {
            Op::Write => span.range(),
            Op::Trim => span.covered(),
            Op::Read | Op::Flush => 0..0,
        });
        spans.map(|sector| (sector, self.must_hold(sector)))
    }

    /// Sectors, split at the ends of parts.
    #[inline]
    fn by_parts(&self, mut sectors: Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
        let part = self.part_sectors;
        std::iter::from_fn(move || {
            let end = sectors.end.min((sectors.start / part + 1) * part);
            let cut = sectors.start..end;
            sectors.start = end;
            (!cut.is_empty()).then_some(cut)
        })
    }

    /// The part of some sectors, and their position in it.
    #[inline]
    fn place(&self, sectors: Range<u64>) -> (usize, Range<usize>) {
        let shift = self.part_sectors.trailing_zeros();
        let part = sectors.start >> shift;
        let first = part << shift;
        (part as usize, (sectors.start - first) as usize..(sectors.end - first) as usize)
    }

    /// The stamps of sectors of one part, mutable.
    #[inline]
    fn stamps(&mut self, sectors: Range<u64>) -> &mut [u32] {
        let (part, range) = self.place(sectors);
        if range.is_empty() {
            return &mut [];
        }
        let stamps = &mut self.parts[part];
        if stamps.is_empty() {
            let first = part as u64 * self.part_sectors;
            *stamps = self.begin.stamps(first..first + self.part_sectors).collect();
        }
        &mut stamps[range]
    }

    fn must_hold(&self, sector: u64) -> u32 {
        let (part, range) = self.place(sector..sector + 1);
        let stamp = self.parts[part].get(range.start).copied();
        stamp.unwrap_or_else(|| self.begin.stamp(sector))
    }

    /// The sector that must hold that stamp, if there is one.
    pub(super) fn owner(&self, stamp: Stamp) -> Option<u64> {
        let sectors = self.grid.capacity / self.grid.sector;
        (0..sectors).find(|sector| self.must_hold(*sector) == stamp.get())
    }
}

impl SharedWitness {
    pub(crate) fn new(witness: Witness) -> Self {
        Self(Arc::new(Mutex::new(witness)))
    }

    /// The witness, locked.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Witness> {
        // A panic ends the run, so a half-changed witness is never used.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
