//! A store whose requests are cut into units, each of which a paper's policy puts somewhere.

use ftl_iface::{
    BlockStore, Bytes, Cause, NandDevice, PageCount, Probe, Sector, SectorCount, StoreReadError,
    StoreWriteError, Work,
};

use super::flash::Fault;
use super::units::{Unit, Units};

/// What the policy knows of the request that a unit is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The sectors of the whole request.
    pub sectors: SectorCount,
}

/// What lies behind a cache: slow, large enough for everything, and without faults.
pub trait Backing {
    /// Reads a unit; zeros where it was never written.
    fn read(&mut self, unit: Unit, data: &mut [u8], cause: Cause);

    /// Writes a unit.
    fn write(&mut self, unit: Unit, data: &[u8], cause: Cause);

    /// Forgets a unit: it reads as zeros.
    fn forget(&mut self, unit: Unit);

    /// Whether it would serve at once: a disk must spin.
    fn is_ready(&self) -> bool;
}

/// A figure that a system has beside those of every system: its name, and its value now.
pub type Figure = (&'static str, f64);

/// What a comparison asks of a system, beside what it asks of any store.
pub trait Rival: BlockStore {
    /// Forgets what requests have taught, and does what idle time would do: another host comes.
    fn settle(&mut self) -> Result<(), StoreWriteError<Self::Error>>;

    /// Requests that begin at these sectors come next. Nothing is done: what tables say of them may be looked at, all
    /// together, so that the processor waits for memory once and not at each of them.
    fn foresee(&self, firsts: &[Sector]) {
        let _ = firsts;
    }

    /// RAM that its controller needs.
    fn ram_bytes(&self) -> u64;

    /// What it decided.
    fn figures(&self) -> Vec<Figure>;

    /// Every invariant, as the first that does not hold.
    fn check(&self) -> Result<(), String>;
}

/// The rules of a paper.
pub trait Policy<D: NandDevice, P: Probe> {
    /// The host writes a unit, with data for all of it.
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        request: Request,
    ) -> Result<(), Fault<D::Error>>;

    /// The host reads part of a unit.
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

    /// Fetches a whole unit, of which the host writes a part.
    fn load(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &mut [u8],
    ) -> Result<(), Fault<D::Error>> {
        units.read(unit, 0, data, Cause::Host)
    }

    /// Whether the unit may hold something else than zeros.
    fn holds(&self, units: &Units<D, P>, unit: Unit) -> bool {
        units.place(unit).is_some()
    }

    /// Touches what the policy knows of a unit that the host will ask for soon, so that it is in the processor's cache.
    #[inline]
    fn glance(&self, unit: Unit) -> u32 {
        let _ = unit;
        0
    }

    /// Acknowledged data must survive a loss of power: whatever is in RAM alone is written to flash.
    fn flush(&mut self, units: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        let _ = units;
        Ok(())
    }

    /// The host trims a unit.
    fn trim(&mut self, units: &mut Units<D, P>, unit: Unit) -> Result<(), Fault<D::Error>> {
        units.forget(unit);
        Ok(())
    }

    /// Works while the host is idle, for that many pages.
    fn maintain(&mut self, units: &mut Units<D, P>, pages: u32) -> Result<Work, Fault<D::Error>> {
        let _ = (units, pages);
        Ok(Work::Done)
    }

    /// Forgets what the requests so far have taught, and does what idle time would do: another host comes.
    fn settle(&mut self, units: &mut Units<D, P>) -> Result<(), Fault<D::Error>> {
        let _ = units;
        Ok(())
    }

    /// RAM beside that of the map and the areas.
    fn ram_bytes(&self) -> u64;

    /// What it decided, for reports.
    fn figures(&self, units: &Units<D, P>) -> Vec<Figure> {
        let _ = units;
        Vec::new()
    }

    /// Whether its own lists hold together.
    fn check(&self, units: &Units<D, P>) -> Result<(), String>;
}

/// A store by a paper's rules.
#[derive(Debug)]
pub struct Mapped<D, P, R> {
    units: Units<D, P>,
    policy: R,
    /// The unit that the host writes.
    buffer: Vec<u8>,
}

/// A part of a request that lies in one unit.
struct Piece {
    unit: Unit,
    /// Where it begins in the unit, and how long it is, in bytes.
    at: usize,
    bytes: usize,
}

impl<D: NandDevice, P: Probe, R: Policy<D, P>> Mapped<D, P, R> {
    /// A store over those units.
    pub fn new(units: Units<D, P>, policy: R) -> Self {
        let buffer = vec![0; units.unit_bytes()];
        Self { units, policy, buffer }
    }

    /// The units, for whoever looks at them.
    pub const fn units(&self) -> &Units<D, P> {
        &self.units
    }

    /// The device, for whoever looks at what is left of it.
    pub fn into_device(self) -> D {
        self.units.into_device()
    }

    /// The paper's rules and what they have counted.
    pub const fn policy(&self) -> &R {
        &self.policy
    }

    /// The pieces of a request, each in one unit.
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

    /// How many sectors a buffer is, if it is a whole number of them within the store.
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

    /// Gives part of a unit other data, and leaves the rest as it is.
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

    fn foresee(&self, firsts: &[Sector]) {
        let (sector, unit) = (self.units.sector_bytes() as u64, self.units.unit_bytes() as u64);
        let seen = firsts.iter().fold(0, |seen, first| {
            let unit = Unit((u64::from(first.get()) * sector / unit) as u32);
            seen ^ self.units.glance(unit) ^ self.policy.glance(unit)
        });
        std::hint::black_box(seen);
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
