//! Every kind of fault: at a named place, by chance, and lifted again.

use crate::support;
use crate::support::{byte, chip, mlc, page, program, read, slc, try_program};
use ftl_iface::{
    BlockCount, Bytes, Corrected, EraseError, MarkError, NandDevice, PageIndex, ProgramError,
    ReadError, Region,
};
use nand_model::faults::{Ageing, BitErrorsError, Chance, FaultInjector, When};
use nand_model::part::{Ecc, Nanos};
use nand_model::{Chip, Truth};

fn device() -> FaultInjector<Chip> {
    FaultInjector::new(chip(), 11)
}

const DAY: Nanos = Nanos::from_micros(86_400_000_000);
const ECC: Ecc = Ecc { correctable_bits: 8, codeword_bytes: 512 };

#[test]
fn without_faults_everything_is_passed_on() {
    let mut device = device();
    program(&mut device, page(mlc(0), 0), 4);
    assert_eq!(byte(&mut device, page(mlc(0), 0)), 4);
    device.erase(mlc(0)).unwrap();
    device.mark_bad(mlc(0)).unwrap();
    assert!(device.into_inner().is_bad(mlc(0)).unwrap());
}

#[test]
fn a_named_factory_bad_block_is_bad_until_lifted_and_the_chip_does_not_know() {
    let mut device = device();
    device.factory_bad(slc(3));
    assert!(device.is_bad(slc(3)).unwrap());
    assert!(!device.inner_mut().is_bad(slc(3)).unwrap());
    assert_eq!(byte(&mut device, page(slc(3), 0)), 0xFF, "it may be read");
    device.lift_factory_bad(slc(3));
    assert!(!device.is_bad(slc(3)).unwrap());
}

#[test]
#[should_panic(expected = "program of SLC block 3, page 0: the block is marked bad")]
fn a_program_of_a_factory_bad_block_is_refused() {
    let mut device = device();
    device.factory_bad(slc(3));
    program(&mut device, page(slc(3), 0), 0);
}

#[test]
#[should_panic(expected = "erase of SLC block 3: the block is marked bad")]
fn an_erase_of_a_factory_bad_block_is_refused() {
    let mut device = device();
    device.factory_bad(slc(3));
    let _ = device.erase(slc(3));
}

#[test]
fn a_seed_picks_as_many_factory_bad_blocks_as_asked_for_and_never_block_0() {
    let picked = |seed, count| {
        let mut device = FaultInjector::new(chip(), seed);
        device.factory_bad_by_seed(Region::Mlc, BlockCount::new(count));
        let blocks = (0..16).filter(|block| device.is_bad(mlc(*block)).unwrap());
        blocks.collect::<Vec<u32>>()
    };
    for seed in 0..50 {
        let blocks = picked(seed, 3);
        assert_eq!((blocks.len(), blocks.contains(&0)), (3, false), "seed {seed}: {blocks:?}");
        assert_eq!(blocks, picked(seed, 3));
    }
    assert_ne!(picked(1, 3), picked(2, 3));
    assert_eq!(picked(1, 99).len(), 15);
}

#[test]
fn a_named_program_fails_and_earlier_pages_stay_readable() {
    let mut device = device();
    program(&mut device, page(mlc(2), 0), 1);
    device.fail_program(page(mlc(2), 1), When::Always);
    assert_eq!(try_program(&mut device, page(mlc(2), 1), 2), Err(ProgramError::Failed));
    assert_eq!(byte(&mut device, page(mlc(2), 0)), 1);
    // The truth is what was meant to be there.
    device.lift(page(mlc(2), 1));
    assert_eq!(byte(&mut device, page(mlc(2), 1)), 2);
}

#[test]
fn a_failed_program_leaves_anything_by_the_seed() {
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let mut device = FaultInjector::new(chip(), seed);
        device.fail_program(page(mlc(2), 0), When::Always);
        let _ = try_program(&mut device, page(mlc(2), 0), 2);
        kinds.insert(match read(&mut device, page(mlc(2), 0)) {
            Err(_) => "uncorrectable",
            Ok((bytes, _)) if bytes.iter().all(|byte| *byte == 0xFF) => "erased",
            Ok((bytes, _)) if bytes.iter().all(|byte| *byte == 2) => "as meant",
            Ok(_) => "garbage",
        });
    }
    assert_eq!(kinds.len(), 4, "{kinds:?}");
}

#[test]
fn a_fault_can_strike_at_the_nth_time_alone() {
    let mut device = device();
    device.fail_program(page(mlc(2), 0), When::Nth(2));
    device.fail_erase(mlc(2), When::Nth(3));
    let mut outcomes = Vec::new();
    for _ in 0..3 {
        let programmed = try_program(&mut device, page(mlc(2), 0), 2).is_ok();
        let erased = device.erase(mlc(2)).is_ok();
        outcomes.push((programmed, erased));
    }
    assert_eq!(outcomes, [(true, true), (false, true), (true, false)]);
}

