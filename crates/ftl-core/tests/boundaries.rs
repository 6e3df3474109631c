//! The ends of every range: the fullest device, the smallest reserve, the shortest log, the smallest and the largest
//! request. Every invariant is checked after each step.

use crate::world;

use ftl_core::Config;
use ftl_core::config::{Endurance, FilterChoice, LogRegion, PairedPages};
use ftl_core::hybrid::shape::SPARE_BLOCKS_MIN;
use ftl_core::probe::{Cause, Verb};
use ftl_iface::{Bytes, Cell, Region, SectorCount};

use world::{Checks, Dice, Step, World, devices, region};

/// Runs the steps on one device of each kind; the steps are made from the device's capacity.
fn on_every_device(steps: impl Fn(u32) -> Vec<Step>) {
    for (name, geometry, config) in devices::all() {
        println!("{name}");
        let mut world = World::new(geometry, config);
        let steps = steps(world.capacity());
        world.run(&steps, Checks::EachStep);
    }
}

fn write(first: u32, count: u32) -> Step {
    Step::Write { first, count }
}

/// Writes the whole device in requests of this size.
fn sweep(capacity: u32, count: u32) -> Vec<Step> {
    let firsts = (0..capacity).step_by(count as usize);
    firsts.map(|first| write(first, count.min(capacity - first))).collect()
}

#[test]
fn a_full_device_takes_every_sector_twice_more_in_order() {
    on_every_device(|capacity| {
        [sweep(capacity, 5), sweep(capacity, 1), sweep(capacity, 3)].concat()
    });
}

#[test]
fn a_full_device_takes_every_sector_twice_more_in_any_order() {
    on_every_device(|capacity| {
        let mut dice = Dice::new(1);
        let mut steps = sweep(capacity, 16);
        for _ in 0..2 {
            steps.extend(dice.shuffled(capacity).into_iter().map(|sector| write(sector, 1)));
            steps.push(Step::Remount);
        }
        steps
    });
}

#[test]
fn the_smallest_reserve_of_two_blocks_stands_random_writes() {
    for (name, geometry, config) in devices::all() {
        println!("{name}");
        let shape = *World::new(geometry, config).plan().shape();
        let spare = u32::from(SPARE_BLOCKS_MIN);
        let blocks = shape.chain.block_count().get() - spare;
        let most = SectorCount::new(blocks * shape.sectors_per_block.get());
        let mut world = World::new(geometry, Config { capacity: Some(most), ..config });
        let mut dice = Dice::new(2);
        let mut steps = sweep(most.get(), 7);
        steps.extend((0..700).map(|_| dice.write(most.get(), 6)));
        steps.push(Step::Remount);
        steps.extend((0..700).map(|_| dice.write(most.get(), 2)));
        world.run(&steps, Checks::EachStep);
    }
}

#[test]
fn a_log_of_two_blocks_turns() {
    let (_, config) = devices::hybrid();
    let two_in_a_region = devices::geometry(
        Some(region(Cell::Slc, 8, 4, 2048)),
        Some(region(Cell::Mlc, 14, 8, 2048)),
    );
    let (one_slc, one_slc_config) = devices::one_slc();
    let two_of_a_chip = Config { log: LogRegion::FirstBlocks(2), ..one_slc_config };
    for (geometry, config) in [(two_in_a_region, config), (one_slc, two_of_a_chip)] {
        for filter in [config.filter, FilterChoice::AcceptAll] {
            let mut world = World::new(geometry, Config { filter, throttle: false, ..config });
            let capacity = world.capacity();
            let mut dice = Dice::new(3);
            let mut steps: Vec<Step> = (0..600).map(|_| dice.write(capacity, 3)).collect();
            steps.push(Step::Remount);
            steps.extend((0..600).map(|_| dice.write(24, 2)));
            world.run(&steps, Checks::EachStep);
            let counters = world.counters();
            // A write that finds both blocks full goes to the chains; the others go through the log again and again.
            assert!(
                counters.fast_sectors > 200,
                "{} sectors went to the log",
                counters.fast_sectors
            );
            assert!(counters.reclaims > 60, "{} tails were reclaimed", counters.reclaims);
        }
    }
}

