//! Golden counts: the cost of fixed requests on fixed devices, operation by operation, so that a change of the code
//! shows whether it changes the behaviour.
//!
//! The table is `tests/golden.txt`. If a change of behaviour is intended,
//! `UPDATE_EXPECT=1 cargo test -p ftl-core golden::` writes the new one. The difference belongs into the same commit as
//! the change, whose message says why the numbers are better.

use crate::world;

use expect_test::expect_file;
use ftl_core::Config;
use ftl_core::config::WriteBackConfig;
use ftl_core::config::{Endurance, FilterChoice, IndexConfig};
use ftl_core::probe::{Cause, Counters, Verb};
use ftl_iface::{Cell, Geometry, Region, SectorCount};

use world::counted::table_of_operations;
use world::{Checks, Dice, Step, World, devices, region};

/// Requests from a seed to a device with a configuration.
struct Scenario {
    name: &'static str,
    geometry: Geometry,
    config: Config,
    requests: u32,
    /// A step that is done once in a thousand requests. With a mount, the averages of rule (c) begin again.
    now_and_then: Step,
}

/// Returns a hybrid device with a suitable reserve and log, unlike the smallest one.
fn roomy() -> (Geometry, Config) {
    let slc = region(Cell::Slc, 22, 16, 1024);
    let geometry = devices::geometry(Some(slc), Some(region(Cell::Mlc, 72, 16, 2048)));
    let config = Config {
        capacity: Some(SectorCount::new(60 * 64)),
        index: IndexConfig { entries: None, ..Config::HYBRID.index },
        mapping_cache_entries: 8,
        free_blocks_low: 4,
        throttle: false,
        ..devices::SMALL
    };
    (geometry, config)
}

fn scenarios() -> Vec<Scenario> {
    let (geometry, config) = roomy();
    let rules = config.write_back;
    let with = |name, config| Scenario {
        name,
        geometry,
        config,
        requests: 6_000,
        now_and_then: Step::Remount,
    };
    let rule = |name, write_back| with(name, Config { write_back, ..config });
    let small = |name, (geometry, config)| Scenario {
        name,
        geometry,
        config,
        requests: 4_000,
        now_and_then: Step::Remount,
    };
    let throttled = Endurance { fast: 5_000, main: 10_000 };
    vec![
        with("hybrid", config),
        rule("hybrid, without rule a", WriteBackConfig { follow_log_blocks: false, ..rules }),
        rule("hybrid, without rule b", WriteBackConfig { collect_on_fold: false, ..rules }),
        Scenario {
            // Long enough for the averages of rule (c) to settle before the workload changes.
            requests: 40_000,
            now_and_then: Step::Maintain { budget: 1_000 },
            ..with("hybrid, updates fall", config)
        },
        Scenario {
            requests: 40_000,
            now_and_then: Step::Maintain { budget: 1_000 },
            ..rule(
                "hybrid, updates fall, without rule c",
                WriteBackConfig { suspend_when_updates_fall: false, ..rules },
            )
        },
        with("hybrid, throttled", Config { throttle: true, endurance: throttled, ..config }),
        with("hybrid, everything hot", Config { filter: FilterChoice::AcceptAll, ..config }),
        with("hybrid, no map kept", Config { mapping_cache_entries: 0, ..config }),
        small("hybrid, the smallest", devices::hybrid()),
        small("one SLC chip", devices::one_slc()),
        small("one TLC chip", devices::one_tlc()),
        small("conventional", devices::conventional()),
    ]
}

/// Returns hot small writes, cold large ones, reads, trims, idle work and mounts. In the last quarter the host works
/// elsewhere.
fn steps(capacity: u32, requests: u32, now_and_then: Step) -> Vec<Step> {
    let mut dice = Dice::new(u64::from(requests));
    let hot = capacity / 16;
    let mut steps: Vec<Step> = (0..capacity.div_ceil(48))
        .map(|at| Step::Write { first: at * 48, count: 48.min(capacity - at * 48) })
        .collect();
    for at in 0..requests {
        let away = at >= requests - requests / 4;
        steps.push(match dice.below(1_000) {
            0..750 if away => {
                Step::Write { first: dice.within(capacity / 2..capacity - 2), count: 1 }
            }
            0..750 => {
                let first = dice.below(hot).min(dice.below(hot)) * 4;
                Step::Write { first, count: dice.within(1..3) }
            }
            750..880 => dice.write(capacity, 40),
            880..960 => Step::Read { first: dice.below(capacity - 8), count: dice.within(1..9) },
            960..980 => Step::Trim { first: dice.below(capacity - 8), count: dice.within(1..9) },
            980..999 => Step::Maintain { budget: dice.below(40) },
            _ => now_and_then,
        });
    }
    steps
}

fn run(scenario: &Scenario) -> Counters {
    let mut world = World::new(scenario.geometry, scenario.config);
    let steps = steps(world.capacity(), scenario.requests, scenario.now_and_then);
    world.run(&steps, Checks::Never);
    world.counters().clone()
}

fn table(name: &str, counters: &Counters) -> String {
    let text = table_of_operations(name, counters);
    let Counters { lookups, misses, scans, scanned_pages, folds, fold_erases, switches, .. } =
        counters;
    let lines = [
        format!(
            "sectors: {} to the log, {} to chains",
            counters.fast_sectors, counters.main_sectors
        ),
        format!(
            "rejected: {} by the index, {} by the log, {} by the throttle",
            counters.rejected_by_index, counters.rejected_by_space, counters.rejected_by_throttle
        ),
        format!("chain pages: {lookups} written, {misses} of them without a map at hand"),
        format!("scans: {scans} of {scanned_pages} pages"),
        format!(
            "tails: {} with {} valid sectors, {} of them kept",
            counters.reclaims, counters.reclaimed_valid, counters.reclaimed_kept
        ),
        format!(
            "folds: {folds} that erased {fold_erases} blocks, {} for wear, {switches} switches",
            counters.wear_folds
        ),
    ];
    format!("{text}\n  {}\n", lines.join("\n  "))
}

#[test]
fn fixed_requests_cost_what_they_always_did() {
    let tables: Vec<String> =
        scenarios().iter().map(|scenario| table(scenario.name, &run(scenario))).collect();
    expect_file!["golden.txt"].assert_eq(&tables.join("\n"));
}

#[test]
fn the_scenarios_reach_what_they_are_named_for() {
    let of = |name: &str| {
        let all = scenarios();
        let found = all.iter().find(|scenario| scenario.name == name);
        run(found.unwrap_or_else(|| panic!("no scenario {name}")))
    };
    assert!(of("hybrid, throttled").rejected_by_throttle > 0);
    assert_ne!(of("hybrid, updates fall"), of("hybrid, updates fall, without rule c"));
    assert!(of("hybrid, no map kept").misses > of("hybrid").misses);
    assert_eq!(of("conventional").fast_sectors, 0);
    let counters = of("hybrid");
    for cause in [Cause::Host, Cause::Gc, Cause::WriteBack, Cause::Scan, Cause::Mount] {
        let of = |region| Verb::ALL.map(|verb| counters.operations(region, verb, cause));
        assert!(Region::ALL.map(of).iter().flatten().sum::<u64>() > 0, "{cause:?}");
    }
    assert!(counters.folds > 0 && counters.switches > 0 && counters.reclaimed_kept > 0);
    assert!(of("hybrid, updates fall").wear_folds > 0);
}
