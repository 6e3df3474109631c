//! The work that a mount without checkpoint leaves to the first request stays within its worst case: power fails at
//! every operation of short lives, and again while the device is settled after the first cut.

use crate::world;

use ftl_core::config::LogRegion;
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::hybrid::shape::SPARE_BLOCKS_MIN;
use ftl_core::probe::Counters;
use ftl_core::{Config, Ftl, RamPlan};
use ftl_core::{Operations, WorstCase};
use ftl_iface::{BlockStore, Cell, Geometry, NandDevice, Sector, SectorCount};
use nand_model::faults::FaultInjector;
use nand_model::power::PowerCut;
use nand_model::{Chip, Content, Fork};

use world::{Dice, KEY, devices, most, operations, part, region};

type Device = FaultInjector<Chip>;

const BYTES: usize = 512;

/// Returns a device without a clean stop on which nearly every block is in use.
fn used(geometry: Geometry, config: &Config, seed: u64) -> Device {
    let chip = Chip::new(&part(geometry), Content::Bytes).expect("a possible part");
    let mut device = FaultInjector::new(chip, seed);
    let mut ram = OwnedRam::for_plan(&RamPlan::new(&geometry, config).expect("fits"));
    let mut ftl = Ftl::format(&mut device, config, ram.lend(), KEY, Counters::default());
    let ftl = ftl.as_mut().expect("formatted");
    for first in 0..ftl.capacity().get() {
        ftl.write(Sector::new(first), &[1; BYTES]).expect("written");
    }
    assert!(live(ftl, seed, 300), "power never fails");
    device
}

/// Does requests, most of them short, anywhere on the device. Returns `false` if power failed.
fn live<D: NandDevice>(ftl: &mut Ftl<'_, D, Counters>, seed: u64, requests: u32) -> bool {
    let mut dice = Dice::new(seed);
    let capacity = ftl.capacity().get();
    (0..requests).all(|_| {
        let longest = if dice.percent(20) { 12 } else { 2 };
        let count = (1 + dice.below(longest)).min(capacity);
        let first = Sector::new(dice.below(capacity - count + 1));
        if dice.percent(8) {
            ftl.trim(first, SectorCount::new(count)).is_ok()
        } else {
            ftl.write(first, &vec![2; count as usize * BYTES]).is_ok()
        }
    })
}

/// A kind of device, and the most that settling it has cost.
struct Trial {
    geometry: Geometry,
    config: Config,
    plan: RamPlan,
    bound: Operations,
    worst: Operations,
}

impl Trial {
    fn new(geometry: Geometry, config: Config) -> Self {
        let plan = RamPlan::new(&geometry, &config).expect("fits");
        let bound = WorstCase::new(plan.shape(), &config).settle();
        Self { geometry, config, plan, bound, worst: Operations::default() }
    }

    /// Uses the device until power fails in this operation. `None`: the life ends before.
    fn cut_short(&self, device: &mut Device, at: u64, seed: u64) -> Option<Device> {
        let mut device = PowerCut::new(device.fork(), world::cut(&self.config, at, seed));
        let mut ram = OwnedRam::for_plan(&self.plan);
        let counters = Counters::default();
        let mut ftl = Ftl::mount(&mut device, &self.config, ram.lend(), counters).expect("mounted");
        let lived = live(&mut ftl, seed, 40);
        (!lived).then(|| device.into_inner())
    }

    /// Settles a copy of the device, and asserts that the cost is within the bound. Returns the number of programs and
    /// erases.
    fn settle(&mut self, device: &mut Device) -> u64 {
        let mut ram = OwnedRam::for_plan(&self.plan);
        let counters = Counters::default();
        let device = device.fork();
        let mut ftl = Ftl::mount(device, &self.config, ram.lend(), counters).expect("mounted");
        let before = operations(ftl.probe());
        ftl.settle().expect("settled");
        let cost = operations(ftl.probe()).less(before);
        assert!(cost.within(self.bound), "settling cost {cost:?}, more than {:?}", self.bound);
        self.worst = most(self.worst, cost);
        cost.programs + cost.erases
    }

