//! R. Kinoshita, C. Matsui and K. Takeuchi, "Maximizing performance/cost of SSD composed of memory-type and storage-
//! type SCMs" (Flash Memory Summit 2018).
//!
//! Two byte-writable memories are used together: a small fast one (M-SCM) and a large one (S-SCM). Hosts read and write
//! sectors in the memory that holds them; pages of 16 KiB that are accessed often move to the fast one, by an LRU
//! table, in exchange for the least recently used ones. In either memory wear can be leveled: after `interval`
//! overwrites of a place its page moves to another.
//!
//! *What the paper leaves out.* What accessed often means: ours is a page that is accessed again while it is among the
//! most recently used ones of the S-SCM, as many as the M-SCM has room for. Where leveling moves a page: ours exchanges
//! it with the page of the least worn place, if that is less worn by `threshold`. Cycles are counted by place of 16
//! KiB, one for each request that writes there, as if each wrote the same bytes, which is an upper bound for every
//! cell.

use std::convert::Infallible;

use ftl_iface::{
    BlockStore, Bytes, Cause, PageCount, Sector, SectorCount, StoreReadError, StoreWriteError, Work,
};

use crate::kit::least::Counts;
use crate::kit::{Figure, Lists, Rival, Unfit};

/// Bytes per page, the unit that moves between the memories, and within one to level wear.
pub const PAGE: Bytes = Bytes::new(16 << 10);

/// One of the two memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The small fast one.
    Quick,
    /// The large one.
    Large,
}

/// Two memories without faults, each a row of places of [`PAGE`] bytes.
pub trait Memories {
    /// Reads bytes of a place.
    fn read(&mut self, of: Memory, place: u32, at: usize, data: &mut [u8], cause: Cause);

    /// Writes bytes of a place.
    fn write(&mut self, of: Memory, place: u32, at: usize, data: &[u8], cause: Cause);
}

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct MultiScmConfig {
    /// The sector size.
    pub sector: Bytes,
    /// Sectors that the host may use: those of both memories.
    pub capacity: SectorCount,
    /// Places of the fast memory.
    pub quick: u32,
    /// Whether wear is leveled in the fast memory, and in the large one.
    pub leveled: [bool; 2],
    /// Overwrites of a place after which its page may move.
    pub interval: u32,
    /// By how much less the other place must be worn.
    pub threshold: u32,
}

/// The two lists: pages in the fast memory, and the most recently used ones of the large one.
const QUICK: u8 = 0;
const RECENT: u8 = 1;

/// Pages and places. The first places are the fast memory's.
#[derive(Debug)]
pub struct MultiScm<M> {
    memories: M,
    config: MultiScmConfig,
    /// The place of each page, and the page of each place.
    places: Vec<u32>,
    pages: Vec<u32>,
    lists: Lists,
    /// By memory: the wear of its places.
    wear: [Counts; 2],
    since: Vec<u32>,
    /// Buffers for two pages that exchange places.
    moved: [Vec<u8>; 2],
    exchanged: u64,
    leveled: u64,
}

/// The paper's SSD on those memories. At first every page is in the large memory, except those for which it has no
/// room.
pub fn new<M: Memories>(memories: M, config: &MultiScmConfig) -> Result<MultiScm<M>, Unfit> {
    let (sector, page) = (config.sector.as_usize(), PAGE.as_usize());
    if sector == 0 || !page.is_multiple_of(sector) {
        return Err(Unfit(format!("pages of {page} bytes hold no whole sector of {sector}")));
    }
    let pages = config.capacity.as_usize().div_ceil(page / sector) as u32;
    if config.quick >= pages {
        return Err(Unfit(format!("{pages} pages leave no room for a large memory: ask for less")));
    }
    let mut lists = Lists::new(2, pages);
    (0..config.quick).for_each(|page| lists.touch(QUICK, page));
    let all: Vec<u32> = (0..pages).collect();
    let wear = [config.quick, pages - config.quick].map(|places| Counts::new(places as usize));
    let (since, moved) = (vec![0; pages as usize], [vec![0; page], vec![0; page]]);
    let (exchanged, leveled) = (0, 0);
    let (places, pages, config) = (all.clone(), all, *config);
    Ok(MultiScm { memories, config, places, pages, lists, wear, since, moved, exchanged, leveled })
}

