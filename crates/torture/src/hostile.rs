//! Hostile images: a used device whose pages were moved, altered or forged, with valid checksums. A mount may refuse
//! it, and data may read wrong; but nothing panics, loops forever, or accesses beyond the device.

use std::sync::Arc;

use ftl_iface::{
    Block, Bytes, NandDevice, PageCount, PageIndex, Region, Sector, SectorCount, StoreWriteError,
};
use nand_model::faults::FaultInjector;
use nand_model::{Chip, Content};

use crate::dice::Share;
use crate::faults::Faults;
use crate::report::Breach;
use crate::reserve::Reserve;
use crate::script::Script;
use crate::setup::Setup;
use crate::steps::{Step, Workload};
use crate::subject::{Mounted, Subject};
use crate::test_device::{Halt, Orders, Picks, TestDevice};
use crate::unreadable_pages::UnreadablePages;

/// The key of the hostile devices, known to the forger.
const KEY: u32 = 0x00C0_FFEE;

/// A page as it is read: data and spare bytes.
type Page = (Vec<u8>, Vec<u8>);

/// A device with data on it, page by page, to be altered.
#[derive(Clone, Debug)]
pub struct Image {
    subject: Arc<dyn Subject>,
    blocks: Vec<(Block, Vec<Option<Page>>)>,
}

impl Image {
    /// A device that was in use.
    pub fn used(setup: &Setup) -> Result<Self, String> {
        let chip = Chip::new(&setup.part, Content::Bytes).map_err(|error| error.to_string())?;
        let mut device = device(setup, chip);
        device.grant(u64::MAX);
        setup.subject.format(&mut device, KEY)?;
        let mut used = Ok(());
        let mounted = setup.subject.mount(&mut device, &mut |ftl| {
            used = Workload::whole(1, setup.capacity(), 400).try_for_each(|step| fill(ftl, step));
        });
        mounted.map_err(|error| format!("{error:?}"))?;
        used.map_err(|error| error.to_string())?;
        let mut chip = device.into_chip().into_inner();
        Ok(Self { subject: setup.subject.clone(), blocks: read(&mut chip, setup) })
    }

    /// Alters some pages of some blocks of the image, chosen by the bytes.
    pub fn alter(&mut self, source: &mut Script<'_>) {
        /// One alteration may be enough; many hide each other.
        const ALTERATIONS_MAX: u32 = 24;
        for _ in 0..ALTERATIONS_MAX {
            if source.is_empty() {
                return;
            }
            self.alter_once(source);
        }
    }

    fn place(&self, source: &mut Script<'_>) -> (usize, usize) {
        let block = source.below(self.blocks.len() as u32) as usize;
        (block, source.below(self.blocks[block].1.len() as u32) as usize)
    }

