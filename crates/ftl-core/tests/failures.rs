//! A device that fails below the FTL: the errors that the host gets, and that a new mount finds what was acknowledged.

use crate::world;

use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::probe::Counters;
use ftl_core::{Config, Ftl, MountError, RamPlan};
use ftl_iface::{
    Block, BlockStore, Geometry, PageCount, PageIndex, Region, Sector, SectorCount, StoreReadError,
};
use nand_model::faults::{FaultInjector, When};
use nand_model::{Chip, Content, PowerCut};

use world::{Checks, Dice, KEY, Step, World, devices, part, read_sector};

fn chip(geometry: Geometry) -> FaultInjector<Chip> {
    let chip = Chip::new(&part(geometry), Content::Bytes).expect("a possible part");
    FaultInjector::new(chip, 1)
}

fn memory(geometry: &Geometry, config: &Config) -> OwnedRam {
    OwnedRam::for_plan(&RamPlan::new(geometry, config).expect("the configuration fits"))
}

/// Returns a page of the chains of the conventional device, whose first six blocks are its meta area.
fn chain_page(block: u32, page: u16) -> ftl_iface::Page {
    Block::new(Region::Mlc, 6 + block).page(PageIndex::new(page))
}

#[test]
fn a_page_that_does_not_program_is_written_elsewhere() {
    let (geometry, config) = devices::conventional();
    let mut ram = memory(&geometry, &config);
    let mut chip = chip(geometry);
    let mut ftl =
        Ftl::format(&mut chip, &config, ram.lend(), KEY, Counters::default()).expect("formatted");
    let sector = Sector::new(0);
    ftl.write(sector, &[1; 512]).expect("written");
    ftl.device_mut().fail_program(chain_page(0, 1), When::Always);
    ftl.write(sector, &[2; 512]).expect("written elsewhere");
    assert_eq!(read_sector(&mut ftl, 0), [2; 512]);
    ftl.write(Sector::new(9), &[2; 512]).expect("written");
    ftl.check().expect("every invariant holds");

    let (chip, _) = ftl.into_parts();
    // The result is the same if the page turns out to be programmed after all.
    chip.lift_all();
    let mut ftl = Ftl::mount(chip, &config, ram.lend(), Counters::default()).expect("mounted");
    assert_eq!(read_sector(&mut ftl, 0), [2; 512]);
    ftl.check().expect("every invariant holds");
}

#[test]
fn a_sector_that_cannot_be_read_is_lost_until_written_again_and_the_others_are_not() {
    let (geometry, config) = devices::conventional();
    let mut ram = memory(&geometry, &config);
    let mut chip = chip(geometry);
    let mut ftl =
        Ftl::format(&mut chip, &config, ram.lend(), KEY, Counters::default()).expect("formatted");
    // Four sectors per page: the first page holds 0 to 3, the second 4 to 7.
    ftl.write(Sector::new(0), &[1; 8 * 512]).expect("written");
    ftl.device_mut().uncorrectable(chain_page(0, 0));
    let mut one = [0; 512];
    for sector in 0..4 {
        let sector = Sector::new(sector);
        assert_eq!(ftl.read(sector, &mut one), Err(StoreReadError::Lost(sector)));
    }
    for sector in 4..8 {
        assert_eq!(read_sector(&mut ftl, sector), [1; 512]);
    }
    let lost = StoreReadError::Lost(Sector::new(2));
    assert_eq!(ftl.read(Sector::new(2), &mut [0; 6 * 512]), Err(lost));
    ftl.write(Sector::new(2), &[2; 512]).expect("written again");
    assert_eq!(read_sector(&mut ftl, 2), [2; 512]);
    assert_eq!(ftl.read(Sector::new(3), &mut one), Err(StoreReadError::Lost(Sector::new(3))));
}

#[test]
fn a_format_without_blocks_enough_says_so_and_leaves_no_device() {
    let (geometry, config) = devices::hybrid();
    let mut ram = memory(&geometry, &config);
    let mut chip = chip(geometry);
    chip.fail_erase(Block::new(Region::Mlc, 9), When::Always);
    let refusal = Ftl::format(&mut chip, &config, ram.lend(), KEY, Counters::default()).err();
    let needed = RamPlan::new(&geometry, &config).expect("fits").shape().logical_blocks + 2;
    assert_eq!(refusal, Some(MountError::TooFewBlocks { good: needed - 1, needed }));
    let refusal = Ftl::mount(&mut chip, &config, ram.lend(), Counters::default()).err();
    assert_eq!(refusal, Some(MountError::NotFormatted));
}

