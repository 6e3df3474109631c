//! Every byte of RAM, named. The plan follows from geometry and configuration at compile time; the caller lends slices
//! of just those lengths; nothing is ever allocated.
//!
//! ```
//! use ftl_core::{Config, RamPlan};
//! use ftl_iface::{BlockCount, Bytes, Cell, Geometry, PageCount, Pairing, RegionGeometry};
//!
//! const SLC: RegionGeometry = RegionGeometry {
//!     cell: Cell::Slc,
//!     blocks: BlockCount::new(1024),
//!     pages_per_block: PageCount::new(64),
//!     page_bytes: Bytes::new(2048),
//!     spare_bytes: Bytes::new(64),
//!     pairing: Pairing::None,
//! };
//! const PLAN: RamPlan = match Geometry::new(Some(SLC), None) {
//!     Ok(geometry) => match RamPlan::new(&geometry, &Config::one_region(64)) {
//!         Ok(plan) => plan,
//!         Err(_) => panic!("the configuration does not fit the chip"),
//!     },
//!     Err(_) => panic!("the geometry is impossible"),
//! };
//! static WORDS: [u32; PLAN.words()] = [0; PLAN.words()];
//! static HALVES: [u16; PLAN.halves()] = [0; PLAN.halves()];
//! static BYTES: [u8; PLAN.bytes()] = [0; PLAN.bytes()];
//! assert!(PLAN.total_bytes() < 24 * 1024);
//! ```

use ftl_iface::{BlockCount, Bytes, Geometry, SectorCount};

use crate::config::{Config, IndexConfig, LogRegion};
use crate::hybrid::address::{ChainBlock, LogBlock, LogicalBlock};
use crate::hybrid::mlc::maps::maps_for;
use crate::hybrid::mlc::sketch::halves_for;
use crate::hybrid::shape::{Shape, ShapeError};
use crate::hybrid::slc::index::IndexShape;
use crate::hybrid::wear::DualPool;
use crate::layout;
#[cfg(feature = "alloc")]
use crate::memory::Owned;
use crate::memory::{Lent, Plan, PlanRow, sum};
use crate::table::Bits;

/// The tables, in the order in which they take their part of the lent slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum TableName {
    /// First block of each chain (L2P).
    ChainFirst,
    /// The block after each block (LB).
    ChainNext,
    /// Erase counts of the chain region.
    EraseCounts,
    /// Whom each cached map belongs to.
    MapOwners,
    /// Next free page of each cached chain.
    MapNextPages,
    /// Cached maps.
    MapCells,
    /// What the log blocks of each chain may hold.
    Sketches,
    /// Hash table of the log.
    IndexLow,
    /// Slots of the log's head block.
    HeadCodes,
    /// Slots of the log's tail block.
    TailCodes,
    /// What the last page of each cached chain says, for the page after it.
    MapLastNotes,
    /// The page buffer. It and the spare areas come before tables of any length, so that they lie on whole words where
    /// the memory does: they are copied from and to, which takes several times as long elsewhere.
    PageBuffer,
    /// Spare area to program pages of the log from.
    LogSpare,
    /// Spare area to program pages of chains from.
    ChainSpare,
    /// Tag to read into.
    ReadSpare,
    /// Fifth byte of the hash table's entries, where four do not suffice.
    IndexHigh,
    /// Pools and effective erase counts of dual-pool wear leveling.
    WearPools,
    /// Bad blocks of the log.
    LogBad,
    /// Chains that have a data block.
    HasData,
    /// Chains written lately.
    Recent,
    /// Chains whose last log block takes no more pages.
    Sealed,
    /// Chains whose sectors in the log are not proved newest yet.
    Unproved,
    /// Chains of which the log may hold sectors.
    Logged,
    /// Flags of the cached maps.
    MapFlags,
    /// Sectors written to the chain that is being folded.
    FoldTouched,
    /// Sectors that the fold took from the log.
    FoldCollected,
}

const TABLES: usize = 26;
const FIRST_WORD: usize = TableName::IndexLow as usize;
const FIRST_BYTE: usize = TableName::PageBuffer as usize;

