//! Operations that overlap, each moment worked out by hand.
//!
//! The part: SLC reads take 25 us, programs 200 us, erases 1,500 us; MLC 50, 800 and 1,500 us. SLC pages have 512 + 16
//! bytes, MLC pages 1,024 + 32. Where the bus takes time, it takes 100 ns a byte: 105.6 us an MLC page with its spare
//! bytes, and 102.4 us its data alone.

use crate::support::{mlc, mlc_shape, page, part, program, slc, slc_shape};
use ftl_iface::{Block, BlockCount, Bytes, NandDevice, Page, PageCount, RegionGeometry};
use nand_model::part::{Layout, Nanos, Stripe};
use nand_model::{Chip, Content, Done, Energy, Label, Order, Time, Timed};

const BUS: u64 = 100_000;
const ARRAY: u64 = 800_000;
const SENSE: u64 = 50_000;
const IN: u64 = 105_600;
const OUT: u64 = 102_400;
const ERASE: u64 = 1_500_000;

const DIES: Layout = Layout { dies_per_channel: 2, ..Layout::SINGLE };
const PLANES: Layout = Layout { planes_per_die: 2, ..Layout::SINGLE };

fn chip(layout: Layout, bus: u64) -> Chip {
    let part = part(Some(slc_shape()), Some(mlc_shape()), bus, layout);
    Chip::new(&part, Content::Bytes).unwrap().with_time(Time::Overlapped)
}

/// A chip of MLC whose blocks are striped, with as many pages as need be.
fn striped(channels: u32, dies_per_channel: u32, planes_per_die: u32) -> Chip {
    let layout = Layout { channels, dies_per_channel, planes_per_die, stripe: Stripe::Device };
    let shape = RegionGeometry { pages_per_block: PageCount::new(64), ..mlc_shape() };
    let shape = RegionGeometry { blocks: BlockCount::new(4), ..shape };
    let part = part(None, Some(shape), BUS, layout);
    Chip::new(&part, Content::Bytes).unwrap().with_time(Time::Overlapped)
}

fn read(chip: &mut Chip, page: Page) {
    let bytes = if page.region() == ftl_iface::Region::Slc { 512 } else { 1_024 };
    chip.read(page, Bytes::ZERO, &mut vec![0; bytes], &mut []).unwrap();
}

fn order(chip: &mut Chip, order: Order) {
    chip.set_order(order, Label::default());
}

/// A request at that moment, of which nothing waits for anything.
fn free(chip: &mut Chip, at: u64, work: impl FnOnce(&mut Chip)) {
    chip.begin_request(Nanos::new(at));
    order(chip, Order::Free);
    work(chip);
    chip.end_request();
}

/// When each request ended, by number.
fn ends(chip: &mut Chip) -> Vec<u64> {
    let mut done: Vec<Done> = std::iter::from_fn(|| chip.next_done(None)).collect();
    assert!(done.is_sorted_by_key(|done| done.ended), "{done:?}");
    done.sort_by_key(|done| done.number);
    done.iter().map(|done| done.ended.get()).collect()
}

#[test]
fn a_lone_program_and_a_lone_read_take_bus_and_cells() {
    let mut chip = chip(DIES, BUS);
    free(&mut chip, 0, |chip| program(chip, page(mlc(0), 0), 1));
    assert_eq!(ends(&mut chip), [IN + ARRAY]);
    let now = chip.now().get();
    free(&mut chip, now, |chip| read(chip, page(mlc(0), 0)));
    assert_eq!(ends(&mut chip), [now + SENSE + OUT]);
}

#[test]
fn an_operation_outside_of_any_request_is_waited_for() {
    let mut chip = chip(DIES, BUS);
    program(&mut chip, page(mlc(0), 0), 1);
    assert_eq!(chip.now().get(), IN + ARRAY);
    chip.erase(mlc(1)).unwrap();
    assert_eq!(chip.now().get(), IN + ARRAY + ERASE);
    assert_eq!(chip.next_done(None), None);
}

