//! Power cuts: every fate of every operation, and what holds after each.

use crate::support::{byte, chip, hybrid, mlc, page, program, read, slc, stamp_chip, try_program};
use ftl_iface::{EraseError, MarkError, NandDevice, ProgramError, ReadError};
use nand_model::chip::Fork;
use nand_model::faults::{FaultInjector, When};
use nand_model::power::{
    BlockFate, Cut, Fates, MarkFate, PageFate, PairFate, PowerCut, PowerError, Tear,
};
use nand_model::{Chip, Content, Truth};

type Device = FaultInjector<Chip>;

const PAGE_FATES: [PageFate; 6] = [
    PageFate::Untouched,
    PageFate::Complete,
    PageFate::Uncorrectable,
    PageFate::ReadsErased,
    PageFate::Unstable { reads: 2 },
    PageFate::Fading,
];
const BLOCK_FATES: [BlockFate; 4] =
    [BlockFate::Untouched, BlockFate::Erased, BlockFate::Garbage, BlockFate::Fading];

fn fates() -> Fates {
    Fates {
        page: PageFate::Complete,
        pair: PairFate::Kept,
        block: BlockFate::Untouched,
        mark: MarkFate::Untouched,
    }
}

fn device() -> Device {
    FaultInjector::new(chip(), 7)
}

/// Programs `page` of a block whose earlier pages hold their own numbers, and cuts power in it.
fn torn_program(index: u16, fate: PageFate, pair: PairFate) -> Device {
    let mut device = device();
    for earlier in 0..index {
        program(&mut device, page(mlc(5), earlier), earlier as u8);
    }
    let cut = Cut::chosen(0, Fates { page: fate, pair, ..fates() });
    let mut device = PowerCut::new(device, cut);
    let result = try_program(&mut device, page(mlc(5), index), 0x77);
    assert_eq!(result, Err(ProgramError::Driver(PowerError::PoweredOff)));
    device.into_inner()
}

fn torn_erase(fate: BlockFate) -> Device {
    let mut device = device();
    for index in 0..8 {
        program(&mut device, page(mlc(5), index), index as u8);
    }
    program(&mut device, page(mlc(6), 0), 0x66);
    let mut device = PowerCut::new(device, Cut::chosen(0, Fates { block: fate, ..fates() }));
    assert_eq!(device.erase(mlc(5)), Err(EraseError::Driver(PowerError::PoweredOff)));
    device.into_inner()
}

fn is_uncorrectable(device: &mut Device, index: u16) -> bool {
    read(device, page(mlc(5), index)) == Err(ReadError::Uncorrectable)
}

#[test]
fn an_untouched_page_reads_as_erased() {
    let mut device = torn_program(1, PageFate::Untouched, PairFate::Kept);
    assert_eq!(byte(&mut device, page(mlc(5), 1)), 0xFF);
}

#[test]
fn a_complete_page_reads_as_it_was_meant_to_be() {
    let mut device = torn_program(1, PageFate::Complete, PairFate::Kept);
    assert_eq!(byte(&mut device, page(mlc(5), 1)), 0x77);
}

#[test]
fn an_uncorrectable_page_cannot_be_read_and_the_buffer_does_not_tell_the_truth() {
    let mut device = torn_program(1, PageFate::Uncorrectable, PairFate::Kept);
    let mut data = [0x77; 1024];
    let result = device.read(page(mlc(5), 1), ftl_iface::Bytes::ZERO, &mut data, &mut []);
    assert_eq!(result, Err(ReadError::Uncorrectable));
    assert_ne!(data, [0x77; 1024]);
}

#[test]
fn a_page_that_reads_as_erased_does_so_data_and_spare_alike() {
    let mut device = torn_program(1, PageFate::ReadsErased, PairFate::Kept);
    assert_eq!(byte(&mut device, page(mlc(5), 1)), 0xFF);
}

