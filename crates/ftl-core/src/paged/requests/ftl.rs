//! The page store as hosts see it: the requests, and reads.

use ftl_iface::{
    BlockStore, Bytes, Lifetime, NandDevice, PageCount, Sector, SectorCount, StoreReadError,
    StoreWriteError, Work,
};

use crate::config::{FilterChoice, RunEnds};
use crate::layout::Slot;
use crate::paged::flash::Seen;
use crate::paged::plan::address::{Mapped, Place};
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::Stream;
use crate::paged::upkeep::lifetime::lives_long;
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    fn out_of_range(&self, first: Sector, count: SectorCount) -> bool {
        first.checked_add(count).is_none_or(|end| end.get() > self.shape.capacity.get())
    }

    fn sectors_in(&self, bytes: usize) -> Option<SectorCount> {
        let whole = self.shape.whole_sectors(bytes);
        let exact = whole * self.shape.sector_bytes.as_usize() == bytes;
        exact.then(|| SectorCount::new(whole as u32))
    }

    fn may_write(
        &self,
        first: Sector,
        count: SectorCount,
    ) -> Result<(), StoreWriteError<D::Error>> {
        if self.out_of_range(first, count) {
            let capacity = self.shape.capacity;
            return Err(StoreWriteError::OutOfRange { first, count, capacity });
        }
        self.flash.alive()?;
        if self.read_only { Err(StoreWriteError::ReadOnly) } else { Ok(()) }
    }

    /// Reads sectors that are adjacent on flash, at most the rest of the request.
    fn read_run(
        &mut self,
        sector: Sector,
        place: Place,
        data: &mut [u8],
    ) -> Result<usize, StoreReadError<D::Error>> {
        let bytes = self.shape.sector_bytes.as_usize();
        let (spot, slot) = self.shape.spot(place);
        let slots = self.shape.area_at(spot.block).slots;
        let most = self.shape.whole_sectors(data.len()).min(usize::from(slots - slot));
        let mut run = 1;
        while run < most {
            let next = self.lookup(sector + SectorCount::new(run as u32))?;
            if next != Mapped::At(Place::new(place.get() + run as u32)) {
                break;
            }
            run += 1;
        }
        let data = data.get_mut(..run * bytes).unwrap_or(&mut []);
        let seen = self.flash.read(spot, slot, data, Cause::Host)?;
        let page = match seen {
            Seen::Page(page) if page.kind.is_sectors() => page,
            _ => return Err(self.lose(sector)),
        };
        for ahead in 0..run as u16 {
            let sector = sector + SectorCount::new(ahead.into());
            // Other content means that the map page with the newest place was lost, and that this place is older.
            if page.slot(slot + ahead) != Slot::Holds(sector) {
                return Err(self.lose(sector));
            }
        }
        Ok(run)
    }

    /// Enters the part of the rest that a sector is in. Otherwise it is lost.
    #[cold]
    #[inline(never)]
    fn look_in_rest(&mut self, sector: Sector) -> Result<(), StoreReadError<D::Error>> {
        if self.is_in_rest(sector) {
            self.enter_part_from(sector)?;
            if !self.is_in_rest(sector) {
                return Ok(());
            }
        }
        Err(self.lose(sector))
    }

    fn lose(&mut self, sector: Sector) -> StoreReadError<D::Error> {
        self.lost = self.lost.saturating_add(1);
        StoreReadError::Lost(sector)
    }

    fn read_all(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<D::Error>> {
        let bytes = self.shape.sector_bytes.as_usize();
        let (mut sector, mut rest) = (first, data);
        while !rest.is_empty() {
            let read = match self.lookup(sector)? {
                Mapped::At(place) => self.read_run(sector, place, rest)?,
                Mapped::Lost => {
                    self.look_in_rest(sector)?;
                    0
                }
                Mapped::Nowhere => {
                    if let Some(zeros) = rest.get_mut(..bytes) {
                        zeros.fill(0);
                    }
                    1
                }
            };
            sector = sector + SectorCount::new(read as u32);
            rest = rest.split_at_mut_checked(read * bytes).map_or(&mut [], |(_, rest)| rest);
        }
        Ok(())
    }

    /// Returns the stream of a write: the fast area's if its data is likely to be replaced soon.
    fn stream_of(&mut self, first: Sector, count: SectorCount, lifetime: Lifetime) -> Stream {
        if !self.shape.has_fast() {
            return Stream::Host;
        }
        let follows = self.config.run_ends == RunEnds::Follow && self.runs.continues(first);
        if self.is_hot(count, lifetime) && self.may_enter(first) && !follows {
            return Stream::Hot;
        }
        self.runs.note(first, count);
        Stream::Host
    }

    /// Whether the fast area may take a write. If it wears too fast, only sectors already there are admitted, and later
    /// not even those.
    fn may_enter(&mut self, first: Sector) -> bool {
        if !self.is_throttled() || self.is_closed() {
            return !self.is_closed();
        }
        let entry = self.table.get(first);
        entry.is_some_and(|entry| !self.shape.is_in_main(entry.place))
    }

    /// Whether a write of this size and lifetime is likely to be replaced soon.
    fn is_hot(&mut self, count: SectorCount, lifetime: Lifetime) -> bool {
        self.filter.note_write(count);
        let Some(fast) = self.shape.fast_area() else { return false };
        // A request that fills much of the area would only displace itself.
        let most = fast.block_slots() * (fast.blocks - self.shape.fast_needed) / 2;
        // That data lives shorter than other data does not say that it is replaced while the area still holds it.
        count.get() <= most
            && !lives_long(lifetime)
            && (self.config.filter == FilterChoice::AcceptAll || self.filter.is_hot(count))
    }
}

