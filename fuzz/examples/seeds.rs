//! Writes the images that the target `chip_image` starts from. Run it from the repository's root when the version of
//! images is raised: `cargo run --manifest-path fuzz/Cargo.toml --example seeds`.

use std::fs;

use ftl_iface::{Block, Bytes, NandDevice, PageIndex, Region};
use nand_model::datasheet;
use nand_model::faults::FaultInjector;
use nand_model::power::{BlockFate, PageFate, PairFate, Tear};
use nand_model::{Chip, Content, Stamp};

const FOLDER: &str = "fuzz/seeds/chip_image";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    fs::create_dir_all(FOLDER)?;
    let stamps = Content::Stamps { sector: Bytes::new(1024), spare_kept: Bytes::new(8) };
    for (name, content) in [("bytes", Content::Bytes), ("stamps", stamps)] {
        let mut chip = Chip::new(&datasheet::builtin("tiny")?, content)?;
        work(&mut chip)?;
        chip.save(fs::File::create(format!("{FOLDER}/{name}"))?)?;
    }
    let mut chip = FaultInjector::new(Chip::new(&datasheet::builtin("tiny-tlc")?, stamps)?, 7);
    work(&mut chip)?;
    let torn = Block::new(Region::Mlc, 1).page(PageIndex::new(3));
    let (data, spare) = content_of(2048, 64);
    let _ = chip.tear_program(torn, &data, &spare, PageFate::Unstable { reads: 2 }, PairFate::Lost);
    let _ = chip.tear_erase(Block::new(Region::Slc, 3), BlockFate::Garbage);
    chip.save(fs::File::create(format!("{FOLDER}/faults"))?)?;
    Ok(())
}

fn content_of(page: usize, spare: usize) -> (Vec<u8>, Vec<u8>) {
    let mut data = vec![0; page];
    for (number, sector) in data.chunks_mut(1024).enumerate() {
        Stamp::new(number as u32 + 5).write_to(sector);
    }
    let mut tag = vec![0xFF; spare];
    tag[..8].fill(0x5A);
    (data, tag)
}

/// A page in each region, one left out, an erased block, a bad one.
fn work<D: NandDevice>(chip: &mut D) -> Result<(), String> {
    for (region, page, spare) in [(Region::Slc, 1024, 32), (Region::Mlc, 2048, 64)] {
        let (data, tag) = content_of(page, spare);
        for index in [0, 2] {
            let page = Block::new(region, 1).page(PageIndex::new(index));
            chip.program(page, &data, &tag).map_err(|error| error.to_string())?;
        }
        chip.erase(Block::new(region, 2)).map_err(|error| error.to_string())?;
        chip.mark_bad(Block::new(region, 4)).map_err(|error| error.to_string())?;
    }
    Ok(())
}
