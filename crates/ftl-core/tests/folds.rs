//! Requests during a fold, at each of its pages: the end of the fold undoes none of them.

use crate::world;

use ftl_core::Config;
use ftl_core::config::{FilterChoice, LogRegion};
use ftl_core::probe::{Cause, Verb};
use ftl_iface::{Bytes, Cell, Region, SectorCount};

use world::{Checks, Step, Tandem, World, devices, region};

/// Sectors of a logical block.
const BLOCK: u32 = 32;
/// Logical blocks; five more blocks are spare.
const LOGICAL: u32 = 10;

/// Returns a device whose folds advance only by `maintain`, one page at a time.
fn device(log: LogRegion) -> World {
    let mlc = region(Cell::Mlc, if log == LogRegion::None { 22 } else { 16 }, 8, 2048);
    let slc = (log != LogRegion::None).then(|| region(Cell::Slc, 16, 4, 2048));
    let config = Config {
        log,
        capacity: Some(SectorCount::new(LOGICAL * BLOCK)),
        copies_per_page: 0,
        filter: FilterChoice::ByBytes { initial: Bytes::new(1024), largest: Bytes::new(1024) },
        throttle: false,
        ..devices::SMALL
    };
    let mut world = World::rested(devices::geometry(slc, Some(mlc)), config);
    let all = Step::Write { first: 0, count: LOGICAL * BLOCK };
    world.live_to_a_stop(|world, ftl| world.step(ftl, all));
    world
}

/// Returns the pages done of the running fold, or of the last one.
fn folded_pages(ftl: &Tandem<'_>) -> u64 {
    ftl.probe().operations(Region::Mlc, Verb::Program, Cause::Gc)
}

/// Fills three chains, and advances a fold to this page.
fn fold_to(world: &mut World, ftl: &mut Tandem<'_>, page: u32) {
    for first in [0, BLOCK, 2 * BLOCK] {
        // Nine sectors are cold. The writes after them are hot, and go to the log if there is one.
        world.checked_step(ftl, Step::Write { first: first + 3, count: 9 });
        for hot in [5, 17, 30] {
            world.checked_step(ftl, Step::Write { first: first + hot, count: 2 });
        }
    }
    world.checked_step(ftl, Step::Maintain { budget: page });
    assert_eq!(folded_pages(ftl), u64::from(page), "a fold is under way");
}

/// Begins a fold, advances it to each of its pages in turn, does the steps for the chain that is being folded and for
/// another, ends the fold, and mounts. Checks every invariant on the way.
fn while_folding(steps: impl Fn(u32) -> Vec<Step>) {
    for log in [LogRegion::None, LogRegion::SlcRegion] {
        for page in 1..8 {
            let mut world = device(log);
            world.live(|world, ftl| {
                fold_to(world, ftl, page);
                // The clock hand visits logical block 0 last, so 1 is being folded. Requests to the other may end the
                // fold.
                for step in [BLOCK, 0].into_iter().flat_map(&steps) {
                    world.checked_step(ftl, step);
                }
                world.checked_step(ftl, Step::Maintain { budget: 8 - page });
                world.checked_step(ftl, Step::Maintain { budget: 100 });
                world.read_all(ftl);
            });
            world.run(
                &[Step::Remount, Step::Maintain { budget: 100 }, Step::Remount],
                Checks::EachStep,
            );
        }
    }
}

fn write(first: u32, count: u32) -> Step {
    Step::Write { first, count }
}

#[test]
fn a_write_to_the_chain_that_is_being_folded_stands() {
    while_folding(|first| vec![write(first + 4, 5), write(first, 3), write(first + 28, 4)]);
}

#[test]
fn a_write_to_the_log_stands_whether_the_fold_has_taken_the_sector_or_not() {
    while_folding(|first| [5, 17, 30, 0, 12].map(|hot| write(first + hot, 2)).to_vec());
}

#[test]
fn a_sector_that_the_fold_took_from_the_log_and_that_goes_to_the_chain_stands() {
    while_folding(|first| vec![write(first + 4, 5), write(first + 5, 1), write(first + 16, 16)]);
}

#[test]
fn a_block_written_through_in_order_makes_the_fold_of_its_chain_needless() {
    while_folding(|first| vec![write(first, BLOCK)]);
    while_folding(|first| vec![write(first, 16), write(first + 16, 16), write(first + 2, 4)]);
}

#[test]
fn a_trim_of_a_part_and_of_a_whole_block_stands() {
    while_folding(|first| vec![Step::Trim { first: first + 4, count: 20 }, write(first + 6, 2)]);
    while_folding(|first| vec![Step::Trim { first, count: BLOCK }, write(first + 6, 5)]);
    while_folding(|first| vec![Step::Trim { first, count: BLOCK }]);
}

#[test]
fn as_many_writes_as_fill_the_log_block_that_follows_the_fold_end_it() {
    while_folding(|first| (0..20).map(|at| write(first + at, 4)).collect());
}

#[test]
fn a_mount_forgets_the_fold_and_loses_nothing() {
    for log in [LogRegion::None, LogRegion::SlcRegion] {
        for page in 1..8 {
            let mut world = device(log);
            let grow = [write(3, 9), write(BLOCK + 3, 9), write(5, 2), write(17, 2)];
            let fold = Step::Maintain { budget: page };
            world.run(
                &[&grow[..], &[fold, write(4, 5), write(30, 2), Step::Remount]].concat(),
                Checks::EachStep,
            );
            world.run(
                &[write(8, 6), Step::Maintain { budget: 100 }, Step::Remount],
                Checks::EachStep,
            );
        }
    }
}
