//! The page store as hosts see it: what it is made of, and the path of a request.

use ftl_iface::{
    BlockStore, Bytes, NandDevice, PageCount, Sector, SectorCount, StoreReadError, StoreWriteError,
    Work,
};

use super::address::{BlockNumber, Mapped, Place, Spot};
use super::blocks::Blocks;
use super::candidates::Candidates;
use super::config::{Bursts, PagedConfig, Streams};
use super::dirty::DirtyTable;
use super::door::{Door, is_sectors};
use super::level::Leveling;
use super::map::Map;
use super::reclaim::Victim;
use super::records::Anchors;
use super::refresh::Scrubbed;
use super::settle::Suspect;
use super::shape::{Area, AreaShape, PagedShape};
use crate::config::{FilterChoice, PairedPages, RunEnds};
use crate::error::Fault;
use crate::filter::{Runs, SizeFilter};
use crate::layout::{Slot, Stamp};
use crate::probe::{Cause, Probe};
use crate::throttle::Throttle;

/// Who writes to an open block of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Stream {
    /// Map pages.
    Map,
    /// What the host writes to the fast area.
    Hot,
    /// What the host writes to the main area.
    Host,
    /// What the host writes to the main area and will hardly replace soon.
    Lasting,
    /// What has left the fast area.
    Left,
    /// What is copied within the main area.
    Copies,
    /// The same, from a block that is old.
    Old,
}

impl Stream {
    pub(super) const ALL: [Self; 7] =
        [Self::Map, Self::Hot, Self::Host, Self::Lasting, Self::Left, Self::Copies, Self::Old];

    /// Those of the main area.
    pub(super) const MAIN: [Self; 5] =
        [Self::Host, Self::Lasting, Self::Left, Self::Copies, Self::Old];
}

/// A block that takes pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) block: BlockNumber,
    /// The page to be programmed next.
    pub(super) next: u16,
    /// Pages before this one are relied upon: a program that endangers one of them is left out.
    pub(super) relied: u16,
}

/// From where on tags must be read after a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Epoch {
    /// What is older than this stamp, or is its own, stands in map pages.
    pub(super) horizon: Stamp,
    /// When the present epoch began: with no entry left of the one before, this becomes the horizon.
    pub(super) begun: Stamp,
    /// When it should end.
    pub(super) due: u64,
}

impl Epoch {
    /// The first of a device.
    pub(super) const FIRST: Self = Self { horizon: Stamp::ZERO, begun: Stamp::ZERO, due: 0 };
}