#[test]
fn under_a_throttle_that_never_lets_go_the_window_stands_at_its_floor_and_writes_go_on() {
    for (geometry, config) in [devices::hybrid(), devices::one_slc(), devices::one_tlc()] {
        // A log of almost no endurance leads for good after one turn of the ring.
        let endurance = Endurance { fast: 1, main: 1_000_000 };
        let mut world = World::new(geometry, Config { endurance, ..config });
        let mut dice = Dice::new(4);
        world.live(|world, ftl| {
            let capacity = world.capacity();
            // The window changes by one step in a thousand requests.
            for _ in 0..12_000 {
                world.step(ftl, dice.write(capacity, 2));
            }
            assert!(ftl.is_throttling());
            assert_eq!(ftl.window().get(), 2);
            for _ in 0..300 {
                world.checked_step(ftl, dice.write(capacity, 2));
            }
            assert_eq!(ftl.window().get(), 2);
        });
        assert!(world.counters().rejected_by_throttle > 1_000);
    }
}

#[test]
fn requests_of_a_thousand_sectors_and_of_one_mix() {
    let slc = region(Cell::Slc, 12, 8, 2048);
    let hybrid = devices::geometry(Some(slc), Some(region(Cell::Mlc, 44, 16, 2048)));
    let one_slc = devices::geometry(Some(region(Cell::Slc, 60, 16, 2048)), None);
    let one_log = Config { log: LogRegion::FirstBlocks(6), ..devices::SMALL };
    let none = Config { log: LogRegion::None, ..devices::SMALL };
    for (geometry, config) in [(hybrid, devices::SMALL), (one_slc, one_log), (hybrid, none)] {
        let mut world = World::new(geometry, config);
        let capacity = world.capacity();
        assert!(capacity > 2_048, "{capacity}");
        let mut dice = Dice::new(5);
        let mut steps = vec![write(0, 1_024), write(capacity - 1_024, 1_024)];
        for _ in 0..12 {
            let first = dice.below(capacity - 1_023);
            steps.push(write(first, 1_024));
            steps.push(Step::Read { first, count: 1_024 });
            steps.extend((0..20).map(|_| dice.write(capacity, 1)));
        }
        steps.push(write(0, capacity));
        steps.push(Step::Read { first: 0, count: capacity });
        steps.push(Step::Remount);
        steps.push(write(1, capacity - 1));
        world.run(&steps, Checks::EachStep);
    }
}

#[test]
fn requests_lie_across_logical_blocks_at_every_offset() {
    on_every_device(|capacity| {
        let offsets = (1..40).map(|back| write(64 - back.min(33), back.min(capacity - 64)));
        let mut steps: Vec<Step> = offsets.collect();
        // One sector before the boundary, one after it, and both; then both boundaries of a block at once.
        for border in (24..capacity - 70).step_by(8) {
            steps.extend([write(border - 1, 1), write(border, 1), write(border - 1, 2)]);
            steps.push(write(border - 1, 66));
        }
        steps
    });
}

#[test]
fn a_request_larger_than_the_log_goes_to_the_chains_though_everything_is_hot() {
    let (geometry, config) = devices::hybrid();
    let mut world = World::new(geometry, Config { filter: FilterChoice::AcceptAll, ..config });
    let log = world.plan().shape().log.expect("a log");
    let places = log.block_count().get() * log.sectors_per_block();
    world.run(&[write(3, places + 1), write(0, places)], Checks::EachStep);
    let counters = world.counters();
    assert_eq!((counters.fast_sectors, counters.main_sectors), (0, u64::from(2 * places + 1)));
    // A request may take half of the pages outside the head block; one more sector would need one more page.
    let pages = (log.block_count().get() - 1) * u32::from(log.data_pages()) / 2;
    let most = pages * u32::from(log.slots);
    world.run(&[write(3, most)], Checks::EachStep);
    assert_eq!(world.counters().fast_sectors, u64::from(most));
    world.run(&[write(3, most + 1)], Checks::EachStep);
    assert_eq!(world.counters().fast_sectors, u64::from(most));
}

#[test]
fn when_everything_is_hot_the_log_takes_what_its_table_can_name_and_no_write_is_lost() {
    for (geometry, config) in [devices::hybrid(), devices::one_slc(), devices::one_tlc()] {
        let mut world = World::new(geometry, Config { filter: FilterChoice::AcceptAll, ..config });
        let capacity = world.capacity();
        let mut dice = Dice::new(6);
        let steps: Vec<Step> = (0..1_500).map(|_| dice.write(capacity, 2)).collect();
        world.run(&steps, Checks::EachStep);
        let counters = world.counters();
        assert!(counters.fast_sectors > 0 && counters.reclaims > 0, "{counters:?}");
    }
}

