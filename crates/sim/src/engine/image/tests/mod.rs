//! The disk's file as a whole, in memory: crashes at any call, damage at any bit, full disks.

use ftl_iface::{Block, Bytes, NandDevice, PageIndex, Region};
use nand_model::faults::FaultInjector;
use nand_model::power::{MarkFate, PageFate, PairFate, Tear};
use nand_model::{Chip, Content, datasheet};

use super::disk::{Closed, Disk, Opened};
use super::journaled::Journaled;
use super::refusal::Refusal;
use super::unit::About;
use noted::Noted;

mod calls;
mod crafted;
mod damage;
mod life;
mod noted;

fn about() -> About {
    let (system, device) = ("hybrid".into(), "tiny".into());
    About { system, device, capacity: None, slc: None, parallel: false }
}

fn device() -> Journaled {
    let part = datasheet::builtin("tiny").unwrap();
    let chip = Chip::new(&part, Content::Bytes).unwrap();
    Journaled::new(FaultInjector::new(chip, 1))
}

const BLOCK: Block = Block::new(Region::Slc, 2);

fn program(device: &mut Journaled, page: u16, byte: u8) {
    let page = BLOCK.page(PageIndex::new(page));
    device.program(page, &[byte; 1024], &[0; 32]).unwrap();
}

fn tear(device: &mut Journaled, page: u16, fate: PageFate) {
    let page = BLOCK.page(PageIndex::new(page));
    device.tear_program(page, &[12; 1024], &[0; 32], fate, PairFate::Kept).unwrap();
}

fn first_byte(device: &mut impl NandDevice, page: u16) -> Option<u8> {
    let page = BLOCK.page(PageIndex::new(page));
    let mut data = [0; 1024];
    device.read(page, Bytes::ZERO, &mut data, &mut []).ok()?;
    Some(data[0])
}

fn bytes(device: &mut impl NandDevice) -> Vec<Option<u8>> {
    (0..4).map(|page| first_byte(device, page)).collect()
}

fn opened(store: Noted) -> Result<(Disk<Noted>, Opened), Refusal> {
    Disk::open(store).map(|opened| opened.expect("a disk"))
}

fn close(disk: &mut Disk<Noted>, device: &mut Journaled) {
    let closed = disk.close(device).unwrap();
    assert!(matches!(closed, Closed::Chip), "{closed:?}");
}

/// A new disk, with one page that the chip has and one that the journal has.
fn used() -> (Disk<Noted>, Journaled) {
    let mut device = device();
    program(&mut device, 0, 10);
    let mut disk = Disk::create(Noted::default(), &about(), &mut device).unwrap();
    program(&mut device, 1, 11);
    disk.commit(&mut device).unwrap();
    (disk, device)
}

#[test]
fn what_was_committed_is_there_whenever_the_program_ended() {
    let (mut disk, mut device) = used();
    tear(&mut device, 2, PageFate::Uncorrectable);
    disk.commit(&mut device).unwrap();
    program(&mut device, 3, 13);
    let (mut disk, mut found) = opened(disk.store).unwrap();
    assert_eq!((found.about, found.replayed.operations), (about(), 2));
    let there = [Some(10), Some(11), None, Some(0xFF)];
    assert_eq!(bytes(&mut found.device), there, "the last was not committed");
    let mut device = Journaled::of_file(found.device);
    disk.go_on(&mut device).unwrap();
    program(&mut device, 3, 14);
    close(&mut disk, &mut device);
    let (disk, mut found) = opened(disk.store).unwrap();
    assert_eq!(bytes(&mut found.device), [Some(10), Some(11), None, Some(14)]);
    assert_eq!(found.replayed.operations, 0);
    // Three pages, and no room for a journal.
    assert!(disk.store.data().len() < 3 * (16 << 10), "{}", disk.store.data().len());
}

#[test]
fn a_page_that_was_worn_down_by_reads_does_not_read_well_again() {
    for (reads, left) in [(1, Some(12)), (2, None), (3, None), (9, None)] {
        let (mut disk, mut device) = used();
        tear(&mut device, 2, PageFate::Unstable { reads: 2 });
        for _ in 0..reads {
            first_byte(&mut device, 2);
        }
        disk.commit(&mut device).unwrap();
        let (_, mut found) = opened(disk.store).unwrap();
        assert_eq!(first_byte(&mut found.device, 2), left, "{reads} reads");
        assert_eq!(first_byte(&mut found.device, 1), Some(11));
    }
}

#[test]
fn pages_that_a_torn_mark_destroyed_are_gone_after_a_replay_too() {
    for fate in [MarkFate::Untouched, MarkFate::Set, MarkFate::PagesLost, MarkFate::SetAndPagesLost]
    {
        let (mut disk, mut device) = used();
        device.tear_mark(BLOCK, fate).unwrap();
        disk.commit(&mut device).unwrap();
        let (_, mut found) = opened(disk.store).unwrap();
        let before = (0..4).map(|page| first_byte(&mut device, page)).collect::<Vec<_>>();
        assert_eq!(bytes(&mut found.device), before, "{fate:?}");
        assert_eq!(found.device.is_bad(BLOCK), Ok(fate.is_set()), "{fate:?}");
        assert_eq!(before.contains(&None), fate.loses_pages(), "{fate:?}");
    }
}

#[test]
fn reads_of_other_pages_are_not_recorded() {
    let (mut disk, mut device) = used();
    let before = disk.store.data();
    for page in 0..4 {
        first_byte(&mut device, page);
    }
    disk.commit(&mut device).unwrap();
    assert!(disk.store.data() == before);
}

#[test]
fn what_fades_without_power_is_gone_when_the_file_is_opened() {
    let mut device = device();
    program(&mut device, 0, 10);
    tear(&mut device, 1, PageFate::Fading);
    assert_eq!(first_byte(&mut device, 1), Some(12));
    let mut disk = Disk::create(Noted::default(), &about(), &mut device).unwrap();
    tear(&mut device, 2, PageFate::Fading);
    disk.commit(&mut device).unwrap();
    let (_, mut found) = opened(disk.store.clone()).unwrap();
    let there = [Some(10), None, None, Some(0xFF)];
    assert_eq!(bytes(&mut found.device), there, "in the file and in the journal");
    // A loss of power in between, after which another page fades.
    device.power_off();
    tear(&mut device, 3, PageFate::Fading);
    assert_eq!((first_byte(&mut device, 2), first_byte(&mut device, 3)), (None, Some(12)));
}

#[test]
fn a_journal_that_is_used_up_ends_in_the_chip() {
    let (mut disk, mut device) = used();
    let begun = opened(disk.store.clone()).unwrap().1.header;
    let block = Block::new(Region::Mlc, 3);
    let mut rewritten = 0;
    let mut generation = begun.generation;
    while rewritten < 3 {
        device.erase(block).unwrap();
        for page in 0..8 {
            device.program(block.page(PageIndex::new(page)), &[7; 2048], &[0; 64]).unwrap();
        }
        disk.commit(&mut device).unwrap();
        let header = super::disk::read(&disk.store).unwrap().unwrap().header;
        rewritten += u32::from(header.generation > generation);
        generation = header.generation;
        // It is not read again each time.
        for _ in 0..500 {
            device.erase(block).unwrap();
            for page in 0..8 {
                device.program(block.page(PageIndex::new(page)), &[8; 2048], &[0; 64]).unwrap();
            }
        }
        disk.commit(&mut device).unwrap();
    }
    let (_, mut found) = opened(disk.store).unwrap();
    assert_eq!(bytes(&mut found.device)[..2], [Some(10), Some(11)]);
}