#[test]
fn an_unstable_page_reads_well_at_first_and_fails_later() {
    let mut device = torn_program(1, PageFate::Unstable { reads: 2 }, PairFate::Kept);
    assert_eq!(byte(&mut device, page(mlc(5), 1)), 0x77);
    assert_eq!(byte(&mut device, page(mlc(5), 1)), 0x77);
    assert!(is_uncorrectable(&mut device, 1));
    assert!(is_uncorrectable(&mut device, 1));
}

#[test]
fn a_page_in_flight_counts_as_programmed_in_every_fate() {
    for fate in PAGE_FATES {
        let mut device = torn_program(1, fate, PairFate::Kept);
        assert!(device.is_programmed(page(mlc(5), 1)));
        let again = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            program(&mut device, page(mlc(5), 1), 1);
        }));
        let message = *again.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("expected page 2 or later"), "{fate:?}: {message}");
        // Later pages, and the same one after an erase, go well.
        program(&mut device, page(mlc(5), 2), 2);
        device.erase(mlc(5)).unwrap();
        assert_eq!(byte(&mut device, page(mlc(5), 1)), 0xFF);
        program(&mut device, page(mlc(5), 1), 9);
        assert_eq!(byte(&mut device, page(mlc(5), 1)), 9);
    }
}

#[test]
fn a_torn_program_changes_no_other_page_when_the_pair_is_kept() {
    for fate in PAGE_FATES {
        let mut device = torn_program(4, fate, PairFate::Kept);
        for earlier in 0..4 {
            assert_eq!(byte(&mut device, page(mlc(5), earlier)), earlier as u8);
        }
    }
}

#[test]
fn a_lost_pair_is_the_page_of_the_same_word_line_and_no_other() {
    // Distance 3: page 4 shares its cells with page 1.
    let mut device = torn_program(4, PageFate::Complete, PairFate::Lost);
    for earlier in [0, 2, 3] {
        assert_eq!(byte(&mut device, page(mlc(5), earlier)), earlier as u8);
    }
    assert!(is_uncorrectable(&mut device, 1));
    // The truth knows what it held.
    assert_eq!(byte(device.inner_mut(), page(mlc(5), 1)), 1);
}

#[test]
fn a_pair_that_was_never_programmed_has_nothing_to_lose() {
    let mut device =
        PowerCut::new(device(), Cut::chosen(0, Fates { pair: PairFate::Lost, ..fates() }));
    let _ = try_program(&mut device, page(mlc(5), 4), 0x77);
    let mut device = device.into_inner();
    assert_eq!(byte(&mut device, page(mlc(5), 1)), 0xFF);
}

#[test]
fn an_slc_page_has_no_pair_to_lose() {
    let mut device = device();
    program(&mut device, page(slc(0), 0), 1);
    let cut = Cut::chosen(0, Fates { pair: PairFate::Lost, ..fates() });
    let mut device = PowerCut::new(device, cut);
    let _ = try_program(&mut device, page(slc(0), 1), 0x77);
    assert_eq!(byte(&mut device.into_inner(), page(slc(0), 0)), 1);
}

#[test]
fn a_block_whose_erase_did_not_begin_reads_as_before() {
    let mut device = torn_erase(BlockFate::Untouched);
    for index in 0..8 {
        assert_eq!(byte(&mut device, page(mlc(5), index)), index as u8);
    }
}

#[test]
fn a_block_whose_erase_was_all_but_done_reads_as_erased() {
    let mut device = torn_erase(BlockFate::Erased);
    for index in 0..8 {
        assert_eq!(byte(&mut device, page(mlc(5), index)), 0xFF);
    }
}

#[test]
fn a_half_erased_block_reads_as_anything_and_its_neighbour_as_before() {
    let mut device = torn_erase(BlockFate::Garbage);
    let mut kinds = std::collections::BTreeSet::new();
    for index in 0..8 {
        let kind = match read(&mut device, page(mlc(5), index)) {
            Err(_) => "uncorrectable",
            Ok((bytes, _)) if bytes.iter().all(|byte| *byte == 0xFF) => "erased",
            Ok((bytes, _)) if bytes.iter().all(|byte| *byte == index as u8) => "as before",
            Ok(_) => "garbage",
        };
        kinds.insert(kind);
    }
    assert!(kinds.len() >= 3, "eight pages should fall out in several ways: {kinds:?}");
    assert_eq!(byte(&mut device, page(mlc(6), 0)), 0x66);
}