#[test]
fn a_failed_erase_leaves_the_block_as_anything_and_wears_it() {
    let mut device = device();
    for index in 0..8 {
        program(&mut device, page(mlc(2), index), 7);
    }
    device.fail_erase(mlc(2), When::Always);
    let before = device.inner().stats().elapsed;
    assert_eq!(device.erase(mlc(2)), Err(EraseError::Failed));
    assert_eq!(device.inner().stats().elapsed - before, Nanos::from_micros(1_500));
    assert_eq!(device.erase_count(mlc(2)), 1);
    let as_before = |device: &mut FaultInjector<Chip>| {
        let intact = |index| {
            read(device, page(mlc(2), index))
                .is_ok_and(|(bytes, _)| bytes.iter().all(|at| *at == 7))
        };
        (0..8).map(intact).filter(|intact| *intact).count()
    };
    let intact = as_before(&mut device);
    assert!(intact < 8, "the failure left no trace");
    // Lifted, the truth shows: the erase did not happen.
    for index in 0..8 {
        device.lift(page(mlc(2), index));
    }
    assert_eq!(as_before(&mut device), 8);
}

#[test]
#[should_panic(expected = "the block's last erase did not complete")]
fn a_program_after_a_failed_erase_is_refused() {
    let mut device = device();
    device.fail_erase(mlc(2), When::Always);
    let _ = device.erase(mlc(2));
    program(&mut device, page(mlc(2), 0), 0);
}

#[test]
fn a_block_whose_erase_failed_is_well_again_when_an_erase_succeeds() {
    let mut device = device();
    program(&mut device, page(mlc(2), 0), 7);
    device.fail_erase(mlc(2), When::Nth(1));
    assert_eq!(device.erase(mlc(2)), Err(EraseError::Failed));
    device.erase(mlc(2)).unwrap();
    assert_eq!(byte(&mut device, page(mlc(2), 0)), 0xFF);
    program(&mut device, page(mlc(2), 0), 8);
    assert_eq!(byte(&mut device, page(mlc(2), 0)), 8);
}

#[test]
fn a_named_mark_does_not_take_until_lifted() {
    let mut device = device();
    device.fail_mark(mlc(2));
    assert_eq!(device.mark_bad(mlc(2)), Err(MarkError::Failed));
    assert!(!device.is_bad(mlc(2)).unwrap());
    device.lift_mark_failures();
    device.mark_bad(mlc(2)).unwrap();
    assert!(device.is_bad(mlc(2)).unwrap());
}

#[test]
fn chance_strikes_about_as_often_as_it_was_told_and_the_same_places_again() {
    let failures = |seed| {
        let mut device = FaultInjector::new(chip(), seed);
        device.fail_programs(Chance::one_in(10));
        device.fail_erases(Chance::one_in(10));
        let mut found = (Vec::new(), Vec::new());
        for round in 0..200 {
            for index in 0..8 {
                let at = page(mlc(9), index);
                if try_program(&mut device, at, 1).is_err() {
                    found.0.push((round, index));
                }
            }
            while device.erase(mlc(9)).is_err() {
                found.1.push(round);
            }
        }
        found
    };
    let (programs, erases) = failures(1);
    // 1,600 throws of one in ten: 160, give or take five standard deviations of 12. 200 throws: 20 and 5 x 4.2.
    assert!((100..=220).contains(&programs.len()), "{}", programs.len());
    assert!((1..=45).contains(&erases.len()), "{}", erases.len());
    assert_eq!(failures(1), (programs.clone(), erases));
    assert_ne!(failures(2).0, programs);
    assert!(!programs.is_empty());
}

#[test]
fn chance_does_not_depend_on_what_happens_elsewhere() {
    let outcome = |busy: bool| {
        let mut device = device();
        device.fail_programs(Chance::one_in(3));
        if busy {
            for index in 0..8 {
                let _ = try_program(&mut device, page(mlc(1), index), 0);
            }
        }
        (0..8).map(|index| try_program(&mut device, page(mlc(2), index), 0).is_err()).collect()
    };
    let alone: Vec<bool> = outcome(false);
    assert_eq!(alone, outcome(true));
    assert!(alone.contains(&true) && alone.contains(&false), "{alone:?}");
}