#[test]
fn programs_on_two_dies_share_the_bus_and_on_two_channels_nothing() {
    let mut one = chip(DIES, BUS);
    let mut two = chip(Layout { channels: 2, ..Layout::SINGLE }, BUS);
    for (chip, end) in [(&mut one, 2 * IN + ARRAY), (&mut two, IN + ARRAY)] {
        free(chip, 0, |chip| {
            program(chip, page(mlc(0), 0), 1);
            program(chip, page(mlc(1), 0), 1);
        });
        assert_eq!(ends(chip), [end]);
    }
}

#[test]
fn reads_on_two_dies_sense_together_and_leave_one_after_the_other() {
    let mut chip = chip(DIES, BUS);
    for block in [0, 1] {
        free(&mut chip, 0, |chip| read(chip, page(mlc(block), 0)));
    }
    assert_eq!(ends(&mut chip), [SENSE + OUT, SENSE + 2 * OUT]);
}

#[test]
fn a_die_does_one_thing_at_a_time_and_those_that_wait_keep_their_order() {
    let mut chip = chip(DIES, BUS);
    for page_index in [0, 1] {
        free(&mut chip, 0, |chip| read(chip, page(mlc(0), page_index)));
    }
    // The other die does not wait for them.
    free(&mut chip, 10, |chip| chip.erase(mlc(1)).unwrap());
    free(&mut chip, 20, |chip| read(chip, page(mlc(2), 0)));
    let read = SENSE + OUT;
    assert_eq!(ends(&mut chip), [read, 2 * read, 10 + ERASE, 3 * read]);
}

#[test]
fn a_late_transfer_does_not_hold_up_one_that_is_ready() {
    let mut chip = chip(DIES, BUS);
    // Die 0 senses twice, die 1 once: its bytes go out between the two.
    free(&mut chip, 0, |chip| read(chip, page(mlc(0), 0)));
    free(&mut chip, 0, |chip| read(chip, page(mlc(0), 1)));
    free(&mut chip, 0, |chip| read(chip, page(mlc(1), 0)));
    let first = SENSE + OUT;
    assert_eq!(ends(&mut chip), [first, first + OUT + OUT, first + OUT]);
}

#[test]
fn planes_work_together_on_the_same_page_number() {
    // Programs: both pages come in, then one time for both.
    let mut chip = chip(PLANES, BUS);
    free(&mut chip, 0, |chip| {
        program(chip, page(mlc(0), 0), 1);
        program(chip, page(mlc(1), 0), 1);
    });
    assert_eq!(ends(&mut chip), [2 * IN + ARRAY]);
    // Both at once are one stretch of the die's work: it never idled.
    assert_eq!(chip.stats().idle_energy, Energy::ZERO);
    let now = chip.now().get();
    free(&mut chip, now, |chip| {
        read(chip, page(mlc(0), 0));
        read(chip, page(mlc(1), 0));
    });
    assert_eq!(ends(&mut chip), [now + SENSE + 2 * OUT]);
    let now = chip.now().get();
    free(&mut chip, now, |chip| {
        chip.erase(mlc(2)).unwrap();
        chip.erase(mlc(3)).unwrap();
    });
    assert_eq!(ends(&mut chip), [now + ERASE]);
}

#[test]
fn planes_do_not_work_together_on_other_pages_regions_or_verbs() {
    let after_each_other = |work: &dyn Fn(&mut Chip), end: u64| {
        let mut chip = chip(PLANES, 0);
        free(&mut chip, 0, |chip| work(chip));
        assert_eq!(ends(&mut chip), [end]);
    };
    after_each_other(
        &|chip| {
            program(chip, page(mlc(0), 0), 1);
            program(chip, page(mlc(1), 1), 1);
        },
        2 * ARRAY,
    );
    after_each_other(
        &|chip| {
            program(chip, page(mlc(0), 0), 1);
            program(chip, page(slc(1), 0), 1);
        },
        ARRAY + 200_000,
    );
    after_each_other(
        &|chip| {
            program(chip, page(mlc(0), 0), 1);
            chip.erase(mlc(1)).unwrap();
        },
        ARRAY + ERASE,
    );
}

