//! The three write-back rules of the paper (section 3.6), each with a switch: with any of them off no data is lost, and
//! the effect of each is measured.

use crate::world;

use ftl_core::Config;
use ftl_core::config::IndexConfig;
use ftl_core::config::WriteBackConfig;
use ftl_core::probe::{Cause, Counters, Verb};
use ftl_iface::{Cell, Region, SectorCount};

use world::{Checks, Dice, Step, World, devices, region};

const ALL: WriteBackConfig = WriteBackConfig {
    follow_log_blocks: true,
    collect_on_fold: true,
    suspend_when_updates_fall: true,
};
const WITHOUT_A: WriteBackConfig = WriteBackConfig { follow_log_blocks: false, ..ALL };
const WITHOUT_B: WriteBackConfig = WriteBackConfig { collect_on_fold: false, ..ALL };
const WITHOUT_C: WriteBackConfig = WriteBackConfig { suspend_when_updates_fall: false, ..ALL };

#[test]
fn with_any_switch_off_what_was_written_is_read_back_and_every_invariant_holds() {
    for (name, geometry, config) in devices::all() {
        for bits in 0..8_u8 {
            let write_back = WriteBackConfig {
                follow_log_blocks: bits & 1 != 0,
                collect_on_fold: bits & 2 != 0,
                suspend_when_updates_fall: bits & 4 != 0,
            };
            println!("{name}, {write_back:?}");
            let mut world = World::new(geometry, Config { write_back, ..config });
            let capacity = world.capacity();
            let mut dice = Dice::new(u64::from(bits));
            let steps: Vec<Step> = (0..1_200)
                .map(|at| match dice.below(100) {
                    0..70 => dice.write(capacity / 2, 2),
                    70..90 => dice.write(capacity, 20),
                    90..98 => Step::Maintain { budget: dice.below(30) },
                    _ if at % 2 == 0 => Step::Remount,
                    _ => Step::Trim { first: dice.below(capacity), count: 1 },
                })
                .collect();
            world.run(&steps, Checks::EachStep);
        }
    }
}

/// Returns a small version of Chang's device: chain blocks of 128 sectors, twenty spare ones, and a log of 16 blocks of
/// 32 sectors.
fn device(write_back: WriteBackConfig) -> World {
    let slc = region(Cell::Slc, 20, 16, 1024);
    let geometry = devices::geometry(Some(slc), Some(region(Cell::Mlc, 84, 32, 2048)));
    let config = Config {
        capacity: Some(SectorCount::new(64 * 128)),
        index: IndexConfig { entries: None, ..Config::HYBRID.index },
        mapping_cache_entries: 16,
        free_blocks_low: 4,
        throttle: false,
        write_back,
        ..devices::SMALL
    };
    let mut world = World::new(geometry, config);
    let all: Vec<Step> =
        (0..64).map(|block| Step::Write { first: block * 128, count: 128 }).collect();
    world.run(&all, Checks::Never);
    world
}

/// Writes a hot set of two hundred pairs of sectors that moves over the device, beside large cold writes. During the
/// requests `away` the host works elsewhere: small writes anywhere, hardly any of them an update.
fn run(
    write_back: WriteBackConfig,
    requests: u32,
    cold: u32,
    away: std::ops::Range<u32>,
) -> Counters {
    let mut world = device(write_back);
    let mut dice = Dice::new(1);
    world.live(|world, ftl| {
        let capacity = world.capacity();
        for at in 0..requests {
            let step = if dice.percent(cold) {
                let count = dice.within(16..64);
                Step::Write { first: dice.below(capacity - 64), count }
            } else if away.contains(&at) {
                Step::Write { first: dice.below(capacity - 2), count: 1 }
            } else {
                let rank = dice.below(200).min(dice.below(200));
                let first = (at / 40 * 2 + rank * 37) % (capacity - 2);
                Step::Write { first, count: 1 + dice.below(2) }
            };
            world.step(ftl, step);
        }
        ftl.check().expect("every invariant holds");
    });
    world.counters().clone()
}

fn programs(counters: &Counters, region: Region, cause: Cause) -> u64 {
    counters.operations(region, Verb::Program, cause)
}

#[test]
fn following_and_collecting_save_a_third_of_the_folds() {
    let requests = 12_000;
    let [all, without_a, without_b] =
        [ALL, WITHOUT_A, WITHOUT_B].map(|rules| run(rules, requests, 15, 0..0));
    let neither = WriteBackConfig { collect_on_fold: false, ..WITHOUT_A };
    let neither = run(neither, requests, 15, 0..0);
    let folds = [&all, &without_a, &without_b, &neither].map(|counters| counters.folds);
    println!("folds: {folds:?} with all, without (a), without (b), without both");
    assert!(all.folds * 3 < neither.folds * 2);
    assert!(all.folds < without_a.folds && without_b.folds < neither.folds, "(a) saves folds");
    assert!(all.folds < without_b.folds && without_a.folds < neither.folds, "(b) saves folds");
    // (b) also leaves fewer sectors to copy from tail to head.
    let carried = |counters: &Counters| programs(counters, Region::Slc, Cause::Gc);
    assert!(carried(&all) < carried(&without_b));
    // Without (a) nothing is copied at all: every valid sector of a tail leaves.
    assert_eq!((carried(&without_a), without_a.reclaimed_kept), (0, 0));
    // With (a) fewer pages leave the log one by one.
    let left = |counters: &Counters| programs(counters, Region::Mlc, Cause::WriteBack);
    assert!(left(&all) < left(&without_a));
}

#[test]
fn collecting_marks_what_it_took_so_that_it_does_not_leave_the_log_again() {
    let [all, without_b] = [ALL, WITHOUT_B].map(|rules| run(rules, 12_000, 15, 0..0));
    let valid = |counters: &Counters| counters.reclaimed_valid / counters.reclaims;
    println!("{} valid sectors a tail with (b), {} without", valid(&all), valid(&without_b));
    assert!(2 * valid(&all) < valid(&without_b));
}

#[test]
fn suspending_empties_the_log_of_data_that_are_hot_no_more() {
    // Both averages have settled after 16,384 writes to the log; then the host works elsewhere.
    let away = 20_000..26_000;
    let [all, without_c] = [ALL, WITHOUT_C].map(|rules| run(rules, 26_000, 2, away.clone()));
    let kept = |counters: &Counters| counters.reclaimed_kept;
    println!("{} sectors carried with (c), {} without", kept(&all), kept(&without_c));
    println!("{} sectors entered with (c), {} without", all.fast_sectors, without_c.fast_sectors);
    println!("{} folds with (c), {} without", all.folds, without_c.folds);
    assert!(kept(&all) < kept(&without_c));
    // As long as the share of updates does not fall, the rule changes nothing.
    let [all, without_c] = [ALL, WITHOUT_C].map(|rules| run(rules, 12_000, 2, 0..0));
    assert_eq!(all, without_c);
}
