//! A device and an FTL on it, drawn by a seed: regions, cells, shapes, pairings, and every choice of the configuration.

use std::sync::Arc;

use ftl_core::config::{FilterChoice, IndexConfig, LogRegion, PairedPages, WearLeveling};
use ftl_core::hybrid::shape::SPARE_BLOCKS_MIN;
use ftl_core::paged::shape::HEADERS;
use ftl_core::paged::{Bursts, History, PagedConfig, RunEnds, Streams, Victims};
use ftl_core::{Config, Endurance, Probing, WriteBackConfig};
use ftl_iface::{
    BlockCount, Bytes, Cell, Geometry, PageCount, Pairing, RegionGeometry, SectorCount,
};
use nand_model::datasheet;
use nand_model::part::{Part, RegionPart};

use crate::dice::{Dice, mix};
use crate::hybrid::Hybrid;
use crate::paged::Paged;
use crate::setup::{FtlName, Setup, SetupError, System};

/// Word lines of parts with an unusual scheme; pages beyond a table's end are unpaired.
const TWO_BITS: [&[u16]; 4] = [
    &[0, 0, 1, 2, 1, 2, 3, 4, 3, 4, 5, 5],
    &[0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 5],
    &[0, 1, 1, 0, 2, 3, 3, 2, 4, 5],
    &[0, 1, 2, 2, 1, 0, 3],
];
const THREE_BITS: [&[u16]; 3] = [
    &[0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 4, 3, 4, 3, 4],
    &[0, 0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 3],
    &[0, 1, 0, 2, 1, 0, 2, 1, 2],
];

/// Which regions a device has, and where the log is.
#[derive(Clone, Copy, Debug)]
enum RegionMix {
    /// Small fast blocks for the log, and many others.
    Two(Cell),
    /// Blocks of one cell type, the first of them for the log.
    Divided(Cell),
    /// Blocks of one cell type, and no log.
    Plain(Cell),
}

const KINDS: [RegionMix; 9] = [
    RegionMix::Two(Cell::Mlc),
    RegionMix::Two(Cell::Mlc),
    RegionMix::Two(Cell::Tlc),
    RegionMix::Divided(Cell::Slc),
    RegionMix::Divided(Cell::Mlc),
    RegionMix::Divided(Cell::Tlc),
    RegionMix::Plain(Cell::Slc),
    RegionMix::Plain(Cell::Mlc),
    RegionMix::Plain(Cell::Tlc),
];

/// Draws until device and configuration match. A tight device has hardly more blocks than it needs; how many is drawn
/// by that seed.
pub(super) fn setup(
    ftl: FtlName,
    dice: &mut Dice,
    tight: Option<u64>,
) -> Result<Setup, SetupError> {
    let figures = datasheet::builtin("tiny")?;
    let drawn = match ftl {
        FtlName::Hybrid => hybrid,
        FtlName::Paged => paged,
    };
    loop {
        if let Some(setup) = drawn(&figures, dice, tight) {
            return Ok(setup);
        }
    }
}

fn hybrid(figures: &Part, dice: &mut Dice, _: Option<u64>) -> Option<Setup> {
    let kind = dice.pick(&KINDS);
    let (slc, mlc) = match kind {
        RegionMix::Two(cell) => {
            let blocks = 8 + dice.below(14);
            (Some(region(Cell::Slc, blocks, dice)), Some(region(cell, 12 + dice.below(24), dice)))
        }
        RegionMix::Divided(cell) | RegionMix::Plain(cell) => {
            let only = region(cell, 14 + dice.below(30), dice);
            if cell == Cell::Slc { (Some(only), None) } else { (None, Some(only)) }
        }
    };
    let geometry = Geometry::new(slc, mlc).ok()?;
    let log = match kind {
        RegionMix::Two(_) => LogRegion::SlcRegion,
        RegionMix::Divided(_) => LogRegion::FirstBlocks(2 + dice.below(8) as u16),
        RegionMix::Plain(_) => LogRegion::None,
    };
    let pages = [slc, mlc].into_iter().flatten().map(|region| region.page_bytes.get());
    let sector = if dice.percent(50) { 512 } else { pages.min()? };
    let config = configured(log, Bytes::new(sector), dice);
    let hybrid = Hybrid::new(&geometry, config).ok()?;
    let shape = *hybrid.plan().shape();
    let spare = u32::from(SPARE_BLOCKS_MIN) + 1 + dice.below(5);
    let blocks = shape.chain.block_count().get().checked_sub(spare).filter(|blocks| *blocks > 0)?;
    let room = blocks * shape.sectors_per_block.get();
    let capacity = room.checked_sub(dice.below(4)).filter(|sectors| *sectors > 0)?;
    let config = Config { capacity: Some(SectorCount::new(capacity)), ..config };
    let subject = Arc::new(Hybrid::new(&geometry, config).ok()?);
    let part = world_part(figures, &geometry, config.sector_bytes);
    let device = told(&geometry, config.log, config.sector_bytes);
    Some(Setup { device, ftl: FtlName::Hybrid, system: System::Usual, part, subject })
}