#[test]
fn a_program_joins_the_other_plane_while_its_bytes_come_in() {
    for (at, end) in [(IN - 1, 2 * IN + ARRAY), (IN + 1, 2 * (IN + ARRAY))] {
        let mut chip = chip(PLANES, BUS);
        free(&mut chip, 0, |chip| program(chip, page(mlc(0), 0), 1));
        free(&mut chip, at, |chip| program(chip, page(mlc(1), 0), 1));
        assert_eq!(ends(&mut chip)[1], end, "at {at}");
    }
}

#[test]
fn what_decides_the_next_operation_is_waited_for() {
    let mut chip = chip(DIES, 0);
    chip.begin_request(Nanos::ZERO);
    order(&mut chip, Order::Awaited);
    read(&mut chip, page(mlc(0), 0));
    order(&mut chip, Order::Free);
    program(&mut chip, page(mlc(1), 0), 1);
    chip.end_request();
    assert_eq!(ends(&mut chip), [SENSE + ARRAY]);
}

#[test]
fn copies_wait_for_their_reads_alone_and_an_erase_for_all_copies() {
    let mut chip = chip(DIES, 0);
    chip.begin_request(Nanos::ZERO);
    order(&mut chip, Order::Copied);
    for index in 0..2 {
        read(&mut chip, page(mlc(0), index));
        program(&mut chip, page(mlc(1), index), 1);
    }
    chip.end_request();
    // Die 0 reads the second while die 1 writes the first.
    assert_eq!(ends(&mut chip), [SENSE + 2 * ARRAY]);
    let now = chip.now().get();
    chip.begin_request(chip.now());
    read(&mut chip, page(mlc(0), 2));
    program(&mut chip, page(mlc(1), 2), 1);
    chip.erase(mlc(0)).unwrap();
    chip.end_request();
    assert_eq!(ends(&mut chip), [now + SENSE + ARRAY + ERASE]);
}

#[test]
fn a_record_follows_what_it_tells_of_and_all_else_follows_it() {
    let mut chip = chip(DIES, 0);
    chip.begin_request(Nanos::ZERO);
    order(&mut chip, Order::Free);
    program(&mut chip, page(mlc(0), 0), 1);
    order(&mut chip, Order::Awaited);
    program(&mut chip, page(slc(1), 0), 1);
    order(&mut chip, Order::Free);
    program(&mut chip, page(mlc(2), 0), 1);
    chip.end_request();
    assert_eq!(ends(&mut chip), [ARRAY + 200_000 + ARRAY]);
}

#[test]
fn a_blocks_operations_keep_their_order_across_requests() {
    let mut chip = chip(DIES, 0);
    // The first request reads a tag on die 1 before it erases on die 0.
    chip.begin_request(Nanos::ZERO);
    order(&mut chip, Order::Awaited);
    read(&mut chip, page(mlc(1), 0));
    order(&mut chip, Order::Free);
    chip.erase(mlc(0)).unwrap();
    chip.end_request();
    // The second finds die 0 idle, but its block not erased yet; the third has nothing to do with that block.
    free(&mut chip, 0, |chip| program(chip, page(mlc(0), 0), 1));
    free(&mut chip, 0, |chip| read(chip, page(mlc(2), 0)));
    assert_eq!(ends(&mut chip), [SENSE + ERASE, SENSE + ERASE + ARRAY, SENSE]);
}

