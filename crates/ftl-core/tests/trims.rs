//! Trims: trimmed sectors read as zeros, at once, after folds and after mounts, until they are written again.

use crate::world;

use ftl_core::Config;
use ftl_core::config::FilterChoice;
use ftl_core::probe::{Cause, Counters, Verb};
use ftl_iface::{BlockStore, Region, Sector, SectorCount};

use world::{Checks, Dice, Step, World, devices, read_sector};

fn write(first: u32, count: u32) -> Step {
    Step::Write { first, count }
}

fn trim(first: u32, count: u32) -> Step {
    Step::Trim { first, count }
}

/// Writes the whole device, with requests that fill log and chains.
fn fill(capacity: u32) -> Vec<Step> {
    let cold = (0..capacity).step_by(16).map(|first| write(first, 16.min(capacity - first)));
    let hot = (0..capacity).step_by(11).map(|sector| write(sector, 1));
    cold.chain(hot).collect()
}

fn operations(counters: &Counters) -> u64 {
    let of = |region| Verb::ALL.map(|verb| counters.total(region, verb)).iter().sum::<u64>();
    Region::ALL.map(of).iter().sum()
}

#[test]
fn a_device_trimmed_as_a_whole_reads_as_zeros_and_takes_everything_again() {
    for (name, geometry, config) in devices::all() {
        println!("{name}");
        let mut world = World::new(geometry, config);
        let capacity = world.capacity();
        let mut steps = fill(capacity);
        for _ in 0..3 {
            steps.push(trim(0, capacity));
            steps.push(Step::Read { first: 0, count: capacity });
            steps.push(Step::Remount);
            steps.push(Step::Read { first: 0, count: capacity });
            steps.extend(fill(capacity));
        }
        steps.extend([trim(0, capacity), Step::Maintain { budget: 500 }, Step::Remount]);
        world.run(&steps, Checks::EachStep);
        assert!(world.truth.iter().all(Option::is_none));
    }
}

#[test]
fn a_trim_of_part_of_a_page_leaves_the_rest_of_it() {
    for (name, geometry, config) in devices::all() {
        println!("{name}");
        let mut world = World::new(geometry, config);
        let capacity = world.capacity();
        let mut steps = fill(capacity);
        for first in (0..capacity - 8).step_by(4) {
            // Trims of each part of a page of two or four slots, and of runs over page boundaries.
            let count = first / 4 % 5 + 1;
            steps.push(trim(first + first / 20 % 4, count));
            steps.push(Step::Read { first, count: 8 });
        }
        steps.extend([Step::Maintain { budget: 200 }, Step::Remount]);
        steps.extend((0..capacity - 8).step_by(7).map(|first| write(first, 2)));
        steps.extend([Step::Maintain { budget: 200 }, Step::Remount]);
        world.run(&steps, Checks::EachStep);
    }
}

#[test]
fn a_trim_of_a_whole_logical_block_costs_one_page_and_frees_what_stood_before() {
    let (geometry, config) = devices::conventional();
    let mut world = World::rested(geometry, Config { free_blocks_low: 0, ..config });
    let sectors = world.plan().shape().sectors_per_block.get();
    world.live_to_a_stop(|world, ftl| {
        for step in [write(0, sectors), write(0, 4), write(4, 4)] {
            world.checked_step(ftl, step);
        }
    });
    // Without the erases of seals of checkpoints by the first change after a mount.
    let erases = |world: &World| world.counters().operations(Region::Mlc, Verb::Erase, Cause::Gc);
    let programs = |world: &World| world.counters().total(Region::Mlc, Verb::Program);
    let before = (programs(&world), erases(&world));
    world.run(&[trim(0, sectors)], Checks::EachStep);
    assert_eq!((programs(&world), erases(&world)), (before.0 + 1, before.1 + 1));
}

#[test]
fn a_trim_of_what_was_never_written_costs_nothing() {
    for (name, geometry, config) in devices::all() {
        let mut world = World::new(geometry, config);
        let capacity = world.capacity();
        world.live(|world, ftl| {
            let before = operations(ftl.probe());
            world.step(ftl, trim(0, capacity));
            world.step(ftl, trim(5, 9));
            assert_eq!(operations(ftl.probe()), before, "{name}");
        });
    }
}

#[test]
fn a_trim_of_no_sectors_costs_nothing_even_at_the_very_end() {
    for (name, geometry, config) in devices::all() {
        let mut world = World::new(geometry, config);
        let capacity = world.capacity();
        world.run(&fill(capacity), Checks::Never);
        world.live(|world, ftl| {
            let before = operations(ftl.probe());
            world.step(ftl, trim(3, 0));
            world.step(ftl, trim(capacity, 0));
            assert_eq!(operations(ftl.probe()), before, "{name}");
        });
    }
}