/// Returns a device that was used and left at rest: folded chains, a log that has wrapped around, trims.
fn used(geometry: Geometry, config: Config) -> World {
    let mut world = World::new(geometry, config);
    let capacity = world.capacity();
    let mut dice = Dice::new(1);
    let steps: Vec<Step> = (0..600)
        .map(|at| match at % 20 {
            7 => Step::Trim { first: dice.below(capacity - 4), count: 3 },
            _ => dice.write(capacity, 5),
        })
        .collect();
    world.run(&steps, Checks::EachStep);
    world.run(&[Step::Maintain { budget: 10_000 }], Checks::EachStep);
    world
}

#[test]
fn without_a_summary_that_can_be_read_the_tags_say_the_same() {
    let (geometry, config) = devices::hybrid();
    let mut world = used(geometry, config);
    let mut chip = FaultInjector::new(world.take_chip(), 1);
    // The summary is a block's last page.
    for block in 6..12 {
        chip.uncorrectable(Block::new(Region::Slc, block).page(PageIndex::new(3)));
    }
    let mut ram = memory(&geometry, &config);
    let mut ftl = Ftl::mount(&mut chip, &config, ram.lend(), Counters::default()).expect("mounted");
    world.read_all(&mut ftl);
    ftl.check().expect("every invariant holds");
    // The result is the same when they can be read again.
    chip.lift_all();
    let mut ftl = Ftl::mount(&mut chip, &config, ram.lend(), Counters::default()).expect("mounted");
    world.read_all(&mut ftl);
}

#[test]
fn a_mount_whose_driver_fails_in_any_operation_says_so_and_can_be_tried_again() {
    for (name, geometry, config) in devices::all() {
        println!("{name}");
        let mut world = used(geometry, config);
        let mut chip = FaultInjector::new(world.take_chip(), 1);
        let mut ram = memory(&geometry, &config);
        for at in 0.. {
            let mut cut = PowerCut::new(chip, world::cut(&config, at, 1).counting_reads());
            let outcome = match Ftl::mount(&mut cut, &config, ram.lend(), Counters::default()) {
                Ok(mut ftl) => ftl.settle().map_err(|error| format!("{error:?}")),
                Err(error) => Err(format!("{error:?}")),
            };
            chip = cut.into_inner();
            match outcome {
                Ok(()) if at > 20 => break,
                Err(error) if error == "Device(Some(PoweredOff))" => {}
                outcome => panic!("operation {at}: {outcome:?}"),
            }
        }
        let mut ftl =
            Ftl::mount(&mut chip, &config, ram.lend(), Counters::default()).expect("mounted");
        world.read_all(&mut ftl);
        ftl.check().expect("every invariant holds");
    }
}

#[test]
fn a_device_that_has_failed_answers_no_request_any_more() {
    for (name, geometry, config) in devices::all() {
        let mut ram = memory(&geometry, &config);
        let mut cut = PowerCut::new(chip(geometry), world::cut(&config, u64::MAX, 1));
        Ftl::format(&mut cut, &config, ram.lend(), KEY, Counters::default())
            .expect("formatted")
            .into_parts();
        let mut cut = PowerCut::new(cut.into_inner(), world::cut(&config, 0, 1));
        let mut ftl =
            Ftl::mount(&mut cut, &config, ram.lend(), Counters::default()).expect("mounted");
        let sector = Sector::new(0);
        ftl.write(sector, &[1; 512]).expect_err("power fails");
        // None of these needs the device, but none may succeed.
        assert!(ftl.read(Sector::new(9), &mut [0; 512]).is_err(), "{name}: never written");
        assert!(
            ftl.trim(Sector::new(9), SectorCount::new(1)).is_err(),
            "{name}: nothing to forget"
        );
        assert!(ftl.maintain(PageCount::new(1)).is_err(), "{name}: nothing to do");
        assert!(ftl.write(sector, &[1; 512]).is_err(), "{name}");
        assert!(ftl.settle().is_err(), "{name}");
        assert!(ftl.stop().is_err(), "{name}");
    }
}