fn drawn_streams(dice: &mut Dice) -> (Streams, Victims) {
    match dice.below(6) {
        0 => (Streams::One, Victims::Greedy),
        1 => (Streams::One, Victims::CostBenefit),
        2 => (Streams::Two, Victims::Greedy),
        3 => (Streams::Two, Victims::CostBenefit),
        4 => (Streams::ByLifetime, Victims::Greedy),
        _ => (Streams::ByLifetime, Victims::CostBenefit),
    }
}

fn paged(figures: &Part, dice: &mut Dice, tight: Option<u64>) -> Option<Setup> {
    let kind = dice.pick(&KINDS);
    let (slc, mlc) = match kind {
        RegionMix::Two(cell) => {
            let blocks = 8 + dice.below(20);
            (Some(region(Cell::Slc, blocks, dice)), Some(region(cell, 10 + dice.below(26), dice)))
        }
        RegionMix::Divided(cell) | RegionMix::Plain(cell) => {
            let only = region(cell, 14 + dice.below(40), dice);
            if cell == Cell::Slc { (Some(only), None) } else { (None, Some(only)) }
        }
    };
    let geometry = Geometry::new(slc, mlc).ok()?;
    let pages = [slc, mlc].into_iter().flatten().map(|region| region.page_bytes.get());
    let sector = if dice.percent(50) { 512 } else { pages.min()? };
    let (streams, victims) = drawn_streams(dice);
    let dirty_entries = 8 + dice.below(400);
    let cached_leaves = 2 + dice.below(3) as u16;
    let anchor_blocks = dice.pick(&[0, 2, 3, 4, 6, 10]);
    let filter = drawn_filter(Bytes::new(sector), dice);
    let share = 20 + dice.below(80);
    let config = PagedConfig {
        sector_bytes: Bytes::new(sector),
        capacity: None,
        dirty_entries,
        cached_leaves,
        anchor_blocks,
        streams,
        victims,
        filter,
        run_ends: RunEnds::Follow,
        history: if share % 5 < 2 { History::Heeded } else { History::Ignored },
        paired_pages: PairedPages::Guard,
        refresh: PagedConfig::LARGE.refresh,
        // In a world blocks are erased only a few times.
        wear_leveling: WearLeveling { enabled: true, threshold: 2 + share as u16 % 4 },
        throttle: share.is_multiple_of(3).then_some(Endurance { fast: 100, main: 100 }),
        bursts: match share % 4 {
            1 => Bursts::ToFast(Endurance { fast: 1_000, main: 100 }),
            _ => Bursts::ToMain,
        },
    };
    let room = slc.into_iter().chain(mlc).last().map_or(0, |region| region.capacity_bytes());
    let capacity = (room / u64::from(sector)) as u32 * share / 100;
    let config = PagedConfig { capacity: Some(SectorCount::new(capacity.max(8))), ..config };
    let subject = Paged::new(&geometry, config).ok()?;
    if let Some(tight) = tight {
        let drawn = mix(tight, dice.next());
        return tightened(figures, &geometry, config, &mut Dice::new(drawn));
    }
    let shape = *subject.plan().shape();
    let few = shape.main.blocks - shape.main_needed < 1 + dice.below(4);
    let few_fast = shape.fast.is_some_and(|fast| fast.blocks == shape.fast_needed);
    if few || few_fast {
        return None;
    }
    Some(page_store(figures, &geometry, config, subject))
}

fn page_store(figures: &Part, geometry: &Geometry, config: PagedConfig, subject: Paged) -> Setup {
    let part = world_part(figures, geometry, config.sector_bytes);
    let device = told(geometry, LogRegion::SlcRegion, config.sector_bytes);
    let (ftl, system) = (FtlName::Paged, System::Usual);
    Setup { device, ftl, system, part, subject: Arc::new(subject) }
}

/// The device with exactly the blocks that the plan asks for, or a few more. With fewer blocks the plan may ask for
/// fewer.
fn tightened(
    figures: &Part,
    geometry: &Geometry,
    config: PagedConfig,
    dice: &mut Dice,
) -> Option<Setup> {
    const ROUNDS: u32 = 6;
    let more = [dice.pick(&[0, 0, 0, 1, 1, 2, 4]), dice.pick(&[0, 0, 0, 1, 2, 5])];
    let anchor_blocks = if dice.percent(15) { 1 } else { config.anchor_blocks };
    let config = PagedConfig { anchor_blocks, ..config };
    let mut geometry = *geometry;
    for _ in 0..ROUNDS {
        let subject = Paged::new(&geometry, config).ok()?;
        let shape = subject.plan().shape();
        let head = u32::from(HEADERS + shape.anchors);
        let with = |region: Option<&RegionGeometry>, blocks: u32| {
            region.map(|region| RegionGeometry { blocks: BlockCount::new(blocks), ..*region })
        };
        let main = shape.main_needed + more[0] + if shape.fast.is_none() { head } else { 0 };
        let (slc, mlc) = match &shape.fast {
            Some(_) => (shape.fast_needed + more[1] + head, main),
            None => (main, main),
        };
        let tight = Geometry::new(with(geometry.slc(), slc), with(geometry.mlc(), mlc)).ok()?;
        if tight == geometry {
            return Some(page_store(figures, &geometry, config, subject));
        }
        geometry = tight;
    }
    None
}

