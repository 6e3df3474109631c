//! Time, energy and wear, each figure added up by hand.
//!
//! The part: SLC reads take 25 us, programs 200 us, erases 1,500 us; MLC 50, 800 and 1,500 us. SLC pages have 512 + 16
//! bytes, MLC pages 1,024 + 32. Where the bus takes time, it takes 100 ns a byte: 105.6 us an MLC page.

use crate::support;
use crate::support::{byte, chip, mlc, mlc_shape, page, part, program, slc, slc_shape};
use ftl_iface::{Bytes, NandDevice};
use nand_model::part::{Layout, Nanos};
use nand_model::{Chip, Content, Energy, Label, Order, Time, Timed};

const BUS: u64 = 100_000;
const MLC_TRANSFER: Nanos = Nanos::new(105_600);

fn micros(micros: u64) -> Nanos {
    Nanos::from_micros(micros)
}

fn overlapped(layout: Layout, bus_picos_per_byte: u64) -> Chip {
    let part = part(Some(slc_shape()), Some(mlc_shape()), bus_picos_per_byte, layout);
    Chip::new(&part, Content::Bytes).unwrap().with_time(Time::Overlapped)
}

fn two_dies() -> Layout {
    Layout { dies_per_channel: 2, ..Layout::SINGLE }
}

#[test]
fn serial_operations_follow_each_other_whatever_the_layout() {
    let layout = Layout { channels: 2, dies_per_channel: 2, planes_per_die: 2, ..Layout::SINGLE };
    let mut chip = overlapped(layout, 0).with_time(Time::Serial);
    program(&mut chip, page(slc(0), 0), 1);
    program(&mut chip, page(mlc(1), 0), 1);
    byte(&mut chip, page(mlc(1), 0));
    chip.erase(mlc(2)).unwrap();
    assert_eq!(chip.now(), micros(200 + 800 + 50 + 1_500));
    assert_eq!(chip.stats().elapsed, chip.now());
}

#[test]
fn a_region_counts_its_own_operations_and_their_time() {
    let mut chip = chip();
    for index in 0..3 {
        program(&mut chip, page(mlc(0), index), 1);
    }
    byte(&mut chip, page(mlc(0), 0));
    chip.erase(slc(0)).unwrap();
    let stats = chip.stats();
    assert_eq!(
        (stats.mlc.tally.programs, stats.mlc.tally.reads, stats.mlc.tally.erases),
        (3, 1, 0)
    );
    assert_eq!(stats.mlc.tally.busy, micros(3 * 800 + 50));
    assert_eq!((stats.slc.tally.erases, stats.slc.tally.busy), (1, micros(1_500)));
    assert_eq!(stats.region(ftl_iface::Region::Slc), &stats.slc);
}

#[test]
fn energy_is_voltage_times_current_times_time_to_the_last_digit() {
    let mut chip = chip();
    program(&mut chip, page(mlc(0), 0), 1);
    // 3.3 V x 15 mA x 800 us = 39.6 uJ.
    assert_eq!(chip.stats().mlc.energy, Energy::from_attojoules(39_600_000_000_000));
    assert_eq!(chip.stats().idle_energy, Energy::ZERO);
    chip.wait_until(micros(1_800));
    // 3.3 V x 10 uA x 1,000 us = 33 nJ.
    assert_eq!(chip.stats().idle_energy, Energy::from_attojoules(33_000_000_000));
    let total = Energy::from_attojoules(39_633_000_000_000);
    assert_eq!(chip.stats().energy(), total);
    assert_eq!(chip.now(), micros(1_800));
    chip.wait_until(micros(5));
    assert_eq!(chip.now(), micros(1_800), "time does not go back");
}

#[test]
fn idle_dies_draw_standby_current_while_others_work() {
    let mut chip = overlapped(two_dies(), 0);
    chip.begin_request(Nanos::ZERO);
    chip.set_order(Order::Free, Label::default());
    program(&mut chip, page(mlc(0), 0), 1);
    program(&mut chip, page(mlc(1), 0), 1);
    chip.end_request();
    chip.wait_until(micros(1_000));
    // Two dies x 1,000 us, of which two programs took 800 us each: 400 us x 3.3 V x 10 uA = 13.2 nJ.
    assert_eq!(chip.stats().idle_energy, Energy::from_attojoules(13_200_000_000));
}

#[test]
fn a_transfer_takes_the_bytes_that_were_asked_for() {
    let part = part(Some(slc_shape()), Some(mlc_shape()), BUS, Layout::SINGLE);
    let mut chip = Chip::new(&part, Content::Bytes).unwrap();
    program(&mut chip, page(mlc(0), 0), 1);
    assert_eq!(chip.now(), micros(800) + MLC_TRANSFER);
    let before = chip.now();
    chip.read(page(mlc(0), 0), Bytes::ZERO, &mut [0; 100], &mut [0; 10]).unwrap();
    assert_eq!(chip.now() - before, micros(50) + Nanos::new(110 * 100));
}

#[test]
fn a_transfer_of_broken_nanoseconds_is_rounded_up() {
    let timing = support::figures((1, 1, 1), 1_500).timing;
    assert_eq!(timing.transfer(Bytes::new(1)), Nanos::new(2));
    assert_eq!(timing.transfer(Bytes::new(2)), Nanos::new(3));
}

#[test]
fn bad_block_marks_cost_no_time() {
    let mut chip = chip();
    chip.is_bad(mlc(0)).unwrap();
    chip.mark_bad(mlc(0)).unwrap();
    assert_eq!(chip.now(), Nanos::ZERO);
}
