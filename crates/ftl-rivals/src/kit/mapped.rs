//! A store that splits requests into units, which a paper's policy places.

use ftl_iface::{
    BlockStore, Bytes, Cause, NandDevice, PageCount, Probe, Sector, SectorCount, StoreReadError,
    StoreWriteError, Work,
};

use super::flash::Fault;
use super::units::{Unit, Units};

/// The request that a unit is part of, for the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The sectors of the whole request.
    pub sectors: SectorCount,
}

/// The storage behind a cache: slow, large enough for everything, and without faults.
pub trait Backing {
    /// Reads a unit; zeros if it was never written.
    fn read(&mut self, unit: Unit, data: &mut [u8], cause: Cause);

    /// Writes a unit.
    fn write(&mut self, unit: Unit, data: &[u8], cause: Cause);

    /// Trims a unit: it reads as zeros.
    fn forget(&mut self, unit: Unit);

    /// Whether it can serve a request at once: a disk must spin.
    fn is_ready(&self) -> bool;
}

/// A figure specific to a system: its name and present value.
pub type Figure = (&'static str, f64);

/// What a comparison needs of a system, beyond a store.
pub trait Rival: BlockStore {
    /// Prepares for another host: resets everything learnt from requests, and does the work of idle time.
    fn settle(&mut self) -> Result<(), StoreWriteError<Self::Error>>;

    /// Announces the sectors at which the next requests begin. Nothing changes: the system may touch their table
    /// entries all together, so that the processor waits for memory once and not for each.
    fn prefetch(&self, firsts: &[Sector]) {
        let _ = firsts;
    }

    /// Page copies that it does at a time while the host is idle: as many as the device can do in parallel, if the
    /// system works on several.
    fn at_a_time(&self) -> PageCount {
        PageCount::new(1)
    }

    /// RAM that its controller needs.
    fn ram_bytes(&self) -> u64;

    /// Figures about its decisions.
    fn figures(&self) -> Vec<Figure>;

    /// Checks every invariant. The error names the first violated one.
    fn check(&self) -> Result<(), String>;
}

/// The rules of a paper.
pub trait Policy<D: NandDevice, P: Probe> {
    /// Writes a whole unit for the host.
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        request: Request,
    ) -> Result<(), Fault<D::Error>>;

    /// Reads part of a unit for the host.
    #[inline]
    fn read(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        at: usize,
        data: &mut [u8],
    ) -> Result<(), Fault<D::Error>> {
        units.read(unit, at, data, Cause::Host)
    }

    /// Fetches a whole unit, of which the host writes only a part.
    fn load(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &mut [u8],
    ) -> Result<(), Fault<D::Error>> {
        units.read(unit, 0, data, Cause::Host)
    }

    /// Whether the unit may hold anything but zeros.
    fn holds(&self, units: &Units<D, P>, unit: Unit) -> bool {
        units.place(unit).is_some()
    }

    /// Touches the policy's entries of a unit that the host will request soon. The value is not used.
    #[inline]
    fn glance(&self, unit: Unit) -> u32 {
        let _ = unit;
        0
    }

    /// Flushes: acknowledged data that is only in RAM goes to flash.
    fn flush(&mut self, units: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        let _ = units;
        Ok(())
    }

    /// Trims a unit for the host.
    fn trim(&mut self, units: &mut Units<D, P>, unit: Unit) -> Result<(), Fault<D::Error>> {
        units.forget(unit);
        Ok(())
    }

    /// Does idle work, for at most that many pages.
    fn maintain(&mut self, units: &mut Units<D, P>, pages: u32) -> Result<Work, Fault<D::Error>> {
        let _ = (units, pages);
        Ok(Work::Done)
    }

    /// Pages of idle work at a time.
    fn at_a_time(&self) -> u32 {
        1
    }

    /// Prepares for another host: resets everything learnt from requests, and does the work of idle time.
    fn settle(&mut self, units: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        let _ = units;
        Ok(())
    }

    /// RAM besides that of the map and the areas.
    fn ram_bytes(&self) -> u64;

    /// Figures about its decisions, for reports.
    fn figures(&self, units: &Units<D, P>) -> Vec<Figure> {
        let _ = units;
        Vec::new()
    }

    /// Checks its own lists.
    fn check(&self, units: &Units<D, P>) -> Result<(), String>;
}

/// A store with a paper's rules.
#[derive(Debug)]
pub struct Mapped<D, P, R> {
    units: Units<D, P>,
    policy: R,
    /// A buffer for a unit that the host writes in part.
    buffer: Vec<u8>,
}

/// A part of a request within one unit.
struct Piece {
    unit: Unit,
    /// Its start in the unit and its length, in bytes.
    at: usize,
    bytes: usize,
}

impl<D: NandDevice, P: Probe, R: Policy<D, P>> Mapped<D, P, R> {
    /// A store on those units.
    pub fn new(units: Units<D, P>, policy: R) -> Self {
        let buffer = vec![0; units.unit_bytes()];
        Self { units, policy, buffer }
    }

    /// The units, for inspection.
    pub const fn units(&self) -> &Units<D, P> {
        &self.units
    }

    /// Returns the device, for inspection.
    pub fn into_device(self) -> D {
        self.units.into_device()
    }

    /// The paper's rules and their counters.
    pub const fn policy(&self) -> &R {
        &self.policy
    }

