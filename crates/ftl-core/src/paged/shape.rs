//! Numbers that follow from geometry and configuration.

use core::fmt;

use ftl_iface::{
    Bytes, Geometry, PageCount, PageIndex, Pairing, Region, RegionGeometry, Sector, SectorCount,
};

use super::address::{BlockNumber, Leaf, Place, Spot};
use super::config::PagedConfig;
use super::dirty::GROUP;
use crate::config::PairedPages;
use crate::layout;

/// Blocks at the start of the area that holds the map: each has a header.
pub const HEADERS: u16 = 2;

/// The reserve of the fast area: blocks that no host write opens. A step of reclaiming opens at most one for map pages.
/// After a power cut one is opened for the repeated page and one for map pages. One more is for another power
/// cut in turn, which leaves a block hardly filled.
pub const FAST_RESERVE: u32 = 4;

/// The same for the main area, with copies instead of map pages.
pub const MAIN_RESERVE: u32 = 3;

/// The same for a single area, which has all of them.
pub const ONLY_RESERVE: u32 = 5;

/// Bytes of a map page before its entries: check, horizon.
pub const LEAF_HEAD: u32 = 12;

/// Which of the device's areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Area {
    /// The SLC region of a device that has both regions.
    Fast,
    /// The large region, or the only one.
    Main,
}

/// An area: blocks of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AreaShape {
    /// The region that it lies in.
    pub region: Region,
    /// Its first block there.
    pub first: u32,
    /// Its blocks.
    pub blocks: u32,
    /// Pages of a block.
    pub pages: u16,
    /// Sectors of a page.
    pub slots: u16,
    /// Bytes of a page.
    pub page_bytes: Bytes,
    /// Spare bytes of a page.
    pub spare_bytes: Bytes,
    /// Which of its pages share cells.
    pub pairing: Pairing,
    /// Pages of a block that no earlier page of it endangers.
    pub word_lines: u16,
    /// The number of its first block.
    pub first_block: u32,
    /// The number of its first place.
    pub first_place: u32,
}

impl AreaShape {
    const fn new(region: Region, shape: &RegionGeometry, sector: Bytes) -> Self {
        Self {
            region,
            first: 0,
            blocks: shape.blocks.get(),
            pages: shape.pages_per_block.get() as u16,
            slots: (shape.page_bytes.get() / sector.get()) as u16,
            page_bytes: shape.page_bytes,
            spare_bytes: shape.spare_bytes,
            pairing: shape.pairing,
            word_lines: shape.pairing.word_lines(shape.pages_per_block).get() as u16,
            first_block: 0,
            first_place: 0,
        }
    }

    /// The same without its first blocks: headers and anchors.
    const fn after(self, anchors: u16) -> Self {
        let first = HEADERS as u32 + anchors as u32;
        Self { first, blocks: self.blocks.saturating_sub(first), ..self }
    }

    /// The most pages that are left out where what is programmed so far is relied upon at one moment.
    const fn left_out_max(&self) -> u16 {
        let mut most = 0;
        let mut relied = 1;
        while relied < self.pages {
            let mut count = 0;
            let mut page = relied;
            while page < self.pages && page < relied.saturating_add(64) {
                if !self.pairing.is_first(PageIndex::new(page), self.page_count())
                    && self.shares_with_earlier(page, relied)
                {
                    count += 1;
                }
                page += 1;
            }
            if count > most {
                most = count;
            }
            relied += 1;
        }
        most
    }

    const fn shares_with_earlier(&self, page: u16, relied: u16) -> bool {
        let count = self.page_count();
        let line = self.pairing.word_line(PageIndex::new(page), count);
        let mut other = relied.saturating_sub(64);
        while other < relied {
            if self.pairing.word_line(PageIndex::new(other), count) == line {
                return true;
            }
            other += 1;
        }
        false
    }

    /// Slots of a block.
    pub const fn block_slots(&self) -> u32 {
        self.pages as u32 * self.slots as u32
    }

    /// Places of the area.
    pub const fn places(&self) -> u64 {
        self.blocks as u64 * self.block_slots() as u64
    }

    /// Pages of a block.
    pub const fn page_count(&self) -> PageCount {
        PageCount::new(self.pages as u32)
    }

    /// Whether a program may endanger pages that were programmed before.
    #[inline]
    pub const fn shares_cells(&self) -> bool {
        self.word_lines < self.pages
    }

    /// The number of one of its pages.
    pub const fn page_number(&self, spot: Spot) -> u32 {
        (spot.block.get() - self.first_block) * self.pages as u32 + spot.page as u32
    }