#[test]
fn no_chance_never_strikes_and_one_in_one_always_does() {
    let mut device = device();
    device.fail_programs(Chance::NEVER);
    assert!(try_program(&mut device, page(mlc(0), 0), 0).is_ok());
    device.fail_programs(Chance::one_in(1));
    assert_eq!(try_program(&mut device, page(mlc(0), 1), 0), Err(ProgramError::Failed));
    device.lift_program_failures();
    assert!(try_program(&mut device, page(mlc(0), 2), 0).is_ok());
}

#[test]
fn an_uncorrectable_place_loses_what_is_programmed_to_it_until_lifted() {
    let mut device = device();
    device.uncorrectable(page(mlc(3), 1));
    assert_eq!(byte(&mut device, page(mlc(3), 1)), 0xFF, "an erased page has nothing to lose");
    program(&mut device, page(mlc(3), 0), 1);
    program(&mut device, page(mlc(3), 1), 2);
    assert_eq!(read(&mut device, page(mlc(3), 1)), Err(ReadError::Uncorrectable));
    assert_eq!(byte(&mut device, page(mlc(3), 0)), 1);
    device.erase(mlc(3)).unwrap();
    assert_eq!(byte(&mut device, page(mlc(3), 1)), 0xFF);
    program(&mut device, page(mlc(3), 1), 3);
    assert_eq!(read(&mut device, page(mlc(3), 1)), Err(ReadError::Uncorrectable));
    device.lift(page(mlc(3), 1));
    assert_eq!(byte(&mut device, page(mlc(3), 1)), 3);
}

#[test]
fn a_page_that_lost_its_content_by_chance_has_it_lost_until_the_erase() {
    let mut device = device();
    device.uncorrectable_by_chance(Chance::one_in(1));
    program(&mut device, page(mlc(3), 0), 1);
    device.uncorrectable_by_chance(Chance::NEVER);
    assert_eq!(read(&mut device, page(mlc(3), 0)), Err(ReadError::Uncorrectable));
    assert_eq!(read(&mut device, page(mlc(3), 0)), Err(ReadError::Uncorrectable));
    device.erase(mlc(3)).unwrap();
    program(&mut device, page(mlc(3), 0), 2);
    assert_eq!(byte(&mut device, page(mlc(3), 0)), 2);
}

#[test]
fn all_faults_are_lifted_at_once() {
    let mut device = device();
    device.fail_programs(Chance::one_in(1));
    device.factory_bad(mlc(4));
    for index in 0..8 {
        let _ = try_program(&mut device, page(mlc(3), index), index as u8);
    }
    device.lift_all();
    for index in 0..8 {
        assert_eq!(byte(&mut device, page(mlc(3), index)), index as u8);
    }
    program(&mut device, page(mlc(4), 0), 1);
}

/// The worst codeword of each page of a full block after that many days, reads of the first page and cycles; `None`
/// where it is uncorrectable.
fn worst_bits(seed: u64, days: u64, reads: u32, cycles: u32) -> Vec<Option<u16>> {
    let mut chip = chip();
    for _ in 0..cycles {
        chip.attempt_erase(mlc(7));
    }
    let mut device = FaultInjector::new(chip, seed);
    device.age_region(Region::Mlc, Ageing::MLC, ECC).unwrap();
    device.erase(mlc(7)).unwrap();
    for index in 0..8 {
        program(&mut device, page(mlc(7), index), 0x5A);
    }
    device.age(DAY * days);
    for _ in 0..reads {
        let _ = device.read(page(mlc(7), 0), Bytes::ZERO, &mut [], &mut []);
    }
    let bits = |index| match read(&mut device, page(mlc(7), index)) {
        Ok((bytes, corrected)) => {
            assert!(bytes.iter().all(|byte| *byte == 0x5A), "corrected means exact");
            Some(corrected.get())
        }
        Err(error) => {
            assert_eq!(error, ReadError::Uncorrectable);
            None
        }
    };
    (0..8).map(bits).collect()
}

/// Sums of corrected bits over several seeds, uncorrectable pages counting one more than the limit.
fn decay(days: u64, reads: u32, cycles: u32) -> u32 {
    let pages = (0..20).flat_map(|seed| worst_bits(seed, days, reads, cycles));
    pages.map(|bits| u32::from(bits.unwrap_or(9))).sum()
}

#[test]
fn bit_errors_grow_with_wear() {
    let (fresh, worn, dead) = (decay(0, 0, 0), decay(0, 0, 30_000), decay(0, 0, 300_000));
    assert!(fresh < worn && worn < dead, "{fresh}, {worn}, {dead}");
}

#[test]
fn bit_errors_grow_with_retention() {
    let (fresh, weeks, years) = (decay(0, 0, 3_000), decay(90, 0, 3_000), decay(1_000, 0, 3_000));
    assert!(fresh < weeks && weeks < years, "{fresh}, {weeks}, {years}");
}

