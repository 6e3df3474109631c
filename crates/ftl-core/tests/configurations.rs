//! Conventional devices, split chips, chips in two modes and pairs of chips are configurations of one FTL, not FTLs of
//! their own.

use crate::world;

use std::convert::Infallible;

use ftl_core::config::{FilterChoice, LogRegion};
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::probe::{Cause, Counters, Verb};
use ftl_core::{Config, Ftl};
use ftl_iface::{
    Block, BlockStore, Bytes, Cell, Corrected, EraseError, Geometry, MarkError, NandDevice, Page,
    ProgramError, ReadError, Region, Sector, SectorCount,
};
use nand_model::datasheet::builtin;
use nand_model::{Chip, Content};

use world::{Checks, Dice, KEY, Step, World, devices, part, region, unpaired};

/// A controller with an SLC chip and an MLC chip on its bus.
struct TwoChips {
    geometry: Geometry,
    slc: Chip,
    mlc: Chip,
}

impl TwoChips {
    fn new(geometry: Geometry) -> Self {
        let alone = |slc, mlc| {
            let geometry = Geometry::new(slc, mlc).expect("one region alone");
            Chip::new(&part(geometry), Content::Bytes).expect("a possible part")
        };
        let slc = alone(geometry.slc().copied(), None);
        Self { geometry, slc, mlc: alone(None, geometry.mlc().copied()) }
    }

    fn chip(&mut self, region: Region) -> &mut Chip {
        match region {
            Region::Slc => &mut self.slc,
            Region::Mlc => &mut self.mlc,
        }
    }
}

