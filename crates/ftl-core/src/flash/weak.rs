//! Pages whose bits begin to go: noted when they are read, so that they are written anew while they can be.
//!
//! The note is of RAM alone, and short. What is forgotten is met again, by a request or by a scrub.

use ftl_iface::{Corrected, NandDevice};

use super::{Flash, Room, Seals, Seen, Spot};
use crate::config::Refresh;
use crate::error::Fault;
use crate::layout::Header;
use crate::probe::{Cause, Probe};
use crate::shape::HEADER_BLOCKS;

/// Pages noted at a time.
const NOTED_MAX: usize = 8;

/// Pages whose bits begin to go.
#[derive(Clone, Copy, Debug)]
pub struct Weak {
    limits: Refresh,
    /// Filled from its start.
    noted: [Option<Spot>; NOTED_MAX],
    /// The most bits that the device had to correct in a read since the mount.
    pub most: Corrected,
    /// How often something was written anew for it since the mount.
    pub refreshed: u32,
}

impl Weak {
    /// None is known. Pages are weak from these limits on; without a log the meta part lies beside the chains.
    pub const fn new(limits: Refresh, has_log: bool) -> Self {
        let log = if has_log { limits.log } else { limits.chain };
        let limits = Refresh { log, ..limits };
        Self { limits, noted: [None; NOTED_MAX], most: Corrected::NONE, refreshed: 0 }
    }

    /// Whether any page waits.
    #[inline]
    pub fn waits(&self) -> bool {
        self.noted[0].is_some()
    }

    /// The page that has waited longest.
    pub fn next(&self) -> Option<Spot> {
        self.noted[0]
    }

    /// Notes that bits of a page had to be corrected.
    #[cold]
    #[inline(never)]
    pub(super) fn note_corrected(&mut self, spot: Spot, corrected: Corrected) {
        self.most = self.most.max(corrected);
        let limit = if spot.room == Room::Chain { self.limits.chain } else { self.limits.log };
        if limit != Corrected::NONE && corrected >= limit {
            self.note(spot);
        }
    }

    /// Notes a page. Of a chain one page stands for its block, which is written anew as a whole.
    #[cold]
    #[inline(never)]
    pub(super) fn note(&mut self, spot: Spot) {
        let alike = |noted: &Spot| match spot.room {
            Room::Log => *noted == spot,
            Room::Meta | Room::Chain => noted.start() == spot.start(),
        };
        if !self.noted.iter().flatten().any(alike)
            && let Some(cell) = self.noted.iter_mut().find(|cell| cell.is_none())
        {
            *cell = Some(spot);
        }
    }

    /// Forgets a page that was written anew, or need not be.
    pub fn forget(&mut self, spot: Spot) {
        self.keep(|noted| noted != spot);
    }

    /// Forgets what stands in a block that was erased.
    #[cold]
    pub fn forget_block(&mut self, spot: Spot) {
        self.keep(|noted| noted.start() != spot.start());
    }

    fn keep(&mut self, wanted: impl Fn(Spot) -> bool) {
        let mut kept = [None; NOTED_MAX];
        let left = self.noted.iter().flatten().filter(|noted| wanted(**noted));
        for (cell, noted) in kept.iter_mut().zip(left) {
            *cell = Some(*noted);
        }
        self.noted = kept;
    }
}

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// Reads a whole page, to find out whether it is weak.
    pub fn examine(&mut self, spot: Spot) -> Result<Seen, Fault<D::Error>> {
        let slots = self.slots_of(spot);
        let read = self.fetch(spot, 0, 0, slots, Cause::Scrub);
        self.seen(read)
    }

    /// Writes the headers anew, because the bits of one begin to go: first the one in doubt, and each only while the
    /// other stands. Where that is missing it is mended first, and this one when it is met again.
    pub fn refresh_headers(&mut self, header: &Header) -> Result<(), Fault<D::Error>> {
        if self.seals != Seals::Broken {
            self.break_seals()?;
        }
        for block in self.headers_by_doubt()? {
            let other = HEADER_BLOCKS - 1 - block;
            if self.is_bad(Spot::meta(block, 0))? || self.is_bad(Spot::meta(other, 0))? {
                break;
            }
            let stands = self.header_at(Spot::meta(other, 0))? == Some(*header);
            if !stands || self.read_list(other)?.count < self.failed.unmarked_count() {
                self.mend_headers(header)?;
                break;
            }
            if !self.rewrite_header(block, header)? {
                self.retire_meta(Spot::meta(block, 0))?;
            }
        }
        // To read one while the other is written may note it once more, and so for ever.
        for block in 0..HEADER_BLOCKS {
            self.weak.forget_block(Spot::meta(block, 0));
        }
        Ok(())
    }
}
