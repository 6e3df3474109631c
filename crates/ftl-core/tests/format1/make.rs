//! Makes the images: `UPDATE_FORMAT1=1 cargo test -p ftl-core --all-features --test format1` writes those that are
//! missing. Once a version is released they stay as they are; `UPDATE_FORMAT1=replace` is for the time before.

use ftl_core::probe::NoProbe;
use ftl_core::{FtlKind, Hybrid, MountedFtl, Owned, PageStore};
use ftl_iface::{Block, BlockStore, NandDevice, Region};
use nand_model::faults::When;
use nand_model::power::{Cut, Fates, PageFate, PairFate, PowerCut};
use nand_model::{Chip, Content, FaultInjector};

use crate::devices::{self, Device, Life};
use crate::image::{self, Worn};
use crate::truth::{Power, Truth};
use crate::world::{Dice, KEY, part};

#[test]
fn images_are_made_if_asked_for() {
    let Ok(asked) = std::env::var("UPDATE_FORMAT1") else { return };
    for device in &devices::hybrid() {
        make::<Hybrid>(device, &asked);
    }
    for device in &devices::paged() {
        make::<PageStore>(device, &asked);
    }
}

fn make<F: FtlKind>(device: &Device<F::Config>, asked: &str) {
    let exists = image::path(device.name).exists();
    if exists && asked != "replace" {
        println!("{} stays as it is", device.name);
        return;
    }
    let mut maker = Maker::<F>::new(device);
    let mut worn = maker.live();
    image::save(device.name, &mut worn, &maker.truth);
}

struct Maker<'a, F: FtlKind> {
    device: &'a Device<F::Config>,
    plan: F::Plan,
    truth: Truth,
    dice: Dice,
}

impl<'a, F: FtlKind> Maker<'a, F> {
    fn new(device: &'a Device<F::Config>) -> Self {
        let plan = F::plan(&device.geometry, &device.config).expect("the configuration fits");
        Self { device, plan, truth: Truth::blank(0, 0), dice: Dice::new(7) }
    }

    fn live(&mut self) -> Worn {
        let chip = Chip::new(&part(self.device.geometry), Content::Bytes).expect("a possible part");
        let chip = self.with_bad_blocks(FaultInjector::new(chip, 3));
        let mut ram = Owned::for_plan(&self.plan);
        let mut ftl =
            F::format(chip, &self.device.config, ram.lend(), KEY, NoProbe).expect("formatted");
        self.truth = Truth::blank(ftl.sector_bytes().as_usize(), ftl.capacity().get());
        match self.device.life {
            Life::Fresh => {}
            Life::Stopped => {
                self.truth.fill(&mut ftl, 1);
                self.churn(&mut ftl, 60);
                ftl.stop().expect("stopped");
            }
            Life::Worn => self.churn(&mut ftl, 4_000),
            Life::Cut => {
                self.truth.fill(&mut ftl, 1);
                return self.with_cuts(ftl.into_parts().0);
            }
            Life::Bad => {
                for failure in 0..6 {
                    self.churn(&mut ftl, 80);
                    let block = self.fail_a_block(ftl.device_mut());
                    // As many as the list of the hybrid FTL takes cannot be marked either.
                    if failure < 2 {
                        ftl.device_mut().fail_mark(block);
                    }
                }
                self.churn(&mut ftl, 80);
            }
            Life::Wide => self.churn(&mut ftl, 150),
        }
        ftl.into_parts().0
    }

    fn churn<S: BlockStore>(&mut self, ftl: &mut S, requests: u32) {
        let power = self.truth.churn(ftl, &mut self.dice, requests);
        assert_eq!(power, Power::Stayed, "{}", self.device.name);
    }

    /// Marks the blocks that are bad from the factory. Of the wide page store they are most, so that the last are used.
    fn with_bad_blocks(&self, mut chip: Worn) -> Worn {
        let region = if self.device.geometry.slc().is_some() { Region::Slc } else { Region::Mlc };
        let blocks = self.device.geometry.region(region).expect("the region").blocks.get();
        let bad = match self.device.life {
            Life::Bad => vec![3, 12, blocks - 1],
            Life::Wide if self.device.geometry.mlc().is_none() => (4..blocks - 40).collect(),
            _ => Vec::new(),
        };
        for block in bad {
            chip.mark_bad(Block::new(region, block)).expect("marked");
        }
        chip
    }

    /// Lets the erase of a block fail from now on.
    fn fail_a_block(&mut self, chip: &mut Worn) -> Block {
        let region = if self.device.geometry.slc().is_some() { Region::Slc } else { Region::Mlc };
        let blocks = self.device.geometry.region(region).expect("the region").blocks.get();
        let block = Block::new(region, 8 + self.dice.below(blocks - 9));
        chip.fail_erase(block, When::Always);
        block
    }

    /// Lets power fail in requests and in the repair after that, later each time; then the same with trims, whose page
    /// of the map is then the last one programmed.
    fn with_cuts(&mut self, mut chip: Worn) -> Worn {
        for at in 0..8 {
            let page = if at % 2 == 0 { PageFate::Complete } else { PageFate::Uncorrectable };
            let fates = Fates { page, pair: PairFate::Kept, ..Fates::from_seed(at) };
            let after = 100 + u64::from(self.dice.below(200));
            chip = self.cut(chip, &After::Repair(Cut::chosen(after, fates)), 1_000);
            chip = self.cut(chip, &After::Mount(Cut::chosen(at, fates)), 0);
        }
        let fates = Fates { page: PageFate::Complete, pair: PairFate::Kept, ..Fates::from_seed(0) };
        for at in 0..8 {
            chip = self.cut(chip, &After::Repair(Cut::chosen(at, fates)), 0);
            chip = self.cut(chip, &After::Mount(Cut::chosen(7, fates)), 0);
        }
        // Few operations more, so that what they left stays. They end so that the hybrid FTL makes a copy.
        chip = self.cut(chip, &After::Repair(Cut::chosen(9, fates)), 1_000);
        self.cut(chip, &After::Mount(Cut::chosen(7, fates)), 0)
    }

    /// Lets power fail in one life of the device: in the repair, or in these requests, or in a trim if there are none.
    fn cut(&mut self, chip: Worn, after: &After, requests: u32) -> Worn {
        let mut ram = Owned::for_plan(&self.plan);
        let mut device = PowerCut::new(chip, Cut::never());
        let mut ftl =
            F::mount(&mut device, &self.device.config, ram.lend(), NoProbe).expect("mounted");
        match *after {
            After::Mount(cut) => {
                ftl.device_mut().set_cut(cut);
                let _ = ftl.settle();
            }
            After::Repair(cut) => {
                ftl.settle().expect("settled");
                self.truth.verify(&mut ftl);
                ftl.device_mut().set_cut(cut);
                let power = match requests {
                    0 => self.truth.trim(&mut ftl),
                    _ => self.truth.churn(&mut ftl, &mut self.dice, requests),
                };
                assert!(requests == 0 || power == Power::Failed, "{}", self.device.name);
            }
        }
        drop(ftl);
        device.into_inner()
    }
}

/// From where on the operations to a power cut are counted.
enum After {
    Mount(Cut),
    Repair(Cut),
}
