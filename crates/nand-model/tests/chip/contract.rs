//! Every promise that a device makes, kept by the chip.

use crate::support::{STAMPS, stamp_chip};
use crate::support::{
    byte, chip, hybrid, mlc, mlc_shape, page, part, program, read, slc, slc_shape,
};
use ftl_iface::{Bytes, NandDevice, Region};
use nand_model::chip::ChipError;
use nand_model::content::ContentError;
use nand_model::part::Layout;
use nand_model::{Chip, Content, Fork, Stamp};

#[test]
fn a_page_reads_exactly_as_it_was_programmed_data_and_spare_alike() {
    let mut chip = chip();
    let data: Vec<u8> = (0..1024_u32).map(|at| (at % 251) as u8).collect();
    let spare: Vec<u8> = (100..132).collect();
    chip.program(page(mlc(3), 0), &data, &spare).unwrap();
    let (bytes, corrected) = read(&mut chip, page(mlc(3), 0)).unwrap();
    assert_eq!((&bytes[..1024], &bytes[1024..]), (&data[..], &spare[..]));
    assert_eq!(corrected.get(), 0);
}

#[test]
fn a_read_of_part_of_a_page_returns_that_part() {
    let mut chip = chip();
    let data: Vec<u8> = (0..1024_u32).map(|at| (at / 4) as u8).collect();
    chip.program(page(mlc(0), 0), &data, &[7; 32]).unwrap();
    let (mut some, mut spare) = ([0; 100], [0; 3]);
    chip.read(page(mlc(0), 0), Bytes::new(200), &mut some, &mut spare).unwrap();
    assert_eq!((&some[..], spare), (&data[200..300], [7; 3]));
    chip.read(page(mlc(0), 0), Bytes::ZERO, &mut [], &mut spare).unwrap();
    chip.read(page(mlc(0), 0), Bytes::new(1024), &mut [], &mut []).unwrap();
}

#[test]
fn a_page_that_was_not_programmed_reads_as_0xff() {
    for mut chip in [chip(), stamp_chip()] {
        assert_eq!(byte(&mut chip, page(slc(0), 0)), 0xFF);
        program(&mut chip, page(mlc(1), 5), 0xFF);
        for left_out in [0, 4, 6] {
            assert_eq!(byte(&mut chip, page(mlc(1), left_out)), 0xFF);
        }
    }
}

#[test]
fn a_page_left_out_after_an_erase_does_not_show_what_it_held_before() {
    for mut chip in [chip(), stamp_chip()] {
        let (data, spare) = ([0; 512], [0xFF; 16]);
        for index in 0..4 {
            chip.program(page(slc(0), index), &data, &spare).unwrap();
        }
        chip.erase(slc(0)).unwrap();
        chip.program(page(slc(0), 2), &data, &spare).unwrap();
        for index in [0, 1, 3] {
            assert_eq!(byte(&mut chip, page(slc(0), index)), 0xFF);
        }
    }
}

#[test]
fn what_was_not_asked_for_does_not_change() {
    let mut device = chip();
    (0..4).for_each(|at| program(&mut device, page(mlc(1), at), at as u8 + 1));
    for _ in 0..100 {
        device.erase(mlc(2)).unwrap();
        program(&mut device, page(mlc(2), 0), 9);
        assert!((0..4).all(|at| byte(&mut device, page(mlc(1), at)) == at as u8 + 1));
    }
}

#[test]
fn an_erase_erases_its_block_alone_and_counts_it() {
    let mut chip = chip();
    for block in 0..3 {
        program(&mut chip, page(slc(block), 0), block as u8);
    }
    chip.erase(slc(1)).unwrap();
    chip.erase(slc(1)).unwrap();
    let read: Vec<u8> = (0..3).map(|block| byte(&mut chip, page(slc(block), 0))).collect();
    assert_eq!(read, [0, 0xFF, 2]);
    let counts: Vec<u32> = chip.erase_counts(Region::Slc).collect();
    assert_eq!(counts, [0, 2, 0, 0, 0, 0, 0, 0]);
    assert_eq!(chip.erase_count(slc(1)), 2);
}