const NAMES: [(&str, TableName); TABLES] = [
    ("L2P: first block of each chain", TableName::ChainFirst),
    ("LB: the block after each block", TableName::ChainNext),
    ("erase counts", TableName::EraseCounts),
    ("mapping cache: owners", TableName::MapOwners),
    ("mapping cache: next pages", TableName::MapNextPages),
    ("mapping cache: maps", TableName::MapCells),
    ("sketches of chains", TableName::Sketches),
    ("hash table", TableName::IndexLow),
    ("slots of the log's head block", TableName::HeadCodes),
    ("slots of the log's tail block", TableName::TailCodes),
    ("mapping cache: last pages", TableName::MapLastNotes),
    ("page buffer", TableName::PageBuffer),
    ("spare area, log", TableName::LogSpare),
    ("spare area, chains", TableName::ChainSpare),
    ("tag read last", TableName::ReadSpare),
    ("hash table: fifth bytes", TableName::IndexHigh),
    ("wear pools", TableName::WearPools),
    ("bad blocks of the log", TableName::LogBad),
    ("chains with a data block", TableName::HasData),
    ("chains written lately", TableName::Recent),
    ("chains whose last block is sealed", TableName::Sealed),
    ("chains not yet proved", TableName::Unproved),
    ("chains with sectors in the log", TableName::Logged),
    ("mapping cache: flags", TableName::MapFlags),
    ("fold: sectors written since", TableName::FoldTouched),
    ("fold: sectors from the log", TableName::FoldCollected),
];

/// What a plan follows from: the device, and of the configuration that which a table or a limit depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Given {
    geometry: Geometry,
    sector_bytes: Bytes,
    capacity: Option<SectorCount>,
    log: LogRegion,
    index: IndexConfig,
    chain_log_blocks_max: u8,
    mapping_cache_entries: u16,
    chain_sketch_halves: u8,
}

impl Given {
    const fn new(geometry: &Geometry, config: &Config) -> Self {
        Self {
            geometry: *geometry,
            sector_bytes: config.sector_bytes,
            capacity: config.capacity,
            log: config.log,
            index: config.index,
            chain_log_blocks_max: config.chain_log_blocks_max,
            mapping_cache_entries: config.mapping_cache_entries,
            chain_sketch_halves: config.chain_sketch_halves,
        }
    }
}

/// How much RAM the FTL needs, table by table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RamPlan {
    given: Given,
    shape: Shape,
    index: Option<IndexShape>,
    lengths: [usize; TABLES],
}

impl RamPlan {
    /// The plan for that device and configuration.
    pub const fn new(geometry: &Geometry, config: &Config) -> Result<Self, ShapeError> {
        let shape = match Shape::new(geometry, config) {
            Ok(shape) => shape,
            Err(error) => return Err(error),
        };
        let index = match Self::index(&shape, config) {
            Ok(index) => index,
            Err(error) => return Err(error),
        };
        let chain_blocks = BlockCount::new(shape.chain.blocks as u32);
        let sectors = shape.sectors_per_block.get();
        let logical_bits = Bits::<LogicalBlock>::bytes_for(shape.logical_blocks as u32);
        let maps = maps_for(config.mapping_cache_entries) as usize;
        let mut lengths = [0; TABLES];
        lengths[TableName::ChainFirst as usize] = shape.logical_blocks as usize;
        lengths[TableName::ChainNext as usize] = shape.chain.blocks as usize;
        lengths[TableName::EraseCounts as usize] = DualPool::counts_for(chain_blocks);
        lengths[TableName::WearPools as usize] = DualPool::bytes_for(chain_blocks);
        lengths[TableName::MapOwners as usize] = maps;
        lengths[TableName::MapNextPages as usize] = maps;
        lengths[TableName::MapFlags as usize] = maps;
        lengths[TableName::MapLastNotes as usize] = maps;
        lengths[TableName::MapCells as usize] = maps * sectors as usize;
        lengths[TableName::Sketches as usize] =
            halves_for(shape.logical_blocks, config.chain_sketch_halves);
        lengths[TableName::HasData as usize] = logical_bits;
        lengths[TableName::Recent as usize] = logical_bits;
        lengths[TableName::Sealed as usize] = logical_bits;
        lengths[TableName::FoldTouched as usize] = Bits::<ChainBlock>::bytes_for(sectors);
        lengths[TableName::FoldCollected as usize] = Bits::<ChainBlock>::bytes_for(sectors);
        let mut page = shape.chain.page_bytes.as_usize();
        if shape.meta.page_bytes.as_usize() > page {
            page = shape.meta.page_bytes.as_usize();
        }
        lengths[TableName::PageBuffer as usize] = page;
        lengths[TableName::LogSpare as usize] = shape.meta.spare_bytes.as_usize();
        lengths[TableName::ChainSpare as usize] = shape.chain.spare_bytes.as_usize();
        let slots =
            if shape.meta.slots > shape.chain.slots { shape.meta.slots } else { shape.chain.slots };
        lengths[TableName::ReadSpare as usize] = layout::tag_bytes(slots);
        if let (Some(log), Some(index)) = (&shape.log, &index) {
            let codes = log.data_pages() as usize * log.slots as usize;
            lengths[TableName::IndexLow as usize] = index.low_words();
            lengths[TableName::IndexHigh as usize] = index.high_bytes();
            lengths[TableName::HeadCodes as usize] = codes;
            lengths[TableName::TailCodes as usize] = tail_codes(codes, index.capacity());
            lengths[TableName::LogBad as usize] = Bits::<LogBlock>::bytes_for(log.blocks as u32);
            lengths[TableName::Unproved as usize] = logical_bits;
            lengths[TableName::Logged as usize] = logical_bits;
        }
        Ok(Self { given: Given::new(geometry, config), shape, index, lengths })
    }