    /// Settles the device until power fails in that operation.
    fn settle_in_part(&self, device: &mut Device, at: u64, seed: u64) -> Device {
        let mut device = PowerCut::new(device.fork(), world::cut(&self.config, at, seed));
        let mut ram = OwnedRam::for_plan(&self.plan);
        let counters = Counters::default();
        let mut ftl = Ftl::mount(&mut device, &self.config, ram.lend(), counters).expect("mounted");
        ftl.settle().expect_err("power fails");
        device.into_inner()
    }

    /// Lets power fail in every operation of a short life, and for some of these again while the device is settled.
    fn run(&mut self, seed: u64) {
        let mut device = used(self.geometry, &self.config, seed);
        let mut at = 0;
        while let Some(mut cut) = self.cut_short(&mut device, at, seed) {
            let operations = self.settle(&mut cut);
            if at % 9 == seed % 9 {
                for again in 0..operations {
                    let mut cut = self.settle_in_part(&mut cut, again, seed + at);
                    let operations = self.settle(&mut cut);
                    if operations > 0 {
                        let mut cut =
                            self.settle_in_part(&mut cut, again % operations, seed + again);
                        self.settle(&mut cut);
                    }
                }
            }
            at += 1;
        }
        assert!(at > 60, "the life has {at} operations");
    }
}

/// Returns a device whose reserve is so large that two blocks are kept free.
fn with_blocks_in_hand() -> (&'static str, Geometry, Config) {
    let (geometry, config) = devices::one_tlc();
    let shape = *RamPlan::new(&geometry, &config).expect("fits").shape();
    let blocks = shape.chain.block_count().get() - u32::from(SPARE_BLOCKS_MIN) - 8;
    let capacity = SectorCount::new(blocks * shape.sectors_per_block.get());
    ("two in hand", geometry, Config { capacity: Some(capacity), ..config })
}

#[test]
fn settling_after_a_cut_in_any_operation_never_exceeds_its_worst_case() {
    let mut nearest = 0;
    for (name, geometry, config) in devices::all().into_iter().chain([with_blocks_in_hand()]) {
        let mut trial = Trial::new(geometry, config);
        for seed in 1..4 {
            trial.run(seed);
        }
        println!("{name}: {:?} of {:?}", trial.worst, trial.bound);
        nearest = nearest.max(trial.worst.programs * 100 / trial.bound.programs);
    }
    assert!(nearest > 33, "the bound is no idle one: {nearest} hundredths of its programs");
}

/// A fold that power cuts interrupt again and again never ends, and each time the chain takes a block for the writes
/// meanwhile.
#[test]
fn a_chain_does_not_grow_with_every_cut_beyond_what_its_map_has_places_for() {
    let geometry = Geometry::new(None, Some(region(Cell::Mlc, 26, 8, 512))).expect("possible");
    let config = Config {
        capacity: Some(SectorCount::new(12 * 8)),
        log: LogRegion::None,
        chain_log_blocks_max: 1,
        copies_per_page: 1,
        free_blocks_low: 3,
        ..devices::SMALL
    };
    let trial = Trial::new(geometry, config);
    let mut device = used(geometry, &config, 1);
    let mut longest = 0;
    let mut dice = Dice::new(2);
    for life in 0..10_000 {
        let mut ram = OwnedRam::for_plan(&trial.plan);
        let mut cut =
            PowerCut::new(device, world::cut(&config, u64::from(dice.within(20..90)), life));
        let counters = Counters::default();
        let mut ftl = Ftl::mount(&mut cut, &config, ram.lend(), counters).expect("mounted");
        let capacity = ftl.capacity().get();
        while ftl.write(Sector::new(dice.below(capacity)), &[3; BYTES]).is_ok() {
            longest = longest.max(ftl.longest_chain());
        }
        device = cut.into_inner();
    }
    assert_eq!(longest, u32::from(config.chain_log_blocks_max) + 2);
}