impl<M: Memories> MultiScm<M> {
    /// Cycles of the places of a memory.
    pub fn wear(&self, of: Memory) -> &[u32] {
        self.wear[of as usize].all()
    }

    fn kind(&self, place: u32) -> Memory {
        if place < self.config.quick { Memory::Quick } else { Memory::Large }
    }

    /// The memory of a place, and the place's number there.
    fn locate(&self, place: u32) -> (Memory, u32) {
        match self.kind(place) {
            Memory::Quick => (Memory::Quick, place),
            Memory::Large => (Memory::Large, place - self.config.quick),
        }
    }

    /// Counts a write to a place.
    fn wear_out(&mut self, place: u32) {
        let (kind, at) = self.locate(place);
        self.wear[kind as usize].raise(at as usize);
    }

    /// Exchanges two pages.
    fn exchange(&mut self, one: u32, other: u32, cause: Cause) {
        let places = [one, other].map(|page| self.places[page as usize]);
        let mut data = std::mem::take(&mut self.moved);
        for (place, data) in places.iter().zip(&mut data) {
            let (kind, at) = self.locate(*place);
            self.memories.read(kind, at, 0, data, cause);
        }
        let moved = places.iter().zip(data.iter().rev()).zip([other, one]);
        for ((place, data), page) in moved {
            let (kind, at) = self.locate(*place);
            self.memories.write(kind, at, 0, data, cause);
            self.wear_out(*place);
            self.places[page as usize] = *place;
            self.pages[*place as usize] = page;
            self.since[*place as usize] = 0;
        }
        self.moved = data;
    }

    /// Counts a use of a page. If it is used often enough, it moves to the fast memory.
    fn use_page(&mut self, page: u32) {
        if self.kind(self.places[page as usize]) == Memory::Quick {
            self.lists.touch(QUICK, page);
            return;
        }
        let was_recent = self.lists.list_of(page) == Some(RECENT);
        match self.lists.oldest(QUICK).filter(|_| was_recent) {
            Some(oldest) => {
                self.exchange(page, oldest, Cause::WriteBack);
                self.exchanged += 1;
                self.lists.touch(QUICK, page);
                self.lists.touch(RECENT, oldest);
            }
            None => self.lists.touch(RECENT, page),
        }
        while self.lists.len(RECENT) > self.config.quick
            && let Some(oldest) = self.lists.oldest(RECENT)
        {
            self.lists.remove(oldest);
        }
    }

    /// Counts an overwrite of a page. After enough of them, it moves to a less worn place.
    fn level(&mut self, page: u32) {
        let place = self.places[page as usize];
        self.since[place as usize] += 1;
        let (kind, at) = self.locate(place);
        let is_leveled = self.config.leveled[kind as usize];
        if !is_leveled || self.since[place as usize] < self.config.interval {
            return;
        }
        self.since[place as usize] = 0;
        let Some(least) = self.wear[kind as usize].least_at() else { return };
        let wear = self.wear(kind);
        if wear[at as usize] >= wear[least] + self.config.threshold.max(1) {
            let first = if kind == Memory::Quick { 0 } else { self.config.quick as usize };
            self.exchange(page, self.pages[first + least], Cause::WearLeveling);
            self.leveled += 1;
        }
    }

    /// Calls a function for each part of a request that is within one page.
    fn parts(
        &mut self,
        first: Sector,
        bytes: usize,
        mut part: impl FnMut(&mut Self, u32, usize, std::ops::Range<usize>),
    ) {
        let (sector, page) = (self.config.sector.as_usize(), PAGE.as_usize());
        let start = first.get() as usize * sector;
        let mut done = 0;
        while done < bytes {
            let at = start + done;
            let length = (page - at % page).min(bytes - done);
            part(self, (at / page) as u32, at % page, done..done + length);
            done += length;
        }
    }

    fn put(&mut self, page: u32, at: usize, data: &[u8]) {
        let place = self.places[page as usize];
        let (kind, number) = self.locate(place);
        self.memories.write(kind, number, at, data, Cause::Host);
        self.wear_out(place);
        self.level(page);
        self.use_page(page);
    }

