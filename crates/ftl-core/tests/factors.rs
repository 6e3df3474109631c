//! Chang's factors (section 4.1) from scenarios small enough to be computed by hand: what a write, a fold, a switch, a
//! scan and a tail cost, operation by operation.
//!
//! The device: log blocks of 4 pages of 4 sectors, the last of which is the summary; chain blocks of 8 pages of 4
//! sectors. No automatic housekeeping, so that each operation has one cause.

use crate::world;

use ftl_core::Config;
use ftl_core::config::LogRegion;
use ftl_core::config::WriteBackConfig;
use ftl_core::probe::Cause::{self, Gc, Host, Meta, Scan, WriteBack};
use ftl_core::probe::Verb::{self, Erase, Program, Read};
use ftl_core::probe::{Counters, Factors, Ratio};
use ftl_iface::Region::{self, Mlc, Slc};
use ftl_iface::{Cell, SectorCount};

use world::{Step, Tandem, World, devices, region, unpaired};

/// Sectors of a logical block.
const BLOCK: u32 = 32;

const QUIET: Config = Config {
    // Eight logical blocks of fourteen: six blocks are spare.
    capacity: Some(SectorCount::new(8 * BLOCK)),
    copies_per_page: 0,
    mapping_cache_entries: 8,
    throttle: false,
    ..devices::SMALL
};

fn conventional() -> World {
    let geometry = devices::geometry(None, Some(unpaired(region(Cell::Mlc, 20, 8, 2048))));
    World::rested(geometry, Config { log: LogRegion::None, ..QUIET })
}

fn hybrid(log_blocks: u32, write_back: WriteBackConfig) -> World {
    let slc = region(Cell::Slc, 6 + log_blocks, 4, 2048);
    let geometry = devices::geometry(Some(slc), Some(unpaired(region(Cell::Mlc, 14, 8, 2048))));
    World::rested(geometry, Config { write_back, ..QUIET })
}

const RULES: WriteBackConfig = Config::HYBRID.write_back;

fn write(first: u32, count: u32) -> Step {
    Step::Write { first, count }
}

/// An operation on the flash, its cause, and its count.
type Operation = (Region, Verb, Cause, u64);

/// Returns the operations of these steps only.
fn cost(world: &mut World, ftl: &mut Tandem<'_>, steps: &[Step]) -> Vec<Operation> {
    let before = ftl.probe().clone();
    for step in steps {
        world.step(ftl, *step);
    }
    let mut found = Vec::new();
    for region in Region::ALL {
        for verb in Verb::ALL {
            for cause in Cause::ALL {
                let of = |counters: &Counters| counters.operations(region, verb, cause);
                let times = of(ftl.probe()) - of(&before);
                // The first change after a mount breaks the seals of checkpoints, and belongs to no request.
                if times > 0 && (verb, cause) != (Erase, Meta) {
                    found.push((region, verb, cause, times));
                }
            }
        }
    }
    found
}

fn ratio(part: u64, whole: u64) -> Ratio {
    Ratio { part, whole }
}

#[test]
fn a_write_to_a_chain_programs_the_pages_that_it_touches() {
    let mut world = conventional();
    world.live_to_a_stop(|world, ftl| {
        // Pages keep the alignment of the data block: one, two and nine pages.
        assert_eq!(cost(world, ftl, &[write(0, 4)]), [(Mlc, Program, Host, 1)]);
        assert_eq!(cost(world, ftl, &[write(3, 2)]), [(Mlc, Program, Host, 2)]);
        assert_eq!(cost(world, ftl, &[write(34, 33)]), [(Mlc, Program, Host, 9)]);
        assert_eq!(ftl.probe().factors().alpha, ratio(0, 39));
    });
}

