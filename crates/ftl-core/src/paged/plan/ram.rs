//! Every byte of RAM of the page store, listed by its purpose. The plan follows from geometry and configuration at
//! compile time; the caller lends slices of exactly those lengths.

use ftl_iface::Geometry;

use super::bins::{BIN, bins_for};
use super::config::PagedConfig;
use super::feature::{Feature, KEEPS_TIMES, KEEPS_WEAR};
use super::groups::GROUPS;
use super::misfit::PagedShapeError;
use super::shape::PagedShape;
use crate::layout;
#[cfg(feature = "alloc")]
use crate::memory::Owned;
use crate::memory::{Lent, Plan, PlanRow, sum};

/// The tables, in the order in which they take their part of the lent slices: words, halves, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum TableName {
    DirtyFirsts,
    DirtyOrder,
    DirtyPlaces,
    CacheOwners,
    CacheUsed,
    DirtyLows,
    States,
    Wear,
    Times,
    RatesThere,
    RatesLost,
    RatesStays,
    Buffer,
    CachePages,
    WriteSpare,
    ReadTag,
    KeptTag,
    Directory,
    DirtyLeaves,
    Anchor,
}

const TABLES: usize = 20;
const FIRST_HALF: usize = TableName::DirtyLows as usize;
const FIRST_BYTE: usize = TableName::Buffer as usize;

const NAMES: [&str; TABLES] = [
    "dirty entries: where bins begin",
    "dirty entries: the order of bins",
    "dirty entries: places",
    "map cache: leaves",
    "map cache: last uses",
    "dirty entries: sectors",
    "references of blocks",
    "erase counts",
    "when blocks were written, and lost data",
    "rates: data that is there",
    "rates: data that is replaced",
    "rates: how long data stays",
    "page buffer",
    "map cache: pages",
    "spare area to program from",
    "tag read last",
    "tag of the page that is copied",
    "directory of map pages",
    "dirty entries by map page",
    "anchor to be written",
];

/// How much RAM the page store needs, table by table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagedPlan {
    geometry: Geometry,
    config: PagedConfig,
    pub(crate) shape: PagedShape,
    lengths: [usize; TABLES],
}

impl PagedPlan {
    /// Returns the plan for a device and configuration.
    pub const fn new(geometry: &Geometry, config: &PagedConfig) -> Result<Self, PagedShapeError> {
        let shape = match PagedShape::new(geometry, config) {
            Ok(shape) => shape,
            Err(error) => return Err(error),
        };
        let map = shape.map_area();
        let page = max(map.page_bytes.as_usize(), shape.main.page_bytes.as_usize());
        let spare = max(map.spare_bytes.as_usize(), shape.main.spare_bytes.as_usize());
        let tag = layout::tag_bytes(shape.slots_max());
        let cached = shape.cached as usize;
        let mut lengths = [0; TABLES];
        let bins = bins_for(shape.table_most, shape.capacity.get()) as usize;
        lengths[TableName::DirtyFirsts as usize] = bins;
        lengths[TableName::DirtyOrder as usize] = bins;
        lengths[TableName::DirtyPlaces as usize] = bins * BIN;
        lengths[TableName::DirtyLows as usize] = bins * BIN;
        lengths[TableName::CacheOwners as usize] = cached;
        lengths[TableName::CacheUsed as usize] = cached;
        lengths[TableName::States as usize] = shape.blocks() as usize;
        if KEEPS_WEAR {
            lengths[TableName::Wear as usize] = shape.blocks() as usize;
        }
        if KEEPS_TIMES {
            lengths[TableName::Times as usize] = shape.blocks() as usize;
        }
        if Feature::Lifetimes.is_built() {
            lengths[TableName::RatesThere as usize] = GROUPS;
            lengths[TableName::RatesLost as usize] = GROUPS;
            lengths[TableName::RatesStays as usize] = GROUPS;
        }
        // A victim's page is read behind the data gathered from earlier pages.
        lengths[TableName::Buffer as usize] =
            page + (shape.slots_max() as usize - 1) * config.sector_bytes.as_usize();
        lengths[TableName::CachePages as usize] = cached * map.page_bytes.as_usize();
        lengths[TableName::WriteSpare as usize] = spare;
        lengths[TableName::ReadTag as usize] = tag;
        lengths[TableName::KeptTag as usize] = tag;
        lengths[TableName::Directory as usize] =
            shape.leaves as usize * shape.directory_bytes as usize;
        lengths[TableName::DirtyLeaves as usize] = shape.leaves as usize;
        if shape.has_anchors() {
            lengths[TableName::Anchor as usize] = map.page_bytes.as_usize();
        }
        Ok(Self { geometry: *geometry, config: *config, shape, lengths })
    }

    /// Whether this is the plan for a device and configuration.
    pub fn is_for(&self, geometry: &Geometry, config: &PagedConfig) -> bool {
        self.geometry == *geometry && self.config == *config
    }

    /// Returns the division of the device.
    #[cfg(feature = "internals")]
    pub const fn shape(&self) -> &PagedShape {
        &self.shape
    }

    /// Returns the configuration.
    pub const fn config(&self) -> &PagedConfig {
        &self.config
    }

    /// Returns the number of 32-bit elements to lend.
    pub const fn words(&self) -> usize {
        sum(&self.lengths, 0, FIRST_HALF)
    }

    /// Returns the number of 16-bit elements to lend.
    pub const fn halves(&self) -> usize {
        sum(&self.lengths, FIRST_HALF, FIRST_BYTE)
    }

    /// Returns the number of bytes to lend.
    pub const fn bytes(&self) -> usize {
        sum(&self.lengths, FIRST_BYTE, TABLES)
    }

    /// Returns the bytes of all lent memory. The FTL itself is additional; `size_of` gives its size.
    pub const fn total_bytes(&self) -> usize {
        self.words() * 4 + self.halves() * 2 + self.bytes()
    }

    /// Returns the plan, table by table.
    pub fn rows(&self) -> impl Iterator<Item = PlanRow> + '_ {
        NAMES.iter().zip(self.lengths).enumerate().map(|(at, (name, elements))| PlanRow {
            name,
            elements,
            element_bytes: match at {
                at if at < FIRST_HALF => 4,
                at if at < FIRST_BYTE => 2,
                _ => 1,
            },
        })
    }
}

const fn max(one: usize, other: usize) -> usize {
    if one > other { one } else { other }
}

impl Plan for PagedPlan {
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
pub type PagedRam<'ram> = Lent<'ram, PagedPlan>;

/// Memory on the heap, for hosts.
#[cfg(feature = "alloc")]
pub type OwnedPagedRam = Owned<PagedPlan>;
