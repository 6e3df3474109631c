//! The small devices: of each shape the smallest that the FTL accepts, and one block more.

use std::sync::Arc;

use ftl_core::config::{
    Endurance, FilterChoice, IndexConfig, LogRegion, WearLeveling, WriteBackConfig,
};
use ftl_core::paged::{PagedConfig, PagedPlan, Streams};
use ftl_core::{Config, RamPlan};
use ftl_iface::{
    BlockCount, Bytes, Cell, Geometry, PageCount, Pairing, RegionGeometry, SectorCount,
};

use super::content::{SECTOR, SECTOR_BYTES};
use super::grid::Grid;
use super::small_ftl::Kind;
use crate::hybrid::Hybrid;
use crate::on_flash::OnFlash;
use crate::paged::Paged;
use crate::setup::FtlName;

/// Which regions a device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Regions {
    Slc,
    Mlc,
    Both,
}

/// A device as it is listed.
#[derive(Clone, Copy, Debug)]
struct Spec {
    regions: Regions,
    /// Pages of a block of the SLC beside an MLC.
    slc_pages: u32,
    /// Of the MLC, or of the only region.
    pages: u32,
    /// Which pages of the MLC share cells.
    pairing: Pairing,
    /// Sectors of a page of the SLC beside an MLC.
    slc_slots: u32,
    /// Of the MLC, or of the only region.
    slots: u32,
    /// Sectors of the device.
    capacity: u32,
    /// Blocks beyond what the FTL needs.
    spare: u32,
    /// The hybrid: copies that a page of the host's pays for.
    copies: u8,
    knob: Knob,
}

/// What one of the FTLs has and the other has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knob {
    /// The page store: blocks for anchors, and open blocks of the main area.
    Anchors(u16, Streams),
    /// The hybrid, on one region: blocks of the log.
    Log(u16),
    /// The hybrid: the log is the SLC region.
    SlcLog,
}

/// A small device with an FTL.
#[derive(Clone, Debug)]
pub(super) struct SmallWorld {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// What is where on it.
    pub(super) flash: Arc<dyn OnFlash>,
    pub(super) grid: Grid,
    /// Sectors that the host may use.
    pub(super) capacity: u32,
    /// Sectors that the letter P writes.
    pub(super) page: u32,
}

const fn spec(regions: Regions, pages: u32, slots: u32, capacity: u32, knob: Knob) -> Spec {
    Spec {
        regions,
        slc_pages: pages,
        pages,
        pairing: Pairing::Distance3,
        slc_slots: slots,
        slots,
        capacity,
        spare: 0,
        copies: 1,
        knob,
    }
}

/// With neighbours that share cells.
const fn adjacent(spec: Spec) -> Spec {
    Spec { pairing: Pairing::Adjacent2, ..spec }
}

/// With folds that end within a request.
const fn eager(spec: Spec) -> Spec {
    Spec { copies: 8, ..spec }
}

/// With pages of the SLC that are half as large.
const fn half(spec: Spec) -> Spec {
    Spec { slc_slots: spec.slots / 2, ..spec }
}

/// The hybrid on two regions: its records take five pages of a block.
const fn with_log(spec: Spec) -> Spec {
    Spec { slc_pages: 6, ..spec }
}

const fn anchors(blocks: u16) -> Knob {
    Knob::Anchors(blocks, Streams::One)
}

/// Devices of a bound of one: the first of each list.
const FEW: usize = 9;

const PAGED: [Spec; 24] = [
    adjacent(spec(Regions::Mlc, 4, 1, 3, anchors(0))),
    adjacent(spec(Regions::Mlc, 4, 1, 3, anchors(2))),
    Spec { spare: 1, ..spec(Regions::Mlc, 4, 1, 3, anchors(0)) },
    Spec { spare: 1, ..spec(Regions::Mlc, 4, 1, 3, anchors(2)) },
    spec(Regions::Mlc, 4, 1, 8, anchors(2)),
    spec(Regions::Slc, 4, 1, 3, anchors(0)),
    spec(Regions::Slc, 4, 2, 6, anchors(2)),
    spec(Regions::Both, 4, 1, 3, anchors(2)),
    half(spec(Regions::Both, 4, 2, 6, anchors(2))),
    spec(Regions::Slc, 4, 1, 3, anchors(2)),
    spec(Regions::Slc, 4, 1, 3, anchors(3)),
    spec(Regions::Mlc, 4, 1, 3, anchors(0)),
    spec(Regions::Mlc, 4, 1, 3, anchors(2)),
    spec(Regions::Both, 4, 1, 3, anchors(0)),
    spec(Regions::Slc, 4, 2, 6, anchors(0)),
    spec(Regions::Mlc, 6, 2, 8, anchors(0)),
    spec(Regions::Mlc, 6, 2, 8, anchors(3)),
    spec(Regions::Both, 4, 2, 6, anchors(2)),
    half(spec(Regions::Both, 4, 2, 6, anchors(0))),
    spec(Regions::Both, 6, 2, 8, anchors(0)),
    spec(Regions::Slc, 6, 1, 8, Knob::Anchors(2, Streams::Two)),
    Spec { spare: 1, ..spec(Regions::Slc, 4, 1, 3, anchors(0)) },
    Spec { spare: 1, ..spec(Regions::Slc, 4, 1, 3, anchors(2)) },
    Spec { spare: 1, ..spec(Regions::Both, 4, 1, 3, anchors(0)) },
];