impl NandDevice for TwoChips {
    type Error = Infallible;

    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Infallible>> {
        self.chip(page.region()).read(page, at, data, spare)
    }

    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Infallible>> {
        self.chip(page.region()).program(page, data, spare)
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<Infallible>> {
        self.chip(block.region()).erase(block)
    }

    fn is_bad(&mut self, block: Block) -> Result<bool, Infallible> {
        self.chip(block.region()).is_bad(block)
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Infallible>> {
        self.chip(block.region()).mark_bad(block)
    }
}

fn steps(seed: u64, capacity: u32, count: u32) -> Vec<Step> {
    let mut dice = Dice::new(seed);
    (0..count)
        .map(|_| match dice.below(100) {
            0..60 => dice.write(capacity / 3, 3),
            60..80 => dice.write(capacity, 30),
            80..90 => Step::Read { first: dice.below(capacity), count: 1 },
            90..97 => Step::Trim { first: dice.below(capacity), count: 1 },
            _ => Step::Maintain { budget: dice.below(20) },
        })
        .collect()
}

/// Formats a device of any kind, does the steps and reads everything back. Returns the operations on the flash.
fn operations_on<D: NandDevice>(device: D, world: &mut World, steps: &[Step]) -> Counters {
    let mut ram = OwnedRam::for_plan(world.plan());
    let config = world.config;
    let mut ftl = Ftl::format(device, &config, ram.lend(), KEY, Counters::default())
        .map_err(|error| format!("{error}"))
        .expect("formatted");
    for step in steps {
        world.step(&mut ftl, *step);
    }
    world.read_all(&mut ftl);
    ftl.check().expect("every invariant holds");
    ftl.into_parts().1
}

fn chip(geometry: Geometry) -> Chip {
    Chip::new(&part(geometry), Content::Bytes).expect("a possible part")
}

#[test]
fn one_chip_in_two_modes_and_two_chips_do_the_same_for_the_same_requests() {
    let (geometry, config) = devices::hybrid();
    let (mut one, mut two) = (World::new(geometry, config), World::new(geometry, config));
    let steps = steps(1, one.capacity(), 3_000);
    let in_two_modes = operations_on(chip(geometry), &mut one, &steps);
    let as_a_pair = operations_on(TwoChips::new(geometry), &mut two, &steps);
    assert_eq!(in_two_modes, as_a_pair);
    for region in Region::ALL {
        assert!(as_a_pair.total(region, Verb::Program) > 1_000, "{region} was at work");
    }
}

#[test]
fn without_a_log_a_hybrid_chip_does_what_an_mlc_chip_does_and_its_slc_is_left_alone() {
    let (hybrid, config) = devices::hybrid();
    let config = Config { log: LogRegion::None, ..config };
    let mlc = devices::geometry(None, hybrid.mlc().copied());
    let (mut on_hybrid, mut on_mlc) = (World::new(hybrid, config), World::new(mlc, config));
    assert_eq!(on_hybrid.capacity(), on_mlc.capacity());
    let steps = steps(2, on_mlc.capacity(), 3_000);
    let counters = operations_on(chip(hybrid), &mut on_hybrid, &steps);
    let on_mlc_alone = operations_on(chip(mlc), &mut on_mlc, &steps);
    for verb in Verb::ALL {
        let [here, there] = [&counters, &on_mlc_alone].map(|all| all.total(Region::Mlc, verb));
        assert_eq!(here, there, "{verb:?}");
    }
    // The format looks for headers of an earlier one with a log: each may be in one of the four pages of two blocks.
    assert_eq!(counters.total(Region::Slc, Verb::Read), 8);
    for verb in Verb::ALL.into_iter().filter(|verb| *verb != Verb::Read) {
        assert_eq!(counters.total(Region::Slc, verb), 0, "{verb:?}");
    }
    assert_eq!((counters.fast_sectors, counters.reclaims), (0, 0));
    assert!(counters.folds > 100);
}

#[test]
fn without_a_log_an_slc_chip_and_an_mlc_chip_of_one_shape_do_the_same() {
    let config = Config { log: LogRegion::None, ..devices::SMALL };
    let slc = devices::geometry(Some(region(Cell::Slc, 20, 8, 2048)), None);
    let mlc = devices::geometry(None, Some(unpaired(region(Cell::Mlc, 20, 8, 2048))));
    let (mut first, mut second) = (World::new(slc, config), World::new(mlc, config));
    let steps = steps(3, first.capacity(), 2_000);
    let one_bit = operations_on(chip(slc), &mut first, &steps);
    let two_bits = operations_on(chip(mlc), &mut second, &steps);
    for verb in Verb::ALL {
        for cause in Cause::ALL {
            let one = one_bit.operations(Region::Slc, verb, cause);
            let two = two_bits.operations(Region::Mlc, verb, cause);
            assert_eq!(one, two, "{verb:?} for {cause:?}");
        }
    }
    assert_eq!(one_bit.factors(), two_bits.factors());
}

#[test]
fn a_chip_split_in_two_does_what_a_hybrid_of_two_such_regions_does() {
    // An SLC chip whose first blocks are the log, and a device whose regions have exactly the shape of these two areas.
    let split = devices::geometry(Some(region(Cell::Slc, 12 + 14, 8, 2048)), None);
    let hybrid = devices::geometry(
        Some(region(Cell::Slc, 12, 8, 2048)),
        Some(unpaired(region(Cell::Mlc, 14, 8, 2048))),
    );
    let split_config = Config { log: LogRegion::FirstBlocks(6), ..devices::SMALL };
    let mut on_whole = World::new(split, split_config);
    let mut on_pair = World::new(hybrid, devices::SMALL);
    assert_eq!(on_whole.capacity(), on_pair.capacity());
    let steps = steps(4, on_whole.capacity(), 3_000);
    let split = operations_on(chip(split), &mut on_whole, &steps);
    let parts = operations_on(chip(hybrid), &mut on_pair, &steps);
    for verb in Verb::ALL {
        for cause in Cause::ALL {
            let both = Region::ALL.map(|region| parts.operations(region, verb, cause));
            let whole = split.operations(Region::Slc, verb, cause);
            assert_eq!(whole, both.iter().sum::<u64>(), "{verb:?} for {cause:?}");
        }
    }
    assert_eq!(split.factors(), parts.factors());
    assert!(split.fast_sectors > 1_000 && split.folds > 100);
}

#[test]
fn a_plain_spi_nand_as_sold_carries_a_log_and_chains() {
    // The whole chip, with its 16 spare bytes per page, storing stamps, with a few thousand requests.
    let part = builtin("spi-nand-1g").expect("a device that is built in");
    let config = Config::one_region(64);
    let content = Content::Stamps { sector: part.sector_bytes, spare_kept: Bytes::new(16) };
    let chip = Chip::new(&part, content).expect("a possible part");
    let plan = ftl_core::RamPlan::new(&part.geometry, &config).expect("it fits");
    let mut ram = OwnedRam::for_plan(&plan);
    let mut ftl =
        Ftl::format(chip, &config, ram.lend(), KEY, Counters::default()).expect("formatted");
    let capacity = ftl.capacity().get();
    let mut truth = vec![None; capacity as usize];
    let mut dice = Dice::new(5);
    for number in 0..20_000 {
        let most = if dice.percent(10) { 64 } else { 2 };
        let span = if dice.percent(80) { 2_000 } else { capacity };
        let Step::Write { first, count } = dice.write(span, most) else { continue };
        let mut data = vec![0; count as usize * 2048];
        for sector in data.chunks_mut(2048) {
            nand_model::Stamp::new(number).write_to(sector);
        }
        truth[first as usize..(first + count) as usize].fill(Some(number));
        ftl.write(Sector::new(first), &data).expect("written");
    }
    for (sector, wanted) in (0..capacity).zip(&truth) {
        let found = nand_model::Stamp::read_from(&world::read_sector(&mut ftl, sector));
        assert_eq!(found.map(nand_model::Stamp::get), *wanted, "sector {sector}");
    }
    ftl.check().expect("every invariant holds");
    let counters = ftl.probe();
    assert!(counters.fast_sectors > 5_000 && counters.reclaims > 10, "{counters:?}");
}

#[test]
fn the_filter_switched_off_sends_large_writes_to_the_log_too() {
    let (geometry, config) = devices::hybrid();
    let large = vec![Step::Write { first: 0, count: 6 }; 50];
    let config = Config { throttle: false, ..config };
    let mut by_size = World::new(geometry, config);
    by_size.run(&large, Checks::EachStep);
    assert_eq!(by_size.counters().fast_sectors, 0);
    let filter = FilterChoice::AcceptAll;
    let mut all = World::new(geometry, Config { filter, ..config });
    all.run(&large, Checks::EachStep);
    assert_eq!(all.counters().fast_sectors, 300);
}

#[test]
fn a_cache_of_no_maps_scans_where_a_large_one_does_not_and_reads_the_same() {
    let (geometry, config) = devices::conventional();
    let scans = |mapping_cache_entries| {
        let mut world = World::new(geometry, Config { mapping_cache_entries, ..config });
        let steps = steps(6, world.capacity(), 1_000);
        world.run(&steps, Checks::EachStep);
        world.counters().scanned_pages
    };
    let [none, few, all] = [0, 2, 14].map(scans);
    println!(
        "{none} pages scanned without a cache, {few} with two maps, {all} with a map for each"
    );
    assert!(none > few && few > all);
}

#[test]
fn probing_and_the_limit_of_log_blocks_change_the_work_and_not_the_truth() {
    let (geometry, config) = devices::hybrid();
    for chain_log_blocks_max in [1, 2, 4] {
        for probing in [ftl_core::config::Probing::Linear, ftl_core::config::Probing::Quadratic] {
            let index = ftl_core::config::IndexConfig { probing, ..config.index };
            let capacity = Some(SectorCount::new(9 * 32));
            let config = Config { chain_log_blocks_max, index, capacity, ..config };
            let mut world = World::new(geometry, config);
            let steps = steps(7, world.capacity(), 1_500);
            world.run(&steps, Checks::EachStep);
        }
    }
}
