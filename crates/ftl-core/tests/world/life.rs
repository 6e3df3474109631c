//! Lives of the FTL that are not a list of steps: the test does anything between mount and end.

use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::probe::Counters;
use ftl_core::{Config, Ftl, RamPlan};
use ftl_iface::{BlockStore, Geometry, NandDevice, Sector};
use nand_model::Chip;

use super::{KEY, Step, World, operations};

/// The FTL as tests see it: on a chip, counting what it does.
pub type Tandem<'ram> = Ftl<'ram, Chip, Counters>;

impl World {
    /// Creates a world on a chip that the test has prepared, and formats it.
    pub fn on(chip: Chip, config: Config) -> Self {
        let mut world = Self::new(*chip.geometry(), config);
        let mut ram = OwnedRam::for_plan(&world.plan);
        let ftl = Ftl::format(chip, &config, ram.lend(), KEY, Counters::default()).expect("format");
        world.chip = Some(ftl.into_parts().0);
        world
    }

    /// Creates a world that was formatted and stopped: a mount suspects none of its blocks, and has nothing to settle.
    /// Tests that count costs begin here.
    pub fn rested(geometry: Geometry, config: Config) -> Self {
        let mut world = Self::unformatted(geometry, config);
        let mut ram = OwnedRam::for_plan(&world.plan);
        let chip = world.chip.take().expect("there is a chip");
        let mut ftl =
            Ftl::format(chip, &config, ram.lend(), KEY, Counters::default()).expect("format");
        ftl.stop().expect("stopped");
        world.chip = Some(ftl.into_parts().0);
        world
    }

    /// As [`live`](Self::live), with a clean stop at the end, so that the next life suspects nothing.
    pub fn live_to_a_stop<T>(&mut self, act: impl FnOnce(&mut Self, &mut Tandem<'_>) -> T) -> T {
        self.live(|world, ftl| {
            let outcome = act(world, ftl);
            world.read_all(ftl);
            ftl.stop().expect("stopped");
            outcome
        })
    }

    /// Runs one life of the FTL. At its end the whole device is read back.
    pub fn live<T>(&mut self, act: impl FnOnce(&mut Self, &mut Tandem<'_>) -> T) -> T {
        let mut ram = OwnedRam::for_plan(&self.plan);
        let chip = self.chip.take().expect("there is a chip");
        let counters = std::mem::take(&mut self.counters);
        let mut ftl = Ftl::mount(chip, &self.config, ram.lend(), counters).expect("mount");
        ftl.settle().expect("settle");
        let outcome = act(self, &mut ftl);
        self.read_all(&mut ftl);
        let (chip, counters) = ftl.into_parts();
        self.chip = Some(chip);
        self.counters = counters;
        outcome
    }

    /// Does a step, and checks its cost against the worst case and then every invariant.
    pub fn checked_step(&mut self, ftl: &mut Tandem<'_>, step: Step) {
        let before = operations(ftl.probe());
        self.step(ftl, step);
        self.hold_to_bound(before, operations(ftl.probe()), step);
        ftl.check().unwrap_or_else(|violation| panic!("after {step:?}: {violation}"));
    }

    /// Returns the plan of the FTL's memory and of the device.
    pub fn plan(&self) -> &RamPlan {
        &self.plan
    }

    /// Returns the chip, between two lives of the FTL.
    pub fn chip(&self) -> &Chip {
        self.chip.as_ref().expect("the FTL has the chip")
    }

    /// Takes the chip, to change it without the FTL.
    pub fn take_chip(&mut self) -> Chip {
        self.chip.take().expect("the FTL has the chip")
    }
}

/// Reads one sector.
pub fn read_sector<S: BlockStore>(store: &mut S, sector: u32) -> Vec<u8> {
    let mut data = vec![0xA5; store.sector_bytes().as_usize()];
    store.read(Sector::new(sector), &mut data).expect("read");
    data
}