#[test]
fn a_striped_block_is_written_and_read_over_all_dies() {
    let mut chip = striped(2, 2, 2);
    let block = mlc(1);
    let all = |chip: &mut Chip, each: &dyn Fn(&mut Chip, Page)| {
        let now = chip.now().get();
        free(chip, now, |chip| (0..8).for_each(|index| each(chip, page(block, index))));
        ends(chip)[0] - now
    };
    // Each channel carries four pages, two for each of its dies; a die starts when both of its pages are in.
    assert_eq!(all(&mut chip, &|chip, page| program(chip, page, 1)), 4 * IN + ARRAY);
    assert_eq!(all(&mut chip, &|chip, page| read(chip, page)), SENSE + 4 * OUT);
    let now = chip.now().get();
    free(&mut chip, now, |chip| chip.erase(block).unwrap());
    assert_eq!(ends(&mut chip), [now + ERASE]);
    assert_eq!(chip.stats().mlc.tally.erases, 1, "it is one block to whoever uses it");
}

#[test]
fn an_erase_of_a_striped_block_waits_for_every_die() {
    let mut chip = striped(1, 2, 1);
    free(&mut chip, 0, |chip| read(chip, page(mlc(0), 1)));
    free(&mut chip, 0, |chip| chip.erase(mlc(1)).unwrap());
    assert_eq!(ends(&mut chip), [SENSE + OUT, SENSE + OUT + ERASE]);
}

/// A chip whose SLC lies on dies of its own.
fn apart(slc_layout: Layout, shared: Layout) -> Chip {
    let mut part = part(Some(slc_shape()), Some(mlc_shape()), BUS, shared);
    part.slc.as_mut().unwrap().layout = Some(slc_layout);
    Chip::new(&part, Content::Bytes).unwrap().with_time(Time::Overlapped)
}

const SLC_IN: u64 = 52_800;
const SLC_ARRAY: u64 = 200_000;

#[test]
fn a_region_with_dies_of_its_own_works_beside_the_other() {
    let both = |mut chip: Chip| {
        free(&mut chip, 0, |chip| program(chip, page(mlc(0), 0), 1));
        free(&mut chip, 0, |chip| program(chip, page(slc(0), 0), 1));
        (ends(&mut chip), chip.stats().idle_energy)
    };
    let (mlc_end, slc_end) = (IN + ARRAY, SLC_IN + SLC_ARRAY);
    // On one die the SLC waits for the MLC.
    let (shared, idle) = both(chip(Layout::SINGLE, BUS));
    assert_eq!((shared, idle), (vec![mlc_end, mlc_end + slc_end], Energy::ZERO));
    // On its own it waits for nothing, not for the bus either. Then its die stands by at 3.3 V x 10 uA: 33,000
    // attojoules a nanosecond.
    let (apart, idle) = both(apart(Layout::SINGLE, Layout::SINGLE));
    assert_eq!(apart, [mlc_end, slc_end]);
    let idle_nanos = u128::from(mlc_end - slc_end);
    assert_eq!(idle, Energy::from_attojoules(idle_nanos * 33_000));
}

#[test]
fn one_way_of_the_slc_is_one_whatever_the_mlc_has() {
    // As the device of Ko et al.: the SLC has one way of four planes, the MLC two.
    let four = Layout { planes_per_die: 4, ..Layout::SINGLE };
    let mut chip = apart(four, Layout { dies_per_channel: 2, ..four });
    let programs = |chip: &mut Chip, at: u64, blocks: u32, block: &dyn Fn(u32) -> Block| {
        free(chip, at, |chip| (0..blocks).for_each(|at| program(chip, page(block(at), 0), 1)));
        ends(chip)[0] - at
    };
    // Four planes take four pages in one time.
    assert_eq!(programs(&mut chip, 0, 4, &slc), 4 * SLC_IN + SLC_ARRAY);
    // Eight blocks of the MLC lie on two dies: the second die's bytes come in while the first one's cells work.
    let now = chip.now().get();
    assert_eq!(programs(&mut chip, now, 8, &mlc), 8 * IN + ARRAY);
    // Eight blocks of the SLC lie on one: they take its time twice.
    let now = chip.now().get();
    let erased = |chip: &mut Chip| (0..8).for_each(|at| chip.erase(slc(at)).unwrap());
    free(&mut chip, now, erased);
    assert_eq!(ends(&mut chip), [now + 2 * ERASE]);
}