#[test]
fn a_bad_mark_stays_and_the_blocks_pages_may_still_be_read() {
    let mut chip = chip();
    program(&mut chip, page(mlc(2), 0), 9);
    assert!(!chip.is_bad(mlc(2)).unwrap());
    chip.mark_bad(mlc(2)).unwrap();
    assert!(chip.is_bad(mlc(2)).unwrap());
    assert!(!chip.is_bad(slc(2)).unwrap());
    assert_eq!(byte(&mut chip, page(mlc(2), 0)), 9);
}

#[test]
fn a_plain_slc_chip_and_a_plain_mlc_chip_are_chips_too() {
    for (slc_region, mlc_region, block) in
        [(Some(slc_shape()), None, slc(7)), (None, Some(mlc_shape()), mlc(15))]
    {
        let part = part(slc_region, mlc_region, 0, Layout::SINGLE);
        let mut chip = Chip::new(&part, Content::Bytes).unwrap();
        program(&mut chip, page(block, 3), 1);
        assert_eq!(byte(&mut chip, page(block, 3)), 1);
    }
}

#[test]
fn stamps_zeros_and_ones_come_back_and_the_rest_of_a_stamped_sector_is_left_alone() {
    let mut chip = stamp_chip();
    let mut data = [0xEE; 1024];
    Stamp::new(77).write_to(&mut data[..512]);
    data[512..].fill(0);
    chip.program(page(mlc(0), 0), &data, &[0xFF; 32]).unwrap();
    let (bytes, _) = read(&mut chip, page(mlc(0), 0)).unwrap();
    assert_eq!(Stamp::read_from(&bytes), Some(Stamp::new(77)));
    assert!(bytes[12..512].iter().all(|byte| *byte == 0xA5), "the buffer was filled with 0xA5");
    assert!(bytes[512..1024].iter().all(|byte| *byte == 0));
    data[..512].fill(0xFF);
    Stamp::new(78).write_to(&mut data[512..]);
    chip.program(page(mlc(0), 1), &data, &[0xFF; 32]).unwrap();
    let mut second = [0; 512];
    chip.read(page(mlc(0), 1), Bytes::new(512), &mut second, &mut []).unwrap();
    assert_eq!(Stamp::read_from(&second), Some(Stamp::new(78)));
}

#[test]
fn in_stamp_mode_a_page_of_other_content_is_kept_whole_until_its_block_is_erased() {
    let mut chip = stamp_chip();
    let data: Vec<u8> = (0..512_u32).map(|at| (at % 250) as u8).collect();
    let mut spare = [0xFF; 16];
    spare[..8].copy_from_slice(b"metadata");
    let empty = chip.memory_bytes();
    chip.program(page(slc(4), 1), &data, &spare).unwrap();
    let (bytes, _) = read(&mut chip, page(slc(4), 1)).unwrap();
    assert_eq!((&bytes[..512], &bytes[512..]), (&data[..], &spare[..]));
    let held = chip.memory_bytes();
    assert!(held >= empty + 512);
    chip.erase(slc(4)).unwrap();
    assert_eq!(byte(&mut chip, page(slc(4), 1)), 0xFF);
    // The block that is programmed next has its memory.
    chip.program(page(slc(5), 1), &data, &spare).unwrap();
    assert_eq!(chip.memory_bytes(), held);
}

#[test]
fn a_page_that_is_kept_whole_takes_no_memory_for_the_ones_at_its_end() {
    let mut chip = stamp_chip();
    let mut data = [0xFF; 1024];
    data[..4].copy_from_slice(b"trim");
    chip.program(page(mlc(0), 0), &[0; 1024], &[0xFF; 32]).unwrap();
    let before = chip.memory_bytes();
    chip.program(page(mlc(0), 1), &data, &[0xFF; 32]).unwrap();
    assert!(chip.memory_bytes() < before + 100);
    let (bytes, _) = read(&mut chip, page(mlc(0), 1)).unwrap();
    assert_eq!(bytes[..1024], data);
    let mut part = [0; 4];
    chip.read(page(mlc(0), 1), Bytes::new(2), &mut part, &mut []).unwrap();
    assert_eq!(part, *b"im\xFF\xFF");
    chip.read(page(mlc(0), 1), Bytes::new(1_000), &mut part, &mut []).unwrap();
    assert_eq!(part, [0xFF; 4]);
}

