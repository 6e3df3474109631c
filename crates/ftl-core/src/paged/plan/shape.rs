//! Numbers that follow from geometry and configuration.

use core::num::NonZeroU16;

use ftl_iface::{Bytes, Geometry, Region, Sector, SectorCount};

use super::address::{BlockNumber, Leaf, Place, Spot};
use super::anchor_page;
pub use super::area::{Area, AreaShape, HEADERS};
use super::config::{Needs, PagedConfig};
use super::feature::Feature;
use super::misfit::PagedShapeError;
use super::reserve::{Role, TO_LEND, lending_reserve};
use crate::config::PairedPages;
use crate::layout;
use crate::quotient::{ceil, divided, floor};

/// The fewest blocks of a ring of anchors: while one is erased, the last anchor stands in another.
pub const RING_MIN: u16 = 2;

/// Bytes of a map page before its entries: check and horizon.
pub const LEAF_HEAD: u32 = 12;

/// The division of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagedShape {
    /// The unit of mapping.
    pub sector_bytes: Bytes,
    /// Exported sectors.
    pub capacity: SectorCount,
    /// The fast area, on a device with two regions.
    pub fast: Option<AreaShape>,
    /// The main area.
    pub main: AreaShape,
    /// The area that holds the map: the fast one, or the only one.
    map: AreaShape,
    /// Blocks for anchors, after the headers.
    pub anchors: u16,
    /// How paired pages are protected.
    pub paired_pages: PairedPages,
    /// Map pages.
    pub leaves: u32,
    /// Sectors per map page.
    pub leaf_sectors: u32,
    /// Bytes per map entry.
    pub entry_bytes: u8,
    /// Bytes per directory entry.
    pub directory_bytes: u8,
    /// Bytes per block number in an anchor.
    pub block_bytes: u8,
    /// The dirty entries that the table takes.
    pub table_most: u32,
    /// The most dirty entries between requests: those of two pages of each area may come on top.
    pub table_entries: u32,
    /// Map pages in RAM.
    pub cached: u16,
    /// Streams of the main area beyond two: a power cut leaves a nearly empty block of each.
    pub more_streams: u32,
    /// The number of good blocks that the main area needs to take every write.
    pub main_needed: u32,
    /// The same for the fast area.
    pub fast_needed: u32,
    /// Whether pages are skipped, because their programs could corrupt others that are relied upon.
    skips: bool,
    /// How many entries a map page takes, if they are few.
    pub(crate) few_entries: Option<NonZeroU16>,
}

/// Returns the bytes that numbers below this one take, with two more for "nowhere" and "lost".
const fn bytes_for(numbers: u64) -> u8 {
    let mut bytes = 1;
    while bytes < 4 && numbers + 2 > 1 << (8 * bytes) {
        bytes += 1;
    }
    bytes
}

/// Returns the bytes per block number in an anchor.
const fn block_bytes(blocks: u32) -> u8 {
    let bytes = bytes_for(blocks as u64);
    if bytes < 2 { 2 } else { bytes }
}

/// One more than the references to a block that can be counted.
pub(crate) const REFERENCES: u32 = 1 << 13;

/// The most dirty entries.
const ENTRIES_MAX: u32 = 1 << 24;

impl PagedShape {
    /// Returns the fast area, if there is one, and the main one.
    const fn areas(
        geometry: &Geometry,
        config: &PagedConfig,
    ) -> Result<(Option<AreaShape>, AreaShape), PagedShapeError> {
        let sector = config.sector_bytes;
        let (region, first) = match (geometry.slc(), geometry.mlc()) {
            (Some(slc), _) => (Region::Slc, slc),
            (None, Some(mlc)) => (Region::Mlc, mlc),
            (None, None) => return Err(PagedShapeError::SectorBytes),
        };
        let first = AreaShape::new(region, first, sector).after(config.anchor_blocks);
        Ok(match (geometry.slc(), geometry.mlc()) {
            (Some(_), Some(mlc)) => (Some(first), AreaShape::new(Region::Mlc, mlc, sector)),
            _ => (None, first),
        })
    }