#[test]
fn a_fading_page_reads_well_until_power_goes_off_once_more_and_never_again() {
    let mut device = torn_program(1, PageFate::Fading, PairFate::Kept);
    for _ in 0..100 {
        assert_eq!(byte(&mut device, page(mlc(5), 1)), 0x77);
    }
    let mut next = PowerCut::new(device, Cut::chosen(0, fates()));
    let _ = next.erase(mlc(6));
    let mut device = next.into_inner();
    assert!(is_uncorrectable(&mut device, 1) && !is_uncorrectable(&mut device, 0));
    device.erase(mlc(5)).unwrap();
    assert_eq!(byte(&mut device, page(mlc(5), 1)), 0xFF);
}

#[test]
fn a_fading_block_reads_as_before_at_first_and_less_and_less_and_never_heals() {
    let (mut intact, mut died, mut gone) = (0, 0, 0);
    for seed in 0..40 {
        let mut device = FaultInjector::new(chip(), seed);
        (0..8).for_each(|index| program(&mut device, page(mlc(5), index), index as u8));
        device.tear_erase(mlc(5), BlockFate::Fading).unwrap();
        let well = |device: &mut Device, index: u16| {
            read(device, page(mlc(5), index)).is_ok_and(|(bytes, _)| bytes[0] == index as u8)
        };
        let mut alive: Vec<u16> = (0..8).filter(|index| well(&mut device, *index)).collect();
        gone += 8 - alive.len();
        let first = alive.len();
        for _ in 0..3 {
            device.power_off();
            for _ in 0..10 {
                let still: Vec<u16> = (0..8).filter(|index| well(&mut device, *index)).collect();
                assert!(still.iter().all(|index| alive.contains(index)), "one came back");
                alive = still;
            }
            // A second torn erase does not make them better.
            device.tear_erase(mlc(5), BlockFate::Fading).unwrap();
        }
        died += first - alive.len();
        intact += alive.len();
    }
    assert!(intact > 0 && died > 50 && gone > 50, "{intact} intact, {died} died, {gone} gone");
}

#[test]
fn a_failed_program_may_read_as_programmed_for_a_while() {
    let mut faded = 0;
    for seed in 0..100 {
        let mut device = FaultInjector::new(chip(), seed);
        device.fail_program(page(mlc(5), 0), When::Always);
        assert_eq!(try_program(&mut device, page(mlc(5), 0), 3), Err(ProgramError::Failed));
        let well = |device: &mut Device| {
            read(device, page(mlc(5), 0)).is_ok_and(|(bytes, _)| bytes[0] == 3)
        };
        let at_first = well(&mut device);
        device.power_off();
        (0..30).for_each(|_| drop(read(&mut device, page(mlc(5), 0))));
        faded += u32::from(at_first && !well(&mut device));
    }
    assert!((20..50).contains(&faded), "a third of them: {faded}");
}

#[test]
fn a_block_in_flight_of_an_erase_must_be_erased_again_in_every_fate() {
    for fate in BLOCK_FATES {
        let mut device = torn_erase(fate);
        let too_early = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            program(&mut device, page(mlc(5), 7), 1);
        }));
        let message = *too_early.unwrap_err().downcast::<String>().unwrap();
        assert!(
            message.contains(
                "program of MLC block 5, page 7: the block's last erase did not complete, \
                 expected it to be erased again first"
            ),
            "{fate:?}: {message}"
        );
        device.erase(mlc(5)).unwrap();
        for index in 0..8 {
            assert_eq!(byte(&mut device, page(mlc(5), index)), 0xFF);
        }
        program(&mut device, page(mlc(5), 0), 3);
        assert_eq!(byte(&mut device, page(mlc(5), 0)), 3);
    }
}

