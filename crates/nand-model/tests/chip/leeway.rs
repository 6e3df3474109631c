//! What the contract leaves open: the buffers of a failed read, parts of an unreadable page, and the pages of a block
//! that is marked bad.

use crate::support::{chip, mlc, page, program};
use ftl_iface::{Bytes, MarkError, NandDevice, ReadError};
use nand_model::Chip;
use nand_model::faults::{Chance, FailedRead, FailingPart, FaultInjector};

/// What buffers hold before each read.
const HELD: u8 = 0xA5;

/// A device whose first page of a block holds sevens, and cannot be read.
fn device() -> FaultInjector<Chip> {
    let mut device = FaultInjector::new(chip(), 3);
    program(&mut device, page(mlc(2), 0), 7);
    device.lose(page(mlc(2), 0));
    device
}

/// Returns the buffers after a read that fails.
fn failed(left: FailedRead, bytes: usize) -> (Vec<u8>, Vec<u8>) {
    let mut device = device();
    device.fail_reads_with(left);
    let (mut data, mut spare) = (vec![HELD; bytes], vec![HELD; 32]);
    let read = device.read(page(mlc(2), 0), Bytes::ZERO, &mut data, &mut spare);
    assert_eq!(read, Err(ReadError::Uncorrectable));
    (data, spare)
}

#[test]
fn a_failed_read_leaves_in_the_buffers_what_was_chosen() {
    let (data, spare) = failed(FailedRead::Untouched, 1024);
    assert_eq!((data, spare), (vec![HELD; 1024], vec![HELD; 32]));
    let (data, spare) = failed(FailedRead::Partly, 1024);
    assert_eq!((data, spare), ([vec![7; 512], vec![HELD; 512]].concat(), vec![HELD; 32]));
    let (_, spare) = failed(FailedRead::Partly, 0);
    assert_eq!(spare, [vec![7; 16], vec![HELD; 16]].concat());
    let (data, spare) = failed(FailedRead::Nearly, 1024);
    let wrong: Vec<usize> = (0..1024).filter(|at| data[*at] != 7).collect();
    assert_eq!((wrong, spare), (vec![0, 512], vec![7; 32]));
    let (data, spare) = failed(FailedRead::Noise, 1024);
    assert!(data != vec![7; 1024] && data != vec![HELD; 1024] && spare != vec![HELD; 32]);
}

#[test]
fn the_spare_bytes_of_an_unreadable_page_are_read_well_where_only_its_data_fail() {
    let mut device = device();
    device.fail_reads_of(FailingPart::Data);
    let (mut data, mut spare) = ([HELD; 512], [HELD; 32]);
    device.read(page(mlc(2), 0), Bytes::ZERO, &mut [], &mut spare).unwrap();
    assert_eq!(spare, [7; 32]);
    let read = device.read(page(mlc(2), 0), Bytes::new(512), &mut data, &mut []);
    assert_eq!(read, Err(ReadError::Uncorrectable));
    device.fail_reads_of(FailingPart::Page);
    let read = device.read(page(mlc(2), 0), Bytes::ZERO, &mut [], &mut spare);
    assert_eq!(read, Err(ReadError::Uncorrectable));
}

#[test]
fn a_mark_destroys_pages_of_its_block_if_that_was_chosen_whether_it_takes_or_not() {
    let mut lost = Vec::new();
    for block in 0..12 {
        let mut device = FaultInjector::new(chip(), 9);
        device.destroy_by_marks(Chance::one_in(1));
        (0..8).for_each(|at| program(&mut device, page(mlc(block), at), 5));
        if block % 2 == 0 {
            device.fail_mark(mlc(block));
            assert_eq!(device.mark_bad(mlc(block)), Err(MarkError::Failed));
        } else {
            device.mark_bad(mlc(block)).unwrap();
        }
        let mut is_lost = |at: &u16| {
            device.read(page(mlc(block), *at), Bytes::ZERO, &mut [], &mut [0; 4]).is_err()
        };
        lost.push((0..8).filter(&mut is_lost).count());
    }
    assert!(lost.contains(&8) && lost.iter().any(|pages| (1..8).contains(pages)), "{lost:?}");
}