    /// Whether sums over these settings fit 32 bits, and quotients are no divisions by zero.
    const fn possible(config: &PagedConfig) -> Result<(), PagedShapeError> {
        let sector = config.sector_bytes.get();
        if !sector.is_power_of_two() || sector < 512 {
            Err(PagedShapeError::SectorBytes)
        } else if config.dirty_entries > ENTRIES_MAX {
            Err(PagedShapeError::Table)
        } else {
            Ok(())
        }
    }

    /// Whether this build has what the configuration needs on such areas.
    const fn built(
        config: &PagedConfig,
        main: &AreaShape,
        fast: Option<&AreaShape>,
    ) -> Result<(), PagedShapeError> {
        let shares = main.shares_cells() || matches!(fast, Some(fast) if fast.shares_cells());
        let needs = Needs {
            fast_area: fast.is_some(),
            protection: matches!(config.paired_pages, PairedPages::Guard) && shares,
        };
        match config.not_built(needs) {
            Some(feature) => Err(PagedShapeError::NotBuilt(feature)),
            None => Ok(()),
        }
    }

    const fn exported(config: &PagedConfig, main: &AreaShape) -> u32 {
        match config.capacity {
            Some(capacity) => capacity.get(),
            None => (main.places() * 19 / 20) as u32,
        }
    }

    /// Checks that tables and tags can count what these areas have.
    const fn counted(
        places: u64,
        map: &AreaShape,
        main: &AreaShape,
    ) -> Result<(), PagedShapeError> {
        if map.slots == 0 || main.slots == 0 {
            return Err(PagedShapeError::SectorBytes);
        }
        if places >= 1 << Place::BITS {
            return Err(PagedShapeError::Places);
        }
        // A mount presumes one more.
        if main.block_slots() + 1 >= REFERENCES || map.block_slots() + 1 >= REFERENCES {
            return Err(PagedShapeError::BlockSlots);
        }
        let tags = [layout::tag_bytes(map.slots), layout::tag_bytes(main.slots)];
        if tags[0] > map.spare_bytes.as_usize() || tags[1] > main.spare_bytes.as_usize() {
            return Err(PagedShapeError::SpareBytes);
        }
        Ok(())
    }

    /// Returns the division of a device.
    pub const fn new(geometry: &Geometry, config: &PagedConfig) -> Result<Self, PagedShapeError> {
        if let Err(error) = Self::possible(config) {
            return Err(error);
        }
        let sector = config.sector_bytes;
        let (fast, mut main) = match Self::areas(geometry, config) {
            Ok(areas) => areas,
            Err(error) => return Err(error),
        };
        if let Err(error) = Self::built(config, &main, fast.as_ref()) {
            return Err(error);
        }
        let mut map = main;
        let mut places = main.places();
        if let Some(fast) = &fast {
            places += fast.places();
            main.first_block = fast.blocks;
            main.first_place = fast.places() as u32;
            map = *fast;
        }
        if let Err(error) = Self::counted(places, &map, &main) {
            return Err(error);
        }
        let capacity = Self::exported(config, &main);
        let entry_bytes = bytes_for(places);
        let leaf_sectors = floor(map.page_bytes.get() - LEAF_HEAD, entry_bytes as u32);
        let shape = Self {
            sector_bytes: sector,
            capacity: SectorCount::new(capacity),
            fast,
            main,
            map,
            anchors: config.anchor_blocks,
            paired_pages: config.paired_pages,
            leaves: ceil(capacity, leaf_sectors),
            leaf_sectors,
            entry_bytes,
            directory_bytes: bytes_for(map.blocks as u64 * map.pages as u64),
            block_bytes: block_bytes(main.first_block + main.blocks),
            table_most: config.dirty_entries + 2 * main.slots as u32 + 2 * map.slots as u32,
            table_entries: config.dirty_entries,
            cached: config.cached_leaves,
            more_streams: config.streams.count().saturating_sub(2) as u32,
            main_needed: 0,
            fast_needed: 0,
            skips: false,
            few_entries: None,
        };
        shape.with_needs(config)
    }