#[test]
fn a_mark_in_flight_is_set_or_not_and_may_lose_the_pages_of_its_block() {
    use MarkFate::{PagesLost, Set, SetAndPagesLost, Untouched};
    for mark in [Untouched, Set, PagesLost, SetAndPagesLost] {
        let mut lost = Vec::new();
        for seed in 0..20 {
            let mut device = FaultInjector::new(chip(), seed);
            (0..4).for_each(|at| program(&mut device, page(mlc(1), at), 5));
            let cut = Cut::chosen(0, Fates { mark, ..fates() });
            let mut device = PowerCut::new(device, cut);
            assert_eq!(device.mark_bad(mlc(1)), Err(MarkError::Driver(PowerError::PoweredOff)));
            let mut device = device.into_inner();
            assert_eq!(device.is_bad(mlc(1)), Ok(mark.is_set()));
            lost.push((0..4).filter(|at| read(&mut device, page(mlc(1), *at)).is_err()).count());
        }
        assert_eq!(lost.contains(&4), mark.loses_pages(), "{mark:?}: {lost:?}");
        assert_eq!(lost.iter().any(|pages| *pages > 0), mark.loses_pages(), "{mark:?}");
    }
}

#[test]
fn a_cut_in_a_read_changes_nothing() {
    let mut device = device();
    program(&mut device, page(mlc(1), 0), 5);
    let mut device = PowerCut::new(device, Cut::seeded(1, 3).counting_reads());
    assert_eq!(byte(&mut device, page(mlc(1), 0)), 5);
    let cut = read(&mut device, page(mlc(1), 0));
    assert_eq!(cut, Err(ReadError::Driver(PowerError::PoweredOff)));
    assert_eq!(byte(&mut device.into_inner(), page(mlc(1), 0)), 5);
}

#[test]
fn after_the_cut_every_call_fails_and_none_reaches_the_device() {
    let mut device = PowerCut::new(device(), Cut::chosen(0, fates()));
    let _ = device.erase(mlc(0));
    assert!(!device.is_on());
    let at = page(mlc(0), 0);
    assert_eq!(read(&mut device, at), Err(ReadError::Driver(PowerError::PoweredOff)));
    assert_eq!(try_program(&mut device, at, 1), Err(ProgramError::Driver(PowerError::PoweredOff)));
    assert_eq!(device.erase(mlc(1)), Err(EraseError::Driver(PowerError::PoweredOff)));
    assert_eq!(device.is_bad(mlc(1)), Err(PowerError::PoweredOff));
    assert_eq!(device.mark_bad(mlc(1)), Err(MarkError::Driver(PowerError::PoweredOff)));
    assert_eq!((device.operations(), device.asked_while_off()), (1, 5));
    let mut device = device.into_inner();
    assert!(!device.is_programmed(at));
    assert_eq!((device.erase_count(mlc(1)), device.is_bad(mlc(1))), (0, Ok(false)));
}

#[test]
fn programs_erases_and_marks_count_as_operations_and_reads_when_asked_for() {
    for (cut, count) in [(Cut::never(), 3), (Cut::never().counting_reads(), 5)] {
        let mut device = PowerCut::new(device(), cut);
        program(&mut device, page(mlc(0), 0), 1);
        byte(&mut device, page(mlc(0), 0));
        byte(&mut device, page(mlc(0), 1));
        device.erase(mlc(0)).unwrap();
        device.is_bad(mlc(0)).unwrap();
        device.mark_bad(mlc(0)).unwrap();
        assert_eq!((device.operations(), device.is_on()), (count, true));
    }
}

