//! How the FTL divides the device: numbers that follow from geometry and configuration, and why some combinations
//! cannot work.
//!
//! ```text
//! hybrid           SLC region: [meta][ log ............]   MLC region: [ chains .......................]
//! one region       [meta][ log ........][ chains ................................................]
//! no log           [meta][ chains ................................................................]
//!
//! meta             [header][header][rescue][rescue][ place of checkpoints ][ place of checkpoints ]
//! ```

mod divide;
mod error;
pub mod index;

pub use crate::layout::SLOTS_MAX;
pub use error::ShapeError;

use core::num::NonZeroU32;
use core::ops::Range;

use ftl_iface::{
    BlockCount, Bytes, Geometry, PageCount, Pairing, Region, RegionGeometry, SectorCount,
};

use crate::config::{Config, LogRegion, PairedPages};
use crate::hybrid::address::{BlockNumber, LogBlock, LogicalBlock};
use crate::layout;
use crate::quotient;
use crate::table::{Width, short, word};

pub use crate::layout::HEADER_BLOCKS;

/// Blocks for the copies that a mount makes of data which a power cut may have damaged. They follow the headers, and
/// are used in turn.
pub const RESCUE_BLOCKS: u16 = 2;

/// Their numbers in the meta area.
pub const RESCUE: Range<u16> = HEADER_BLOCKS..HEADER_BLOCKS + RESCUE_BLOCKS;

/// Areas for checkpoints, behind those blocks. They are used in turn, and one of them may go bad.
pub const CHECKPOINT_AREAS: u16 = 2;

/// Blocks of the meta area for one checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointArea {
    /// Its first block.
    pub first: u16,
    /// Its number of blocks.
    pub blocks: u16,
    /// Pages per block.
    pub pages: u16,
}

impl CheckpointArea {
    /// Returns the checkpoint area with this number in a meta area.
    pub const fn new(meta: &Area, number: u16) -> Self {
        let before = RESCUE.end;
        let blocks = short(meta.blocks).saturating_sub(before) / CHECKPOINT_AREAS;
        Self { first: before + number * blocks, blocks, pages: meta.pages }
    }

    /// Returns the number of the page with the seal, which is the last.
    pub const fn seal(&self) -> u32 {
        (self.blocks as u32 * self.pages as u32).saturating_sub(1)
    }

    /// Returns the block with the seal.
    pub const fn seal_block(&self) -> u16 {
        (self.first + self.blocks).saturating_sub(1)
    }

    /// Returns block and page of a page with this number.
    pub const fn page(&self, number: u32) -> (u16, u16) {
        match (number.checked_div(self.pages as u32), number.checked_rem(self.pages as u32)) {
            (Some(block), Some(page)) => (self.first + block as u16, page as u16),
            _ => (self.first, 0),
        }
    }
}

/// The spare blocks that chains need at least: one for a log block, one for a fold.
pub const SPARE_BLOCKS_MIN: u16 = 2;

/// A run of blocks of one region that serve one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// Its region.
    pub region: Region,
    /// The number of its first block in the region.
    pub first: u32,
    /// Its blocks.
    pub blocks: BlockNumber,
    /// Used pages per block. If several pages share a word line, meta area and log use only the first of them, so that
    /// their programs endanger no other page.
    pub pages: u16,
    /// Bytes per page.
    pub page_bytes: Bytes,
    /// Spare bytes per page.
    pub spare_bytes: Bytes,
    /// Sectors per page, a power of two.
    pub slots: u16,
}

impl Area {
    /// Returns the sectors per block.
    #[inline]
    pub const fn sectors_per_block(&self) -> u32 {
        self.pages as u32 * self.slots as u32
    }

    /// Returns the number of blocks, with or without the feature `wide`.
    #[inline]
    pub const fn block_count(&self) -> BlockCount {
        BlockCount::new(word(self.blocks))
    }

