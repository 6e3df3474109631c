//! Power fails in a program: what each page of the block reads as afterwards.

use std::io::Write;

use ftl_iface::{Block, NandDevice, Page, PageIndex, ReadError, Region, RegionGeometry};
use nand_model::faults::FaultInjector;
use nand_model::part::Part;
use nand_model::power::{BlockFate, Cut, Fates, MarkFate, PageFate, PairFate, PowerCut};
use nand_model::{Chip, Content};
use sim::Failure;

use super::written::Written;
use crate::output::table::{Edge, Table};

/// The worst that the contract allows for a page in flight and those that share its cells.
const WORST: Fates = Fates {
    page: PageFate::Uncorrectable,
    pair: PairFate::Lost,
    block: BlockFate::Garbage,
    mark: MarkFate::PagesLost,
};

/// The seed of the faults, which none of the faults here uses.
const SEED: u64 = 0;

/// How far into a block a page with paired pages is searched: every scheme pairs some of its first pages.
const PAGES_SEARCHED: u16 = 64;

/// Programs a block until power fails, then takes the chip back and reads every page.
pub(super) fn in_a_program(part: &Part, out: &mut dyn Write) -> Result<(), Failure> {
    let region = if part.geometry.mlc().is_some() { Region::Mlc } else { Region::Slc };
    let Some(shape) = part.geometry.region(region).copied() else {
        return Ok(()); // A part has a region: its file was checked.
    };
    let block = Block::new(region, 0);
    let torn = most_dangerous(&shape);
    writeln!(
        out,
        "\nPower fails in the program of {}; back on, each page is read:",
        block.page(torn)
    )?;

    let chip = FaultInjector::new(Chip::new(part, Content::Bytes)?, SEED);
    let mut device = PowerCut::new(chip, Cut::chosen(u64::from(torn.get()), WORST));
    for index in (0..=torn.get()).map(PageIndex::new) {
        let page = block.page(index);
        let outcome = Written::new(page, &shape).program(&mut device, page);
        if outcome.is_err() && device.is_on() {
            return outcome;
        }
    }
    if device.is_on() {
        return Err(Failure::Violation("power was to fail and did not".into()));
    }
    // RAM is lost; only the chip is left.
    let mut chip = device.into_inner();
    read_back(&mut chip, block, &shape, torn, out)
}

/// The page whose torn program loses the most pages.
fn most_dangerous(shape: &RegionGeometry) -> PageIndex {
    let pages = shape.pages_per_block;
    let last = pages.get().min(PAGES_SEARCHED.into()) as u16 - 1;
    // The first of equally dangerous pages, but not the first page, which has none before it.
    let danger = |index: &PageIndex| shape.pairing.endangered(*index, pages).count();
    let candidates = (last.min(3)..=last).map(PageIndex::new);
    candidates.rev().max_by_key(danger).unwrap_or_default()
}

/// Reads the torn page, those before it and the one after it; a page that breaks the contract is a violation.
fn read_back<D: NandDevice>(
    device: &mut D,
    block: Block,
    shape: &RegionGeometry,
    torn: PageIndex,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let endangered: Vec<PageIndex> =
        shape.pairing.endangered(torn, shape.pages_per_block).collect();
    let mut table = Table::new([("page", Edge::Right), ("reads as", Edge::Left)]);
    let last = (u32::from(torn.get()) + 1).min(shape.pages_per_block.get() - 1) as u16;
    for index in (0..=last).map(PageIndex::new) {
        let page = block.page(index);
        let found = found(device, page, shape);
        let expected = if index == torn || endangered.contains(&index) {
            AfterCut::Uncorrectable
        } else if index < torn {
            AfterCut::AsWritten
        } else {
            AfterCut::Erased
        };
        if found != expected {
            let what = format!("{page} reads as {found:?} after the cut, not as {expected:?}");
            return Err(Failure::Violation(what));
        }
        let told = match found {
            AfterCut::AsWritten => "as written".into(),
            AfterCut::Erased => "erased: not programmed yet".into(),
            AfterCut::Uncorrectable if index == torn => "uncorrectable: it was in flight".into(),
            AfterCut::Uncorrectable => format!("lost: it shares its cells with {torn}"),
            AfterCut::Other => "something else".into(),
        };
        table.row([index.get().to_string(), told]);
    }
    Ok(table.write(out)?)
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterCut {
    AsWritten,
    Erased,
    Uncorrectable,
    Other,
}

fn found<D: NandDevice>(device: &mut D, page: Page, shape: &RegionGeometry) -> AfterCut {
    let erased = Written {
        data: vec![0xFF; shape.page_bytes.as_usize()],
        spare: vec![0xFF; shape.spare_bytes.as_usize()],
    };
    match Written::new(page, shape).is_in(device, page) {
        Ok(true) => AfterCut::AsWritten,
        Err(ReadError::Uncorrectable) => AfterCut::Uncorrectable,
        Ok(false) if matches!(erased.is_in(device, page), Ok(true)) => AfterCut::Erased,
        Ok(false) | Err(ReadError::Driver(_)) => AfterCut::Other,
    }
}