#[test]
fn a_sector_of_the_log_that_is_trimmed_stays_forgotten_while_its_old_copy_stands_in_the_log() {
    for (geometry, config) in [devices::hybrid(), devices::one_slc(), devices::one_tlc()] {
        let mut world = World::new(geometry, config);
        // One sector goes to the log and is trimmed; the page in the log is still there at each mount.
        world.run(&[write(9, 1), trim(9, 1)], Checks::EachStep);
        assert_eq!(world.counters().fast_sectors, 1);
        for _ in 0..3 {
            world.live(|_, ftl| {
                let zeros = vec![0; 512];
                assert_eq!(read_sector(ftl, 9), zeros);
                ftl.check().expect("every invariant holds");
            });
        }
        // Written to the log again, it is newer than the trim; trimmed again, it is not.
        world.run(
            &[write(9, 1), Step::Remount, trim(9, 1), Step::Remount, write(9, 2)],
            Checks::EachStep,
        );
    }
}

#[test]
fn trims_writes_folds_and_mounts_in_any_order_keep_the_truth() {
    for (name, geometry, config) in devices::all() {
        for (seed, filter) in [(1, config.filter), (2, FilterChoice::AcceptAll)] {
            println!("{name}, {seed}");
            let mut world = World::new(geometry, Config { filter, ..config });
            let capacity = world.capacity();
            let mut dice = Dice::new(seed);
            let steps: Vec<Step> = (0..2_500)
                .map(|_| match dice.below(100) {
                    0..45 => dice.write(capacity, 3),
                    45..55 => dice.write(capacity, 40),
                    55..90 => {
                        let first = dice.below(capacity);
                        let most = if dice.percent(20) { 70 } else { 5 };
                        trim(first, dice.within(1..most).min(capacity - first))
                    }
                    90..98 => Step::Maintain { budget: dice.below(12) },
                    _ => Step::Remount,
                })
                .collect();
            world.run(&steps, Checks::EachStep);
        }
    }
}

#[test]
fn a_trim_while_its_chain_is_being_folded_is_not_undone_by_the_fold() {
    let (geometry, config) = devices::conventional();
    let shape = *World::new(geometry, config).plan().shape();
    let sectors = shape.sectors_per_block.get();
    let capacity = (shape.chain.block_count().get() - 6) * sectors;
    let chains = [0, sectors, 2 * sectors];
    // No automatic housekeeping: folds advance only by `maintain`, one page at a time.
    let config =
        Config { copies_per_page: 0, capacity: Some(SectorCount::new(capacity)), ..config };
    for page in 1..8 {
        let mut world = World::rested(geometry, config);
        world.live_to_a_stop(|world, ftl| world.step(ftl, write(0, capacity)));
        world.live(|world, ftl| {
            // Each chain takes a log block, so that few blocks are free and one chain is folded. Besides its target,
            // enough blocks are left for one more log block.
            for chain in chains {
                world.checked_step(ftl, write(chain + 3, 9));
            }
            world.checked_step(ftl, Step::Maintain { budget: page });
            let programs = ftl.probe().operations(Region::Mlc, Verb::Program, Cause::Gc);
            assert_eq!(programs, u64::from(page), "pages of the fold that were programmed");
            for chain in chains {
                world.checked_step(ftl, trim(chain + 4, 20));
                world.checked_step(ftl, write(chain + 6, 2));
            }
            assert_eq!(ftl.probe().folds, 0, "the trims came while the fold was under way");
            world.checked_step(ftl, Step::Maintain { budget: 8 });
            assert!(ftl.probe().folds > 0);
        });
        world
            .run(&[Step::Remount, Step::Maintain { budget: 100 }, Step::Remount], Checks::EachStep);
    }
}

#[test]
fn trims_alone_never_fill_the_device() {
    for (name, geometry, config) in devices::all() {
        println!("{name}");
        let mut world = World::new(geometry, config);
        let capacity = world.capacity();
        world.run(&fill(capacity), Checks::Never);
        let mut dice = Dice::new(3);
        world.live(|world, ftl| {
            for _ in 0..1_500 {
                let first = dice.below(capacity);
                let count = SectorCount::new(1.max(dice.below(9)).min(capacity - first));
                ftl.trim(Sector::new(first), count).expect("a trim");
                let end = first + count.get();
                world.truth[first as usize..end as usize].fill(None);
            }
            ftl.check().expect("every invariant holds");
        });
    }
}