    /// Returns the number of blocks of an area that is not for chains, in 16 bits.
    #[inline]
    pub(crate) const fn short_blocks(&self) -> u16 {
        short(self.blocks)
    }

    /// Returns the data pages of a log block, which come before its summary.
    pub const fn data_pages(&self) -> u16 {
        self.pages - layout::summary_pages(self.pages, self.slots, self.page_bytes)
    }

    const fn new(
        region: Region,
        shape: &RegionGeometry,
        blocks: Range<u32>,
        sector: Bytes,
        pages: PageCount,
    ) -> Result<Self, ShapeError> {
        if shape.page_bytes.get() < sector.get() {
            return Err(ShapeError::SectorBytes(sector));
        }
        // The caller has checked that the sector size is a power of two. The compiler does not always see that here,
        // and a plain division would then link panic code.
        let Some(slots) = shape.page_bytes.get().checked_div(sector.get()) else {
            return Err(ShapeError::SectorBytes(sector));
        };
        if slots as usize > SLOTS_MAX {
            return Err(ShapeError::SlotsPerPage { slots });
        }
        let needed = layout::tag_bytes(slots as u16);
        if (shape.spare_bytes.get() as usize) < needed {
            return Err(ShapeError::SpareBytes { region, needed, given: shape.spare_bytes });
        }
        Ok(Self {
            region,
            first: blocks.start,
            blocks: (blocks.end - blocks.start) as BlockNumber,
            pages: pages.get() as u16,
            page_bytes: shape.page_bytes,
            spare_bytes: shape.spare_bytes,
            slots: slots as u16,
        })
    }
}

/// The device as the FTL divides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The pairing of the first region's pages; meta area and log use only the first page of each word line.
    pub word_lines: Pairing,
    /// The pairing of the chains' pages, if it is to be respected.
    pub guarded: Pairing,
    /// Header and checkpoints.
    pub meta: Area,
    /// The circular log, if there is one.
    pub log: Option<Area>,
    /// The chains.
    pub chain: Area,
    /// The unit of mapping.
    pub sector_bytes: Bytes,
    /// Exported sectors.
    pub capacity: SectorCount,
    /// Logical blocks of the exported sectors.
    pub logical_blocks: BlockNumber,
    /// Sectors per logical block, as many as a chain block holds.
    pub sectors_per_block: NonZeroU32,
}

impl Shape {
    /// Returns the number of logical blocks, with or without the feature `wide`.
    #[cfg(feature = "internals")]
    pub const fn logical_block_count(&self) -> BlockCount {
        BlockCount::new(word(self.logical_blocks))
    }

    /// Returns the width of the numbers of chain blocks and logical blocks.
    pub const fn width(&self) -> Width {
        Width::of(self.chain.blocks)
    }

    /// Returns the pages of log and chains, which are programmed again and again.
    pub const fn page_count(&self) -> u64 {
        let log = match &self.log {
            Some(area) => area.blocks as u64 * area.pages as u64,
            None => 0,
        };
        let meta = self.meta.blocks as u64 * self.meta.pages as u64;
        meta + log + self.chain.blocks as u64 * self.chain.pages as u64
    }

