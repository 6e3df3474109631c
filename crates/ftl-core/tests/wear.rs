//! Wear is even: in the chains by dual-pool wear leveling, however uneven the workload is; in the log by its rotation.

use crate::world;

use ftl_core::Config;
use ftl_core::config::{LogRegion, WearLeveling};
use ftl_core::probe::{Cause, Verb};
use ftl_iface::{Cell, Geometry, Region, SectorCount};

use world::{Dice, Step, World, devices, region};

const THRESHOLD: u16 = 16;

/// Returns a device of 64 chain blocks, of which 58 hold data, all of it written once.
fn device(geometry: Geometry, log: LogRegion, enabled: bool) -> World {
    let config = Config {
        log,
        capacity: Some(SectorCount::new(58 * 16)),
        wear_leveling: WearLeveling { enabled, threshold: THRESHOLD },
        throttle: false,
        free_blocks_low: 2,
        ..devices::SMALL
    };
    let mut world = World::rested(geometry, config);
    let all = Step::Write { first: 0, count: 58 * 16 };
    world.live_to_a_stop(|world, ftl| world.step(ftl, all));
    world
}

fn conventional(enabled: bool) -> World {
    let geometry = devices::geometry(None, Some(region(Cell::Mlc, 70, 8, 1024)));
    device(geometry, LogRegion::None, enabled)
}

fn hybrid(enabled: bool) -> World {
    let slc = region(Cell::Slc, 14, 8, 1024);
    let geometry = devices::geometry(Some(slc), Some(region(Cell::Mlc, 64, 8, 1024)));
    device(geometry, LogRegion::SlcRegion, enabled)
}

/// Returns the least and the most erase counts of a region, without its first blocks.
fn spread(world: &World, region: Region, skip: usize) -> (u32, u32) {
    let counts: Vec<u32> = world.chip().erase_counts(region).skip(skip).collect();
    let least = counts.iter().min().copied().unwrap_or(0);
    (least, counts.iter().max().copied().unwrap_or(0))
}

/// Draws a write: nine in ten go to the first four logical blocks, the tenth to any of the next four. Fifty logical
/// blocks are never written again.
fn uneven(dice: &mut Dice, most: u32) -> Step {
    let span = if dice.percent(90) { 0..4 * 16 } else { 4 * 16..8 * 16 };
    let first = dice.within(span.clone());
    let count = dice.within(1..most + 1).min(span.end - first);
    Step::Write { first, count }
}

fn run(world: &mut World, requests: u32, most: u32) {
    let mut dice = Dice::new(1);
    world.live_to_a_stop(|world, ftl| {
        for _ in 0..requests {
            world.step(ftl, uneven(&mut dice, most));
        }
        ftl.check().expect("every invariant holds");
    });
}

#[test]
fn with_wear_leveling_the_spread_stays_bounded_and_without_it_grows() {
    for (name, make, most, skip) in
        [("conventional", conventional as fn(bool) -> World, 6, 6), ("hybrid", hybrid, 12, 0)]
    {
        let (mut leveled, mut uneven) = (make(true), make(false));
        for round in 1..=4 {
            run(&mut leveled, 20_000, most);
            run(&mut uneven, 20_000, most);
            let even = spread(&leveled, Region::Mlc, skip);
            let odd = spread(&uneven, Region::Mlc, skip);
            println!("{name}, round {round}: {even:?} with, {odd:?} without");
            // Within each pool 2·TH, between the pools TH more, and the erases during a round of the clock hand.
            assert!(even.1 - even.0 <= 5 * u32::from(THRESHOLD), "{name}: {even:?}");
            assert_eq!(odd.0, 1, "blocks that rest are erased by the format alone");
            assert!(odd.1 > round * 1_000, "{name}: {odd:?}");
        }
        // Wear leveling costs erases: at most 6 % more for the same work.
        let erases = |world: &World| world.counters().total(Region::Mlc, Verb::Erase);
        let (with, without) = (erases(&leveled), erases(&uneven));
        assert!(with * 100 <= without * 106, "{name}: {with} erases against {without}");
    }
}

#[test]
fn mounts_however_many_leave_wear_even() {
    for every in [200, 2_000] {
        let mut world = conventional(true);
        let mut dice = Dice::new(1);
        for _ in 0..60_000 / every {
            world.live(|world, ftl| {
                for _ in 0..every {
                    world.step(ftl, uneven(&mut dice, 6));
                }
            });
        }
        let (least, most) = spread(&world, Region::Mlc, 6);
        println!("a mount each {every} requests: {least} to {most}");
        // A mount only estimates the wear of free blocks, and begins with empty pools.
        assert!(most - least <= 16 * u32::from(THRESHOLD), "{least} to {most}");
        assert!(least > 500, "{least}");
    }
}

#[test]
fn wear_leveling_is_an_account_of_its_own() {
    let mut world = conventional(true);
    run(&mut world, 20_000, 6);
    let counters = world.counters();
    let programs = counters.operations(Region::Mlc, Verb::Program, Cause::WearLeveling);
    assert!(counters.wear_folds > 0);
    // A move programs a block of eight pages; one may still be under way.
    let moved = programs / 8;
    assert!((counters.wear_folds..=counters.wear_folds + 1).contains(&moved), "{moved}");
    let mut world = conventional(false);
    run(&mut world, 20_000, 6);
    for verb in Verb::ALL {
        assert_eq!(world.counters().operations(Region::Mlc, verb, Cause::WearLeveling), 0);
    }
}

#[test]
fn log_blocks_wear_within_one_of_each_other_whatever_is_written() {
    for (seed, most) in [(1, 1), (2, 2), (3, 12)] {
        let mut world = hybrid(true);
        let mut dice = Dice::new(seed);
        for _ in 0..6 {
            // Lives of various lengths, so that mounts find the ring at every position.
            let requests = dice.within(100..3_000);
            world.live_to_a_stop(|world, ftl| {
                for _ in 0..requests {
                    world.step(ftl, uneven(&mut dice, most));
                }
            });
            let (least, most) = spread(&world, Region::Slc, 6);
            assert!(most - least <= 1, "{least} to {most}");
        }
        let (least, _) = spread(&world, Region::Slc, 6);
        assert!(least > 5, "the log has turned {least} times");
    }
}

/// A mount without checkpoint erases the log's free blocks once more before they are used.
#[test]
fn losses_of_power_wear_log_blocks_by_an_erase_each_at_most() {
    for lives in 1..=6 {
        let mut world = hybrid(true);
        let mut dice = Dice::new(u64::from(lives));
        for _ in 0..lives {
            let requests = dice.within(100..3_000);
            world.live(|world, ftl| {
                for _ in 0..requests {
                    world.step(ftl, uneven(&mut dice, 2));
                }
            });
        }
        let (least, most) = spread(&world, Region::Slc, 6);
        assert!(most - least <= 1 + lives, "{least} to {most} after {lives} losses");
    }
}
