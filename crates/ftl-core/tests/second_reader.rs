//! A second reader of the format, written from `docs/FORMAT.md` alone: it shares no code with the layout or the mount.
//! Random requests run on small devices of every shape; then this reader reads the chip in both ways that the document
//! describes, and each must find the expected content.

use crate::reader;
use crate::world;

use ftl_core::Config;
use ftl_core::config::Probing;
use ftl_core::config::{FilterChoice, IndexConfig, LogRegion, PairedPages, WearLeveling};
use ftl_iface::{Bytes, Cell, Geometry};

use reader::Reader;
use world::{Checks, Dice, Step, World, content, region};

/// Draws a request of any kind: four of five write.
fn any_step(dice: &mut Dice, capacity: u32) -> Step {
    // Half of all requests go to an eighth of the device.
    let span = if dice.percent(50) { capacity } else { capacity.div_ceil(8) };
    let longest = if dice.percent(12) { 40 } else { 3 };
    let first = dice.below(span);
    let count = dice.within(1..longest + 1).min(capacity - first);
    match dice.below(20) {
        0..=15 => Step::Write { first, count },
        16 | 17 => Step::Trim { first, count },
        18 => Step::Maintain { budget: count },
        _ => Step::Remount,
    }
}

const BASE: Config = Config {
    sector_bytes: Bytes::new(512),
    index: IndexConfig { entries: Some(40), probes: 4, probing: Probing::Linear },
    chain_log_blocks_max: 2,
    mapping_cache_entries: 2,
    free_blocks_low: 2,
    copies_per_page: 1,
    filter: FilterChoice::ByBytes { initial: Bytes::new(1024), largest: Bytes::new(2048) },
    wear_leveling: WearLeveling { enabled: true, threshold: 2 },
    paired_pages: PairedPages::Accept,
    ..Config::HYBRID
};

fn geometry(slc: Option<(u32, u32, u32)>, mlc: Option<(Cell, u32, u32, u32)>) -> Geometry {
    let slc = slc.map(|(blocks, pages, bytes)| region(Cell::Slc, blocks, pages, bytes));
    let mlc = mlc.map(|(cell, blocks, pages, bytes)| region(cell, blocks, pages, bytes));
    Geometry::new(slc, mlc).expect("a possible geometry")
}

/// Runs random requests in rounds. After each the chip is as a power loss between two requests leaves it.
fn both_ways_find_the_truth(geometry: Geometry, config: Config, rounds: u32) {
    let mut world = World::new(geometry, config);
    let mut dice = Dice::new(42);
    let bytes = config.sector_bytes.as_usize();
    for round in 0..rounds {
        let length = 1 + dice.below(60);
        let steps: Vec<Step> = (0..length).map(|_| any_step(&mut dice, world.capacity())).collect();
        world.run(&steps, Checks::Never);
        let truth = world.truth.clone();
        let mut reader = Reader::open(world.chip_mut());
        assert_eq!(reader.capacity as usize, truth.len());
        assert_eq!(reader.sector_bytes, bytes);
        let everything = reader.read_everything();
        let mounted = reader.mount();
        for (sector, version) in (0..).zip(&truth) {
            let wanted = version.map(|version| content(sector, version, bytes));
            let by_stamp = everything.get(&sector).and_then(|place| reader.data(*place));
            assert_eq!(by_stamp, wanted, "round {round}, sector {sector}, by the largest stamp");
            let by_mount = mounted.find(sector).and_then(|place| reader.data(place));
            assert_eq!(by_mount, wanted, "round {round}, sector {sector}, by the mount");
        }
    }
    // Everything that makes a device hard to read has happened.
    let done = world.counters();
    assert!(done.folds > 100 && done.switches > 10, "{done:?}");
    assert!(config.log == LogRegion::None || done.reclaims > 10, "{done:?}");
}

#[test]
fn a_hybrid_device_reads_as_the_document_says() {
    let shape = geometry(Some((12, 8, 1024)), Some((Cell::Mlc, 14, 8, 2048)));
    both_ways_find_the_truth(shape, BASE, 150);
    // No map is cached, every write is hot, and folds take nothing from the log.
    let mut other = Config { filter: FilterChoice::AcceptAll, mapping_cache_entries: 0, ..BASE };
    other.write_back.collect_on_fold = false;
    both_ways_find_the_truth(shape, other, 150);
}

#[test]
fn a_device_of_one_region_reads_as_the_document_says() {
    let config = Config { log: LogRegion::FirstBlocks(5), ..BASE };
    both_ways_find_the_truth(geometry(Some((24, 8, 512)), None), config, 150);
    both_ways_find_the_truth(geometry(None, Some((Cell::Tlc, 24, 12, 1024))), config, 150);
}

#[test]
fn a_device_without_a_log_reads_as_the_document_says() {
    let config = Config { log: LogRegion::None, ..BASE };
    both_ways_find_the_truth(geometry(None, Some((Cell::Mlc, 18, 8, 1024))), config, 150);
}

#[test]
fn a_device_that_guards_its_paired_pages_reads_as_the_document_says() {
    let config = Config { paired_pages: PairedPages::Guard, ..BASE };
    let shape = geometry(Some((12, 8, 1024)), Some((Cell::Mlc, 14, 8, 2048)));
    both_ways_find_the_truth(shape, config, 150);
    let config = Config { log: LogRegion::None, ..config };
    both_ways_find_the_truth(geometry(None, Some((Cell::Tlc, 18, 12, 1024))), config, 150);
}

#[test]
fn a_log_whose_summaries_take_two_pages_reads_as_the_document_says() {
    let config = Config {
        filter: FilterChoice::AcceptAll,
        index: IndexConfig { entries: Some(400), probes: 8, probing: Probing::Quadratic },
        ..BASE
    };
    let shape = geometry(Some((9, 160, 512)), Some((Cell::Mlc, 40, 16, 512)));
    both_ways_find_the_truth(shape, config, 150);
}