#[test]
fn a_requests_time_is_charged_to_its_operations_without_rest() {
    let mut chip = chip(DIES, BUS);
    free(&mut chip, 0, |chip| read(chip, page(mlc(0), 0)));
    chip.begin_request(Nanos::new(1_000));
    chip.set_order(Order::Awaited, Label(1));
    read(&mut chip, page(mlc(0), 1));
    chip.set_order(Order::Free, Label(2));
    program(&mut chip, page(mlc(1), 0), 1);
    chip.end_request();
    let first = chip.next_done(None).unwrap();
    let second = chip.next_done(None).unwrap();
    let read = SENSE + OUT;
    assert_eq!((first.ended.get(), second.begun.get()), (read, read));
    assert_eq!(chip.charged(Label(0)), first.ended);
    assert_eq!(chip.charged(Label(1)).get(), read);
    assert_eq!(chip.charged(Label(2)).get(), IN + ARRAY);
    assert_eq!(second.ended.get(), 2 * read + IN + ARRAY);
    let all = [0, 1, 2].map(|label| chip.charged(Label(label)).get());
    let waited = second.begun.since(second.at).get();
    assert_eq!(all.iter().sum::<u64>() + waited, first.ended.get() + second.ended.get() - 1_000);
}

#[test]
fn where_operations_follow_each_other_requests_do_too() {
    let part = part(Some(slc_shape()), Some(mlc_shape()), 0, DIES);
    let mut chip = Chip::new(&part, Content::Bytes).unwrap();
    free(&mut chip, 0, |chip| program(chip, page(mlc(0), 0), 1));
    free(&mut chip, 0, |chip| program(chip, page(mlc(1), 0), 1));
    let first = chip.next_done(Some(Nanos::new(ARRAY))).unwrap();
    assert_eq!((first.number, first.ended.get()), (0, ARRAY));
    assert_eq!(chip.next_done(Some(Nanos::new(2 * ARRAY - 1))), None);
    let second = chip.next_done(None).unwrap();
    assert_eq!((second.at.get(), second.begun.get(), second.ended.get()), (0, ARRAY, 2 * ARRAY));
    // A request without operations is over at once.
    free(&mut chip, 5 * ARRAY, |_| {});
    assert_eq!(chip.next_done(None).unwrap().ended.get(), 5 * ARRAY);
}

/// Random reads of one page with so many requests under way: pages in a second of one die's own time.
fn reads_per_die_time(dies: u32, depth: u64) -> f64 {
    let mut chip = striped(1, dies, 1);
    let mut dice = fastrand::Rng::with_seed(7);
    let count = 4_000;
    for number in 0..count {
        let at = if number < depth { Nanos::ZERO } else { chip.next_done(None).unwrap().ended };
        let block: Block = mlc(dice.u32(..4));
        let from = page(block, dice.u16(..64));
        chip.begin_request(at);
        order(&mut chip, Order::Free);
        // Ten bytes: the bus does not bound it.
        chip.read(from, Bytes::ZERO, &mut [0; 10], &mut []).unwrap();
        chip.end_request();
    }
    while chip.next_done(None).is_some() {}
    #[allow(clippy::cast_precision_loss)] // A few seconds, in nanoseconds.
    let took = chip.now().get() as f64;
    #[allow(clippy::cast_precision_loss)]
    let alone = (count * (SENSE + 1_000)) as f64;
    alone / took
}

#[test]
fn random_reads_approach_as_many_times_one_dies_rate_as_there_are_dies() {
    let at = |depth| reads_per_die_time(4, depth);
    assert!((at(1) - 1.0).abs() < 1e-9, "{}", at(1));
    let rising = [1, 2, 4, 8, 16, 64].map(at);
    assert!(rising.is_sorted(), "{rising:?}");
    // Of 64 requests, hardly ever none is for a die; with more dies than the queue is long it stays near the queue's.
    assert!(rising[5] > 3.8 && rising[5] <= 4.0, "{rising:?}");
    assert!((1.5..2.0).contains(&rising[1]), "{rising:?}");
}