    /// The page with that number.
    pub const fn spot_of_page(&self, number: u32) -> Spot {
        let (block, page) = divided(number, self.pages as u32);
        Spot { block: BlockNumber::new(self.first_block + block), page: page as u16 }
    }

    /// Whether a block is one of its.
    #[inline]
    pub const fn holds(&self, block: BlockNumber) -> bool {
        block.get() >= self.first_block && block.get() - self.first_block < self.blocks
    }
}

/// How the device is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagedShape {
    /// The unit of mapping.
    pub sector_bytes: Bytes,
    /// Sectors that the host may use.
    pub capacity: SectorCount,
    /// The small area, on a device of two regions.
    pub fast: Option<AreaShape>,
    /// The large one.
    pub main: AreaShape,
    /// Blocks for anchors, behind the headers.
    pub anchors: u16,
    /// Map pages.
    pub leaves: u32,
    /// Sectors of a map page.
    pub leaf_sectors: u32,
    /// Bytes of an entry.
    pub entry_bytes: u8,
    /// Bytes of the directory's entries.
    pub directory_bytes: u8,
    /// Bytes of a block's number in an anchor.
    pub block_bytes: u8,
    /// Cells of the table of dirty entries: whole groups.
    pub table_cells: u32,
    /// Entries that it may have; three quarters to five sixths of its cells.
    pub table_entries: u32,
    /// Map pages in RAM.
    pub cached: u16,
    /// Streams of the main area beyond two: a cut leaves a block of each that is hardly filled.
    pub more_streams: u32,
    /// Blocks of the main area that must be good for every write to be taken.
    pub main_needed: u32,
    /// The same of the fast area.
    pub fast_needed: u32,
}

/// Bytes that numbers below this one take, two more numbers among them for "nowhere" and "lost".
const fn bytes_for(numbers: u64) -> u8 {
    let mut bytes = 1;
    while bytes < 4 && numbers + 2 > 1 << (8 * bytes) {
        bytes += 1;
    }
    bytes
}

/// Bytes that a block's number takes in an anchor, of that many blocks.
const fn block_bytes(blocks: u32) -> u8 {
    match bytes_for(blocks as u64) {
        1 => 2,
        bytes => bytes,
    }
}

/// Cells for that many entries: six for five, and more where they are few. The fuller the table, the longer is the way
/// to an entry; small tables are those of small processors, and there it counts.
const fn table_cells(entries: u32) -> u32 {
    const MORE: u32 = 128;
    let more = entries / 8;
    entries + entries / 5 + if more < MORE { more } else { MORE }
}

/// Quotient and remainder. No area is without pages or slots, which the compiler does not know.
#[inline]
const fn divided(number: u32, by: u32) -> (u32, u32) {
    let by = if by == 0 { 1 } else { by };
    (number / by, number % by)
}

impl PagedShape {
    /// The fast area, where there is one, and the main one.
    const fn areas(
        geometry: &Geometry,
        config: &PagedConfig,
    ) -> Result<(Option<AreaShape>, AreaShape), PagedShapeError> {
        let sector = config.sector_bytes;
        Ok(match (geometry.slc(), geometry.mlc()) {
            (Some(slc), Some(mlc)) => (
                Some(AreaShape::new(Region::Slc, slc, sector).after(config.anchor_blocks)),
                AreaShape::new(Region::Mlc, mlc, sector),
            ),
            (Some(only), None) => {
                (None, AreaShape::new(Region::Slc, only, sector).after(config.anchor_blocks))
            }
            (None, Some(only)) => {
                (None, AreaShape::new(Region::Mlc, only, sector).after(config.anchor_blocks))
            }
            (None, None) => return Err(PagedShapeError::SectorBytes),
        })
    }

