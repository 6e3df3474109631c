//! The twelve devices: six of each FTL.

use ftl_core::Config;
use ftl_core::config::{
    Endurance, FilterChoice, IndexConfig, LogRegion, PairedPages, Probing, WearLeveling,
};
use ftl_core::paged::{PagedConfig, Streams};
use ftl_iface::{Bytes, Cell, Geometry, SectorCount};

use crate::world::region;

/// What became of a device before its image was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// It was formatted.
    Fresh,
    /// It was filled, used and stopped.
    Stopped,
    /// It was written again and again.
    Worn,
    /// Power failed in requests, and in the repair after that.
    Cut,
    /// Blocks were bad, and others failed.
    Bad,
    /// It has more blocks than 16 bits number.
    Wide,
}

/// A device of an FTL with such configurations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Device<C> {
    pub(crate) name: &'static str,
    pub(crate) life: Life,
    pub(crate) geometry: Geometry,
    pub(crate) config: C,
}

/// Blocks, pages of a block, bytes of a page.
type Shape = (u32, u32, u32);

fn geometry(slc: Option<Shape>, mlc: Option<(Cell, Shape)>) -> Geometry {
    let slc = slc.map(|(blocks, pages, bytes)| region(Cell::Slc, blocks, pages, bytes));
    let mlc = mlc.map(|(cell, (blocks, pages, bytes))| region(cell, blocks, pages, bytes));
    Geometry::new(slc, mlc).expect("a possible geometry")
}

const HYBRID: Config = Config {
    sector_bytes: Bytes::new(512),
    index: IndexConfig { entries: Some(61), probes: 8, probing: Probing::Linear },
    chain_log_blocks_max: 2,
    mapping_cache_entries: 2,
    free_blocks_low: 2,
    copies_per_page: 2,
    filter: FilterChoice::ByBytes { initial: Bytes::new(1024), largest: Bytes::new(2048) },
    wear_leveling: WearLeveling { enabled: true, threshold: 2 },
    paired_pages: PairedPages::Accept,
    ..Config::HYBRID
};

/// The devices of the hybrid FTL.
pub(crate) fn hybrid() -> [Device<Config>; 6] {
    let config = |capacity| Config { capacity: Some(SectorCount::new(capacity)), ..HYBRID };
    let guarded = |capacity| Config { paired_pages: PairedPages::Guard, ..config(capacity) };
    let both = geometry(Some((14, 8, 1024)), Some((Cell::Mlc, (14, 8, 2048))));
    let quadratic = IndexConfig { probing: Probing::Quadratic, ..HYBRID.index };
    let wide = geometry(Some((120, 16, 2048)), Some((Cell::Mlc, (66_000, 4, 512))));
    [
        Device {
            name: "hybrid-fresh",
            life: Life::Fresh,
            geometry: geometry(Some((12, 4, 2048)), Some((Cell::Mlc, (14, 8, 2048)))),
            config: config(384),
        },
        Device {
            name: "hybrid-stopped",
            life: Life::Stopped,
            geometry: both,
            config: Config { index: quadratic, ..config(384) },
        },
        Device {
            name: "hybrid-worn",
            life: Life::Worn,
            geometry: geometry(Some((26, 8, 1024)), None),
            config: Config { log: LogRegion::FirstBlocks(5), ..config(208) },
        },
        Device { name: "hybrid-cut", life: Life::Cut, geometry: both, config: guarded(384) },
        Device {
            name: "hybrid-bad",
            life: Life::Bad,
            geometry: geometry(None, Some((Cell::Tlc, (30, 12, 2048)))),
            config: Config { log: LogRegion::None, ..guarded(500) },
        },
        Device { name: "hybrid-wide", life: Life::Wide, geometry: wide, config: guarded(2_000) },
    ]
}

const PAGED: PagedConfig = PagedConfig {
    sector_bytes: Bytes::new(1024),
    dirty_entries: 100,
    cached_leaves: 2,
    anchor_blocks: 2,
    filter: FilterChoice::BySize { initial: SectorCount::new(2), largest: SectorCount::new(4) },
    wear_leveling: WearLeveling { enabled: true, threshold: 2 },
    ..PagedConfig::SMALL
};

/// The devices of the page store.
pub(crate) fn paged() -> [Device<PagedConfig>; 6] {
    let config = |capacity| PagedConfig { capacity: Some(SectorCount::new(capacity)), ..PAGED };
    let both = geometry(Some((16, 8, 1024)), Some((Cell::Mlc, (20, 16, 2048))));
    let lifetimes = Some(Endurance { fast: 100, main: 100 });
    let wide = geometry(Some((65_600, 4, 1024)), None);
    [
        Device { name: "paged-fresh", life: Life::Fresh, geometry: both, config: config(300) },
        Device {
            name: "paged-stopped",
            life: Life::Stopped,
            geometry: geometry(None, Some((Cell::Tlc, (24, 24, 2048)))),
            config: config(400),
        },
        Device {
            name: "paged-worn",
            life: Life::Worn,
            geometry: both,
            config: PagedConfig {
                streams: Streams::ByLifetime,
                throttle: lifetimes,
                ..config(112)
            },
        },
        Device { name: "paged-cut", life: Life::Cut, geometry: both, config: config(300) },
        Device {
            name: "paged-bad",
            life: Life::Bad,
            geometry: geometry(Some((40, 8, 1024)), None),
            config: PagedConfig { anchor_blocks: 0, ..config(120) },
        },
        Device { name: "paged-wide", life: Life::Wide, geometry: wide, config: config(72) },
    ]
}