    fn alter_once(&mut self, source: &mut Script<'_>) {
        let kind = source.byte() % 8;
        let (block, page) = self.place(source);
        match kind {
            0 => self.blocks[block].1[page] = None,
            1 => self.blocks[block].1[page..].fill(None),
            2 => self.blocks[block].1.fill(None),
            3 => {
                // A page is moved to the place of another page of the same size.
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
            _ => {
                let mut below = |end| source.below(end);
                let subject = self.subject.clone();
                self.with(block, page, |(_, spare)| subject.forge(spare, KEY, &mut below));
            }
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

/// Writes and trims of a workload, with content that differs from zeros.
fn fill(ftl: &mut dyn Mounted, step: Step) -> Result<(), StoreWriteError<Halt>> {
    match step {
        Step::Write { first, count } => {
            let data = vec![first as u8 | 1; count as usize * ftl.sector_bytes().as_usize()];
            ftl.write(Sector::new(first), &data)
        }
        Step::Trim { first, count } => ftl.trim(Sector::new(first), SectorCount::new(count)),
        _ => Ok(()),
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

fn flip(bytes: &mut [u8], source: &mut Script<'_>) {
    // The relevant bytes are at the beginning.
    let at = source.below(64) as usize % bytes.len().max(1);
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= source.byte();
    }
}

/// A device over the chip that lets out-of-order programs fail, because on inconsistent flash the order is
/// unknowable.
fn device(setup: &Setup, chip: Chip) -> TestDevice {
    let orders = Orders {
        seed: 0,
        picks: Picks::Some(Share::NONE),
        lane: (0, 1),
        faults: Faults::NONE,
        lenient: true,
        forgotten: None,
        key: KEY,
    };
    let reserve = Reserve::new(&*setup.subject, &Faults::NONE);
    let chip = FaultInjector::new(chip, 0);
    TestDevice::new(chip, reserve, UnreadablePages::NONE, setup.subject.clone(), orders)
}

/// Mounts the chip, reads all of it, and uses it. Any answer of the FTL is accepted, but it must answer.
pub fn visit(setup: &Setup, chip: Chip) -> Result<(), Breach> {
    let mut device = device(setup, chip);
    let budget = setup.request_budget();
    device.grant(budget);
    let mut visited = Ok(());
    let mounted = setup.subject.mount(&mut device, &mut |ftl| visited = ask(setup, ftl, budget));
    match mounted {
        Ok(()) => visited,
        Err(_) => ended(&device),
    }
}

fn ask(setup: &Setup, ftl: &mut dyn Mounted, budget: u64) -> Result<(), Breach> {
    let mut data = vec![0; 8 * setup.sector_bytes()];
    for first in (0..setup.capacity()).step_by(8) {
        ftl.device_mut().grant(budget);
        let length = (setup.capacity() - first).min(8) as usize * setup.sector_bytes();
        let _ = ftl.read(Sector::new(first), &mut data[..length]);
        ended(ftl.device())?;
    }
    for step in Workload::after(1, setup.capacity(), 24) {
        ftl.device_mut().grant(budget);
        let _ = match step {
            Step::Maintain { budget } => ftl.maintain(PageCount::new(budget)).map(drop),
            step => fill(ftl, step),
        };
        ended(ftl.device())?;
    }
    Ok(())
}

fn ended(device: &TestDevice) -> Result<(), Breach> {
    match device.halted() {
        Some(Halt::OverBudget) => Err(Breach::Endless),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use crate::panics;
    use crate::setup::FtlName;

    fn setups() -> Vec<Setup> {
        FtlName::ALL.into_iter().flat_map(|ftl| Setup::all_of(ftl).unwrap()).collect()
    }

    /// Bytes that a fuzzer might try.
    fn bytes(seed: u64, count: usize) -> Vec<u8> {
        let mut dice = Dice::new(seed);
        (0..count).map(|_| dice.below(256) as u8).collect()
    }

    #[test]
    fn an_image_that_was_not_altered_mounts_and_holds_what_it_held() {
        for setup in setups() {
            let image = Image::used(&setup).unwrap();
            let mut device = device(&setup, image.chip(&setup).unwrap());
            device.grant(u64::MAX);
            let mut held = 0;
            let mounted = setup.subject.mount(&mut device, &mut |ftl| {
                let mut data = vec![0; setup.sector_bytes()];
                for sector in 0..setup.capacity() {
                    ftl.read(Sector::new(sector), &mut data).expect("it reads");
                    held += u32::from(data[0] != 0);
                }
            });
            mounted.expect("it mounts");
            assert!(held > setup.capacity() / 2);
        }
    }

    #[test]
    fn hostile_images_neither_panic_nor_run_in_circles() {
        for setup in setups() {
            let image = Image::used(&setup).unwrap();
            for seed in 0..200 {
                let bytes = bytes(seed, 40);
                let mut altered = image.clone();
                altered.alter(&mut Script::new(&bytes[..4 + seed as usize % 36]));
                let chip = altered.chip(&setup).unwrap();
                let visited = panics::catch(|| visit(&setup, chip));
                assert_eq!(visited, Ok(Ok(())), "{} {:?}: {bytes:?}", setup.device, setup.system);
            }
        }
    }
}
