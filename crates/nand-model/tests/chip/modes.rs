//! Blocks that change between full and SLC mode: pages, times, wear, misuse, images.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ftl_iface::{Block, Bytes, Mode, ModeError, NandDevice, PageCount, PageIndex, Region};
use nand_model::faults::{Chance, FaultInjector};
use nand_model::part::Nanos;
use nand_model::power::{BlockFate, Cut, Fates, PairFate, PowerCut, PowerError};
use nand_model::tracer::Tracer;
use nand_model::{Chip, Content, Timed, Truth, datasheet};

const BLOCK: Block = Block::new(Region::Mlc, 3);

fn chip() -> Chip {
    Chip::new(&datasheet::builtin("tiny").unwrap(), Content::Bytes).unwrap()
}

fn program(chip: &mut Chip, page: u16) {
    chip.program(BLOCK.page(PageIndex::new(page)), &[page as u8; 2048], &[0xFF; 64]).unwrap();
}

fn micros(chip: &mut Chip, work: impl FnOnce(&mut Chip)) -> u64 {
    let before = chip.now();
    work(chip);
    (chip.now() - before).get() / Nanos::from_micros(1).get()
}

#[test]
fn times_and_pages_are_those_of_the_mode() {
    let mut chip = chip();
    assert_eq!(chip.slc_mode_pages(Region::Mlc), Some(PageCount::new(8)));
    assert_eq!(micros(&mut chip, |chip| program(chip, 0)), 800);
    chip.erase_into(BLOCK, Mode::Slc).unwrap();
    assert_eq!(chip.mode(BLOCK), Mode::Slc);
    assert_eq!(micros(&mut chip, |chip| program(chip, 0)), 400);
    let mut data = [0; 2048];
    let read = |chip: &mut Chip, data: &mut [u8]| {
        chip.read(BLOCK.page(PageIndex::new(0)), Bytes::ZERO, data, &mut []).unwrap();
    };
    assert_eq!(micros(&mut chip, |chip| read(chip, &mut data)), 50);
    (1..8).for_each(|page| program(&mut chip, page));
    chip.erase(BLOCK).unwrap();
    assert_eq!(chip.mode(BLOCK), Mode::Full);
    (0..16).for_each(|page| program(&mut chip, page));
    read(&mut chip, &mut data);
    assert_eq!(data, [0; 2048]);
}

#[test]
fn cycles_are_counted_by_the_mode_that_they_begin() {
    let mut chip = chip();
    for mode in [Mode::Slc, Mode::Full, Mode::Slc, Mode::Slc] {
        chip.erase_into(BLOCK, mode).unwrap();
    }
    assert_eq!(chip.erase_counts(Region::Mlc).nth(3), Some(4));
    assert_eq!(chip.slc_mode_erase_counts(Region::Mlc).nth(3), Some(3));
}

#[test]
fn parts_without_modes_refuse_them_and_erase_into_full_mode() {
    let mut chip = chip();
    let block = Block::new(Region::Slc, 0);
    assert_eq!(chip.slc_mode_pages(Region::Slc), None);
    assert_eq!(chip.erase_into(block, Mode::Slc), Err(ModeError::NoModes));
    assert_eq!(chip.erase_count_of(block), 0);
    assert_eq!(chip.erase_into(block, Mode::Full), Ok(()));
    assert_eq!(chip.erase_count_of(block), 1);
}

trait EraseCount {
    fn erase_count_of(&self, block: Block) -> u32;
}

impl EraseCount for Chip {
    fn erase_count_of(&self, block: Block) -> u32 {
        Chip::erase_count(self, block)
    }
}

#[test]
fn a_page_that_the_mode_does_not_have_is_a_breach() {
    let mut chip = chip();
    chip.erase_into(BLOCK, Mode::Slc).unwrap();
    let beyond = BLOCK.page(PageIndex::new(8));
    let mut forked = chip.clone();
    let told = |outcome: std::thread::Result<()>| {
        let said = outcome.expect_err("a breach");
        assert!(said.downcast_ref::<String>().is_some_and(|said| said.contains("breach")));
    };
    told(catch_unwind(AssertUnwindSafe(|| {
        chip.program(beyond, &[0; 2048], &[0xFF; 64]).unwrap();
    })));
    told(catch_unwind(AssertUnwindSafe(|| {
        forked.read(beyond, Bytes::ZERO, &mut [0; 2048], &mut []).map(|_| ()).unwrap();
    })));
}

#[test]
fn an_image_keeps_the_modes() {
    let mut chip = chip();
    chip.erase_into(BLOCK, Mode::Slc).unwrap();
    program(&mut chip, 0);
    let mut image = Vec::new();
    chip.save(&mut image).unwrap();
    let mut loaded = Chip::load(image.as_slice()).unwrap();
    assert_eq!(loaded.mode(BLOCK), Mode::Slc);
    assert_eq!(loaded.slc_mode_erase_counts(Region::Mlc).nth(3), Some(1));
    assert_eq!(micros(&mut loaded, |chip| program(chip, 1)), 400);
}

