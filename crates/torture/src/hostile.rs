//! Hostile images: a used device whose pages were moved, altered or forged, with checks that fit. A mount may refuse
//! it, and whatever is read may be wrong; but nothing panics, runs in circles, or leaves the device.

use ftl_core::layout::{self, FormatKey};
use ftl_core::{Ftl, NoProbe, OwnedRam};
use ftl_iface::{
    Block, BlockStore, Bytes, NandDevice, PageCount, PageIndex, Region, Sector, SectorCount,
};
use nand_model::faults::FaultInjector;
use nand_model::{Chip, Content};

use crate::crossing::{Account, Crossing, Halt, Orders, Picks};
use crate::dice::Share;
use crate::faults::{Faults, Reserve};
use crate::injury::Injuries;
use crate::report::Breach;
use crate::script::Source;
use crate::setup::Setup;
use crate::steps::{Step, Workload};

/// The key of the devices that are made hostile: whoever forges knows it.
const KEY: u32 = 0x00C0_FFEE;

/// A page as it is read: data and spare bytes.
type Page = (Vec<u8>, Vec<u8>);

/// A device with data on it, page by page, to be altered.
#[derive(Clone, Debug)]
pub struct Image {
    blocks: Vec<(Block, Vec<Option<Page>>)>,
}

impl Image {
    /// A device that was in use.
    pub fn used(setup: &Setup) -> Result<Self, String> {
        let sentence = |error: &dyn std::fmt::Display| error.to_string();
        let mut chip = Chip::new(&setup.part, Content::Bytes).map_err(|error| sentence(&error))?;
        let mut memory = OwnedRam::for_plan(&setup.plan);
        let mut ftl = Ftl::format(&mut chip, &setup.config, memory.lend(), KEY, NoProbe)
            .map_err(|error| sentence(&error))?;
        for step in Workload::whole(1, setup.capacity(), 400) {
            if let Step::Write { first, count } = step {
                let data = vec![first as u8 | 1; count as usize * setup.sector_bytes()];
                ftl.write(Sector::new(first), &data).map_err(|error| sentence(&error))?;
            } else if let Step::Trim { first, count } = step {
                let trimmed = ftl.trim(Sector::new(first), SectorCount::new(count));
                trimmed.map_err(|error| sentence(&error))?;
            }
        }
        Ok(Self { blocks: read(&mut chip, setup) })
    }

    /// Alters the image as the bytes say: some pages of some blocks.
    pub fn alter(&mut self, source: &mut Source<'_>) {
        /// One alteration may be enough; many hide each other.
        const ALTERATIONS_MAX: u32 = 24;
        for _ in 0..ALTERATIONS_MAX {
            if source.is_empty() {
                return;
            }
            self.alter_once(source);
        }
    }

    fn place(&self, source: &mut Source<'_>) -> (usize, usize) {
        let block = source.below(self.blocks.len() as u32) as usize;
        (block, source.below(self.blocks[block].1.len() as u32) as usize)
    }

    fn alter_once(&mut self, source: &mut Source<'_>) {
        let kind = source.byte() % 8;
        let (block, page) = self.place(source);
        match kind {
            0 => self.blocks[block].1[page] = None,
            1 => self.blocks[block].1[page..].fill(None),
            2 => self.blocks[block].1.fill(None),
            3 => {
                // A page stands in another place of a page of the same size.
                let (other, at) = self.place(source);
                let copied = self.blocks[other].1[at].clone();
                if fits(self.blocks[block].0, self.blocks[other].0) {
                    self.blocks[block].1[page] = copied;
                }
            }
            4 => {
                let other = source.below(self.blocks.len() as u32) as usize;
                if fits(self.blocks[block].0, self.blocks[other].0) {
                    self.blocks[block].1 = self.blocks[other].1.clone();
                }
            }
            5 => self.with(block, page, |(data, _)| flip(data, source)),
            6 => self.with(block, page, |(_, spare)| flip(spare, source)),
            _ => self.with(block, page, |(_, spare)| forge(spare, source)),
        }
    }

    fn with(&mut self, block: usize, page: usize, change: impl FnOnce(&mut Page)) {
        if let Some(page) = &mut self.blocks[block].1[page] {
            change(page);
        }
    }

    /// The chip that holds the image.
    pub fn chip(&self, setup: &Setup) -> Result<Chip, String> {
        let mut chip = Chip::new(&setup.part, Content::Bytes).map_err(|error| error.to_string())?;
        for (block, pages) in &self.blocks {
            for (number, page) in pages.iter().enumerate() {
                let Some((data, spare)) = page else { continue };
                let at = block.page(PageIndex::new(number as u16));
                chip.program(at, data, spare).map_err(|error| error.to_string())?;
            }
        }
        Ok(chip)
    }
}

fn fits(one: Block, other: Block) -> bool {
    one.region() == other.region()
}

fn read(chip: &mut Chip, setup: &Setup) -> Vec<(Block, Vec<Option<Page>>)> {
    let mut blocks = Vec::new();
    for region in Region::ALL {
        let Some(shape) = setup.part.geometry.region(region) else { continue };
        for block in (0..shape.blocks.get()).map(|index| Block::new(region, index)) {
            let pages = (0..shape.pages_per_block.get() as u16).map(|index| {
                let mut data = vec![0; shape.page_bytes.as_usize()];
                let mut spare = vec![0; shape.spare_bytes.as_usize()];
                let page = block.page(PageIndex::new(index));
                chip.read(page, Bytes::ZERO, &mut data, &mut spare).ok()?;
                (index < chip.next_page(block)).then_some((data, spare))
            });
            blocks.push((block, pages.collect()));
        }
    }
    blocks
}