    fn check_range<E>(
        &self,
        first: Sector,
        count: SectorCount,
        error: impl Fn(SectorCount) -> E,
    ) -> Result<(), E> {
        let capacity = self.config.capacity;
        let end = first.checked_add(count).filter(|end| end.get() <= capacity.get());
        end.map(|_| ()).ok_or_else(|| error(capacity))
    }

    fn sectors(&self, bytes: usize) -> Option<SectorCount> {
        let sector = self.config.sector.as_usize();
        let count = u32::try_from(bytes / sector).ok()?;
        bytes.is_multiple_of(sector).then_some(SectorCount::new(count))
    }
}

impl<M: Memories> BlockStore for MultiScm<M> {
    type Error = Infallible;

    fn sector_bytes(&self) -> Bytes {
        self.config.sector
    }

    fn capacity(&self) -> SectorCount {
        self.config.capacity
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<Infallible>> {
        let (bytes, sector_bytes) = (data.len(), self.config.sector);
        let wrong = StoreReadError::WrongLength { bytes, sector_bytes };
        let count = self.sectors(bytes).ok_or(wrong)?;
        self.check_range(first, count, |capacity| StoreReadError::OutOfRange {
            first,
            count,
            capacity,
        })?;
        self.parts(first, bytes, |scm, page, at, range| {
            let (kind, number) = scm.locate(scm.places[page as usize]);
            scm.memories.read(kind, number, at, &mut data[range], Cause::Host);
            scm.use_page(page);
        });
        Ok(())
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<Infallible>> {
        let (bytes, sector_bytes) = (data.len(), self.config.sector);
        let wrong = StoreWriteError::WrongLength { bytes, sector_bytes };
        let count = self.sectors(bytes).ok_or(wrong)?;
        self.check_range(first, count, |capacity| StoreWriteError::OutOfRange {
            first,
            count,
            capacity,
        })?;
        self.parts(first, bytes, |scm, page, at, range| scm.put(page, at, &data[range]));
        Ok(())
    }

    /// A memory that is written in place trims by a write of zeros.
    fn trim(
        &mut self,
        first: Sector,
        count: SectorCount,
    ) -> Result<(), StoreWriteError<Infallible>> {
        self.check_range(first, count, |capacity| StoreWriteError::OutOfRange {
            first,
            count,
            capacity,
        })?;
        let zeros = vec![0; PAGE.as_usize()];
        let bytes = count.as_usize() * self.config.sector.as_usize();
        self.parts(first, bytes, |scm, page, at, range| scm.put(page, at, &zeros[..range.len()]));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreWriteError<Infallible>> {
        Ok(())
    }

    fn maintain(&mut self, _: PageCount) -> Result<Work, StoreWriteError<Infallible>> {
        Ok(Work::Done)
    }
}

impl<M: Memories> Rival for MultiScm<M> {
    fn settle(&mut self) -> Result<(), StoreWriteError<Infallible>> {
        self.lists.clear(RECENT);
        (self.exchanged, self.leveled) = (0, 0);
        Ok(())
    }

    /// For each page its place and the reverse, two neighbours on a list, cycles and overwrites of its place.
    fn ram_bytes(&self) -> u64 {
        self.places.len() as u64 * (4 + 4 + 8 + 4 + 4)
    }

    #[allow(clippy::cast_precision_loss)] // Figures show few digits.
    fn figures(&self) -> Vec<Figure> {
        let most = |of| f64::from(self.wear(of).iter().copied().max().unwrap_or(0));
        vec![
            ("pages_exchanged", self.exchanged as f64),
            ("pages_leveled", self.leveled as f64),
            ("m_scm_cycles_most", most(Memory::Quick)),
            ("s_scm_cycles_most", most(Memory::Large)),
        ]
    }

    fn check(&self) -> Result<(), String> {
        for (place, page) in self.places.iter().zip(0..) {
            if self.pages[*place as usize] != page {
                return Err(format!("page {page} lies at {place}, which holds another"));
            }
            let is_quick = self.kind(*place) == Memory::Quick;
            if is_quick != (self.lists.list_of(page) == Some(QUICK)) {
                return Err(format!("page {page} is on a list of the other memory"));
            }
        }
        self.wear.iter().try_for_each(Counts::check)?;
        self.lists.check()
    }
}