#[test]
fn bit_errors_grow_with_reads_of_the_block() {
    let (few, many) = (decay(0, 0, 10_000), decay(0, 100_000, 10_000));
    assert!(few < many, "{few}, {many}");
}

#[test]
fn a_page_beyond_the_correction_limit_is_uncorrectable_and_one_within_tells_its_bits() {
    let young = worst_bits(1, 0, 0, 0);
    assert!(young.iter().all(|bits| bits.is_some_and(|bits| bits <= 8)), "{young:?}");
    let old = worst_bits(1, 1_000, 0, 3_000);
    assert!(old.iter().all(Option::is_none), "{old:?}");
}

#[test]
fn the_same_seed_decays_the_same_way_and_reading_again_changes_nothing_but_by_disturb() {
    assert_eq!(worst_bits(3, 100, 0, 3_000), worst_bits(3, 100, 0, 3_000));
    let several = (0..10).map(|seed| worst_bits(seed, 60, 0, 3_000));
    let distinct: std::collections::BTreeSet<_> = several.collect();
    assert!(distinct.len() > 5, "seeds differ");
}

#[test]
fn an_erase_rejuvenates_retention_and_reads() {
    let mut device = device();
    device.age_region(Region::Slc, Ageing::MLC, ECC).unwrap();
    program(&mut device, page(slc(0), 0), 1);
    device.age(DAY * 100_000);
    // Without cycles the retention term of the MLC fit is zero; wear the block first.
    for _ in 0..3_000 {
        device.erase(slc(0)).unwrap();
    }
    program(&mut device, page(slc(0), 0), 1);
    device.age(DAY * 3_000);
    assert_eq!(read(&mut device, page(slc(0), 0)), Err(ReadError::Uncorrectable));
    device.erase(slc(0)).unwrap();
    program(&mut device, page(slc(0), 0), 1);
    assert_eq!(byte(&mut device, page(slc(0), 0)), 1);
}

#[test]
fn erased_pages_do_not_decay_and_bit_errors_are_off_unless_asked_for() {
    let mut device = device();
    program(&mut device, page(slc(0), 0), 1);
    device.age(DAY * 100_000);
    assert_eq!(read(&mut device, page(slc(0), 0)).unwrap().1, Corrected::NONE);
    device.age_region(Region::Slc, Ageing { floor: 0.5, ..Ageing::SLC }, ECC).unwrap();
    assert_eq!(read(&mut device, page(slc(0), 0)), Err(ReadError::Uncorrectable));
    assert_eq!(byte(&mut device, page(slc(0), 1)), 0xFF);
    device.lift_bit_errors();
    assert_eq!(byte(&mut device, page(slc(0), 0)), 1);
}

#[test]
fn a_read_of_fewer_codewords_meets_fewer_errors() {
    // One page, four codewords of 256 bytes: the whole page's count is that of its worst part.
    let mut device = device();
    let ecc = Ecc { correctable_bits: 1_000, codeword_bytes: 256 };
    let ageing = Ageing { floor: 5e-3, ..Ageing::MLC };
    device.age_region(Region::Mlc, ageing, ecc).unwrap();
    program(&mut device, page(mlc(0), 0), 1);
    let mut part = |at: u32, length| {
        let read = device.read(page(mlc(0), 0), Bytes::new(at), &mut vec![0; length], &mut []);
        read.unwrap().get()
    };
    let parts = [0, 256, 512, 768].map(|at| part(at, 256));
    assert_eq!(part(0, 1024), *parts.iter().max().unwrap());
    assert!(parts.iter().any(|bits| *bits < part(0, 1024)), "{parts:?}");
}

#[test]
fn ageing_of_a_region_that_is_not_there_is_refused() {
    let only_slc =
        support::part(Some(support::slc_shape()), None, 0, nand_model::part::Layout::SINGLE);
    let chip = Chip::new(&only_slc, nand_model::Content::Bytes).unwrap();
    let mut device = FaultInjector::new(chip, 1);
    let error = device.age_region(Region::Mlc, Ageing::MLC, ECC);
    assert_eq!(error, Err(BitErrorsError::NoRegion(Region::Mlc)));
    let none = Ecc { codeword_bytes: 0, ..ECC };
    let error = device.age_region(Region::Slc, Ageing::SLC, none);
    assert_eq!(error, Err(BitErrorsError::NoCodeword(Region::Slc)));
}

#[test]
fn the_truth_is_told_below_the_faults() {
    let mut device = device();
    program(&mut device, page(mlc(0), 3), 1);
    assert!(device.is_programmed(page(mlc(0), 3)));
    assert!(!device.is_programmed(page(mlc(0), 2)), "left out");
    assert!(!device.is_programmed(mlc(0).page(PageIndex::new(4))));
}
