//! An area: the blocks of a region that hold data, and the numbers that follow from their shape.

use ftl_iface::{Block, Bytes, Page, PageCount, PageIndex, Pairing, Region, RegionGeometry};

use super::address::{BlockNumber, Place, Spot};
use crate::layout;
use crate::quotient::{divided, floor};

/// Header blocks, at the start of the area that holds the map.
pub const HEADERS: u16 = layout::HEADER_BLOCKS;

/// The areas of a device.
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
    /// Its region.
    pub region: Region,
    /// Its first block in the region.
    pub first: u32,
    /// The number of its blocks.
    pub blocks: u32,
    /// Pages of a block.
    pub pages: u16,
    /// Sectors of a page.
    pub slots: u16,
    /// Bytes of a page.
    pub page_bytes: Bytes,
    /// Spare bytes of a page.
    pub spare_bytes: Bytes,
    /// Which pages share cells.
    pub pairing: Pairing,
    /// Word lines per block: pages whose program endangers no earlier one.
    pub word_lines: u16,
    /// Slots of a block that copies fill at least; the others may be skipped.
    pub copied_slots: u32,
    /// The number of its first block over both areas.
    pub first_block: u32,
    /// The number of its first place over both areas.
    pub first_place: u32,
}

impl AreaShape {
    pub(super) const fn new(region: Region, shape: &RegionGeometry, sector: Bytes) -> Self {
        Self {
            region,
            first: 0,
            blocks: shape.blocks.get(),
            pages: shape.pages_per_block.get() as u16,
            slots: floor(shape.page_bytes.get(), sector.get()) as u16,
            page_bytes: shape.page_bytes,
            spare_bytes: shape.spare_bytes,
            pairing: shape.pairing,
            word_lines: shape.pairing.word_lines(shape.pages_per_block).get() as u16,
            copied_slots: shape.pages_per_block.get() * floor(shape.page_bytes.get(), sector.get()),
            first_block: 0,
            first_place: 0,
        }
    }

    /// Returns the area without its first blocks, which hold headers and anchors.
    pub(super) const fn after(self, anchors: u16) -> Self {
        let first = HEADERS as u32 + anchors as u32;
        Self { first, blocks: self.blocks.saturating_sub(first), ..self }
    }

    /// Returns the most pages skipped when everything programmed so far becomes relied upon at once.
    pub(super) const fn left_out_max(&self) -> u16 {
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

    /// Returns the number of slots of a block.
    pub const fn block_slots(&self) -> u32 {
        self.pages as u32 * self.slots as u32
    }

    /// Returns the number of places.
    pub const fn places(&self) -> u64 {
        self.blocks as u64 * self.block_slots() as u64
    }

    /// Returns the number of pages of a block.
    pub const fn page_count(&self) -> PageCount {
        PageCount::new(self.pages as u32)
    }

    /// Whether a program may endanger earlier pages.
    #[inline]
    pub const fn shares_cells(&self) -> bool {
        self.word_lines < self.pages
    }

    /// Returns the number of a page.
    #[inline]
    pub const fn page_number(&self, spot: Spot) -> u32 {
        (spot.block.get() - self.first_block) * self.pages as u32 + spot.page as u32
    }

    /// Returns the page with this number.
    pub const fn spot_of_page(&self, number: u32) -> Spot {
        let (block, page) = divided(number, self.pages as u32);
        Spot { block: BlockNumber::new(self.first_block + block), page: page as u16 }
    }

    /// Returns a block of the area as one of the device.
    #[inline]
    pub const fn block(&self, block: BlockNumber) -> Block {
        Block::new(self.region, self.first + block.get() - self.first_block)
    }

    /// Returns a page of the area as one of the device.
    #[inline]
    pub const fn page(&self, spot: Spot) -> Page {
        self.block(spot.block).page(PageIndex::new(spot.page))
    }

    /// Returns the place of a slot of the area.
    #[inline]
    pub const fn place(&self, spot: Spot, slot: u16) -> Place {
        Place::new(self.first_place + self.page_number(spot) * self.slots as u32 + slot as u32)
    }

    /// Whether a block belongs to the area.
    #[inline]
    pub const fn holds(&self, block: BlockNumber) -> bool {
        block.get() >= self.first_block && block.get() - self.first_block < self.blocks
    }
}