#[test]
fn a_device_file_whose_mode_cannot_be_is_told_what_to_write() {
    let text = include_str!("../../devices/tiny.toml");
    let (good, bad) =
        ("[mlc.slc_mode]", "pages_per_block = 9\nread = \"50us\"\nprogram = \"400us\"");
    let at = text.find(good).unwrap();
    let wrong = format!("{}{good}\n{bad}\nerase = \"1ms\"\nendurance = 1\n", &text[..at]);
    let said = nand_model::part::Part::parse(&wrong, "x.toml").unwrap_err().to_string();
    assert!(said.contains("give 8 or less"), "{said}");
}

const SLC: Block = Block::new(Region::Slc, 0);

#[test]
fn modes_pass_through_whatever_stands_over_the_chip() {
    let mut lines = String::new();
    let faulty = FaultInjector::new(chip(), 1);
    let powered = PowerCut::new(faulty, Cut::never());
    let mut device = Tracer::new(powered, |line: &str| lines += line);
    assert_eq!(device.slc_mode_pages(Region::Mlc), Some(PageCount::new(8)));
    assert_eq!(device.slc_mode_pages(Region::Slc), None);
    assert_eq!(device.erase_into(SLC, Mode::Slc), Err(ModeError::NoModes));
    device.erase_into(BLOCK, Mode::Slc).unwrap();
    let powered = device.into_inner();
    assert_eq!(powered.operations(), 1, "what is refused is no operation");
    assert_eq!(powered.inner().mode(BLOCK), Mode::Slc);
    assert!(lines.contains("MLC block 3 into SLC mode: ok"), "{lines}");
    assert!(lines.contains("SLC block 0 into SLC mode: the region's blocks have no"), "{lines}");
}

#[test]
fn an_erase_into_a_mode_that_fails_or_is_cut_leaves_the_mode_and_must_be_repeated() {
    for from in [Mode::Full, Mode::Slc] {
        let into = if from == Mode::Full { Mode::Slc } else { Mode::Full };
        let mut faulty = FaultInjector::new(chip(), 1);
        faulty.erase_into(BLOCK, from).unwrap();
        faulty.fail_erases(Chance::one_in(1));
        assert_eq!(faulty.erase_into(BLOCK, into), Err(ModeError::Failed));
        assert_eq!((faulty.mode(BLOCK), faulty.erase_count(BLOCK)), (from, 2));
        faulty.fail_erases(Chance::NEVER);
        for block in [BlockFate::Untouched, BlockFate::Erased, BlockFate::Garbage] {
            let mut device = PowerCut::new(faulty, Cut::chosen(0, Fates { block, ..fates() }));
            let cut = Err(ModeError::Driver(PowerError::PoweredOff));
            assert_eq!(device.erase_into(BLOCK, into), cut);
            assert_eq!(device.erase_into(SLC, Mode::Slc), cut, "nothing is told without power");
            faulty = device.into_inner();
            assert_eq!(faulty.mode(BLOCK), from, "{block:?}");
            let page = BLOCK.page(PageIndex::new(0));
            let unerased = catch_unwind(AssertUnwindSafe(|| {
                faulty.clone().program(page, &[0; 2048], &[0xFF; 64]).unwrap();
            }));
            assert!(unerased.is_err(), "{block:?}");
        }
        faulty.erase_into(BLOCK, into).unwrap();
        assert_eq!(faulty.mode(BLOCK), into);
        faulty.program(BLOCK.page(PageIndex::new(0)), &[0; 2048], &[0xFF; 64]).unwrap();
    }
}

fn fates() -> Fates {
    Fates { pair: PairFate::Lost, ..Fates::from_seed(1) }
}

#[test]
fn a_torn_program_costs_no_other_page_in_slc_mode() {
    let lost = |mode, cut: u64| {
        let mut faulty = FaultInjector::new(chip(), 1);
        faulty.erase_into(BLOCK, mode).unwrap();
        let mut device = PowerCut::new(faulty, Cut::chosen(cut, fates()));
        for page in 0..8 {
            let page = BLOCK.page(PageIndex::new(page));
            let _ = device.program(page, &[7; 2048], &[0xFF; 64]);
        }
        assert!(!device.is_on());
        let mut faulty = device.into_inner();
        let read = |page| {
            let page = BLOCK.page(PageIndex::new(page));
            faulty.read(page, Bytes::ZERO, &mut [0; 2048], &mut []).is_err()
        };
        (0..cut as u16).map(read).filter(|is_lost| *is_lost).count()
    };
    let of_all_cuts = |mode| (0..8).map(|cut| lost(mode, cut)).sum::<usize>();
    assert!(of_all_cuts(Mode::Full) > 0);
    assert_eq!(of_all_cuts(Mode::Slc), 0);
}
