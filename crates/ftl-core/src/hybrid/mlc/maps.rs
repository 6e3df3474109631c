//! The mapping cache: for a few chains, which page of which log block holds which sector.
//!
//! A map has one cell for each sector of the logical block. Replacement is second chance (CLOCK): a hand passes over
//! maps used since its last visit, and takes the first that was not. One map beyond the cache's size is pinned for the
//! chain that is being folded. A cache of zero maps keeps one to work with, and forgets it after each request.

use core::num::NonZeroU32;

use crate::hybrid::address::{BlockNumber, LogicalBlock};
use crate::table::{Numbers, Row, Width};

/// Where a chain keeps a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapEntry {
    /// In place in the data block; nowhere, if the chain has none or the place is a hole.
    InPlace,
    /// Nowhere: it was trimmed.
    Trimmed,
    /// In a log block.
    Log {
        /// Which of the chain's log blocks, counted from the oldest.
        ordinal: u16,
        /// Which of its pages.
        page: u16,
        /// Which of the page's slots.
        slot: u16,
    },
}

/// A map in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapId(u16);

impl Row for MapId {
    #[inline]
    fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Memory of the cache. All but `cells` have one value per map.
#[derive(Debug)]
pub struct MapMemory<'ram> {
    /// The next free page of the chain's last log block.
    pub next_pages: &'ram mut [u16],
    /// The note of the page programmed last to the chain's last log block, which the next page repeats.
    pub last_notes: &'ram mut [u32],
    /// Whether the map was used lately, and whether the last log block is in order so far.
    pub flags: &'ram mut [u8],
    /// The maps, one after the other.
    pub cells: &'ram mut [u16],
}

/// The cache.
#[derive(Debug)]
pub struct Maps<'ram> {
    memory: MapMemory<'ram>,
    owners: Numbers<'ram, MapId>,
    block: BlockSize,
    hand: u16,
    /// Where the map of a chain may be, by the low bits of its number: checked before all others.
    hints: [u16; HINTS],
    keeps: bool,
}

/// Neighbouring chains, which are mostly used together, have separate hints; 64 suffice for a cache of the paper's
/// size, and cost 128 bytes.
const HINTS: usize = 64;

const IN_PLACE: u16 = u16::MAX;
const TRIMMED: u16 = u16::MAX - 1;
const NOBODY: BlockNumber = BlockNumber::MAX;

const USED: u8 = 1;
const IN_ORDER: u8 = 2;

/// How many maps the memory must hold for a cache of that size: one to work with, and the fold's.
pub const fn maps_for(cache_entries: u16) -> u32 {
    (if cache_entries == 0 { 1 } else { cache_entries as u32 }) + 1
}

/// Sectors of a block.
#[derive(Clone, Copy, Debug)]
pub struct BlockSize {
    /// Of all its pages.
    pub sectors: NonZeroU32,
    /// Of one page.
    pub slots: NonZeroU32,
}

impl<'ram> Maps<'ram> {
    /// An empty cache over that memory, whose last map is the fold's.
    pub fn new(
        owners: &'ram mut [u16],
        memory: MapMemory<'ram>,
        block: BlockSize,
        keeps: bool,
        width: Width,
    ) -> Self {
        let owners = Numbers::of_width(owners, width);
        Self { memory, owners, block, hand: 0, hints: [0; HINTS], keeps }
    }

    fn cached(&self) -> usize {
        self.owners.len().saturating_sub(1)
    }

    /// The map that is pinned for the chain being folded.
    #[inline]
    pub fn fold_map(&self) -> MapId {
        MapId(self.cached() as u16)
    }

    fn flag(&self, map: MapId, flag: u8) -> bool {
        self.memory.flags.get(usize::from(map.0)).is_some_and(|flags| flags & flag != 0)
    }

    fn set_flag(&mut self, map: MapId, flag: u8, on: bool) {
        if let Some(flags) = self.memory.flags.get_mut(usize::from(map.0)) {
            *flags = if on { *flags | flag } else { *flags & !flag };
        }
    }

    /// The chain's map, if it is cached.
    #[inline]
    pub fn lookup(&mut self, logical: LogicalBlock) -> Option<MapId> {
        let wanted = logical.get();
        let cached = self.cached();
        let hint = self.hints.get_mut(logical.index() % HINTS)?;
        // A hint is never the fold's map.
        if self.owners.get(MapId(*hint)) != wanted {
            *hint = self.owners.find(cached, wanted)? as u16;
        }
        let map = MapId(*hint);
        self.set_flag(map, USED, true);
        Some(map)
    }

    /// The chain's map, if it is cached, without counting as a use.
    #[cfg(feature = "check")]
    pub fn peek(&self, logical: LogicalBlock) -> Option<MapId> {
        self.owners.find(self.cached(), logical.get()).map(|at| MapId(at as u16))
    }

    /// Gives the chain a map in which every sector is in place. It replaces one that was not used lately.
    pub fn claim(&mut self, logical: LogicalBlock) -> MapId {
        let cached = self.cached() as u16;
        // Two rounds suffice: the first clears what the second would pass over.
        for _ in 0..2 * u32::from(cached) {
            self.hand = if self.hand + 1 < cached { self.hand + 1 } else { 0 };
            let at = MapId(self.hand);
            if self.owners.get(at) == NOBODY || !self.flag(at, USED) {
                break;
            }
            self.set_flag(at, USED, false);
        }
        if let Some(hint) = self.hints.get_mut(logical.index() % HINTS) {
            *hint = self.hand;
        }
        self.start(MapId(self.hand), logical);
        MapId(self.hand)
    }

