//! Operations of the simulated chip, as a system of the simulator asks for them: C3 in stamp mode, its MLC packed. What
//! they cost in time is `../chip.rs`: these stay within the processor's caches.

use ftl_iface::{Block, Bytes, NandDevice, Page, PageIndex, Region};
use nand_model::{Chip, Content, Stamp, datasheet};

use super::{Measure, Null, Path, SECTOR};

pub(super) const PATHS: &[Path] = &[
    Path::new("chip: read of a page", "page", PAGES, read).repeatable(),
    Path::new("chip: read of a tag", "page", PAGES, read_tag).repeatable(),
    Path::new("chip: program of a page", "page", PAGES, program),
    Path::new("chip: erase", "block", BLOCKS, erase),
    Path::new("chip: read of a page kept whole", "page", PAGES, read_whole).repeatable(),
    Path::new("chip: program of a page kept whole", "page", PAGES, program_whole),
];

const PAGES: u32 = 4096;
/// Pages of an MLC block.
const BLOCK_PAGES: u32 = 128;
const BLOCKS: u32 = PAGES / BLOCK_PAGES;
/// Pages of an SLC block.
const SLC_BLOCK_PAGES: u32 = 64;
/// A page of two sectors has a tag of so many bytes.
const TAG: usize = 20;
/// The largest page.
const PAGE: usize = 2 * SECTOR;
/// Spare bytes of an MLC page, and of an SLC page.
const SPARE: usize = 128;
const SLC_SPARE: usize = 64;

fn mlc(number: u32) -> Page {
    page(Region::Mlc, number, BLOCK_PAGES)
}

fn slc(number: u32) -> Page {
    page(Region::Slc, number, SLC_BLOCK_PAGES)
}

fn page(region: Region, number: u32, of_block: u32) -> Page {
    Block::new(region, number / of_block).page(PageIndex::new((number % of_block) as u16))
}

/// The spare bytes of a page that an FTL writes: a number that rises, what the block's pages share, and two sectors.
fn spare(number: u32) -> [u8; SPARE] {
    let words = [number << 8 | 0xF0, 9, 0xABCD_0000, 5_000 + number, 5_001 + number];
    let mut spare = [0xFF; SPARE];
    for (bytes, word) in spare.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    spare
}

/// Two sectors of the host's, each with its stamp.
fn sectors(number: u32) -> [u8; PAGE] {
    let mut data = [0; PAGE];
    for (sector, stamp) in data.chunks_exact_mut(SECTOR).zip(2 * number..) {
        Stamp::new(stamp).write_to(sector);
    }
    data
}

const SOUND: &str = "the chip never fails";

/// What an FTL writes for itself.
const OWN: [u8; SECTOR] = [0x5A; SECTOR];

fn program_mlc(chip: &mut Chip) {
    for number in 0..PAGES {
        chip.program(mlc(number), &sectors(number), &spare(number)).expect(SOUND);
    }
}

fn program_slc(chip: &mut Chip) {
    for number in 0..PAGES {
        chip.program(slc(number), &OWN, &spare(number)[..SLC_SPARE]).expect(SOUND);
    }
}

fn erase_all(chip: &mut Chip, region: Region, blocks: u32) {
    for block in 0..blocks {
        chip.erase(Block::new(region, block)).expect(SOUND);
    }
}

/// A chip in use: its first blocks of either kind were written and erased.
fn used() -> Chip {
    let part = datasheet::builtin("c3").expect("c3 is built in");
    let content =
        Content::Stamps { sector: Bytes::new(SECTOR as u32), spare_kept: Bytes::new(TAG as u32) };
    let mut chip = Chip::new(&part, content).expect("c3 can be simulated");
    chip.pack(Region::Mlc);
    program_mlc(&mut chip);
    program_slc(&mut chip);
    erase_all(&mut chip, Region::Mlc, BLOCKS);
    erase_all(&mut chip, Region::Slc, PAGES / SLC_BLOCK_PAGES);
    chip
}

fn read_all(chip: &mut Chip, page: fn(u32) -> Page, data: &mut [u8], measure: Measure<'_>) {
    let mut tag = [0; TAG];
    measure(&mut || {
        for number in 0..PAGES {
            chip.read(page(number), Bytes::ZERO, data, &mut tag).expect(SOUND);
        }
    });
}

fn read(_: &mut Null, measure: Measure<'_>) {
    let mut chip = used();
    program_mlc(&mut chip);
    read_all(&mut chip, mlc, &mut [0; PAGE], measure);
}

fn read_tag(_: &mut Null, measure: Measure<'_>) {
    let mut chip = used();
    program_mlc(&mut chip);
    read_all(&mut chip, mlc, &mut [], measure);
}

fn read_whole(_: &mut Null, measure: Measure<'_>) {
    let mut chip = used();
    program_slc(&mut chip);
    read_all(&mut chip, slc, &mut [0; SECTOR], measure);
}

/// Programs the same data all over, with tags that were made before.
fn program_all(page: fn(u32) -> Page, data: &[u8], spare_bytes: usize, measure: Measure<'_>) {
    let mut chip = used();
    let pages: Vec<_> = (0..PAGES).map(|number| (page(number), spare(number))).collect();
    measure(&mut || {
        for (page, spare) in &pages {
            chip.program(*page, data, &spare[..spare_bytes]).expect(SOUND);
        }
    });
}

fn program(_: &mut Null, measure: Measure<'_>) {
    program_all(mlc, &sectors(7), SPARE, measure);
}

fn program_whole(_: &mut Null, measure: Measure<'_>) {
    program_all(slc, &OWN, SLC_SPARE, measure);
}

fn erase(_: &mut Null, measure: Measure<'_>) {
    let mut chip = used();
    program_mlc(&mut chip);
    measure(&mut || erase_all(&mut chip, Region::Mlc, BLOCKS));
}
