//! Every byte of RAM, listed by its purpose. The plan follows from geometry and configuration at compile time; the
//! caller lends slices of exactly those lengths; nothing is ever allocated.
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

use ftl_iface::{Bytes, Geometry, SectorCount};

use crate::config::{Config, IndexConfig, LogRegion};
use crate::hybrid::flash::FlashMemory;
use crate::hybrid::logged::LoggedMemory;
use crate::hybrid::mlc::MlcMemory;
use crate::hybrid::shape::{Shape, ShapeError};
use crate::hybrid::slc::LogMemory;
use crate::hybrid::slc::index::{IndexShape, LogSize};
use crate::hybrid::wear::WearMemory;
#[cfg(feature = "alloc")]
use crate::memory::Owned;
use crate::memory::{Declared, Lent, Plan, PlanRow};
use crate::table::word;

/// All tables, as each module declares them. In this order they take their parts of the lent slices.
const DECLARED: [&[Declared]; 5] = [
    &FlashMemory::TABLES,
    &MlcMemory::TABLES,
    &WearMemory::TABLES,
    &LogMemory::TABLES,
    &LoggedMemory::TABLES,
];

const TABLES: usize = {
    let (mut tables, mut room) = (0, 0);
    while room < DECLARED.len() {
        tables += DECLARED[room].len();
        room += 1;
    }
    tables
};

/// The lengths of the tables, module by module.
struct Lengths {
    all: [usize; TABLES],
    /// Elements of 16, 32 and 8 bits.
    elements: [usize; 3],
    filled: usize,
}

impl Lengths {
    const NONE: Self = Self { all: [0; TABLES], elements: [0; 3], filled: 0 };

    /// Adds the lengths of the next module, which declares these tables.
    const fn add(&mut self, declared: &[Declared], lengths: &[usize]) {
        let mut at = 0;
        while at < lengths.len() && at < declared.len() && self.filled < TABLES {
            self.all[self.filled] = lengths[at];
            let width = match declared[at].element_bytes {
                2 => 0,
                4 => 1,
                _ => 2,
            };
            self.elements[width] += lengths[at];
            (self.filled, at) = (self.filled + 1, at + 1);
        }
    }
}

/// What a plan depends on: the device, and the parts of the configuration that decide about a table or a limit.
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
    pub(crate) shape: Shape,
    pub(crate) index: Option<IndexShape>,
    lengths: [usize; TABLES],
    /// Elements of 16, 32 and 8 bits, over all tables.
    elements: [usize; 3],
}

impl RamPlan {
    /// Returns the plan for a device and configuration.
    pub const fn new(geometry: &Geometry, config: &Config) -> Result<Self, ShapeError> {
        let shape = match Shape::new(geometry, config) {
            Ok(shape) => shape,
            Err(error) => return Err(error),
        };
        let index = match Self::index(&shape, config) {
            Ok(index) => index,
            Err(error) => return Err(error),
        };
        let mut lengths = Lengths::NONE;
        lengths.add(&FlashMemory::TABLES, &FlashMemory::lengths(&shape));
        lengths.add(&MlcMemory::TABLES, &MlcMemory::lengths(&shape, config));
        lengths.add(&WearMemory::TABLES, &WearMemory::lengths(shape.chain.blocks));
        lengths.add(&LogMemory::TABLES, &LogMemory::lengths(shape.log.as_ref(), index.as_ref()));
        lengths.add(&LoggedMemory::TABLES, &LoggedMemory::lengths(&shape));
        let Lengths { all: lengths, elements, .. } = lengths;
        Ok(Self { given: Given::new(geometry, config), shape, index, lengths, elements })
    }

    const fn index(shape: &Shape, config: &Config) -> Result<Option<IndexShape>, ShapeError> {
        let Some(log) = &shape.log else {
            return Ok(None);
        };
        let Some(places) = word(log.blocks).checked_mul(log.sectors_per_block()) else {
            return Err(ShapeError::LogPlaces);
        };
        let entries = match config.index.entries {
            Some(entries) => entries,
            None => places / 2,
        };
        // Folds look up every sector of a logical block, also those beyond the exported capacity.
        let logical = word(shape.logical_blocks);
        let sectors = SectorCount::new(logical * shape.sectors_per_block.get());
        match IndexShape::new(
            entries,
            sectors,
            LogSize { slots: places, blocks: log.block_count() },
            config.index.probes,
            config.index.probing,
        ) {
            Ok(index) => Ok(Some(index)),
            Err(error) => Err(ShapeError::Index(error)),
        }
    }

    /// Whether this is the plan for a device and configuration. It compares what the plan was made from, so that
    /// firmware with a `const` plan does not link the code that makes plans.
    pub fn is_for(&self, geometry: &Geometry, config: &Config) -> bool {
        self.given == Given::new(geometry, config)
    }

    /// Returns the division of the device.
    #[cfg(feature = "internals")]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the layout of the hash table, if there is a log.
    #[cfg(feature = "internals")]
    pub const fn index_shape(&self) -> Option<&IndexShape> {
        self.index.as_ref()
    }

    /// Returns the number of 16-bit elements to lend.
    pub const fn halves(&self) -> usize {
        self.elements[0]
    }

    /// Returns the number of 32-bit elements to lend.
    pub const fn words(&self) -> usize {
        self.elements[1]
    }

    /// Returns the number of bytes to lend.
    pub const fn bytes(&self) -> usize {
        self.elements[2]
    }

    /// Returns the bytes of all memory that must be lent. The `Ftl` itself is extra: see `size_of`.
    pub const fn total_bytes(&self) -> usize {
        self.halves() * 2 + self.words() * 4 + self.bytes()
    }

    /// Returns the plan, table by table.
    pub fn rows(&self) -> impl Iterator<Item = PlanRow> + '_ {
        DECLARED.iter().copied().flatten().zip(self.lengths).map(|(declared, elements)| PlanRow {
            name: declared.name,
            elements,
            element_bytes: declared.element_bytes,
        })
    }
}

impl Plan for RamPlan {
    fn elements(&self) -> [usize; 3] {
        self.elements
    }

    fn length(&self, table: usize) -> usize {
        self.lengths.get(table).copied().unwrap_or(0)
    }
}

/// Lent memory, of just the lengths of the plan.
pub type Ram<'ram> = Lent<'ram, RamPlan>;

/// The extra bytes of the `Ftl` itself with the feature `wide`, on 64-bit hosts. A simulator subtracts them for a
/// device that fits without the feature.
#[cfg(all(feature = "internals", feature = "wide"))]
pub const WIDENED_BY: usize = 216;

/// Memory on the heap, for hosts.
#[cfg(feature = "alloc")]
pub type OwnedRam = Owned<RamPlan>;
