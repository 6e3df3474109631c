//! Every breach of the caller's promises stops the run with a sentence that says which.

use crate::support::{chip, mlc, page, part, program, slc, slc_shape, stamp_chip};
use ftl_iface::{Bytes, NandDevice};
use nand_model::part::Layout;
use nand_model::{Chip, Content, Stamp};

#[test]
#[should_panic(
    expected = "breach: program of SLC block 2, page 1: pages are programmed in rising order and \
                once per erase, expected page 2 or later"
)]
fn a_page_programmed_twice_is_refused() {
    let mut chip = chip();
    program(&mut chip, page(slc(2), 1), 0);
    program(&mut chip, page(slc(2), 1), 0);
}

#[test]
#[should_panic(expected = "program of MLC block 9, page 0: pages are programmed in rising order")]
fn a_page_programmed_after_a_later_one_is_refused() {
    let mut chip = chip();
    program(&mut chip, page(mlc(9), 7), 0);
    program(&mut chip, page(mlc(9), 0), 0);
}

#[test]
#[should_panic(expected = "program of MLC block 1, page 0: the block is marked bad")]
fn a_program_of_a_bad_block_is_refused() {
    let mut chip = chip();
    chip.mark_bad(mlc(1)).unwrap();
    program(&mut chip, page(mlc(1), 0), 0);
}

#[test]
#[should_panic(expected = "erase of MLC block 1: the block is marked bad")]
fn an_erase_of_a_bad_block_is_refused() {
    let mut chip = chip();
    chip.mark_bad(mlc(1)).unwrap();
    let _ = chip.erase(mlc(1));
}

#[test]
#[should_panic(
    expected = "program of SLC block 0, page 0: the data are 511 bytes, expected exactly 512"
)]
fn a_program_of_less_than_a_page_is_refused() {
    let _ = chip().program(page(slc(0), 0), &[0; 511], &[0; 16]);
}

#[test]
#[should_panic(
    expected = "program of SLC block 0, page 0: the spare bytes are 17, expected exactly 16"
)]
fn a_program_of_more_than_the_spare_area_is_refused() {
    let _ = chip().program(page(slc(0), 0), &[0; 512], &[0; 17]);
}

#[test]
#[should_panic(expected = "read of SLC block 0, page 0: 2 bytes from 511 on leave the page, \
                expected at most 512")]
fn a_read_beyond_the_page_is_refused() {
    let _ = chip().read(page(slc(0), 0), Bytes::new(511), &mut [0; 2], &mut []);
}

#[test]
#[should_panic(
    expected = "read of SLC block 0, page 0: 17 spare bytes were asked for, expected at most 16"
)]
fn a_read_beyond_the_spare_area_is_refused() {
    let _ = chip().read(page(slc(0), 0), Bytes::ZERO, &mut [], &mut [0; 17]);
}

#[test]
#[should_panic(expected = "read of SLC block 8, page 0: the device has no such place")]
fn a_read_of_a_block_that_is_not_there_is_refused() {
    let _ = chip().read(page(slc(8), 0), Bytes::ZERO, &mut [], &mut []);
}

#[test]
#[should_panic(expected = "read of MLC block 0, page 8: the device has no such place")]
fn a_read_of_a_page_that_is_not_there_is_refused() {
    let _ = chip().read(page(mlc(0), 8), Bytes::ZERO, &mut [], &mut []);
}

#[test]
#[should_panic(expected = "program of MLC block 16, page 0: the device has no such place")]
fn a_program_of_a_block_that_is_not_there_is_refused() {
    let _ = chip().program(page(mlc(16), 0), &[0; 1024], &[0; 32]);
}

#[test]
#[should_panic(expected = "program of MLC block 0, page 8: the device has no such place")]
fn a_program_of_a_page_that_is_not_there_is_refused() {
    let _ = chip().program(page(mlc(0), 8), &[0; 1024], &[0; 32]);
}

#[test]
#[should_panic(expected = "erase of MLC block 16: the device has no such place")]
fn an_erase_of_a_block_that_is_not_there_is_refused() {
    let _ = chip().erase(mlc(16));
}

#[test]
#[should_panic(expected = "is_bad of SLC block 99: the device has no such place")]
fn a_question_about_a_block_that_is_not_there_is_refused() {
    let _ = chip().is_bad(slc(99));
}

#[test]
#[should_panic(expected = "mark_bad of SLC block 99: the device has no such place")]
fn a_mark_on_a_block_that_is_not_there_is_refused() {
    let _ = chip().mark_bad(slc(99));
}

#[test]
#[should_panic(expected = "erase of MLC block 0: the device has no such place")]
fn a_block_of_a_region_that_is_not_there_is_refused() {
    let part = part(Some(slc_shape()), None, 0, Layout::SINGLE);
    let _ = Chip::new(&part, Content::Bytes).unwrap().erase(mlc(0));
}

#[test]
#[should_panic(
    expected = "read of MLC block 0, page 0: 512 bytes from 256 on are no whole sectors, \
                expected whole ones in stamp mode"
)]
fn a_read_of_part_of_a_sector_that_is_kept_as_a_stamp_is_refused() {
    let mut chip = stamp_chip();
    let mut data = [0; 1024];
    data.chunks_mut(512).for_each(|sector| Stamp::new(7).write_to(sector));
    chip.program(page(mlc(0), 0), &data, &[0xFF; 32]).unwrap();
    let _ = chip.read(page(mlc(0), 0), Bytes::new(256), &mut [0; 512], &mut []);
}

#[test]
fn any_bytes_of_a_page_that_is_kept_whole_or_erased_can_be_read_in_stamp_mode() {
    let mut chip = stamp_chip();
    let data: Vec<u8> = (0..=255).cycle().take(1024).collect();
    chip.program(page(mlc(0), 0), &data, &[0xFF; 32]).unwrap();
    let mut part = [0; 12];
    chip.read(page(mlc(0), 0), Bytes::new(250), &mut part, &mut []).unwrap();
    assert_eq!(part, data[250..262]);
    chip.read(page(mlc(0), 1), Bytes::new(250), &mut part, &mut []).unwrap();
    assert_eq!(part, [0xFF; 12]);
}

#[test]
#[should_panic(
    expected = "program of SLC block 0, page 0: spare bytes beyond those kept in stamp mode are \
                in use, expected them to be 0xFF"
)]
fn a_program_that_uses_spare_bytes_which_are_not_kept_is_refused_in_stamp_mode() {
    let _ = stamp_chip().program(page(slc(0), 0), &[0; 512], &[0; 16]);
}
