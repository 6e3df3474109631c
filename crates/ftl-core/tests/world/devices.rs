//! Small devices, one of each kind, on which every invariant can be checked after every step.

use ftl_core::Config;
use ftl_core::config::{FilterChoice, IndexConfig, LogRegion, PairedPages};
use ftl_core::paged::PagedPlan;
use ftl_iface::{Bytes, Cell, Geometry, RegionGeometry};
use nand_model::part::Part;
use nand_model::{Chip, Content};

use super::region;

/// A configuration for a device of few blocks and 512-byte sectors.
pub const SMALL: Config = Config {
    sector_bytes: Bytes::new(512),
    index: IndexConfig { entries: Some(61), ..Config::HYBRID.index },
    chain_log_blocks_max: 2,
    mapping_cache_entries: 2,
    free_blocks_low: 2,
    copies_per_page: 2,
    filter: FilterChoice::ByBytes { initial: Bytes::new(1024), largest: Bytes::new(2048) },
    paired_pages: PairedPages::Accept,
    ..Config::HYBRID
};

/// The same, with protection of paired pages.
const GUARDED: Config = Config { paired_pages: PairedPages::Guard, ..SMALL };

/// Returns the geometry of these regions.
pub fn geometry(slc: Option<RegionGeometry>, mlc: Option<RegionGeometry>) -> Geometry {
    Geometry::new(slc, mlc).expect("a possible geometry")
}

/// Returns a chip that keeps only the tag and a stamp per sector of each page of the page store.
pub fn stamped(part: &Part, plan: &PagedPlan) -> Chip {
    let spare_kept = Bytes::new(ftl_core::layout::tag_bytes(plan.shape().slots_max()) as u32);
    let content = Content::Stamps { sector: plan.config().sector_bytes, spare_kept };
    Chip::new(part, content).expect("a possible part")
}

/// Returns an SLC region of 6 log blocks beside an MLC region of 14 blocks of 32 sectors.
pub fn hybrid() -> (Geometry, Config) {
    let slc = region(Cell::Slc, 12, 4, 2048);
    let mlc = region(Cell::Mlc, 14, 8, 2048);
    (geometry(Some(slc), Some(mlc)), SMALL)
}

/// Returns a plain SLC chip, 5 blocks of which are the log.
pub fn one_slc() -> (Geometry, Config) {
    let config = Config { log: LogRegion::FirstBlocks(5), ..SMALL };
    (geometry(Some(region(Cell::Slc, 26, 8, 1024)), None), config)
}

/// Returns a plain TLC chip, 5 blocks of which are the log.
pub fn one_tlc() -> (Geometry, Config) {
    let config = Config { log: LogRegion::FirstBlocks(5), ..SMALL };
    (geometry(None, Some(region(Cell::Tlc, 26, 12, 2048))), config)
}

/// Returns a conventional device: only chains.
pub fn conventional() -> (Geometry, Config) {
    let config = Config { log: LogRegion::None, ..SMALL };
    (geometry(None, Some(region(Cell::Mlc, 20, 8, 2048))), config)
}

/// Returns a hybrid device that protects its paired pages with copies in the log.
pub fn guarded_hybrid() -> (Geometry, Config) {
    let slc = region(Cell::Slc, 14, 8, 1024);
    let mlc = region(Cell::Mlc, 14, 8, 2048);
    (geometry(Some(slc), Some(mlc)), GUARDED)
}

/// Returns a conventional device that skips pages instead.
pub fn guarded_conventional() -> (Geometry, Config) {
    let config = Config { log: LogRegion::None, ..GUARDED };
    (geometry(None, Some(region(Cell::Tlc, 20, 12, 2048))), config)
}

/// Returns one device of each kind, by name.
pub fn all() -> [(&'static str, Geometry, Config); 6] {
    let named = |name, (geometry, config)| (name, geometry, config);
    [
        named("hybrid", hybrid()),
        named("one SLC chip", one_slc()),
        named("one TLC chip", one_tlc()),
        named("conventional", conventional()),
        named("guarded hybrid", guarded_hybrid()),
        named("guarded conventional", guarded_conventional()),
    ]
}