#[test]
fn a_fold_reads_each_page_that_holds_something_programs_a_block_and_erases_the_chain() {
    let mut world = conventional();
    world.live_to_a_stop(|world, ftl| {
        // A data block by a switch, with nothing to erase before it.
        assert_eq!(cost(world, ftl, &[write(0, BLOCK)]), [(Mlc, Program, Host, 8)]);
        assert_eq!(ftl.probe().switches, 1);
        // Two full log blocks: sixteen pages, of which the last two hold sectors 0 to 3 and 4 to 5.
        let fill: Vec<Step> = (0..14).map(|_| write(0, 4)).collect();
        assert_eq!(cost(world, ftl, &fill), [(Mlc, Program, Host, 14)]);
        assert_eq!(cost(world, ftl, &[write(0, 4), write(4, 2)]), [(Mlc, Program, Host, 2)]);
        // The next write finds the limit of two log blocks reached. The fold reads sectors 0 to 3 in one page, 4 to 5
        // in another, 6 to 7 in the data block, and six more pages there; it writes eight and erases three blocks.
        let folded = [
            (Mlc, Read, Gc, 1 + 2 + 6),
            (Mlc, Program, Host, 1),
            (Mlc, Program, Gc, 8),
            (Mlc, Erase, Gc, 3),
        ];
        assert_eq!(cost(world, ftl, &[write(9, 1)]), folded);
        let factors = ftl.probe().factors();
        assert_eq!(factors.n4, ratio(3, 1));
        // Pages written to chains: 8 + 16 + 1, one of which made a fold necessary. The map was always cached.
        assert_eq!((factors.p1, factors.p2), (ratio(0, 25), ratio(1, 25)));
    });
}

#[test]
fn a_fold_of_a_chain_without_data_block_reads_no_holes() {
    let mut world = conventional();
    world.live_to_a_stop(|world, ftl| {
        // Three log blocks, because a chain without a data block may have one more: 24 pages that hold only sector 5.
        let fill: Vec<Step> = (0..24).map(|_| write(5, 1)).collect();
        assert_eq!(cost(world, ftl, &fill), [(Mlc, Program, Host, 24)]);
        let folded = [
            (Mlc, Read, Gc, 1),
            (Mlc, Program, Host, 1),
            (Mlc, Program, Gc, 8),
            (Mlc, Erase, Gc, 3),
        ];
        assert_eq!(cost(world, ftl, &[write(6, 1)]), folded);
    });
}

#[test]
fn a_block_written_in_order_over_a_chain_erases_it_and_copies_nothing() {
    let mut world = conventional();
    world.live_to_a_stop(|world, ftl| {
        cost(world, ftl, &[write(0, BLOCK)]);
        let switched = [(Mlc, Program, Host, 8), (Mlc, Erase, Gc, 1)];
        assert_eq!(cost(world, ftl, &[write(0, 16), write(16, 16)]), switched);
        assert_eq!(ftl.probe().switches, 2);
        assert_eq!(ftl.probe().folds, 0);
    });
}

#[test]
fn a_scan_reads_each_page_of_the_log_blocks_and_the_first_erased_one() {
    let mut world = conventional();
    world.live_to_a_stop(|world, ftl| {
        cost(world, ftl, &[write(0, BLOCK)]);
        // Ten pages: a full log block and two pages of the next.
        let fill: Vec<Step> = (0..10).map(|_| write(0, 1)).collect();
        cost(world, ftl, &fill);
    });
    world.live_to_a_stop(|world, ftl| {
        // After a mount no map is cached. Eight tags, two tags, and one erased page that shows that the rest is erased.
        let read = Step::Read { first: 0, count: 1 };
        assert_eq!(cost(world, ftl, &[read]), [(Mlc, Read, Host, 1), (Mlc, Read, Scan, 11)]);
        assert_eq!(ftl.probe().factors().n3, ratio(11, 1));
        assert_eq!(cost(world, ftl, &[read]), [(Mlc, Read, Host, 1)], "now it is at hand");
    });
}

