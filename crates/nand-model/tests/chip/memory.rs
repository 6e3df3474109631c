//! What chips hold in memory: blocks that come preset nothing, packed ones less than plain ones.

use std::sync::Arc;

use crate::support::{chip, hybrid, mlc, page, program};
use ftl_iface::{Block, Bytes, NandDevice, Page, Region};
use nand_model::preset::PresetError;
use nand_model::{Chip, Content, Fork, Preset, Stamp, Timed};

const TAGGED: Content = Content::Stamps { sector: Bytes::new(512), spare_kept: Bytes::new(16) };

/// Every page the same.
#[derive(Debug)]
struct Same;

impl Preset for Same {
    fn spare(&self, _: Page, spare: &mut [u8]) {
        spare.fill(7);
    }

    fn stamp(&self, _: Page, _: u32) -> Stamp {
        Stamp::new(9)
    }
}

fn tagged() -> Chip {
    Chip::new(&hybrid(), TAGGED).unwrap()
}

/// Programs all of a block with what fits rows.
fn fill(chip: &mut Chip, block: Block) {
    let mut data = [0; 1024];
    data.chunks_mut(512).for_each(|sector| Stamp::new(5).write_to(sector));
    let mut spare = [0xFF; 32];
    spare[..16].fill(1);
    (0..8).for_each(|index| chip.program(page(block, index), &data, &spare).unwrap());
}

#[test]
fn preset_blocks_hold_nothing_and_take_no_time() {
    let mut chip = tagged();
    let empty = chip.memory_bytes();
    chip.preset(Region::Mlc, 2..6, Arc::new(Same)).unwrap();
    assert_eq!(chip.memory_bytes(), empty);
    assert_eq!((chip.now().get(), chip.stats().mlc.tally.programs), (0, 0));
    assert_eq!((chip.next_page(mlc(2)), chip.next_page(mlc(6))), (8, 0));
    let (mut data, mut spare) = ([0; 1024], [0; 20]);
    chip.read(page(mlc(5), 7), Bytes::ZERO, &mut data, &mut spare).unwrap();
    assert_eq!(Stamp::read_from(&data[512..]), Some(Stamp::new(9)));
    assert_eq!((spare[15], spare[16]), (7, 0xFF));
    chip.erase(mlc(2)).unwrap();
    fill(&mut chip, mlc(2));
    assert!(chip.memory_bytes() > empty);
}

#[test]
#[should_panic(expected = "expected page 8 or later")]
fn a_preset_block_is_erased_before_it_is_programmed() {
    let mut chip = tagged();
    chip.preset(Region::Mlc, 0..1, Arc::new(Same)).unwrap();
    program(&mut chip, page(mlc(0), 7), 0xFF);
}

#[test]
#[should_panic(expected = "no whole sectors")]
fn a_preset_page_is_read_in_whole_sectors() {
    let mut chip = tagged();
    chip.preset(Region::Mlc, 0..1, Arc::new(Same)).unwrap();
    let _ = chip.read(page(mlc(0), 0), Bytes::new(100), &mut [0; 12], &mut []);
}

#[test]
fn what_cannot_be_preset_is_refused() {
    let refused = |chip: &mut Chip, blocks| {
        chip.preset(Region::Mlc, blocks, Arc::new(Same)).expect_err("a refusal")
    };
    assert_eq!(refused(&mut chip(), 0..1), PresetError::Bytes);
    let mut chip = tagged();
    assert_eq!(refused(&mut chip, 15..17), PresetError::OutOfRange(Region::Mlc));
    fill(&mut chip, mlc(3));
    assert_eq!(refused(&mut chip, 0..4), PresetError::InUse(mlc(3)));
    chip.mark_bad(mlc(1)).unwrap();
    assert_eq!(refused(&mut chip, 0..3), PresetError::InUse(mlc(1)));
    chip.preset(Region::Mlc, 8..9, Arc::new(Same)).unwrap();
    assert_eq!(refused(&mut chip, 9..10), PresetError::Another(Region::Mlc));
}