const HYBRID: [Spec; 18] = [
    with_log(eager(adjacent(spec(Regions::Both, 4, 1, 3, Knob::SlcLog)))),
    with_log(eager(adjacent(spec(Regions::Both, 4, 2, 8, Knob::SlcLog)))),
    with_log(eager(spec(Regions::Both, 4, 2, 8, Knob::SlcLog))),
    eager(spec(Regions::Slc, 4, 1, 3, Knob::Log(2))),
    eager(adjacent(spec(Regions::Mlc, 8, 1, 8, Knob::Log(2)))),
    spec(Regions::Slc, 4, 1, 3, Knob::Log(0)),
    spec(Regions::Slc, 4, 1, 3, Knob::Log(2)),
    with_log(spec(Regions::Both, 4, 1, 3, Knob::SlcLog)),
    with_log(adjacent(spec(Regions::Both, 4, 1, 3, Knob::SlcLog))),
    adjacent(spec(Regions::Mlc, 8, 1, 8, Knob::Log(0))),
    adjacent(spec(Regions::Mlc, 8, 1, 8, Knob::Log(2))),
    spec(Regions::Mlc, 10, 1, 8, Knob::Log(2)),
    with_log(spec(Regions::Both, 4, 2, 8, Knob::SlcLog)),
    with_log(adjacent(spec(Regions::Both, 6, 1, 8, Knob::SlcLog))),
    spec(Regions::Slc, 4, 2, 8, Knob::Log(3)),
    spec(Regions::Slc, 4, 1, 8, Knob::Log(2)),
    Spec { spare: 1, ..spec(Regions::Slc, 4, 1, 3, Knob::Log(2)) },
    Spec { spare: 1, ..with_log(spec(Regions::Both, 4, 1, 3, Knob::SlcLog)) },
];

/// All small devices of that FTL for that bound which it accepts.
pub(super) fn all(ftl: FtlName, bound: u8) -> Vec<SmallWorld> {
    let specs: &[Spec] = match ftl {
        FtlName::Paged => &PAGED,
        FtlName::Hybrid => &HYBRID,
    };
    let few = if bound > 1 { specs.len() } else { FEW };
    specs.iter().take(few).filter_map(SmallWorld::smallest).collect()
}

/// The device of that name.
pub(super) fn named(name: &str) -> Option<SmallWorld> {
    let specs = PAGED.iter().chain(&HYBRID);
    specs.filter(|spec| spec.name() == name).find_map(SmallWorld::smallest)
}

/// Says that there is no such device, and which there are.
pub(super) fn unknown(name: &str) -> String {
    let names: Vec<String> = FtlName::ALL
        .into_iter()
        .flat_map(|ftl| all(ftl, u8::MAX))
        .map(|world| world.name)
        .collect();
    format!("there is no small device `{name}`: take one of {}", names.join(", "))
}

impl SmallWorld {
    /// The smallest device of that kind, and its spare blocks.
    fn smallest(spec: &Spec) -> Option<Self> {
        // Few blocks of the SLC before few of the MLC: of each region what the FTL needs.
        let sizes = (1..24).flat_map(|slc| (1..24).map(move |mlc| (slc, mlc)));
        let sizes = sizes.filter(|(slc, mlc)| match spec.regions {
            Regions::Slc => *mlc == 1,
            Regions::Mlc => *slc == 1,
            Regions::Both => true,
        });
        let mut sizes: Vec<(u32, u32)> = sizes.collect();
        sizes.sort_by_key(|(slc, mlc)| (slc + mlc, *slc));
        let (slc, mlc) = sizes.into_iter().find(|(slc, mlc)| spec.kind(*slc, *mlc).is_some())?;
        let (kind, geometry) = spec.kind(slc + spec.spare, mlc + spec.spare)?;
        let flash: Arc<dyn OnFlash> = match kind {
            Kind::Paged(plan) => Arc::new(Paged::new(&geometry, *plan.config()).ok()?),
            Kind::Hybrid(_, config) => Arc::new(Hybrid::new(&geometry, config).ok()?),
        };
        Some(Self {
            name: spec.name(),
            kind,
            flash,
            grid: Grid::new(&geometry)?,
            capacity: spec.capacity,
            page: spec.slots.max(2),
        })
    }
}

impl SmallWorld {
    pub(super) const fn ftl_is_hybrid(&self) -> bool {
        matches!(self.kind, Kind::Hybrid(..))
    }
}