#[test]
fn a_write_that_finds_no_map_scans_first_and_counts_as_a_miss() {
    let mut world = conventional();
    world.live_to_a_stop(|world, ftl| {
        cost(world, ftl, &[write(0, 1), write(0, 1), write(0, 1)]);
        assert_eq!(ftl.probe().factors().p1, ratio(0, 3), "chains without a log block need no map");
    });
    world.live_to_a_stop(|world, ftl| {
        let scanned = [(Mlc, Read, Scan, 4), (Mlc, Program, Host, 1)];
        assert_eq!(cost(world, ftl, &[write(0, 1)]), scanned);
        assert_eq!(ftl.probe().factors().p1, ratio(1, 4));
        assert_eq!(ftl.probe().factors().n3, ratio(4, 1));
    });
}

#[test]
fn a_trim_is_a_page_of_meta_and_is_read_twice_by_a_scan() {
    let mut world = conventional();
    world.live_to_a_stop(|world, ftl| {
        cost(world, ftl, &[write(0, 4)]);
        let trim = Step::Trim { first: 1, count: 2 };
        assert_eq!(cost(world, ftl, &[trim]), [(Mlc, Program, Meta, 1)]);
    });
    world.live_to_a_stop(|world, ftl| {
        // Two tags, the trim's payload, and the first erased page. The read itself: sectors 0 and 3, no zeros.
        let read = Step::Read { first: 0, count: 4 };
        assert_eq!(cost(world, ftl, &[read]), [(Mlc, Read, Host, 2), (Mlc, Read, Scan, 4)]);
    });
}

#[test]
fn a_write_to_the_log_programs_its_pages_and_each_third_page_a_summary() {
    let mut world = hybrid(6, RULES);
    world.live_to_a_stop(|world, ftl| {
        assert_eq!(cost(world, ftl, &[write(0, 1)]), [(Slc, Program, Host, 1)]);
        assert_eq!(cost(world, ftl, &[write(7, 2)]), [(Slc, Program, Host, 1)]);
        let closing = [(Slc, Program, Host, 1), (Slc, Program, Meta, 1)];
        assert_eq!(cost(world, ftl, &[write(0, 1)]), closing);
        cost(world, ftl, &[write(64, 12)]);
        assert_eq!(ftl.probe().factors().alpha, ratio(4, 16));
    });
}

/// Fills a log of two blocks: the tail with six sectors, then the head with the given writes of a page each. The
/// write after them finds the log full.
fn full_log(world: &mut World, ftl: &mut Tandem<'_>, tail: &[Step], head: &[Step]) {
    cost(world, ftl, tail);
    cost(world, ftl, head);
    assert_eq!(ftl.probe().operations(Slc, Program, Host), 6, "both blocks are full");
    assert_eq!(ftl.probe().reclaims, 0);
}

#[test]
fn a_tail_without_valid_sectors_costs_its_summary_and_an_erase() {
    let mut world = hybrid(2, RULES);
    world.live_to_a_stop(|world, ftl| {
        let pages = [write(0, 2), write(2, 2), write(4, 2)];
        full_log(world, ftl, &pages, &pages);
        let reclaimed = [(Slc, Read, Gc, 1), (Slc, Program, Host, 1), (Slc, Erase, Gc, 1)];
        assert_eq!(cost(world, ftl, &[write(0, 2)]), reclaimed);
        let Factors { n1, n2, .. } = ftl.probe().factors();
        assert_eq!((n1, n2), (ratio(0, 1), ratio(0, 1)));
    });
}