    /// Computes how many blocks must be good, and checks that the device has them.
    const fn with_needs(mut self, config: &PagedConfig) -> Result<Self, PagedShapeError> {
        let map = *self.map_area();
        let usable = match config.paired_pages {
            PairedPages::Guard => map.word_lines as u32,
            PairedPages::Accept => map.pages as u32,
        };
        // Obsolete map pages take the same space again before they are reclaimed, and one block is open.
        let map_blocks = ceil(2 * self.leaves, usable) + 1;
        self.main.copied_slots = self.copied_pages() as u32 * self.main.slots as u32;
        if !self.has_fast() {
            self.map = self.main;
        }
        self.few_entries = self.few_entries_of();
        self.skips = self.guards_area(&self.main) || self.guards_area(self.map_area());
        let data = ceil(self.capacity.get(), self.main.copied_slots);
        let open = config.streams.count() as u32;
        let main = data.saturating_add(open + self.role(Area::Main).reserve(self.more_streams));
        let (main, fast) = match self.fast_area() {
            Some(_) => (main, map_blocks + 1 + self.role(Area::Fast).reserve(0)),
            None => (main.saturating_add(map_blocks), 0),
        };
        if config.cached_leaves < 2 {
            return Err(PagedShapeError::Cache);
        }
        if self.has_anchors() && self.anchors < RING_MIN {
            return Err(PagedShapeError::Anchors);
        }
        if map.word_lines < 2 {
            return Err(PagedShapeError::WordLines);
        }
        if self.table_entries < 2 * self.main.block_slots()
            || self.table_entries < 2 * map.block_slots()
        {
            return Err(PagedShapeError::Table);
        }
        let fast_blocks = self.main.first_block;
        if self.capacity.get() == 0 || main > self.main.blocks || fast > fast_blocks {
            return Err(PagedShapeError::Capacity { main, fast });
        }
        (self.main_needed, self.fast_needed) = (main, fast);
        Ok(self)
    }

    /// Returns the pages of a block of the main area that copies fill at least. Pages are skipped each time when
    /// everything programmed so far becomes relied upon: when the block after it is opened, and at each anchor that
    /// leaves nothing untold. Each may be one.
    const fn copied_pages(&self) -> u16 {
        let main = &self.main;
        if !self.guards_area(main) {
            return main.pages;
        }
        let mut times = 1;
        if self.has_anchors() {
            let bytes = self.map_area().page_bytes.as_usize();
            let anchored = anchor_page::pages_between(bytes, self.block_bytes, self.slots_max());
            let anchors = floor(main.pages as u32 - 1, anchored as u32) as u16;
            times = if anchors > times { anchors } else { times };
        }
        let left_out = times.saturating_mul(main.left_out_max());
        let fewest = main.word_lines;
        if main.pages > fewest.saturating_add(left_out) { main.pages - left_out } else { fewest }
    }

    /// Whether pages are skipped, because their programs could corrupt others that are relied upon.
    pub(crate) const fn skips_pages(&self) -> bool {
        self.skips
    }

    /// Whether streams lend their blocks to each other. Where pages are guarded, a shared block would make more of them
    /// unusable. On a device that has hardly a block more than it needs, cuts in a row take blocks faster than they
    /// come back.
    pub const fn lends(&self) -> bool {
        self.has_to_lend() && !self.guards_area(&self.main)
    }

    /// Whether the main area has more blocks than a device needs that is only just large enough.
    pub const fn has_to_lend(&self) -> bool {
        self.main.blocks > self.main_needed + TO_LEND
    }

    /// Returns the number of blocks for anchors.
    #[inline]
    pub(crate) const fn anchor_blocks(&self) -> u16 {
        if Feature::Anchors.is_built() { self.anchors } else { 0 }
    }