    /// Divides the device, with this many blocks per checkpoint area, or returns why it cannot.
    pub(crate) const fn with_places(
        geometry: &Geometry,
        config: &Config,
        place_blocks: u32,
    ) -> Result<Self, ShapeError> {
        let sector = config.sector_bytes;
        if sector.get() < 512 || !sector.get().is_power_of_two() {
            return Err(ShapeError::SectorBytes(sector));
        }
        let (meta, log, chain) = match Self::divide(geometry, config, place_blocks) {
            Ok(parts) => parts,
            Err(error) => return Err(error),
        };
        let word_lines = Self::pairing(geometry, meta.region);
        let guarded = match config.paired_pages {
            PairedPages::Guard => Self::pairing(geometry, chain.region),
            PairedPages::Accept => Pairing::None,
        };
        let Some(sectors_per_block) = NonZeroU32::new(chain.sectors_per_block()) else {
            return Err(ShapeError::SectorBytes(sector));
        };
        // A slot in a chain's log blocks is stored in 16 bits, two values of which have other meanings. A chain without
        // data block may have one log block more than the limit, and another while it is folded.
        let places = (config.chain_log_blocks_max as u32 + 2) * sectors_per_block.get();
        if config.chain_log_blocks_max == 0 || places > (u16::MAX - 1) as u32 {
            let most = (u16::MAX - 1) as u32 / sectors_per_block.get();
            return Err(ShapeError::ChainLogBlocks { most: most.saturating_sub(2) });
        }
        let needed = Self::rescue_pages(&meta, log.as_ref(), &chain, (word_lines, guarded));
        if (meta.pages as u32) < needed {
            return Err(ShapeError::MetaPages { pages: meta.pages, needed });
        }
        let (capacity, logical_blocks) = match Self::export(config, &chain, sectors_per_block) {
            Ok(export) => export,
            Err(error) => return Err(error),
        };
        Ok(Self {
            word_lines,
            guarded,
            meta,
            log,
            chain,
            sector_bytes: sector,
            capacity,
            logical_blocks,
            sectors_per_block,
        })
    }

    /// Returns the pages that a rescue block needs: for a copy of two pages of the chains and of those backed up in the
    /// log, a commit, and its proof.
    const fn rescue_pages(
        meta: &Area,
        log: Option<&Area>,
        chain: &Area,
        (word_lines, guarded): (Pairing, Pairing),
    ) -> u32 {
        let backups = match (log, word_lines) {
            (Some(_), Pairing::None) => guarded.endangered_max() as u32,
            _ => 0,
        };
        // A page has at least one slot; a plain division would link panic code, as above.
        let slots = chain.slots as u32 + meta.slots as u32 - 1;
        match slots.checked_div(meta.slots as u32) {
            Some(pages) => pages * (2 + backups) + 2,
            None => 0,
        }
    }

    const fn pairing(geometry: &Geometry, region: Region) -> Pairing {
        match geometry.region(region) {
            Some(shape) => shape.pairing,
            None => Pairing::None,
        }
    }

    const fn divide(
        geometry: &Geometry,
        config: &Config,
        place_blocks: u32,
    ) -> Result<(Area, Option<Area>, Area), ShapeError> {
        let sector = config.sector_bytes;
        let meta_blocks =
            (HEADER_BLOCKS + RESCUE_BLOCKS) as u32 + CHECKPOINT_AREAS as u32 * place_blocks;
        let (first, log_region, log_blocks, chain_region) =
            match Self::regions(geometry, config.log, meta_blocks) {
                Ok(regions) => regions,
                Err(error) => return Err(error),
            };
        let (Some(first_shape), Some(chain_shape)) =
            (geometry.region(first), geometry.region(chain_region))
        else {
            return Err(ShapeError::LogRegion(config.log));
        };
        if log_region.is_some() && log_blocks < 2 {
            return Err(ShapeError::LogBlocks { blocks: log_blocks });
        }
        let most = LogBlock::LAST as u32;
        let blocks = if meta_blocks > log_blocks { meta_blocks } else { log_blocks };
        if blocks > most {
            return Err(ShapeError::TooManyLogBlocks { blocks });
        }
        let pages = first_shape.pairing.word_lines(first_shape.pages_per_block);
        let meta = match Area::new(first, first_shape, 0..meta_blocks, sector, pages) {
            Ok(area) => area,
            Err(error) => return Err(error),
        };
        let log_end = meta_blocks + log_blocks;
        let log = match log_region {
            Some(shape) => match Area::new(first, shape, meta_blocks..log_end, sector, pages) {
                Ok(area) => Some(area),
                Err(error) => return Err(error),
            },
            None => None,
        };
        if let Some(area) = &log
            && area.data_pages() == 0
        {
            return Err(ShapeError::LogPages { pages: area.pages });
        }
        // Chains follow in the same region, or have their own.
        let taken = match (first, chain_region) {
            (Region::Slc, Region::Slc) | (Region::Mlc, Region::Mlc) => log_end,
            _ => 0,
        };
        let left = chain_shape.blocks.get().saturating_sub(taken);
        if left > word(LogicalBlock::LAST) {
            return Err(ShapeError::TooManyBlocks { blocks: left });
        }
        let pages = chain_shape.pages_per_block;
        match Area::new(chain_region, chain_shape, taken..taken + left, sector, pages) {
            Ok(chain) => Ok((meta, log, chain)),
            Err(error) => Err(error),
        }
    }