#[test]
fn of_a_tail_with_three_valid_sectors_those_two_stay_whose_chains_have_no_log_block() {
    // Three log blocks, so that the head has space for the sectors that stay.
    let mut world = hybrid(3, RULES);
    world.live_to_a_stop(|world, ftl| {
        // The chain of logical block 1 has a log block; those of 0 and 3 have none.
        cost(world, ftl, &[write(BLOCK, 8)]);
        // The tail holds sectors 0, 100 and 40 in a page each; the block after it a pair of sectors three times.
        cost(world, ftl, &[write(0, 1), write(100, 1), write(40, 1)]);
        cost(world, ftl, &[write(6, 2), write(6, 2), write(6, 2)]);
        // Reading them once proves that no chain has newer copies, which is unknown after a mount.
        let reads = [0, 40, 100].map(|first| Step::Read { first, count: 1 });
        cost(world, ftl, &reads);
        assert_eq!(cost(world, ftl, &[write(6, 2)]), [(Slc, Program, Host, 1)], "the third block");
        // Two blocks are behind the head, one more than the window allows.
        let reclaimed = [
            // The summary, and the two sectors that stay: they share a page at the head.
            (Slc, Read, Gc, 1 + 2),
            (Slc, Read, WriteBack, 1),
            (Slc, Program, Gc, 1),
            (Slc, Erase, Gc, 1),
            (Mlc, Program, WriteBack, 1),
        ];
        assert_eq!(cost(world, ftl, &[Step::Maintain { budget: 100 }]), reclaimed);
        let Factors { n1, n2, .. } = ftl.probe().factors();
        assert_eq!((n1, n2), (ratio(3, 1), ratio(2, 1)));
    });
}

#[test]
fn neighbours_in_a_tail_leave_in_one_page() {
    let mut world = hybrid(3, RULES);
    world.live_to_a_stop(|world, ftl| {
        cost(world, ftl, &[write(0, 8)]);
        // Sectors 16 to 19 share a page of the chain, whichever pages of the log they are in.
        cost(world, ftl, &[write(18, 2), write(17, 1), write(16, 1)]);
        cost(world, ftl, &[write(66, 2), write(66, 2), write(66, 2)]);
        cost(world, ftl, &[Step::Read { first: 16, count: 4 }, write(66, 2)]);
        let reclaimed = [
            (Slc, Read, Gc, 1),
            (Slc, Read, WriteBack, 4),
            (Slc, Erase, Gc, 1),
            (Mlc, Program, WriteBack, 1),
        ];
        assert_eq!(cost(world, ftl, &[Step::Maintain { budget: 100 }]), reclaimed);
    });
}

/// Folds a chain while the log holds a newer copy of sector 9. Returns the cost, and the factor n1 after the tail with
/// that sector is reclaimed.
fn fold_over_the_log(rules: WriteBackConfig) -> (Vec<Operation>, Ratio) {
    let mut world = hybrid(3, rules);
    world.live_to_a_stop(|world, ftl| {
        cost(world, ftl, &[write(0, BLOCK), write(9, 1)]);
        cost(world, ftl, &[Step::Read { first: 9, count: 1 }]);
        // Four sectors are too many for the log: sixteen pages of two log blocks, then one that causes the fold.
        let fill: Vec<Step> = (0..16).map(|_| write(0, 4)).collect();
        cost(world, ftl, &fill);
        let fold = cost(world, ftl, &[write(4, 4)]);
        // The block with sector 9 is full, another one is, too, and the third is begun: the first is the tail.
        let hot = vec![write(66, 2); 6];
        cost(world, ftl, &hot);
        cost(world, ftl, &[Step::Maintain { budget: 100 }]);
        (fold, ftl.probe().factors().n1)
    })
}

#[test]
fn a_fold_that_collects_reads_the_log_and_leaves_nothing_valid_there() {
    // One page of a log block, one of the log, and of the data block: the rest of the page around sector 9 in two
    // pieces, and six whole pages.
    let collecting = [
        (Slc, Read, Gc, 1),
        (Mlc, Read, Gc, 1 + 2 + 6),
        (Mlc, Program, Host, 1),
        (Mlc, Program, Gc, 8),
        (Mlc, Erase, Gc, 3),
    ];
    assert_eq!(fold_over_the_log(RULES), (collecting.to_vec(), ratio(0, 1)));
    let not_collecting = WriteBackConfig { collect_on_fold: false, ..RULES };
    assert_eq!(fold_over_the_log(not_collecting), (collecting[1..].to_vec(), ratio(1, 1)));
}