    /// Whether there are anchors.
    #[inline]
    pub(crate) const fn has_anchors(&self) -> bool {
        self.anchor_blocks() > 0
    }

    /// Returns the fast area, if there is one.
    #[inline]
    pub(crate) const fn fast_area(&self) -> Option<&AreaShape> {
        if Feature::FastArea.is_built() { self.fast.as_ref() } else { None }
    }

    /// Whether there is a fast area.
    #[inline]
    pub(crate) const fn has_fast(&self) -> bool {
        self.fast_area().is_some()
    }

    /// Whether pages are protected that share cells with the one in flight.
    #[inline]
    pub(crate) const fn guards(&self) -> bool {
        Feature::PairedPages.is_built() && matches!(self.paired_pages, PairedPages::Guard)
    }

    /// Whether some pages of an area are protected.
    #[inline]
    pub(crate) const fn guards_area(&self, area: &AreaShape) -> bool {
        self.guards() && area.shares_cells()
    }

    /// Returns how many entries a map page takes that is written because the table is full, if they are so few that
    /// the map pages matter: then emptying a block may take more space of its area than it frees.
    const fn few_entries_of(&self) -> Option<NonZeroU16> {
        /// With so many for each slot of a page, map pages take an eighth of what copies take, or less.
        const MANY: u32 = 8;
        if self.has_fast() {
            return None;
        }
        let each = floor(self.table_entries, self.leaves);
        if each >= MANY * self.main.slots as u32 {
            return None;
        }
        NonZeroU16::new(if each > 0 { each as u16 } else { 1 })
    }

    /// What a main area keeps whose streams lend their blocks. What a device must have beside has room for that: it
    /// counts twice the map, and the table has at least two blocks' entries.
    const fn lending_reserve(&self) -> u32 {
        match self.few_entries {
            Some(each) => lending_reserve(ceil(self.main.slots as u32, each.get() as u32)),
            None => lending_reserve(1),
        }
    }

    /// Returns the blocks of an area that no host write opens.
    pub const fn reserve(&self, area: Area) -> u32 {
        match area {
            Area::Main if self.lends() => self.lending_reserve(),
            _ => self.role(area).reserve(self.more_streams),
        }
    }

    /// Returns the blocks of an area that no host write opens while references are still to be counted after a mount:
    /// its reserve. Where so many blocks hold garbage that they are soon emptied, fewer will do.
    pub(crate) const fn kept_uncounted(&self, area: Area) -> u32 {
        match area {
            Area::Main if self.has_to_lend() => {
                let (lending, own) = (self.lending_reserve(), self.reserve(area));
                if lending < own { lending } else { own }
            }
            _ => self.reserve(area),
        }
    }

    /// Returns how many references a block may have. Where pairs are guarded, a map page counts for all pages of its
    /// word line, and sectors may be in the others.
    pub(crate) const fn references_most(&self, area: Area) -> u32 {
        let slots = self.area(area).block_slots();
        if self.guards() && !self.has_fast() { 2 * slots } else { slots }
    }

    /// Whether a block may take pages of the map and sectors: there is one area, and as many references can be counted.
    pub(crate) const fn mixes(&self) -> bool {
        !self.has_fast() && self.references_most(Area::Main) < REFERENCES
    }

    /// Returns with how many free blocks of the main area, or fewer, power cuts in a row may use up all.
    pub const fn few_blocks(&self) -> u32 {
        self.role(Area::Main).reserve(self.more_streams)
    }

    const fn role(&self, area: Area) -> Role {
        match (area, self.fast_area()) {
            (Area::Fast, Some(_)) => Role::Fast,
            (Area::Main, Some(_)) => Role::Main,
            (_, None) => Role::Single,
        }
    }

    /// Returns the blocks of an area that must be good.
    pub const fn needed(&self, area: Area) -> u32 {
        match area {
            Area::Fast => self.fast_needed,
            Area::Main => self.main_needed,
        }
    }

    /// Returns the sector after the last one.
    pub const fn end(&self) -> Sector {
        Sector::new(self.capacity.get())
    }