    /// Returns the region in which the areas begin, the log's region and blocks, and the chains' region.
    const fn regions(
        geometry: &Geometry,
        log: LogRegion,
        meta_blocks: u32,
    ) -> Result<(Region, Option<&RegionGeometry>, u32, Region), ShapeError> {
        Ok(match (log, geometry.slc(), geometry.mlc()) {
            (LogRegion::SlcRegion, Some(slc), Some(_)) => {
                let blocks = slc.blocks.get().saturating_sub(meta_blocks);
                (Region::Slc, Some(slc), blocks, Region::Mlc)
            }
            (LogRegion::FirstBlocks(blocks), Some(slc), None) => {
                (Region::Slc, Some(slc), blocks as u32, Region::Slc)
            }
            (LogRegion::FirstBlocks(blocks), None, Some(mlc)) => {
                (Region::Mlc, Some(mlc), blocks as u32, Region::Mlc)
            }
            (LogRegion::None, _, Some(_)) => (Region::Mlc, None, 0, Region::Mlc),
            (LogRegion::None, _, None) => (Region::Slc, None, 0, Region::Slc),
            (LogRegion::SlcRegion | LogRegion::FirstBlocks(_), _, _) => {
                return Err(ShapeError::LogRegion(log));
            }
        })
    }

    const fn export(
        config: &Config,
        chain: &Area,
        sectors_per_block: NonZeroU32,
    ) -> Result<(SectorCount, BlockNumber), ShapeError> {
        let most = word(chain.blocks).saturating_sub(SPARE_BLOCKS_MIN as u32);
        let most_sectors = most as u64 * sectors_per_block.get() as u64;
        if most_sectors > layout::SECTORS_MAX as u64 {
            return Err(ShapeError::TooManySectors { sectors: most_sectors });
        }
        let (capacity, blocks) = if let Some(capacity) = config.capacity {
            (capacity, quotient::ceil(capacity.get(), sectors_per_block.get()))
        } else {
            // One block in 21 is spare, but never fewer than needed.
            let blocks = word(chain.blocks);
            let share = blocks - quotient::ceil(blocks, 21);
            let blocks = if share > most { most } else { share };
            (SectorCount::new(blocks * sectors_per_block.get()), blocks)
        };
        if blocks == 0 || blocks > most {
            return Err(ShapeError::Capacity {
                asked: capacity,
                most: SectorCount::new(most * sectors_per_block.get()),
            });
        }
        Ok((capacity, blocks as BlockNumber))
    }
}

/// Returns the free blocks kept to replace those that fail in one request: two if the reserve is large, one while there
/// is any. If more fail in one request, no block may be left for a fold, and the device becomes read-only before its
/// reserve is used up.
pub(crate) const fn kept_in_hand(reserve: BlockNumber) -> BlockNumber {
    match reserve {
        0 => 0,
        1..LARGE_RESERVE => 1,
        _ => 2,
    }
}

/// The reserve from which on two blocks are kept: a quarter of it. Keeping more would cost too much speed, because
/// folds would have fewer free blocks.
const LARGE_RESERVE: BlockNumber = 8;
