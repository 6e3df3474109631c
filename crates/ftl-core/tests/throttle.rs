//! The throttle on a whole device, as in Fig. 12b of the paper (section 5.7): with a small log the ratio of mean erase
//! counts, log to chains, settles at the ratio of the endurances; with a large one it stays below.
//!
//! The device is a small version of Chang's: chains of a thousand blocks, a log of 4 to 128. Nine requests in ten write
//! one sector of a hot set; the tenth rewrites four logical blocks in order, which wears only the chains.

use crate::world;

use ftl_core::config::{Endurance, IndexConfig};
use ftl_core::{Config, RamPlan};
use ftl_iface::{Cell, Geometry, Region, SectorCount};

use world::{Dice, Step, Tandem, World, devices, region};

/// Chain blocks, and the exported ones among them.
const CHAIN_BLOCKS: u32 = 1_000;
const LOGICAL_BLOCKS: u32 = 950;
/// Sectors of a chain block.
const PER_BLOCK: u32 = 16;
/// Hot sectors are in every other logical block, so that they have chains of their own.
const APART: u32 = 8;

fn device(log_blocks: u32, ratio: u32, throttle: bool) -> World {
    device_of(log_blocks, ratio, throttle, None)
}

fn device_of(log_blocks: u32, ratio: u32, throttle: bool, entries: Option<u32>) -> World {
    let with_meta = |meta| {
        let slc = region(Cell::Slc, meta + log_blocks, 16, 512);
        devices::geometry(Some(slc), Some(region(Cell::Mlc, CHAIN_BLOCKS, 8, 1024)))
    };
    let config = Config {
        capacity: Some(SectorCount::new(LOGICAL_BLOCKS * PER_BLOCK)),
        endurance: Endurance { fast: 100_000, main: 100_000 / ratio },
        index: IndexConfig { entries, ..Config::HYBRID.index },
        mapping_cache_entries: 8,
        free_blocks_low: 8,
        throttle,
        ..devices::SMALL
    };
    // The length of the meta area follows from that of the log.
    let log_of = |geometry: &Geometry| RamPlan::new(geometry, &config).ok()?.shape().log;
    let geometry = (4..64)
        .map(with_meta)
        .find(|geometry| log_of(geometry).is_some_and(|log| log.block_count().get() == log_blocks))
        .expect("a device with that log");
    let mut world = World::rested(geometry, config);
    // Every logical block is mapped, as in the paper's runs.
    let all: Vec<Step> = (0..LOGICAL_BLOCKS)
        .map(|block| Step::Write { first: block * PER_BLOCK, count: PER_BLOCK })
        .collect();
    world.live_to_a_stop(|world, ftl| {
        for step in all {
            world.step(ftl, step);
        }
    });
    world
}

/// The workload: a set of this many hot sectors, the first being the hottest, starting at a sector.
struct Workload {
    dice: Dice,
    hot: u32,
    start: u32,
}

impl Workload {
    fn next(&mut self) -> Step {
        if self.dice.percent(90) {
            let mut draw = || self.dice.below(self.hot);
            let rank = draw().min(draw()).min(draw());
            Step::Write { first: self.start + rank * APART, count: 1 }
        } else {
            let block = self.dice.below(LOGICAL_BLOCKS - 4);
            Step::Write { first: block * PER_BLOCK, count: 4 * PER_BLOCK }
        }
    }
}

/// Returns the mean erase counts since the device was made, of log blocks and of chain blocks, in thousandths.
fn mean_wear(ftl: &Tandem<'_>) -> (u64, u64) {
    let mean = |region, skip| {
        let counts: Vec<u64> = ftl
            .device()
            .erase_counts(region)
            .skip(skip)
            .map(|count| u64::from(count) - 1)
            .collect();
        counts.iter().sum::<u64>() * 1_000 / counts.len() as u64
    };
    // The erase of the format does not count, and the meta area is not part of the log.
    (mean(Region::Slc, ftl.shape().meta.block_count().as_usize()), mean(Region::Mlc, 0))
}

/// Asserts that the log leads by less than three mean cycles: it is closed after two, and the blocks in use by then may
/// still be erased.
fn assert_lead(ftl: &Tandem<'_>, ratio: u32) {
    let (log, chain) = mean_wear(ftl);
    let most = (chain + 1) * u64::from(ratio) + 3_000;
    assert!(log <= most, "log {log}, chains {chain}, in thousandths");
}

#[test]
fn with_a_small_log_the_ratio_of_wear_settles_at_the_ratio_of_endurance() {
    for (log_blocks, ratio) in [(4, 10), (4, 20), (8, 10)] {
        let mut world = device(log_blocks, ratio, true);
        let mut workload = Workload { dice: Dice::new(1), hot: 100, start: 0 };
        let settled = world.live(|world, ftl| {
            for _ in 0..80 {
                for _ in 0..1_000 {
                    world.step(ftl, workload.next());
                    assert_lead(ftl, ratio);
                }
            }
            let (log, chain) = mean_wear(ftl);
            log * 1_000 / chain
        });
        println!("log of {log_blocks}, endurance {ratio}: ratio of wear {settled}/1000");
        // The log does not fall behind either. After some 30 mean cycles of the chains, two of the log's are at most a
        // 150th of the ratio.
        let ratio = u64::from(ratio) * 1_000;
        assert!((ratio..=ratio + ratio / 150).contains(&settled), "{settled}");
        assert!(world.counters().rejected_by_throttle > 1_000);
    }
}