#[test]
fn a_packed_block_is_smaller_and_an_erased_one_leaves_its_memory_to_the_next() {
    let [mut plain, mut packed] = [tagged(), tagged()];
    packed.pack(Region::Mlc);
    let empty = plain.memory_bytes();
    let held = |chip: &mut Chip, block| {
        fill(chip, mlc(block));
        chip.memory_bytes() - empty
    };
    // A state, 16 spare bytes and two stamps; against half of three words, none of the fourth, and what is shared.
    assert_eq!(held(&mut plain, 0), 8 * (1 + 16 + 8));
    assert_eq!(held(&mut packed, 0), 16 + 8 * (4 + 2 + 8));
    for block in 1..16 {
        packed.erase(mlc(block - 1)).unwrap();
        assert_eq!(held(&mut packed, block), 16 + 8 * (4 + 2 + 8));
    }
}

/// Spare bytes of a page as a fold programs it.
fn folded(page: u16, note: u32) -> [u8; 32] {
    let stamp = 70_000 + 3 * u32::from(page);
    let words =
        [stamp << 8 | 0x55, 9 | note << 24, 0xABCD_0000 | note >> 8, 5_000 + u32::from(page)];
    let mut spare = [0xFF; 32];
    spare.chunks_exact_mut(4).zip(words).for_each(|(to, word)| {
        to.copy_from_slice(&word.to_le_bytes());
    });
    spare
}

fn program_folded<const PAGES: usize>(chip: &mut Chip, block: Block, notes: [u32; PAGES]) {
    for (index, note) in (0..).zip(notes) {
        chip.program(page(block, index), &[0; 1024], &folded(index, note)).unwrap();
    }
}

fn spare_of(chip: &mut Chip, at: Page) -> [u8; 32] {
    let mut spare = [0; 32];
    chip.read(at, Bytes::ZERO, &mut [], &mut spare).unwrap();
    spare
}

#[test]
fn a_block_stays_packed_whose_notes_tell_how_far_the_stamps_have_risen() {
    const WEAR: u32 = 0x0002_0301;
    let mut chip = tagged();
    chip.pack(Region::Mlc);
    let empty = chip.memory_bytes();
    let notes = [WEAR, 3, 6, 9, 12, 15, 18, WEAR];
    program_folded(&mut chip, mlc(0), notes);
    assert_eq!(chip.memory_bytes() - empty, 16 + 8 * (4 + 2 + 8));
    for (index, note) in (0..).zip(notes) {
        assert_eq!(spare_of(&mut chip, page(mlc(0), index)), folded(index, note), "page {index}");
    }
    // A note that is neither takes a record of its own, and so does its block.
    program_folded(&mut chip, mlc(1), [WEAR, 3, 7]);
    assert!(chip.memory_bytes() - empty > 2 * (16 + 8 * (4 + 2 + 8)));
    assert_eq!(spare_of(&mut chip, page(mlc(1), 1)), folded(1, 3));
    assert_eq!(spare_of(&mut chip, page(mlc(1), 2)), folded(2, 7));
}

#[test]
fn a_fork_of_a_packed_chip_goes_its_own_way() {
    let mut chip = tagged();
    chip.pack(Region::Mlc);
    program_folded(&mut chip, mlc(0), [1, 3, 6]);
    program_folded(&mut chip, mlc(1), [1, 3]);
    let mut fork = chip.fork();
    assert_eq!(fork.memory_bytes(), chip.memory_bytes());
    fork.erase(mlc(0)).unwrap();
    program_folded(&mut fork, mlc(0), [5]);
    program(&mut chip, page(mlc(1), 2), 0xFF);
    assert_eq!(spare_of(&mut chip, page(mlc(0), 0)), folded(0, 1));
    assert_eq!(spare_of(&mut chip, page(mlc(0), 2)), folded(2, 6));
    assert_eq!(spare_of(&mut fork, page(mlc(0), 0)), folded(0, 5));
    assert_eq!((fork.next_page(mlc(0)), fork.next_page(mlc(1))), (1, 2));
    assert_eq!(spare_of(&mut fork, page(mlc(1), 1)), folded(1, 3));
    assert_eq!(spare_of(&mut chip, page(mlc(1), 1)), folded(1, 3));
}