    /// The division of that device.
    pub const fn new(geometry: &Geometry, config: &PagedConfig) -> Result<Self, PagedShapeError> {
        let sector = config.sector_bytes;
        if !sector.get().is_power_of_two() || sector.get() < 512 {
            return Err(PagedShapeError::SectorBytes);
        }
        let (fast, mut main) = match Self::areas(geometry, config) {
            Ok(areas) => areas,
            Err(error) => return Err(error),
        };
        let mut map = main;
        let mut places = main.places();
        if let Some(fast) = &fast {
            places += fast.places();
            main.first_block = fast.blocks;
            main.first_place = fast.places() as u32;
            map = *fast;
        }
        if map.slots == 0 || main.slots == 0 {
            return Err(PagedShapeError::SectorBytes);
        }
        if places >= 1 << Place::BITS {
            return Err(PagedShapeError::Places);
        }
        if main.block_slots() >= 1 << 13 || map.block_slots() >= 1 << 13 {
            return Err(PagedShapeError::BlockSlots);
        }
        let tags = [layout::tag_bytes(map.slots), layout::tag_bytes(main.slots)];
        if tags[0] > map.spare_bytes.as_usize() || tags[1] > main.spare_bytes.as_usize() {
            return Err(PagedShapeError::SpareBytes);
        }
        let capacity = match config.capacity {
            Some(capacity) => capacity.get(),
            None => (main.places() * 19 / 20) as u32,
        };
        let entry_bytes = bytes_for(places);
        let leaf_sectors = (map.page_bytes.get() - LEAF_HEAD) / entry_bytes as u32;
        let shape = Self {
            sector_bytes: sector,
            capacity: SectorCount::new(capacity),
            fast,
            main,
            anchors: config.anchor_blocks,
            leaves: capacity.div_ceil(leaf_sectors),
            leaf_sectors,
            entry_bytes,
            directory_bytes: bytes_for(map.blocks as u64 * map.pages as u64),
            block_bytes: block_bytes(main.first_block + main.blocks),
            table_cells: (table_cells(config.dirty_entries)
                + 2 * main.slots as u32
                + 2 * map.slots as u32)
                .next_multiple_of(GROUP as u32),
            table_entries: config.dirty_entries,
            cached: config.cached_leaves,
            more_streams: config.streams.count().saturating_sub(2) as u32,
            main_needed: 0,
            fast_needed: 0,
        };
        shape.with_needs(config)
    }

    /// How many blocks must be good, and whether the device has them.
    const fn with_needs(mut self, config: &PagedConfig) -> Result<Self, PagedShapeError> {
        let map = self.map_area();
        let usable = match config.paired_pages {
            PairedPages::Guard => map.word_lines as u32,
            PairedPages::Accept => map.pages as u32,
        };
        // Old versions of map pages take up as much again before they are reclaimed, and one block is open.
        let map_blocks = (2 * self.leaves).div_ceil(usable) + 1;
        let left_out = match config.paired_pages {
            PairedPages::Guard => self.main.left_out_max(),
            PairedPages::Accept => 0,
        };
        let dense = (self.main.pages - left_out) as u32 * self.main.slots as u32;
        let data = self.capacity.get().div_ceil(dense);
        let open = config.streams.count() as u32;
        let main = data + open + self.reserve(Area::Main);
        let (main, fast) = match &self.fast {
            Some(_) => (main, map_blocks + 1 + FAST_RESERVE),
            None => (main + map_blocks, 0),
        };
        if config.cached_leaves < 2 {
            return Err(PagedShapeError::Cache);
        }
        if self.table_entries < 2 * self.main.block_slots()
            || self.table_entries < 2 * map.block_slots()
            || self.table_entries > 1 << 24
        {
            return Err(PagedShapeError::Table);
        }
        let fast_blocks = match &self.fast {
            Some(fast) => fast.blocks,
            None => 0,
        };
        if self.capacity.get() == 0 || main > self.main.blocks || fast > fast_blocks {
            return Err(PagedShapeError::Capacity { main, fast });
        }
        (self.main_needed, self.fast_needed) = (main, fast);
        Ok(self)
    }

    /// Blocks of an area that no host's write opens.
    pub const fn reserve(&self, area: Area) -> u32 {
        match (area, &self.fast) {
            (Area::Fast, Some(_)) => FAST_RESERVE,
            (Area::Main, Some(_)) => MAIN_RESERVE + self.more_streams,
            (_, None) => ONLY_RESERVE + self.more_streams,
        }
    }

    /// The most sectors of a page.
    pub const fn slots_max(&self) -> u16 {
        let map = self.map_area();
        if map.slots > self.main.slots { map.slots } else { self.main.slots }
    }

    /// The area that holds the map.
    pub const fn map_area(&self) -> &AreaShape {
        match &self.fast {
            Some(fast) => fast,
            None => &self.main,
        }
    }

    /// That area; on a device of one region there is but one.
    #[inline]
    pub const fn area(&self, area: Area) -> &AreaShape {
        match area {
            Area::Fast => self.map_area(),
            Area::Main => &self.main,
        }
    }

    /// The area of a block.
    #[inline]
    pub const fn area_of(&self, block: BlockNumber) -> Area {
        // Those of the fast area come first.
        if block.get() >= self.main.first_block { Area::Main } else { Area::Fast }
    }