    const fn index(shape: &Shape, config: &Config) -> Result<Option<IndexShape>, ShapeError> {
        let Some(log) = &shape.log else {
            return Ok(None);
        };
        let Some(places) = (log.blocks as u32).checked_mul(log.sectors_per_block()) else {
            return Err(ShapeError::LogPlaces);
        };
        let entries = match config.index.entries {
            Some(entries) => entries,
            None => places / 2,
        };
        // Folds look for every sector of a logical block, also for those that the host may not use.
        let logical = shape.logical_blocks as u32;
        let sectors = SectorCount::new(logical * shape.sectors_per_block.get());
        match IndexShape::new(
            entries,
            sectors,
            places,
            BlockCount::new(log.blocks as u32),
            config.index.probes,
            config.index.probing,
        ) {
            Ok(index) => Ok(Some(index)),
            Err(error) => Err(ShapeError::Index(error)),
        }
    }

    /// Whether it is the plan for that device and configuration. It compares what the plan was made from, so that
    /// firmware whose plan is a `const` need not carry the code that makes one.
    pub fn is_for(&self, geometry: &Geometry, config: &Config) -> bool {
        self.given == Given::new(geometry, config)
    }

    /// How the device is divided.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// How the hash table is laid out, where there is a log.
    pub const fn index_shape(&self) -> Option<&IndexShape> {
        self.index.as_ref()
    }

    /// Elements of 16 bits to lend.
    pub const fn halves(&self) -> usize {
        sum(&self.lengths, 0, FIRST_WORD)
    }

    /// Elements of 32 bits to lend.
    pub const fn words(&self) -> usize {
        sum(&self.lengths, FIRST_WORD, FIRST_BYTE)
    }

    /// Bytes to lend.
    pub const fn bytes(&self) -> usize {
        sum(&self.lengths, FIRST_BYTE, TABLES)
    }

    /// Bytes of all that is lent. The `Ftl` itself comes on top; `size_of` tells how much it is.
    pub const fn total_bytes(&self) -> usize {
        self.halves() * 2 + self.words() * 4 + self.bytes()
    }

    /// The plan, table by table.
    pub fn rows(&self) -> impl Iterator<Item = PlanRow> + '_ {
        NAMES.iter().zip(self.lengths).map(|((name, table), elements)| PlanRow {
            name,
            elements,
            element_bytes: match *table as usize {
                at if at < FIRST_WORD => 2,
                at if at < FIRST_BYTE => 4,
                _ => 1,
            },
        })
    }
}

/// The tail's codes lend their memory to the mount, which looks for chains of moves in a hash table with quadratic
/// probing: in a small table through all of it, in a large one through so many cells before it walks at random.
const fn tail_codes(codes: usize, index_cells: u32) -> usize {
    const CHAIN_CELLS: u32 = 256;
    let cells = if index_cells < CHAIN_CELLS { index_cells } else { CHAIN_CELLS } as usize;
    if cells > codes { cells } else { codes }
}

impl Plan for RamPlan {
    fn elements(&self) -> [usize; 3] {
        [self.halves(), self.words(), self.bytes()]
    }

    fn length(&self, table: usize) -> usize {
        self.lengths.get(table).copied().unwrap_or(0)
    }
}

impl From<TableName> for usize {
    fn from(table: TableName) -> Self {
        table as Self
    }
}

/// Lent memory, of just the lengths of the plan.
pub type Ram<'ram> = Lent<'ram, RamPlan>;

/// Memory on the heap, for hosts.
#[cfg(feature = "alloc")]
pub type OwnedRam = Owned<RamPlan>;