    /// The parts of a request, each within one unit.
    fn pieces(
        &self,
        first: Sector,
        count: SectorCount,
    ) -> impl Iterator<Item = Piece> + use<D, P, R> {
        let (sector, unit) = (self.units.sector_bytes() as u64, self.units.unit_bytes() as u64);
        let mut at = u64::from(first.get()) * sector;
        let end = at + u64::from(count.get()) * sector;
        std::iter::from_fn(move || {
            let offset = at % unit;
            let bytes = (unit - offset).min(end - at);
            let piece = Piece {
                unit: Unit((at / unit) as u32),
                at: offset as usize,
                bytes: bytes as usize,
            };
            at += bytes;
            (bytes > 0).then_some(piece)
        })
    }

    /// The length of a buffer in sectors, if it is a whole number within the store.
    fn sectors(
        &self,
        first: Sector,
        bytes: usize,
    ) -> Result<SectorCount, StoreReadError<D::Error>> {
        let (sector, capacity) = (self.units.sector_bytes(), self.units.capacity());
        if !bytes.is_multiple_of(sector) {
            let sector_bytes = Bytes::new(sector as u32);
            return Err(StoreReadError::WrongLength { bytes, sector_bytes });
        }
        let count = SectorCount::new(u32::try_from(bytes / sector).unwrap_or(u32::MAX));
        if first.checked_add(count).is_none_or(|end| end.get() > capacity.get()) {
            return Err(StoreReadError::OutOfRange { first, count, capacity });
        }
        Ok(count)
    }

    /// Overwrites part of a unit.
    fn overlay(
        &mut self,
        piece: &Piece,
        request: Request,
        change: impl FnOnce(&mut [u8]),
    ) -> Result<(), Fault<D::Error>> {
        let mut whole = std::mem::take(&mut self.buffer);
        let read = self.policy.load(&mut self.units, piece.unit, &mut whole);
        let written = read.and_then(|()| {
            change(&mut whole[piece.at..piece.at + piece.bytes]);
            self.policy.write(&mut self.units, piece.unit, &whole, request)
        });
        self.buffer = whole;
        written
    }
}

impl<D: NandDevice, P: Probe, R: Policy<D, P>> BlockStore for Mapped<D, P, R> {
    type Error = D::Error;

    fn sector_bytes(&self) -> Bytes {
        Bytes::new(self.units.sector_bytes() as u32)
    }

    fn capacity(&self) -> SectorCount {
        self.units.capacity()
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<D::Error>> {
        let count = self.sectors(first, data.len())?;
        let mut rest = data;
        for piece in self.pieces(first, count) {
            let (part, others) = rest.split_at_mut(piece.bytes);
            self.policy.read(&mut self.units, piece.unit, piece.at, part)?;
            rest = others;
        }
        Ok(())
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<D::Error>> {
        let count = self.sectors(first, data.len()).map_err(refused)?;
        let request = Request { sectors: count };
        let mut rest = data;
        for piece in self.pieces(first, count) {
            let (part, others) = rest.split_at(piece.bytes);
            if piece.bytes == self.units.unit_bytes() {
                self.policy.write(&mut self.units, piece.unit, part, request)?;
            } else {
                self.overlay(&piece, request, |data| data.copy_from_slice(part))?;
            }
            rest = others;
        }
        Ok(())
    }

    fn trim(&mut self, first: Sector, count: SectorCount) -> Result<(), StoreWriteError<D::Error>> {
        let capacity = self.units.capacity();
        if first.checked_add(count).is_none_or(|end| end.get() > capacity.get()) {
            return Err(StoreWriteError::OutOfRange { first, count, capacity });
        }
        for piece in self.pieces(first, count) {
            if piece.bytes == self.units.unit_bytes() {
                self.policy.trim(&mut self.units, piece.unit)?;
            } else if self.policy.holds(&self.units, piece.unit) {
                let request = Request { sectors: count };
                self.overlay(&piece, request, |data| data.fill(0))?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        Ok(self.policy.flush(&mut self.units)?)
    }

    fn maintain(&mut self, budget: PageCount) -> Result<Work, StoreWriteError<D::Error>> {
        Ok(self.policy.maintain(&mut self.units, budget.get())?)
    }
}

impl<D: NandDevice, P: Probe, R: Policy<D, P>> Rival for Mapped<D, P, R> {
    fn settle(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        Ok(self.policy.settle(&mut self.units)?)
    }

    fn prefetch(&self, firsts: &[Sector]) {
        let (sector, unit) = (self.units.sector_bytes() as u64, self.units.unit_bytes() as u64);
        let seen = firsts.iter().fold(0, |seen, first| {
            let unit = Unit((u64::from(first.get()) * sector / unit) as u32);
            seen ^ self.units.glance(unit) ^ self.policy.glance(unit)
        });
        std::hint::black_box(seen);
    }

    fn at_a_time(&self) -> PageCount {
        PageCount::new(self.policy.at_a_time())
    }

    fn ram_bytes(&self) -> u64 {
        self.units.ram_bytes() + self.policy.ram_bytes()
    }

    fn figures(&self) -> Vec<Figure> {
        self.policy.figures(&self.units)
    }

    fn check(&self) -> Result<(), String> {
        self.units.check()?;
        self.policy.check(&self.units)
    }
}

/// Why the arguments of a write were refused.
#[allow(clippy::needless_pass_by_value)] // It is what `map_err` hands over.
fn refused<E>(error: StoreReadError<E>) -> StoreWriteError<E> {
    match error {
        StoreReadError::OutOfRange { first, count, capacity } => {
            StoreWriteError::OutOfRange { first, count, capacity }
        }
        StoreReadError::WrongLength { bytes, sector_bytes } => {
            StoreWriteError::WrongLength { bytes, sector_bytes }
        }
        _ => StoreWriteError::Corrupt,
    }
}