#[test]
fn a_seed_meets_every_fate_and_repeats_itself() {
    let drawn: Vec<Fates> = (0..500).map(|at| *Cut::seeded(at, 99).fates()).collect();
    let again: Vec<Fates> = (0..500).map(|at| *Cut::seeded(at, 99).fates()).collect();
    assert_eq!(drawn, again);
    let other: Vec<Fates> = (0..500).map(|at| *Cut::seeded(at, 98).fates()).collect();
    assert_ne!(drawn, other);
    for fate in [PageFate::Untouched, PageFate::Complete, PageFate::Uncorrectable] {
        assert!(drawn.iter().any(|fates| fates.page == fate), "{fate:?}");
    }
    assert!(drawn.iter().any(|fates| fates.page == PageFate::ReadsErased));
    assert!(drawn.iter().any(|fates| fates.page == PageFate::Fading));
    assert!(drawn.iter().any(|fates| fates.page == PageFate::Unstable { reads: 0 }));
    assert!(drawn.iter().any(|fates| fates.page == PageFate::Unstable { reads: 8 }));
    for fate in BLOCK_FATES {
        assert!(drawn.iter().any(|fates| fates.block == fate), "{fate:?}");
    }
    for fate in [PairFate::Kept, PairFate::Lost] {
        assert!(drawn.iter().any(|fates| fates.pair == fate), "{fate:?}");
    }
    let marks: Vec<MarkFate> = drawn.iter().map(|fates| fates.mark).collect();
    for mark in [MarkFate::Untouched, MarkFate::Set, MarkFate::PagesLost, MarkFate::SetAndPagesLost]
    {
        assert!(marks.contains(&mark), "{mark:?}");
    }
}

#[test]
fn a_cut_at_each_of_a_hundred_thousand_operations_copies_only_what_it_touches() {
    // A chip with content in each block; the workload touches two of its 24 blocks.
    let mut chip = Chip::new(&hybrid(), Content::Bytes).unwrap();
    for block in 0..16 {
        program(&mut chip, page(mlc(block), 0), block as u8);
    }
    let mut start = FaultInjector::new(chip, 1);
    let mut copied = 0;
    for at in 0..100_000 {
        let mut device = PowerCut::new(start.fork(), Cut::seeded(at % 4, at));
        let _ = try_program(&mut device, page(mlc(3), 1), 1)
            .and_then(|()| try_program(&mut device, page(mlc(3), 2), 2))
            .and_then(|()| try_program(&mut device, page(mlc(4), 1), 2));
        copied += device.into_inner().into_inner().blocks_copied();
    }
    assert!(copied <= 200_000, "{copied} blocks were copied");
    assert_eq!(start.inner().blocks_copied(), 0);
}

#[test]
fn the_start_of_a_fork_is_not_changed_by_what_becomes_of_it() {
    let mut start = device();
    program(&mut start, page(mlc(5), 0), 1);
    for at in 0..4 {
        let mut device = PowerCut::new(start.fork(), Cut::seeded(at, 5));
        let _ = try_program(&mut device, page(mlc(5), 2), 2).and_then(|()| {
            let _ = device.erase(mlc(5));
            try_program(&mut device, page(mlc(5), 0), 3)
        });
        assert_eq!(byte(&mut start, page(mlc(5), 0)), 1);
        assert_eq!(byte(&mut start, page(mlc(5), 2)), 0xFF);
    }
}

#[test]
fn power_can_be_cut_again_after_it_was_cut() {
    let first = torn_program(4, PageFate::Uncorrectable, PairFate::Lost);
    let mut second =
        PowerCut::new(first, Cut::chosen(0, Fates { page: PageFate::ReadsErased, ..fates() }));
    let _ = try_program(&mut second, page(mlc(5), 5), 1);
    let mut device = second.into_inner();
    assert!(is_uncorrectable(&mut device, 1) && is_uncorrectable(&mut device, 4));
    assert_eq!(byte(&mut device, page(mlc(5), 5)), 0xFF);
}

#[test]
fn a_chip_of_stamps_is_torn_like_one_of_bytes() {
    let mut device = FaultInjector::new(stamp_chip(), 1);
    device.program(page(mlc(0), 0), &[0; 1024], &[0xFF; 32]).unwrap();
    let fates = Fates { page: PageFate::ReadsErased, pair: PairFate::Lost, ..fates() };
    let mut device = PowerCut::new(device, Cut::chosen(0, fates));
    let _ = device.program(page(mlc(0), 2), &[0; 1024], &[0xFF; 32]);
    let mut device = device.into_inner();
    assert_eq!(byte(&mut device, page(mlc(0), 2)), 0xFF);
    assert_eq!(read(&mut device, page(mlc(0), 0)), Err(ReadError::Uncorrectable));
}