impl<D: NandDevice, P: Probe> BlockStore for PageFtl<'_, D, P> {
    type Error = D::Error;

    fn sector_bytes(&self) -> Bytes {
        self.shape.sector_bytes
    }

    fn capacity(&self) -> SectorCount {
        self.shape.capacity
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<D::Error>> {
        let Some(count) = self.sectors_in(data.len()) else {
            let sector_bytes = self.shape.sector_bytes;
            return Err(StoreReadError::WrongLength { bytes: data.len(), sector_bytes });
        };
        if self.out_of_range(first, count) {
            let capacity = self.shape.capacity;
            return Err(StoreReadError::OutOfRange { first, count, capacity });
        }
        self.flash.alive()?;
        self.settle_if_possible()?;
        self.read_all(first, data)
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<D::Error>> {
        self.write_hinted(first, data, Lifetime::Unknown)
    }

    fn write_hinted(
        &mut self,
        first: Sector,
        data: &[u8],
        lifetime: Lifetime,
    ) -> Result<(), StoreWriteError<D::Error>> {
        let Some(count) = self.sectors_in(data.len()) else {
            let sector_bytes = self.shape.sector_bytes;
            return Err(StoreWriteError::WrongLength { bytes: data.len(), sector_bytes });
        };
        self.may_write(first, count)?;
        self.settle_if_possible()?;
        if self.read_only {
            return Err(StoreWriteError::ReadOnly);
        }
        let stream = self.stream_of(first, count, lifetime);
        let written = self.write_all(stream, first, data, lifetime);
        let written = written.and_then(|()| self.prove_rewrite());
        Ok(self.noted(written)?)
    }

    fn trim(&mut self, first: Sector, count: SectorCount) -> Result<(), StoreWriteError<D::Error>> {
        self.may_write(first, count)?;
        self.settle_if_possible()?;
        if self.read_only {
            return Err(StoreWriteError::ReadOnly);
        }
        let trimmed = self.trim_all(first, count).and_then(|()| self.prove_rewrite());
        Ok(self.noted(trimmed)?)
    }

    fn flush(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        Ok(self.flash.alive()?)
    }

    fn maintain(&mut self, budget: PageCount) -> Result<Work, StoreWriteError<D::Error>> {
        self.flash.alive()?;
        self.settle_if_possible()?;
        if self.read_only {
            return Err(StoreWriteError::ReadOnly);
        }
        let worked = self.work(budget).and_then(|work| self.prove_rewrite().map(|()| work));
        Ok(self.noted(worked)?)
    }
}