    /// Returns the largest number of sectors per page.
    pub const fn slots_max(&self) -> u16 {
        let map = self.map_area();
        if map.slots > self.main.slots { map.slots } else { self.main.slots }
    }

    /// Returns the area that holds the map.
    #[inline]
    pub const fn map_area(&self) -> &AreaShape {
        &self.map
    }

    /// Returns the shape of an area; a device with one region has only one.
    #[inline]
    pub const fn area(&self, area: Area) -> &AreaShape {
        match area {
            Area::Fast => self.map_area(),
            Area::Main => &self.main,
        }
    }

    /// Returns the area of a block.
    #[inline]
    pub const fn area_of(&self, block: BlockNumber) -> Area {
        // Blocks of the fast area come first.
        if self.is_main(block) { Area::Main } else { Area::Fast }
    }

    #[inline]
    const fn is_main(&self, block: BlockNumber) -> bool {
        !Feature::FastArea.is_built() || block.get() >= self.main.first_block
    }

    /// Whether a place is in the main area.
    #[inline]
    pub(crate) const fn is_in_main(&self, place: Place) -> bool {
        !Feature::FastArea.is_built() || place.get() >= self.main.first_place
    }

    /// Returns the area of the map, which holds headers and anchors, too.
    pub const fn area_of_map(&self) -> Area {
        if self.has_fast() { Area::Fast } else { Area::Main }
    }

    /// Returns the shape of a block's area.
    #[inline]
    pub const fn area_at(&self, block: BlockNumber) -> &AreaShape {
        if self.is_main(block) { &self.main } else { self.map_area() }
    }

    /// Returns the number of blocks of both areas.
    pub const fn blocks(&self) -> u32 {
        self.main.first_block + self.main.blocks
    }

    /// Returns the number of places of both areas.
    pub const fn places(&self) -> u32 {
        self.main.first_place + self.main.places() as u32
    }

    /// Returns the number of whole sectors in this many bytes.
    #[inline]
    pub const fn whole_sectors(&self, bytes: usize) -> usize {
        // A power of two: the shape was checked.
        bytes >> self.sector_bytes.get().trailing_zeros()
    }

    /// Returns the leaf of a sector, and the sector's number in it.
    #[inline]
    pub const fn leaf_of(&self, sector: Sector) -> (Leaf, u32) {
        let (leaf, number) = divided(sector.get(), self.leaf_sectors);
        (Leaf::new(leaf), number)
    }

    /// Returns the first sector of a leaf, and the number of its sectors.
    pub const fn sectors_of(&self, leaf: Leaf) -> (Sector, u32) {
        let first = leaf.get() * self.leaf_sectors;
        let left = self.capacity.get().saturating_sub(first);
        (Sector::new(first), if left < self.leaf_sectors { left } else { self.leaf_sectors })
    }

    /// Returns the place of a slot.
    #[inline]
    pub const fn place(&self, spot: Spot, slot: u16) -> Place {
        self.area_at(spot.block).place(spot, slot)
    }

    /// Returns the slot of a place.
    #[inline]
    pub const fn spot(&self, place: Place) -> (Spot, u16) {
        let main = self.is_in_main(place);
        let area = if main { &self.main } else { self.map_area() };
        let within = place.get() - area.first_place;
        let (page, slot) = divided(within, area.slots as u32);
        let (block, page) = divided(page, area.pages as u32);
        let block = BlockNumber::new(area.first_block + block);
        (Spot { block, page: page as u16 }, slot as u16)
    }

    /// Returns the block of a place.
    #[inline]
    pub const fn block_of(&self, place: Place) -> BlockNumber {
        let main = self.is_in_main(place);
        let area = if main { &self.main } else { self.map_area() };
        let (block, _) = divided(place.get() - area.first_place, area.block_slots());
        BlockNumber::new(area.first_block + block)
    }

    /// Returns the map page with this number in the directory.
    pub const fn map_spot(&self, number: u32) -> Spot {
        self.map_area().spot_of_page(number)
    }
}