/// The model part's figures on a drawn geometry.
fn world_part(figures: &Part, geometry: &Geometry, sector_bytes: Bytes) -> Part {
    // A drawn block has its own number of pages, which does not fit the model part's modes.
    let region = |has: bool, part: &Option<RegionPart>| {
        part.clone().filter(|_| has).map(|part| RegionPart { slc_mode: None, ..part })
    };
    Part {
        name: "world".into(),
        slc: region(geometry.slc().is_some(), &figures.slc),
        mlc: region(geometry.mlc().is_some(), &figures.mlc),
        geometry: *geometry,
        sector_bytes,
        ..figures.clone()
    }
}

fn drawn_filter(sector: Bytes, dice: &mut Dice) -> FilterChoice {
    if dice.percent(35) {
        return FilterChoice::AcceptAll;
    }
    let largest = 2 + dice.below(12);
    let initial = 1 + dice.below(largest);
    FilterChoice::ByBytes { initial: sector * initial, largest: sector * largest }
}

fn region(cell: Cell, blocks: u32, dice: &mut Dice) -> RegionGeometry {
    let pairing = match (cell, dice.below(5)) {
        (Cell::Slc, _) => Pairing::None,
        (Cell::Mlc, 0) => Pairing::Adjacent2,
        (Cell::Mlc, 1 | 2) => Pairing::Distance3,
        (Cell::Mlc, 3) => Pairing::Distance6,
        (Cell::Mlc, _) => Pairing::Table(dice.pick(&TWO_BITS)),
        (_, 0..3) => Pairing::Adjacent3,
        _ => Pairing::Table(dice.pick(&THREE_BITS)),
    };
    RegionGeometry {
        cell,
        blocks: BlockCount::new(blocks),
        // Any number, including powers of two.
        pages_per_block: PageCount::new(4 + dice.below(15)),
        page_bytes: Bytes::new(dice.pick(&[512, 1024, 2048, 2048, 4096])),
        spare_bytes: Bytes::new(64),
        pairing,
    }
}

fn configured(log: LogRegion, sector_bytes: Bytes, dice: &mut Dice) -> Config {
    Config {
        sector_bytes,
        log,
        index: IndexConfig {
            entries: dice.percent(60).then(|| 5 + dice.below(70)),
            probes: dice.pick(&[1, 2, 4, 8]),
            probing: Probing::Linear,
        },
        window_max: dice.percent(40).then(|| 2 + dice.below(3) as u16),
        chain_log_blocks_max: 1 + dice.below(4) as u8,
        mapping_cache_entries: dice.pick(&[0, 1, 2, 3, 8]),
        chain_sketch_halves: dice.below(4) as u8,
        free_blocks_low: 2 + dice.below(3) as u16,
        copies_per_page: dice.pick(&[0, 1, 2, 4, 8]),
        filter: drawn_filter(sector_bytes, dice),
        throttle: dice.percent(50),
        endurance: Endurance { fast: dice.pick(&[5_000, 100_000]), main: 5_000 },
        wear_leveling: WearLeveling { enabled: dice.percent(75), threshold: dice.pick(&[1, 2, 8]) },
        write_back: WriteBackConfig {
            follow_log_blocks: dice.percent(65),
            collect_on_fold: dice.percent(65),
            suspend_when_updates_fall: dice.percent(50),
        },
        ..Config::HYBRID
    }
}

/// The device in a few words.
fn told(geometry: &Geometry, log: LogRegion, sector: Bytes) -> String {
    let regions = [geometry.slc(), geometry.mlc()].into_iter().flatten().map(|region| {
        let pairing = match region.pairing {
            Pairing::None => String::new(),
            Pairing::Table(_) => " paired by a table".into(),
            scheme => format!(" {scheme:?}").to_lowercase(),
        };
        let RegionGeometry { blocks, pages_per_block, page_bytes, .. } = region;
        let cell = format!("{:?}", region.cell).to_uppercase();
        let (blocks, pages, bytes) = (blocks.get(), pages_per_block.get(), page_bytes.get());
        format!("{cell} {blocks} blocks of {pages} pages of {bytes} bytes{pairing}")
    });
    let log = match log {
        LogRegion::None => ", no log".into(),
        LogRegion::SlcRegion => String::new(),
        LogRegion::FirstBlocks(blocks) => format!(", a log of {blocks} blocks"),
    };
    let regions: Vec<String> = regions.collect();
    format!("{}{log}, sectors of {}", regions.join(" and "), sector.get())
}