#[test]
fn a_fork_goes_its_own_way_and_copies_only_the_blocks_that_are_written() {
    let mut original = chip();
    for block in 0..16 {
        program(&mut original, page(mlc(block), 0), block as u8);
    }
    let mut fork = original.fork();
    assert_eq!(fork.blocks_copied(), 0);
    program(&mut fork, page(mlc(3), 1), 0x33);
    program(&mut fork, page(mlc(3), 2), 0x34);
    fork.erase(mlc(4)).unwrap();
    program(&mut fork, page(mlc(4), 0), 0x44);
    // One block was written; the erased one had nothing worth copying.
    assert_eq!(fork.blocks_copied(), 1);
    assert_eq!(original.blocks_copied(), 0);
    assert_eq!(byte(&mut original, page(mlc(3), 1)), 0xFF);
    assert_eq!(byte(&mut original, page(mlc(4), 0)), 4);
    assert_eq!(byte(&mut fork, page(mlc(3), 0)), 3);
    assert_eq!(byte(&mut fork, page(mlc(4), 0)), 0x44);
    assert_eq!((original.erase_count(mlc(4)), fork.erase_count(mlc(4))), (0, 1));
    // The last one to hold a block takes it over without a copy.
    drop(fork);
    program(&mut original, page(mlc(5), 1), 0x55);
    assert_eq!(original.blocks_copied(), 0);
}

#[test]
fn a_clone_shares_nothing() {
    let mut original = chip();
    program(&mut original, page(slc(0), 0), 1);
    let mut copy = original.clone();
    original.erase(slc(0)).unwrap();
    assert_eq!(byte(&mut copy, page(slc(0), 0)), 1);
}

#[test]
fn a_part_without_figures_for_a_region_is_refused_by_name() {
    let mut part = hybrid();
    part.slc = None;
    let error = Chip::new(&part, Content::Bytes).unwrap_err();
    assert_eq!(error, ChipError::NoFigures { part: "test".into(), region: Region::Slc });
    assert_eq!(
        error.to_string(),
        "the part \"test\" has an SLC region but no figures for it: give its timing"
    );
}

#[test]
fn a_sector_larger_than_a_page_or_no_power_of_two_is_refused() {
    for bytes in [1024, 500, 8, 0] {
        let content = Content::Stamps { sector: Bytes::new(bytes), spare_kept: Bytes::new(8) };
        let error = Chip::new(&hybrid(), content).unwrap_err();
        assert!(
            matches!(error, ChipError::Content(ContentError::Sector { region: Region::Slc, .. })),
            "{error}"
        );
    }
}

#[test]
fn more_spare_bytes_than_a_page_has_are_refused() {
    let content = Content::Stamps { sector: Bytes::new(512), spare_kept: Bytes::new(17) };
    let error = Chip::new(&hybrid(), content).unwrap_err();
    assert_eq!(
        error.to_string(),
        "17 bytes of spare area are to be kept, but a page of the SLC region has 16 bytes: keep fewer"
    );
    assert!(Chip::new(&hybrid(), STAMPS).is_ok());
}

#[test]
fn a_layout_without_a_die_is_refused() {
    for layout in [
        Layout { channels: 0, ..Layout::SINGLE },
        Layout { dies_per_channel: 0, ..Layout::SINGLE },
        Layout { planes_per_die: 0, ..Layout::SINGLE },
        Layout { planes_per_die: 65, ..Layout::SINGLE },
        Layout { channels: u32::MAX, dies_per_channel: u32::MAX, ..Layout::SINGLE },
    ] {
        let part = part(Some(slc_shape()), None, 0, layout);
        let error = Chip::new(&part, Content::Bytes).unwrap_err();
        assert_eq!(error, ChipError::Layout { part: "test".into() });
        let mut own = part;
        own.layout = Layout::SINGLE;
        own.slc.as_mut().unwrap().layout = Some(layout);
        let error = Chip::new(&own, Content::Bytes).unwrap_err();
        assert_eq!(error, ChipError::Layout { part: "test".into() });
    }
}
