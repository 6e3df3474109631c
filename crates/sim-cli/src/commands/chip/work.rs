//! Times and energies of single operations, and the speed of a whole block.

use std::io::Write;

use ftl_iface::{Block, EraseError, NandDevice, PageIndex, Region, RegionGeometry};
use nand_model::part::{Nanos, Part};
use nand_model::{Chip, Content, Energy};
use sim::{Failure, show};

use super::written::Written;
use crate::output::table::{Edge, Table};

/// Programs, reads and erases one page of each region, and reports time and energy of each operation.
pub(super) fn page_by_page(part: &Part, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "\nOne operation at a time, bus included:")?;
    let mut chip = Chip::new(part, Content::Bytes)?;
    let mut table =
        Table::new([("operation", Edge::Left), ("time", Edge::Right), ("energy", Edge::Right)]);
    for (region, shape) in regions(part) {
        let block = Block::new(region, 0);
        let page = block.page(PageIndex::new(0));
        let written = Written::new(page, &shape);
        let before = moment(&chip, region);
        written.program(&mut chip, page)?;
        let programmed = moment(&chip, region);
        written.verify(&mut chip, page)?;
        let read = moment(&chip, region);
        erase(&mut chip, block)?;
        let erased = moment(&chip, region);
        for (verb, from, to) in [
            ("read page", programmed, read),
            ("program page", before, programmed),
            ("erase block", read, erased),
        ] {
            let energy = Energy::from_attojoules(to.1.attojoules() - from.1.attojoules());
            table.row([
                format!("{region} {verb}"),
                show::micros(to.0 - from.0),
                show::microjoules(energy),
            ]);
        }
    }
    Ok(table.write(out)?)
}

/// Programs, reads and erases a whole block of each region, and compares every byte.
pub(super) fn whole_blocks(part: &Part, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "\nA whole block, every byte compared:")?;
    let mut chip = Chip::new(part, Content::Bytes)?;
    let mut table = Table::new([
        ("region", Edge::Left),
        ("block", Edge::Right),
        ("pages", Edge::Right),
        ("programmed at", Edge::Right),
        ("read at", Edge::Right),
    ]);
    for (region, shape) in regions(part) {
        let block = Block::new(region, shape.blocks.get() - 1);
        let pages = || (0..shape.pages_per_block.get()).map(|at| PageIndex::new(at as u16));
        let start = moment(&chip, region).0;
        for page in pages().map(|index| block.page(index)) {
            Written::new(page, &shape).program(&mut chip, page)?;
        }
        let programmed = moment(&chip, region).0;
        for page in pages().map(|index| block.page(index)) {
            Written::new(page, &shape).verify(&mut chip, page)?;
        }
        let read = moment(&chip, region).0;
        erase(&mut chip, block)?;
        table.row([
            region.to_string(),
            show::size(shape.block_bytes()),
            shape.pages_per_block.get().to_string(),
            show::rate(shape.block_bytes(), programmed - start),
            show::rate(shape.block_bytes(), read - programmed),
        ]);
    }
    Ok(table.write(out)?)
}

fn regions(part: &Part) -> impl Iterator<Item = (Region, RegionGeometry)> {
    Region::ALL.into_iter().filter_map(|region| Some((region, *part.geometry.region(region)?)))
}

/// The values of the chip's clock and the region's meter.
fn moment(chip: &Chip, region: Region) -> (Nanos, Energy) {
    let stats = chip.stats();
    (stats.elapsed, stats.region(region).energy)
}

fn erase(chip: &mut Chip, block: Block) -> Result<(), Failure> {
    chip.erase(block)
        .map_err(|error: EraseError<_>| Failure::Violation(format!("erase of {block}: {error}")))
}