impl Spec {
    fn name(&self) -> String {
        let Self { pages, slots, capacity, spare, .. } = self;
        let (ftl, knob) = match self.knob {
            Knob::Anchors(anchors, Streams::One) => ("paged", format!("-a{anchors}")),
            Knob::Anchors(anchors, streams) => {
                ("paged", format!("-a{anchors}-s{}", streams.count()))
            }
            Knob::Log(0) | Knob::SlcLog => ("hybrid", String::new()),
            Knob::Log(blocks) => ("hybrid", format!("-log{blocks}")),
        };
        let regions = match (self.regions, self.pairing) {
            (Regions::Slc, _) => "slc",
            (Regions::Mlc, Pairing::Adjacent2) => "mlcadj",
            (Regions::Mlc, _) => "mlc",
            (Regions::Both, Pairing::Adjacent2) => "bothadj",
            (Regions::Both, _) => "both",
        };
        let spare = if *spare == 0 { String::new() } else { format!("-spare{spare}") };
        let half = if self.slc_slots < *slots { "-half" } else { "" };
        let eager = if self.copies > 1 { "-eager" } else { "" };
        format!("{ftl}-{regions}-{pages}x{slots}-c{capacity}{knob}{half}{eager}{spare}")
    }

    fn kind(&self, slc: u32, mlc: u32) -> Option<(Kind, Geometry)> {
        let region = |cell, blocks| {
            let beside = cell == Cell::Slc && self.regions == Regions::Both;
            let (pages, slots) =
                if beside { (self.slc_pages, self.slc_slots) } else { (self.pages, self.slots) };
            RegionGeometry {
                cell,
                blocks: BlockCount::new(blocks),
                pages_per_block: PageCount::new(pages),
                page_bytes: SECTOR_BYTES * slots,
                spare_bytes: Bytes::new(64),
                pairing: if cell == Cell::Slc { Pairing::None } else { self.pairing },
            }
        };
        let has = |one| self.regions == one || self.regions == Regions::Both;
        let slc = has(Regions::Slc).then(|| region(Cell::Slc, slc));
        let mlc = has(Regions::Mlc).then(|| region(Cell::Mlc, mlc));
        let geometry = Geometry::new(slc, mlc).ok()?;
        let kind = match self.knob {
            Knob::Anchors(anchor_blocks, streams) => {
                let config = self.paged(anchor_blocks, streams);
                Kind::Paged(PagedPlan::new(&geometry, &config).ok()?)
            }
            Knob::Log(0) => self.hybrid(&geometry, LogRegion::None)?,
            Knob::Log(blocks) => self.hybrid(&geometry, LogRegion::FirstBlocks(blocks))?,
            Knob::SlcLog => self.hybrid(&geometry, LogRegion::SlcRegion)?,
        };
        Some((kind, geometry))
    }

    fn paged(&self, anchor_blocks: u16, streams: Streams) -> PagedConfig {
        PagedConfig {
            sector_bytes: SECTOR_BYTES,
            capacity: Some(SectorCount::new(self.capacity)),
            dirty_entries: 2 * self.pages.max(self.slc_pages) * self.slots,
            cached_leaves: 2,
            anchor_blocks,
            streams,
            filter: one_sector_is_hot(),
            wear_leveling: WearLeveling { enabled: true, threshold: 2 },
            ..PagedConfig::SMALL
        }
    }

    fn hybrid(&self, geometry: &Geometry, log: LogRegion) -> Option<Kind> {
        let config = Config {
            sector_bytes: SECTOR_BYTES,
            capacity: Some(SectorCount::new(self.capacity)),
            log,
            index: IndexConfig { entries: Some(11), probes: 2, ..Config::HYBRID.index },
            chain_log_blocks_max: 1,
            mapping_cache_entries: 1,
            chain_sketch_halves: 1,
            free_blocks_low: 2,
            copies_per_page: self.copies,
            filter: one_sector_is_hot(),
            throttle: false,
            endurance: Endurance { fast: 100_000, main: 100_000 },
            wear_leveling: WearLeveling { enabled: true, threshold: 1 },
            write_back: WriteBackConfig { ..Config::HYBRID.write_back },
            ..Config::HYBRID
        };
        Some(Kind::Hybrid(RamPlan::new(geometry, &config).ok()?, config))
    }
}

/// A write of one sector goes to the fast cells, any larger one to the dense ones.
const fn one_sector_is_hot() -> FilterChoice {
    let one = Bytes::new(SECTOR as u32);
    FilterChoice::ByBytes { initial: one, largest: one }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_that_is_listed_fits_and_is_found_by_its_name() {
        for (ftl, listed) in [(FtlName::Paged, PAGED.len()), (FtlName::Hybrid, HYBRID.len())] {
            let all = all(ftl, u8::MAX);
            assert_eq!(all.len(), listed, "{ftl:?}");
            for world in all {
                assert_eq!(named(&world.name).map(|found| found.name), Some(world.name));
            }
        }
        assert!(unknown("slc").contains("paged-slc-4x1-c3-a0"));
    }
}
