//! The chip against a naive model of it: random operations, the same answers, in both content modes, packed or not, and
//! whether it is new or comes with preset blocks.

use std::sync::Arc;

use crate::support::{STAMPS, hybrid, page};
use ftl_iface::{Block, Bytes, NandDevice, Page, Region};
use nand_model::chip::Fork;
use nand_model::{Chip, Content, Preset, Stamp, Truth};
use proptest::prelude::*;

/// What a page may be programmed with. In stamp mode, what each kind takes inside the chip differs.
#[derive(Clone, Copy, Debug)]
enum Fill {
    Stamps(u32),
    StampThenZeros(u32),
    Zeros,
    Ones,
    Other(u8),
}

impl Fill {
    fn write(self, data: &mut [u8]) {
        data.fill(0);
        match self {
            Self::Stamps(number) => {
                for (at, sector) in data.chunks_mut(512).enumerate() {
                    Stamp::new(number.wrapping_add(at as u32)).write_to(sector);
                }
            }
            Self::StampThenZeros(number) => Stamp::new(number).write_to(data),
            Self::Zeros => {}
            Self::Ones => data.fill(0xFF),
            Self::Other(byte) => {
                data.iter_mut().enumerate().for_each(|(at, to)| *to = byte ^ at as u8);
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// Programs the page that lies so far beyond the next.
    Program {
        block: Block,
        skip: u16,
        fill: Fill,
        spare: u8,
    },
    Erase(Block),
    MarkBad(Block),
    Read {
        block: Block,
        page: u16,
        from: u32,
        sectors: u32,
        spare: usize,
    },
    /// Continues with a fork, and checks that the original did not change.
    Fork,
    /// Continues with what an image gives back.
    SaveAndLoad,
}

fn block() -> impl Strategy<Value = Block> {
    (any::<bool>(), 0..3_u32)
        .prop_map(|(slc, index)| Block::new(if slc { Region::Slc } else { Region::Mlc }, index))
}

fn fill() -> impl Strategy<Value = Fill> {
    prop_oneof![
        any::<u32>().prop_map(Fill::Stamps),
        (u32::MAX - 4..=u32::MAX).prop_map(Fill::Stamps),
        any::<u32>().prop_map(Fill::StampThenZeros),
        Just(Fill::Zeros),
        Just(Fill::Ones),
        any::<u8>().prop_map(Fill::Other),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (block(), prop_oneof![4 => Just(0), 1 => 0..4_u16], fill(), any::<u8>())
            .prop_map(|(block, skip, fill, spare)| Step::Program { block, skip, fill, spare }),
        3 => block().prop_map(Step::Erase),
        1 => block().prop_map(Step::MarkBad),
        8 => (block(), 0..8_u16, 0..3_u32, 0..3_u32, 0..33_usize).prop_map(
            |(block, page, from, sectors, spare)| Step::Read { block, page, from, sectors, spare }
        ),
        1 => Just(Step::Fork),
        1 => Just(Step::SaveAndLoad),
    ]
}

/// One block: pages that are missing were not programmed.
#[derive(Clone, Default)]
struct Naive {
    pages: std::collections::BTreeMap<u16, (Vec<u8>, Vec<u8>)>,
    next: u16,
    erases: u32,
    bad: bool,
}

/// Spare bytes as an FTL writes them, most of which fit the rows of packed blocks: a word that mostly rises, one that a
/// block's pages share, one of which they share a half, and one that is near those of other pages.
fn tag(dice: u8) -> [u8; 16] {
    let odd = u32::from(dice > 240);
    let number = u32::from(dice);
    let near = match dice % 16 {
        0 => u32::MAX,
        1 => (5_000 + number) | 1 << 30,
        2 => 5_000 + number * 100,
        _ => 5_000 + number,
    };
    let rising = match dice % 32 {
        3 => number * 0x0101_0101,
        _ => (7_000 + number / 64) << 8 | 0x55,
    };
    // The note: the same in most pages, in some how far the first word has risen, if the block began low.
    let low = if dice % 4 == 1 { number / 64 } else { 0 };
    let words = [rising, (3 + odd) | (low << 24), number << 16, near];
    let mut bytes = [0; 16];
    bytes.chunks_exact_mut(4).zip(words).for_each(|(to, word)| {
        to.copy_from_slice(&word.to_le_bytes());
    });
    bytes
}

const TAGGED: Content = Content::Stamps { sector: Bytes::new(512), spare_kept: Bytes::new(16) };

/// The blocks of MLC that come preset, of the three in use.
const PRESET: std::ops::Range<u32> = 1..3;

#[derive(Debug)]
struct Formula;

impl Formula {
    fn number(page: Page) -> u32 {
        page.block().index() * 8 + u32::from(page.index().get())
    }
}

impl Preset for Formula {
    fn spare(&self, page: Page, spare: &mut [u8]) {
        spare.fill(Self::number(page) as u8);
    }

    fn stamp(&self, page: Page, sector: u32) -> Stamp {
        Stamp::new(1_000 + 2 * Self::number(page) + sector)
    }
}

fn preset_pages(block: Block, kept: usize) -> Naive {
    let pages = (0..8).map(|index| {
        let at = page(block, index);
        let (mut data, mut spare) = (vec![0; 1024], vec![0xFF; 32]);
        Formula.spare(at, &mut spare[..kept]);
        for (sector, number) in data.chunks_mut(512).zip(0..) {
            Formula.stamp(at, number).write_to(sector);
        }
        (index, (data, spare))
    });
    Naive { pages: pages.collect(), next: 8, ..Naive::default() }
}

struct Pair {
    chip: Chip,
    packed: bool,
    blocks: std::collections::HashMap<Block, Naive>,
}

impl Pair {
    fn shape(&self, block: Block) -> (usize, usize, u16) {
        let shape = self.chip.geometry().region(block.region()).unwrap();
        let pages = shape.pages_per_block.get() as u16;
        (shape.page_bytes.as_usize(), shape.spare_bytes.as_usize(), pages)
    }

    fn apply(&mut self, step: &Step) {
        match *step {
            Step::Program { block, skip, fill, spare } => self.program(block, skip, fill, spare),
            Step::Erase(block) => {
                let naive = self.blocks.entry(block).or_default();
                if !naive.bad {
                    self.chip.erase(block).unwrap();
                    *naive = Naive { erases: naive.erases + 1, ..Naive::default() };
                }
            }
            Step::MarkBad(block) => {
                self.chip.mark_bad(block).unwrap();
                self.blocks.entry(block).or_default().bad = true;
            }
            Step::Read { block, page, from, sectors, spare } => {
                self.read(block, page, from, sectors, spare);
            }
            Step::Fork => {
                let mut fork = self.chip.fork();
                std::mem::swap(&mut self.chip, &mut fork);
                // What happens to the other one must not show here.
                for block in (0..3).map(|index| Block::new(Region::Mlc, index)) {
                    if !fork.is_bad(block).unwrap() {
                        fork.erase(block).unwrap();
                        fork.program(page(block, 7), &[0; 1024], &[0xFF; 32]).unwrap();
                    }
                }
            }
            Step::SaveAndLoad => {
                let mut image = Vec::new();
                self.chip.save(&mut image).unwrap();
                self.chip = Chip::load(image.as_slice()).unwrap();
                if self.packed {
                    pack(&mut self.chip);
                }
            }
        }
    }

    fn program(&mut self, block: Block, skip: u16, fill: Fill, spare: u8) {
        let (page_bytes, spare_bytes, pages) = self.shape(block);
        let naive = self.blocks.entry(block).or_default();
        let index = naive.next + skip;
        if naive.bad || index >= pages {
            return;
        }
        let mut data = vec![0; page_bytes];
        fill.write(&mut data);
        let mut spare_area = vec![0xFF; spare_bytes];
        match self.chip.content() {
            TAGGED => spare_area[..16].copy_from_slice(&tag(spare)),
            _ => spare_area[..8].fill(spare),
        }
        self.chip.program(page(block, index), &data, &spare_area).unwrap();
        naive.next = index + 1;
        naive.pages.insert(index, (data, spare_area));
    }

    fn read(&mut self, block: Block, index: u16, from: u32, sectors: u32, spare: usize) {
        let (page_bytes, spare_bytes, pages) = self.shape(block);
        let index = index % pages;
        let at = (from as usize * 512).min(page_bytes);
        let length = (sectors as usize * 512).min(page_bytes - at);
        // Zeros: what a stamped sector's rest was programmed with, and what a read of one leaves alone.
        let mut data = vec![0; length];
        let mut spare = vec![0xA5; spare.min(spare_bytes)];
        self.chip.read(page(block, index), Bytes::new(at as u32), &mut data, &mut spare).unwrap();
        let erased = (vec![0xFF; page_bytes], vec![0xFF; spare_bytes]);
        let naive = self.blocks.entry(block).or_default();
        let (expected, expected_spare) = naive.pages.get(&index).unwrap_or(&erased);
        assert_eq!(data, expected[at..at + length], "{block}, page {index}");
        assert_eq!(spare, expected_spare[..spare.len()], "{block}, page {index}");
    }

    fn check(&mut self) {
        let blocks: Vec<Block> = self.blocks.keys().copied().collect();
        for block in blocks {
            let naive = self.blocks[&block].clone();
            assert_eq!(self.chip.erase_count(block), naive.erases);
            assert_eq!(self.chip.next_page(block), naive.next);
            assert_eq!(self.chip.is_bad(block).unwrap(), naive.bad);
            for index in 0..self.shape(block).2 {
                let programmed = naive.pages.contains_key(&index);
                assert_eq!(self.chip.is_programmed(page(block, index)), programmed);
                self.read(block, index, 0, 2, 32);
            }
        }
    }
}

fn chip(content: Content) -> Chip {
    Chip::new(&hybrid(), content).unwrap()
}

fn pack(chip: &mut Chip) {
    for region in Region::ALL {
        chip.pack(region);
    }
}

fn packed(mut chip: Chip) -> Chip {
    pack(&mut chip);
    chip
}

fn run(mut chip: Chip, content: Content, packed: bool, preset: bool, steps: &[Step]) {
    let mut blocks = std::collections::HashMap::new();
    if let (Content::Stamps { spare_kept, .. }, true) = (content, preset) {
        chip.preset(Region::Mlc, PRESET, Arc::new(Formula)).unwrap();
        let block = |index| Block::new(Region::Mlc, index);
        let kept = spare_kept.as_usize();
        blocks.extend(PRESET.map(|index| (block(index), preset_pages(block(index), kept))));
    }
    let mut pair = Pair { chip, packed, blocks };
    for step in steps {
        pair.apply(step);
    }
    pair.check();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_chip_of_bytes_answers_as_the_naive_model(steps in prop::collection::vec(step(), 1..80)) {
        run(chip(Content::Bytes), Content::Bytes, false, false, &steps);
    }

    #[test]
    fn a_chip_of_stamps_answers_as_the_naive_model(
        steps in prop::collection::vec(step(), 1..80),
        preset in any::<bool>(),
    ) {
        run(chip(STAMPS), STAMPS, false, preset, &steps);
    }

    #[test]
    fn a_packed_chip_answers_as_the_naive_model(
        steps in prop::collection::vec(step(), 1..80),
        preset in any::<bool>(),
    ) {
        run(packed(chip(TAGGED)), TAGGED, true, preset, &steps);
    }
}
