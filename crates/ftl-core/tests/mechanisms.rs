//! An FTL built with fewer mechanisms: it refuses configurations that need the others, and otherwise does the same as
//! the full one.

use crate::world;

use ftl_core::config::{Refresh, WearLeveling};
use ftl_core::probe::Counters;
use ftl_core::{ChainsAlone, Config, Ftl, LogAndChains, Mechanisms, Missing, MountError};
use ftl_core::{OwnedRam, PairedPages, RamPlan, Stopped};
use ftl_iface::Geometry;
use nand_model::{Chip, Content};
use world::{Dice, KEY, Step, World, devices, operations};

/// No mechanism that chains can do without.
enum Least {}

impl Mechanisms for Least {
    const LOG: bool = false;
    const PAIRED_PAGES: bool = false;
    const CHECKPOINTS: bool = false;
    const WEAR_LEVELING: bool = false;
    const REFRESH: bool = false;
}

/// Returns a configuration that needs none of these mechanisms.
fn asks_for_nothing() -> (Geometry, Config) {
    let (geometry, config) = devices::conventional();
    let config = Config {
        wear_leveling: WearLeveling { enabled: false, ..config.wear_leveling },
        paired_pages: PairedPages::Accept,
        refresh: Refresh::NEVER,
        ..config
    };
    (geometry, config)
}

fn chip(geometry: Geometry) -> Chip {
    Chip::new(&world::part(geometry), Content::Bytes).expect("the part is possible")
}

fn drawn(dice: &mut Dice, capacity: u32) -> Step {
    match dice.below(100) {
        0..60 => dice.write(capacity, 3),
        60..75 => dice.write(capacity, 24),
        75..85 => Step::Read { first: dice.below(capacity - 8), count: dice.within(1..9) },
        85..92 => Step::Trim { first: dice.below(capacity - 8), count: dice.within(1..9) },
        _ => Step::Maintain { budget: dice.below(12) },
    }
}

#[test]
fn what_an_ftl_is_not_built_with_is_refused_in_a_sentence() {
    let plain = asks_for_nothing();
    let guarded = devices::guarded_conventional();
    let leveled = WearLeveling { enabled: true, ..plain.1.wear_leveling };
    for ((geometry, config), missing, sentence) in [
        (devices::hybrid(), Missing::Log, "this FTL is built without a log: configure none"),
        (
            guarded,
            Missing::PairedPages,
            "this FTL is built without protection of paired pages: accept the loss, or use a chip of one bit per cell",
        ),
        (
            (plain.0, Config { wear_leveling: leveled, ..plain.1 }),
            Missing::WearLeveling,
            "this FTL is built without wear leveling: disable it",
        ),
        (
            (plain.0, Config { refresh: Config::HYBRID.refresh, ..plain.1 }),
            Missing::Refresh,
            "this FTL is built without the refresh of weak pages: set its limits to never",
        ),
    ] {
        let plan = RamPlan::new(&geometry, &config).expect("it fits");
        let mut ram = OwnedRam::for_plan(&plan);
        let counters = Counters::default();
        let outcome: Result<Ftl<'_, _, _, Least>, _> =
            Ftl::format_as(chip(geometry), &config, ram.lend(), KEY, counters.clone());
        let refused = outcome.err().expect("it is refused");
        assert_eq!(refused, MountError::Missing(missing));
        assert_eq!(refused.to_string(), sentence);
        let outcome: Result<Ftl<'_, _, _, Least>, _> =
            Ftl::mount_as(chip(geometry), &config, ram.lend(), counters);
        assert_eq!(outcome.err(), Some(MountError::Missing(missing)));
    }
}

/// Runs a life with these mechanisms: mounted, used and stopped. Returns its cost.
fn life<M: Mechanisms>(
    world: &mut World,
    chip: &mut Option<Chip>,
    steps: &[Step],
) -> (Counters, Stopped) {
    let plan = *world.plan();
    let mut ram = OwnedRam::for_plan(&plan);
    let device = chip.take().expect("the chip is between two lives");
    let mounted = Ftl::mount_as(device, &world.config, ram.lend(), Counters::default());
    let mut ftl: Ftl<'_, _, _, M> = mounted.expect("mounted");
    for step in steps {
        world.step(&mut ftl, *step);
        ftl.check().unwrap_or_else(|violation| panic!("after {step:?}: {violation}"));
    }
    world.read_all(&mut ftl);
    let stopped = ftl.stop().expect("stopped");
    let (device, counters) = ftl.into_parts();
    *chip = Some(device);
    (counters, stopped)
}

#[test]
fn chains_alone_do_just_what_the_whole_ftl_does_without_a_log() {
    for (geometry, config) in [devices::conventional(), devices::guarded_conventional()] {
        let (mut one, mut other) = (World::new(geometry, config), World::new(geometry, config));
        let (mut of_one, mut of_other) = (Some(one.take_chip()), Some(other.take_chip()));
        let mut dice = Dice::new(12);
        for _ in 0..8 {
            let steps: Vec<Step> = (0..250).map(|_| drawn(&mut dice, one.capacity())).collect();
            let (whole, stopped) = life::<LogAndChains>(&mut one, &mut of_one, &steps);
            let (alone, too) = life::<ChainsAlone>(&mut other, &mut of_other, &steps);
            assert_eq!(operations(&whole), operations(&alone));
            assert_eq!((stopped, too), (Stopped::Checkpoint, Stopped::Checkpoint));
        }
    }
}

#[test]
fn a_device_goes_from_type_to_type_and_no_checkpoint_outlasts_a_change() {
    let (geometry, config) = asks_for_nothing();
    let mut world = World::new(geometry, config);
    let mut chip = Some(world.take_chip());
    let mut dice = Dice::new(5);
    for round in 0..60 {
        let count = dice.below(30);
        let steps: Vec<Step> = (0..count).map(|_| drawn(&mut dice, world.capacity())).collect();
        let (_, stopped) = match dice.below(3) {
            0 => life::<LogAndChains>(&mut world, &mut chip, &steps),
            1 => life::<ChainsAlone>(&mut world, &mut chip, &steps),
            _ => {
                let (counters, stopped) = life::<Least>(&mut world, &mut chip, &steps);
                assert_eq!(stopped, Stopped::NoCheckpoint, "round {round}");
                (counters, Stopped::Checkpoint)
            }
        };
        assert_eq!(stopped, Stopped::Checkpoint, "round {round}");
    }
}