    /// The area of a block, as it is shaped.
    #[inline]
    pub const fn area_at(&self, block: BlockNumber) -> &AreaShape {
        if block.get() >= self.main.first_block { &self.main } else { self.map_area() }
    }

    /// Blocks of both areas.
    pub const fn blocks(&self) -> u32 {
        self.main.first_block + self.main.blocks
    }

    /// Places of both areas.
    pub const fn places(&self) -> u32 {
        self.main.first_place + self.main.places() as u32
    }

    /// How many whole sectors that many bytes are.
    #[inline]
    pub const fn whole_sectors(&self, bytes: usize) -> usize {
        // A power of two: the shape was checked.
        bytes >> self.sector_bytes.get().trailing_zeros()
    }

    /// The leaf of a sector, and its number there.
    #[inline]
    pub const fn leaf_of(&self, sector: Sector) -> (Leaf, u32) {
        let (leaf, number) = divided(sector.get(), self.leaf_sectors);
        (Leaf::new(leaf), number)
    }

    /// The first sector of a leaf, and how many it has.
    pub const fn sectors_of(&self, leaf: Leaf) -> (Sector, u32) {
        let first = leaf.get() * self.leaf_sectors;
        let left = self.capacity.get().saturating_sub(first);
        (Sector::new(first), if left < self.leaf_sectors { left } else { self.leaf_sectors })
    }

    /// The place of a slot.
    #[inline]
    pub const fn place(&self, spot: Spot, slot: u16) -> Place {
        let area = self.area_at(spot.block);
        let block = spot.block.get() - area.first_block;
        let page = block * area.pages as u32 + spot.page as u32;
        Place::new(area.first_place + page * area.slots as u32 + slot as u32)
    }

    /// The slot of a place.
    #[inline]
    pub const fn spot(&self, place: Place) -> (Spot, u16) {
        let main = place.get() >= self.main.first_place;
        let area = if main { &self.main } else { self.map_area() };
        let within = place.get() - area.first_place;
        let (page, slot) = divided(within, area.slots as u32);
        let (block, page) = divided(page, area.pages as u32);
        let block = BlockNumber::new(area.first_block + block);
        (Spot { block, page: page as u16 }, slot as u16)
    }

    /// The block of a place.
    #[inline]
    pub const fn block_of(&self, place: Place) -> BlockNumber {
        let main = place.get() >= self.main.first_place;
        let area = if main { &self.main } else { self.map_area() };
        let (block, _) = divided(place.get() - area.first_place, area.block_slots());
        BlockNumber::new(area.first_block + block)
    }

    /// The number of a map page in the directory.
    pub const fn map_page(&self, spot: Spot) -> u32 {
        self.map_area().page_number(spot)
    }

    /// The map page with that number in the directory.
    pub const fn map_spot(&self, number: u32) -> Spot {
        self.map_area().spot_of_page(number)
    }
}

/// Why a configuration does not fit a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PagedShapeError {
    /// The sector size is not a power of two between 512 bytes and the smaller page.
    SectorBytes,
    /// The spare area is too small for a page's tag.
    SpareBytes,
    /// A block has more than 8,191 sectors.
    BlockSlots,
    /// The device has more than 2^30 sectors.
    Places,
    /// The table of dirty entries has fewer than two blocks' sectors, or more than 2^24.
    Table,
    /// The cache has fewer than two pages.
    Cache,
    /// The device is too small for the capacity.
    Capacity {
        /// Blocks that it takes in the main area.
        main: u32,
        /// Blocks that it takes in the fast area.
        fast: u32,
    },
}

impl fmt::Display for PagedShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SectorBytes => {
                f.write_str("the sector must be a power of two from 512 bytes to the smaller page")
            }
            Self::SpareBytes => {
                f.write_str("the spare area is too small for a tag: choose larger sectors")
            }
            Self::BlockSlots => {
                f.write_str("a block has more than 8191 sectors: choose larger sectors")
            }
            Self::Places => {
                f.write_str("the device has more than 2^30 sectors: choose larger sectors")
            }
            Self::Table => f.write_str(
                "the table of dirty entries must hold those of two blocks, and at most 2^24",
            ),
            Self::Cache => f.write_str("the map cache needs two pages"),
            Self::Capacity { main, fast } => write!(
                f,
                "the capacity needs {main} blocks of the main area and {fast} of the fast one, and the device has \
                 fewer: export less"
            ),
        }
    }
}

impl core::error::Error for PagedShapeError {}