#[test]
fn a_single_hot_sector_cannot_wear_the_log_out_either() {
    // The sector never leaves the log, so it is always accepted: only closing the log stops it.
    for others in [0, 2] {
        let mut world = device(4, 10, true);
        let mut dice = Dice::new(4);
        world.live(|world, ftl| {
            for _ in 0..30_000 {
                let step = if dice.percent(others) {
                    Step::Write { first: dice.below(LOGICAL_BLOCKS) * PER_BLOCK, count: PER_BLOCK }
                } else {
                    Step::Write { first: 7, count: 1 }
                };
                world.step(ftl, step);
                assert_lead(ftl, 10);
            }
            let (log, chain) = mean_wear(ftl);
            assert!(log >= chain * 10, "nor is the log spared: {log}, {chain}");
        });
    }
}

#[test]
fn without_the_throttle_the_same_log_wears_out_before_the_chains() {
    let mut world = device(4, 10, false);
    let mut workload = Workload { dice: Dice::new(1), hot: 100, start: 0 };
    let (log, chain) = world.live(|world, ftl| {
        for _ in 0..60_000 {
            world.step(ftl, workload.next());
        }
        mean_wear(ftl)
    });
    assert!(log > 20 * chain, "log {log}, chains {chain}");
    assert_eq!(world.counters().rejected_by_throttle, 0);
}

#[test]
fn with_a_large_log_the_ratio_of_wear_stays_below_and_nothing_is_rejected() {
    for (log_blocks, ratio) in [(64, 10), (64, 20), (128, 10)] {
        let mut world = device(log_blocks, ratio, true);
        let mut workload = Workload { dice: Dice::new(1), hot: 100, start: 0 };
        let (log, chain) = world.live(|world, ftl| {
            for _ in 0..60_000 {
                world.step(ftl, workload.next());
            }
            assert_eq!(ftl.window().get(), log_blocks - 1, "the window stays as wide as it gets");
            mean_wear(ftl)
        });
        println!("log of {log_blocks}: {log} to {chain}");
        assert!(log < u64::from(ratio) * chain / 2, "log {log}, chains {chain}");
        assert_eq!(world.counters().rejected_by_throttle, 0);
    }
}

#[test]
fn a_new_hot_set_finds_its_way_into_a_throttled_log() {
    let mut world = device(4, 10, true);
    let dice = Dice::new(2);
    let mut workload = Workload { dice, hot: 100, start: 0 };
    world.live(|world, ftl| {
        let mut run = |workload: &mut Workload, requests: u32| {
            let before = ftl.probe().fast_sectors;
            for _ in 0..requests {
                world.step(ftl, workload.next());
            }
            ftl.probe().fast_sectors - before
        };
        run(&mut workload, 40_000);
        let usual = run(&mut workload, 20_000);
        // The host works elsewhere from now on: no sector of the new set is in the log.
        workload.start = 400 * PER_BLOCK;
        run(&mut workload, 5_000);
        let new = run(&mut workload, 20_000);
        println!("{usual} sectors of the old set, {new} of the new one");
        assert!(usual > 2_000);
        assert!(new * 10 > usual * 8, "{new} sectors of the new set, {usual} of the old one");
    });
}

#[test]
fn a_cold_sector_is_not_let_in_by_one_rejection_alone_but_by_a_second_write_soon_after() {
    // A table that always has a free cell for a virtual entry.
    let mut world = device_of(4, 10, true, Some(256));
    let mut workload = Workload { dice: Dice::new(4), hot: 100, start: 0 };
    world.live(|world, ftl| {
        let mut tries = 0;
        while !ftl.is_throttling() || tries < 30_000 {
            world.step(ftl, workload.next());
            tries += 1;
        }
        // Two writes do not wear the chains, so the throttle stays active.
        let stranger = Step::Write { first: 500 * PER_BLOCK + 3, count: 1 };
        let before = (ftl.probe().fast_sectors, ftl.probe().rejected_by_throttle);
        world.step(ftl, stranger);
        let once = (ftl.probe().fast_sectors, ftl.probe().rejected_by_throttle);
        assert_eq!(once, (before.0, before.1 + 1), "a sector that nobody knows is turned away");
        world.step(ftl, stranger);
        let twice = (ftl.probe().fast_sectors, ftl.probe().rejected_by_throttle);
        assert_eq!(twice, (once.0 + 1, once.1), "it left its name, by which it enters now");
    });
}