fn flip(bytes: &mut [u8], source: &mut Source<'_>) {
    // What matters stands at the beginning.
    let at = source.below(64) as usize % bytes.len().max(1);
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= source.byte();
    }
}

/// Changes what a tag says, and gives it the check that fits.
fn forge(spare: &mut [u8], source: &mut Source<'_>) {
    let key = FormatKey::new(KEY);
    let lengths = (1..=8).map(layout::tag_bytes).filter(|length| *length <= spare.len());
    let Some(length) = lengths.rev().find(|length| layout::tag(&spare[..*length], key).is_some())
    else {
        return;
    };
    let Some(mut tag) = layout::tag(&spare[..length], key) else { return };
    match source.byte() % 4 {
        0 => tag.stamp = layout::Stamp::new(u64::from(source.byte()) << source.below(41)),
        1 => tag.note = u32::from(source.byte()) << source.below(17),
        2 => {
            let code = [source.byte(), source.byte(), source.byte(), source.byte()];
            let slot = layout::Slot::from_code(u32::from_le_bytes(code));
            layout::put_slot(&mut spare[..length], source.below(4) as usize, slot);
        }
        _ => {
            let kinds = [
                layout::Kind::Header,
                layout::Kind::Log,
                layout::Kind::Summary,
                layout::Kind::Data,
                layout::Kind::Chain,
                layout::Kind::ChainInPlace,
                layout::Kind::Trim,
                layout::Kind::Checkpoint,
            ];
            tag.kind = kinds[source.below(kinds.len() as u32) as usize];
        }
    }
    layout::put_tag(&mut spare[..length], &tag, key);
}

/// Mounts the chip, reads all of it, and uses it. Whatever the FTL says is right; it must say something.
pub fn visit(setup: &Setup, chip: Chip) -> Result<(), Breach> {
    let account = Account::new();
    let orders = Orders {
        seed: 0,
        picks: Picks::Some(Share::NONE),
        lane: (0, 1),
        faults: Faults::NONE,
        sector_bytes: setup.sector_bytes(),
        lenient: true,
        forgotten: None,
        capacity: setup.capacity(),
        key: FormatKey::new(KEY),
    };
    let reserve = Reserve::new(setup.plan.shape(), &Faults::NONE);
    let chip = FaultInjector::new(chip, 0);
    let mut crossing = Crossing::new(chip, reserve, Injuries::NONE, &account, orders);
    let mut memory = OwnedRam::for_plan(&setup.plan);
    // As much as a run grants for a request.
    let budget = 64 * setup.pages() + 16_384;
    crossing.grant(budget);
    let mounted = Ftl::mount(&mut crossing, &setup.config, memory.lend(), NoProbe);
    let Ok(mut ftl) = mounted else {
        return ended(&crossing);
    };
    let mut data = vec![0; 8 * setup.sector_bytes()];
    for first in (0..setup.capacity()).step_by(8) {
        ftl.device_mut().grant(budget);
        let length = (setup.capacity() - first).min(8) as usize * setup.sector_bytes();
        let _ = ftl.read(Sector::new(first), &mut data[..length]);
        ended(ftl.device())?;
    }
    for step in Workload::after(1, setup.capacity(), 24) {
        ftl.device_mut().grant(budget);
        match step {
            Step::Write { first, count } => {
                let data = vec![0xA5; count as usize * setup.sector_bytes()];
                let _ = ftl.write(Sector::new(first), &data);
            }
            Step::Trim { first, count } => {
                let _ = ftl.trim(Sector::new(first), SectorCount::new(count));
            }
            Step::Maintain { budget } => {
                let _ = ftl.maintain(PageCount::new(budget));
            }
            _ => {}
        }
        ended(ftl.device())?;
    }
    Ok(())
}

fn ended(crossing: &Crossing<'_>) -> Result<(), Breach> {
    match crossing.halted() {
        Some(Halt::OverBudget) => Err(Breach::Endless),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use crate::panics;

    /// Bytes that a fuzzer might try.
    fn bytes(seed: u64, count: usize) -> Vec<u8> {
        let mut dice = Dice::new(seed);
        (0..count).map(|_| dice.below(256) as u8).collect()
    }

    #[test]
    fn an_image_that_was_not_altered_mounts_and_holds_what_it_held() {
        for setup in Setup::all().unwrap() {
            let image = Image::used(&setup).unwrap();
            let mut chip = image.chip(&setup).unwrap();
            let mut memory = OwnedRam::for_plan(&setup.plan);
            let mut ftl =
                Ftl::mount(&mut chip, &setup.config, memory.lend(), NoProbe).expect("it mounts");
            let mut data = vec![0; setup.sector_bytes()];
            let held = (0..setup.capacity()).filter(|sector| {
                ftl.read(Sector::new(*sector), &mut data).expect("it reads");
                data[0] != 0
            });
            assert!(held.count() > setup.capacity() as usize / 2);
        }
    }

    #[test]
    fn hostile_images_neither_panic_nor_run_in_circles() {
        for setup in Setup::all().unwrap() {
            let image = Image::used(&setup).unwrap();
            for seed in 0..200 {
                let bytes = bytes(seed, 40);
                let mut altered = image.clone();
                altered.alter(&mut Source::new(&bytes[..4 + seed as usize % 36]));
                let chip = altered.chip(&setup).unwrap();
                let visited = panics::catch(|| visit(&setup, chip));
                assert_eq!(visited, Ok(Ok(())), "{} {:?}: {bytes:?}", setup.device, setup.system);
            }
        }
    }
}