    /// Assigns a map to that chain, with every sector in place.
    pub fn start(&mut self, map: MapId, logical: LogicalBlock) {
        self.owners.set(map, logical.get());
        if let Some(flags) = self.memory.flags.get_mut(usize::from(map.0)) {
            *flags = USED;
        }
        let range = self.range(map);
        if let Some(cells) = self.memory.cells.get_mut(range) {
            cells.fill(IN_PLACE);
        }
        self.set_next_page(map, 0, false);
    }

    /// Copies the cells of a map into the fold's.
    pub fn copy_to_fold(&mut self, from: MapId, logical: LogicalBlock) {
        let fold = self.fold_map();
        self.start(fold, logical);
        // The fold's map is the last.
        let start = self.range(fold).start;
        let source = self.range(from);
        if let Some((cached, target)) = self.memory.cells.split_at_mut_checked(start)
            && let Some(source) = cached.get(source)
            && let Some(target) = target.get_mut(..source.len())
        {
            target.copy_from_slice(source);
        }
    }

    /// Forgets the chain's map.
    pub fn forget(&mut self, logical: LogicalBlock) {
        let cached = self.cached();
        self.owners.forget(cached, logical.get());
    }

    /// Ends a request: a cache of zero maps drops the one it worked with.
    #[inline]
    pub fn end_request(&mut self) {
        if !self.keeps {
            let cached = self.cached();
            self.owners.clear_first(cached);
        }
    }

    fn range(&self, map: MapId) -> core::ops::Range<usize> {
        let sectors = self.block.sectors.get() as usize;
        let start = usize::from(map.0) * sectors;
        start..start + sectors
    }

    #[inline]
    fn cell(&self, map: MapId, offset: u32) -> usize {
        usize::from(map.0) * self.block.sectors.get() as usize + offset as usize
    }

    /// Where the chain keeps the sector with that offset.
    #[inline]
    pub fn get(&self, map: MapId, offset: u32) -> MapEntry {
        match self.memory.cells.get(self.cell(map, offset)) {
            None | Some(&IN_PLACE) => MapEntry::InPlace,
            Some(&TRIMMED) => MapEntry::Trimmed,
            Some(&cell) => {
                let cell = u32::from(cell);
                let (ordinal, rest) = (cell / self.block.sectors, cell % self.block.sectors);
                MapEntry::Log {
                    ordinal: ordinal as u16,
                    page: (rest / self.block.slots) as u16,
                    slot: (rest % self.block.slots) as u16,
                }
            }
        }
    }

    /// Whether `count` sectors from that offset on are all in place.
    #[inline]
    pub fn are_in_place(&self, map: MapId, offset: u32, count: u16) -> bool {
        let start = self.cell(map, offset);
        let cells = self.memory.cells.get(start..start + usize::from(count));
        cells.is_some_and(|cells| cells.iter().all(|cell| *cell == IN_PLACE))
    }

    /// Notes where the chain keeps the sector with that offset.
    #[inline]
    pub fn set(&mut self, map: MapId, offset: u32, place: MapEntry) {
        let code = match place {
            MapEntry::InPlace => IN_PLACE,
            MapEntry::Trimmed => TRIMMED,
            MapEntry::Log { ordinal, page, slot } => {
                let pages = u32::from(ordinal) * self.block.sectors.get()
                    + u32::from(page) * self.block.slots.get();
                (pages + u32::from(slot)) as u16
            }
        };
        debug_assert!(
            offset < self.block.sectors.get(),
            "offset {offset} of {}",
            self.block.sectors
        );
        let at = self.cell(map, offset);
        if let Some(cell) = self.memory.cells.get_mut(at) {
            *cell = code;
        }
    }

    /// The next free page of the chain's last log block.
    #[inline]
    pub fn next_page(&self, map: MapId) -> u16 {
        self.memory.next_pages.get(usize::from(map.0)).copied().unwrap_or(u16::MAX)
    }

    /// Whether every page of the last log block so far is at its fixed offset.
    #[inline]
    pub fn in_order(&self, map: MapId) -> bool {
        self.flag(map, IN_ORDER)
    }

    /// Notes how far the last log block is filled, and whether in order.
    #[inline]
    pub fn set_next_page(&mut self, map: MapId, page: u16, in_order: bool) {
        if let Some(next) = self.memory.next_pages.get_mut(usize::from(map.0)) {
            *next = page;
        }
        self.set_flag(map, IN_ORDER, in_order);
    }

    /// The note of the page programmed last to the last log block.
    #[inline]
    pub fn last_note(&self, map: MapId) -> u32 {
        self.memory.last_notes.get(usize::from(map.0)).copied().unwrap_or(0)
    }

    /// Keeps the note of that page.
    #[inline]
    pub fn set_last_note(&mut self, map: MapId, note: u32) {
        if let Some(cell) = self.memory.last_notes.get_mut(usize::from(map.0)) {
            *cell = note;
        }
    }

    /// Drops every map, the fold's too.
    pub fn clear(&mut self) {
        self.owners.clear();
    }
}