#[test]
fn when_nothing_is_hot_the_log_stays_untouched() {
    for (geometry, config) in [devices::hybrid(), devices::one_slc()] {
        let filter = FilterChoice::ByBytes { initial: Bytes::ZERO, largest: Bytes::ZERO };
        let mut world = World::new(geometry, Config { filter, ..config });
        let capacity = world.capacity();
        let mut dice = Dice::new(7);
        let steps: Vec<Step> = (0..1_500).map(|_| dice.write(capacity, 2)).collect();
        world.run(&steps, Checks::EachStep);
        let counters = world.counters();
        assert_eq!(counters.fast_sectors, 0);
        assert_eq!(counters.reclaims, 0);
        assert!(counters.folds > 0);
    }
}

#[test]
fn one_sector_written_again_and_again_wears_the_log_alone() {
    for (geometry, config) in [devices::hybrid(), devices::one_slc(), devices::one_tlc()] {
        let mut world = World::new(geometry, Config { throttle: false, ..config });
        let steps = vec![write(17, 1); 2_000];
        world.run(&steps, Checks::EachStep);
        let counters = world.counters();
        assert_eq!(counters.fast_sectors, 2_000);
        assert_eq!((counters.folds, counters.main_sectors), (0, 0));
        // The valid copy is at the head, so every tail is free of valid data.
        assert_eq!((counters.reclaimed_valid, counters.reclaimed_kept), (0, 0));
    }
}

#[test]
fn one_sector_written_again_and_again_to_a_conventional_device_costs_no_more_than_its_folds() {
    let (geometry, config) = devices::conventional();
    let mut world = World::new(geometry, config);
    world.run(&vec![write(17, 1); 2_000], Checks::EachStep);
    let counters = world.counters();
    let programs = |cause| counters.operations(Region::Mlc, Verb::Program, cause);
    assert_eq!(programs(Cause::Host), 2_000);
    assert_eq!(programs(Cause::Gc), counters.folds * 8, "a fold programs a block of eight pages");
}

#[test]
fn sweeps_in_order_and_in_whole_pages_become_data_blocks_without_a_copy() {
    for (name, geometry, config) in devices::all() {
        let shape = *World::new(geometry, config).plan().shape();
        // The reserve is large enough that housekeeping does not fold the chain that is being written.
        let blocks = shape.chain.block_count().get() - 6;
        let capacity = blocks * shape.sectors_per_block.get();
        let filter = FilterChoice::ByBytes { initial: Bytes::ZERO, largest: Bytes::ZERO };
        let capacity_given = Some(SectorCount::new(capacity));
        let mut world = World::new(geometry, Config { filter, capacity: capacity_given, ..config });
        let requests = sweep(capacity, u32::from(shape.chain.slots) * 2);
        world.run(&[requests.clone(), requests.clone(), requests].concat(), Checks::EachStep);
        let counters = world.counters();
        if config.paired_pages == PairedPages::Accept {
            assert_eq!(counters.switches, 3 * u64::from(blocks), "{name}");
            assert_eq!(counters.folds, 0, "{name}");
        } else {
            // Between two requests a page may be skipped, and then the block is folded.
            assert!(counters.folds <= 3 * u64::from(blocks), "{name}");
        }
    }
}

#[test]
fn a_device_of_many_sweeps_by_single_sectors_keeps_its_content() {
    on_every_device(|capacity| {
        let mut steps = Vec::new();
        for count in [1, 2, 1, 4] {
            steps.extend(sweep(capacity, count));
            steps.push(Step::Maintain { budget: 20 });
        }
        steps.push(Step::Remount);
        steps
    });
}

#[test]
fn parts_of_pages_join_with_what_the_page_held_before() {
    on_every_device(|capacity| {
        let mut steps = vec![write(0, 40)];
        for first in 0..20 {
            for count in 1..8 {
                steps.push(write(first, count));
            }
        }
        steps.push(Step::Read { first: 0, count: capacity });
        steps
    });
}

#[test]
fn sectors_that_were_never_written_read_as_zeros_beside_those_that_were() {
    on_every_device(|capacity| {
        // Every third sector, so that every page of every chain has holes; folds must keep them.
        let thirds = |_| (0..capacity).step_by(3).map(|sector| write(sector, 1));
        let mut steps = vec![Step::Read { first: 0, count: capacity }];
        steps.extend((0..3).flat_map(thirds));
        steps.extend([Step::Maintain { budget: 100 }, Step::Read { first: 0, count: capacity }]);
        steps.push(Step::Remount);
        steps
    });
}