/// The page store.
#[derive(Debug)]
pub struct PageFtl<'ram, D, P = crate::probe::NoProbe> {
    pub(super) door: Door<'ram, D, P>,
    pub(super) shape: PagedShape,
    pub(super) config: PagedConfig,
    pub(super) table: DirtyTable<'ram>,
    pub(super) map: Map<'ram>,
    pub(super) blocks: Blocks<'ram>,
    pub(super) opens: [Option<Open>; Stream::ALL.len()],
    pub(super) victims: [Option<Victim>; 2],
    /// Blocks that are worth emptying, of each area.
    pub(super) candidates: [Candidates; 2],
    pub(super) leveling: [Leveling; 2],
    /// How far the fast area is ahead in wear.
    pub(super) throttle: Throttle,
    /// Pages that may enter the fast area before it is made room in again.
    pub(super) prepaid: u16,
    /// How long what the host wrote has lived, in turns of the clock: the mean of late, times sixteen.
    pub(super) lifetime: u16,
    /// How much of the fast area's victims was in use, in 256ths: the mean of late, times sixteen.
    pub(super) stayed: u16,
    pub(super) filter: SizeFilter,
    pub(super) runs: Runs,
    /// As long as the longest page.
    pub(super) buffer: &'ram mut [u8],
    /// The tag of a page whose sectors are copied.
    pub(super) kept: &'ram mut [u8],
    pub(super) epoch: Epoch,
    pub(super) anchors: Anchors<'ram>,
    /// What the mount found that power may have cut.
    pub(super) suspect: Option<Suspect>,
    pub(super) settled: bool,
    pub(super) read_only: bool,
    /// The page that the scrub under way reads next.
    pub(super) scrub: Option<Scrubbed>,
    /// How often a sector was asked for since the mount whose content is lost.
    pub(super) lost: u32,
    /// How often since the mount a request found an area at its reserve, and waited until blocks were won.
    pub(super) waited: u32,
    /// Whether pages of the host's were written to the stream of copies since it was last relied upon.
    pub(super) shares: bool,
    /// The map page whose stamp a mount has read last.
    pub(super) stamp_read: Option<(Spot, Stamp)>,
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Gives the device and the probe back.
    pub fn into_parts(self) -> (D, P) {
        self.door.into_parts()
    }

    /// The device, to look at.
    pub const fn device(&self) -> &D {
        self.door.device()
    }

    /// The device, for what the host may do beside the FTL: nothing that changes its content.
    pub const fn device_mut(&mut self) -> &mut D {
        self.door.device_mut()
    }

    /// The probe.
    pub const fn probe(&self) -> &P {
        self.door.probe()
    }

    /// How the device is divided.
    pub const fn shape(&self) -> &PagedShape {
        &self.shape
    }

    /// The size of the largest write that enters the fast area.
    pub const fn threshold(&self) -> SectorCount {
        self.filter.threshold()
    }

    /// The area of a stream.
    pub(super) const fn area_of(&self, stream: Stream) -> Area {
        match stream {
            Stream::Map | Stream::Hot if self.shape.fast.is_some() => Area::Fast,
            _ => Area::Main,
        }
    }

    pub(super) const fn shape_of(&self, stream: Stream) -> &AreaShape {
        self.shape.area(self.area_of(stream))
    }

    /// The stream of copies to the main area.
    pub(super) const fn copies(&self) -> Stream {
        match self.config.streams {
            Streams::One => Stream::Host,
            Streams::Two | Streams::ByLifetime => Stream::Copies,
        }
    }

    /// Where the newest copy of a sector is.
    pub(super) fn lookup(&mut self, sector: Sector) -> Result<Mapped, Fault<D::Error>> {
        if let Some(entry) = self.table.get(sector) {
            return Ok(Mapped::At(entry.place));
        }
        self.mapped(sector, Cause::Scan)
    }

    /// What a sector's map page says.
    pub(super) fn mapped(
        &mut self,
        sector: Sector,
        cause: Cause,
    ) -> Result<Mapped, Fault<D::Error>> {
        let (leaf, at) = self.shape.leaf_of(sector);
        let page = self.map.find(&mut self.door, leaf, cause)?;
        Ok(page.map_or(Mapped::Nowhere, |page| self.map.get(page, at)))
    }

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
        self.door.alive()?;
        if self.read_only { Err(StoreWriteError::ReadOnly) } else { Ok(()) }
    }

    /// Turns a lack of blocks into what it means from now on.
    pub(super) fn noted<T>(
        &mut self,
        result: Result<T, Fault<D::Error>>,
    ) -> Result<T, Fault<D::Error>> {
        if let Err(Fault::ReadOnly) = &result {
            self.read_only = true;
        }
        result
    }

    /// Reads sectors that stand beside each other: as many as are left of the request at most.
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
        let seen = self.door.read(spot, slot, data, Cause::Host)?;
        let is_there = seen.tag().is_some_and(|tag| is_sectors(tag.kind));
        for ahead in 0..run as u16 {
            let sector = sector + SectorCount::new(ahead.into());
            // Where something else stands, the page was lost that told where the sector is, and this place is older.
            if !is_there || self.door.slot(slot + ahead) != Slot::Holds(sector) {
                return Err(self.lose(sector));
            }
        }
        Ok(run)
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
                Mapped::Lost => return Err(self.lose(sector)),
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

    /// The stream of a write: the fast area's where it is likely to be replaced soon.
    fn stream_of(&mut self, first: Sector, count: SectorCount) -> Stream {
        if self.shape.fast.is_none() {
            return Stream::Host;
        }
        let follows = self.config.run_ends == RunEnds::Follow && self.runs.continues(first);
        if self.is_hot(count) && self.may_enter(first) && !follows {
            return Stream::Hot;
        }
        self.runs.note(first, count);
        Stream::Host
    }

    /// Whether the fast area may wear for that write: where it wears too fast, only what stands there is replaced, and
    /// then not even that.
    fn may_enter(&self, first: Sector) -> bool {
        let stands_there = || {
            let entry = self.table.get(first);
            entry.is_some_and(|entry| entry.place.get() < self.shape.main.first_place)
        };
        !self.is_closed() && (!self.is_throttled() || stands_there())
    }

    /// Whether the host's writes are held off the fast area, but for those to what stands there.
    pub(super) const fn is_throttled(&self) -> bool {
        self.config.throttle.is_some() && self.throttle.is_active()
    }

    /// Whether all of the host's writes are held off the fast area.
    pub(super) const fn is_closed(&self) -> bool {
        self.config.throttle.is_some() && self.throttle.is_closed()
    }

    /// Whether large writes enter the fast area at present.
    pub(super) const fn takes_bursts(&self) -> bool {
        let Some(fast) = &self.shape.fast else { return false };
        let takes = matches!(self.config.bursts, Bursts::ToFast(_)) && !self.throttle.is_active();
        takes && self.blocks.free(Area::Fast) > fast.blocks / 4 + self.shape.reserve(Area::Fast)
    }

    /// Notes that a block of the host's or the map's was erased.
    pub(super) fn note_erase(&mut self, area: Area) {
        match area {
            Area::Fast => self.throttle.note_log_erase(),
            Area::Main => self.throttle.note_chain_erase(),
        }
    }

    /// Whether a write of that size is likely to be replaced soon.
    fn is_hot(&mut self, count: SectorCount) -> bool {
        self.filter.note_write(count);
        let Some(fast) = &self.shape.fast else { return false };
        // A request that fills a good part of the area would only push itself out again.
        let most = fast.block_slots() * (fast.blocks - self.shape.fast_needed) / 2;
        count.get() <= most
            && (self.config.filter == FilterChoice::AcceptAll || self.filter.is_hot(count))
    }

    /// Whether pages that share their cells are guarded.
    pub(super) const fn guards(&self) -> bool {
        matches!(self.config.paired_pages, PairedPages::Guard)
    }

    /// Everything that was acknowledged, or copied, is relied upon from now on.
    pub(super) fn rely(&mut self) {
        for open in self.opens.iter_mut().flatten() {
            open.relied = open.next;
        }
    }

    /// What a stream has programmed is relied upon from now on.
    pub(super) const fn rely_on(&mut self, stream: Stream) {
        if let Some(open) = &mut self.opens[stream as usize] {
            open.relied = open.next;
        }
    }

    /// A page is relied upon from now on.
    pub(super) fn rely_on_page(&mut self, spot: Spot) {
        for open in self.opens.iter_mut().flatten() {
            if open.block == spot.block {
                open.relied = open.relied.max(spot.page + 1);
            }
        }
    }

    /// The place of a slot.
    pub(super) const fn place(&self, spot: Spot, slot: u16) -> Place {
        self.shape.place(spot, slot)
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
        self.door.alive()?;
        self.settle_if_possible()?;
        self.read_all(first, data)
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<D::Error>> {
        let Some(count) = self.sectors_in(data.len()) else {
            let sector_bytes = self.shape.sector_bytes;
            return Err(StoreWriteError::WrongLength { bytes: data.len(), sector_bytes });
        };
        self.may_write(first, count)?;
        self.settle_if_possible()?;
        if self.read_only {
            return Err(StoreWriteError::ReadOnly);
        }
        let stream = self.stream_of(first, count);
        let written = self.write_all(stream, first, data);
        Ok(self.noted(written)?)
    }

    fn trim(&mut self, first: Sector, count: SectorCount) -> Result<(), StoreWriteError<D::Error>> {
        self.may_write(first, count)?;
        self.settle_if_possible()?;
        if self.read_only {
            return Err(StoreWriteError::ReadOnly);
        }
        let trimmed = self.trim_all(first, count);
        Ok(self.noted(trimmed)?)
    }

    fn flush(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        Ok(self.door.alive()?)
    }

    fn maintain(&mut self, budget: PageCount) -> Result<Work, StoreWriteError<D::Error>> {
        self.door.alive()?;
        self.settle_if_possible()?;
        if self.read_only {
            return Ok(Work::Done);
        }
        let worked = self.work(budget);
        match self.noted(worked) {
            Err(Fault::ReadOnly) => Ok(Work::Done),
            worked => Ok(worked?),
        }
    }
}
