//! A clean stop, and the mount after it: few reads, no changes, and an FTL that continues as if it had never been
//! stopped.

use crate::world;

use ftl_core::config::IndexConfig;
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::probe::{Cause, Counters, Verb};
use ftl_core::{Config, Ftl, RamPlan};
use ftl_iface::{BlockStore, Geometry, NandDevice, PageCount, Region, Sector, SectorCount, Work};
use nand_model::datasheet::builtin;
use nand_model::{Chip, Content};

use world::{Dice, KEY, Step, World, devices, part};

fn chip(geometry: Geometry) -> Chip {
    Chip::new(&part(geometry), Content::Bytes).expect("a possible part")
}

/// Draws a step: writes of all sizes, reads, trims and idle work.
fn any_step(dice: &mut Dice, capacity: u32) -> Step {
    match dice.below(20) {
        0..=14 => {
            let most = if dice.percent(20) { 30 } else { 2 };
            let span = if dice.percent(60) { capacity / 6 } else { capacity };
            dice.write(span, most)
        }
        15 | 16 => Step::Read { first: dice.below(capacity - 4), count: 4 },
        17 => Step::Trim { first: dice.below(capacity - 4), count: dice.within(1..5) },
        _ => Step::Maintain { budget: dice.below(12) },
    }
}

/// What happens between two stretches of work.
#[derive(Clone, Copy, PartialEq)]
enum Pause {
    /// Nothing.
    None,
    /// The FTL is stopped and used further.
    Stop,
    /// The FTL is stopped, dropped with its memory, and mounted.
    Mount,
}

/// The observable state of the FTL.
#[derive(Debug, PartialEq)]
struct Inside {
    threshold: SectorCount,
    throttled: bool,
    window: u32,
    load: Option<(u32, u32, std::num::NonZeroU32)>,
    probes: Option<ftl_core::Ratio>,
}

/// Whether the host is idle before a pause.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    None,
    UntilDone,
}

/// Works in stretches with pauses, before each of which the host is idle or not. Returns the counters, and the state at
/// the end of each stretch.
fn work(
    (geometry, config): (Geometry, Config),
    seed: u64,
    pause: Pause,
    rest: Rest,
) -> (Counters, Vec<Inside>) {
    let mut world = World::new(geometry, config);
    let capacity = world.capacity();
    let plan = *world.plan();
    let (mut chip, mut counters) = (chip(geometry), Counters::default());
    let mut dice = Dice::new(seed);
    let mut insides = Vec::new();
    let mut formatted = false;
    let mut stretches = 12;
    while stretches > 0 {
        let mut ram = OwnedRam::for_plan(&plan);
        let mut ftl = if formatted {
            let reads = counters.clone();
            let ftl = Ftl::mount(chip, &config, ram.lend(), counters).expect("mounted");
            assert_only_reads(&reads, ftl.probe());
            ftl
        } else {
            formatted = true;
            Ftl::format(chip, &config, ram.lend(), KEY, counters).expect("formatted")
        };
        ftl.check().expect("every invariant holds after the mount");
        loop {
            for _ in 0..dice.within(1..120) {
                world.step(&mut ftl, any_step(&mut dice, capacity));
            }
            while rest == Rest::UntilDone
                && ftl.maintain(PageCount::new(50)).expect("maintained") == Work::Left
            {}
            if pause != Pause::None {
                ftl.stop().expect("stopped");
                ftl.stop().expect("a second time costs nothing");
            }
            world.read_all(&mut ftl);
            insides.push(Inside {
                threshold: ftl.threshold(),
                throttled: ftl.is_throttling(),
                window: ftl.window().get(),
                load: ftl.index_load(),
                probes: ftl.index_probes(),
            });
            stretches -= 1;
            if stretches == 0 || pause == Pause::Mount {
                break;
            }
        }
        ftl.check().expect("every invariant holds after the stop");
        (chip, counters) = ftl.into_parts();
    }
    (counters, insides)
}

fn changes(counters: &Counters) -> u64 {
    let of = |region, verb| counters.total(region, verb);
    Region::ALL.map(|region| of(region, Verb::Program) + of(region, Verb::Erase)).iter().sum()
}

fn assert_only_reads(before: &Counters, after: &Counters) {
    assert_eq!(changes(before), changes(after), "a mount after a clean stop changes nothing");
}

/// Asserts that the operations of these causes are the same.
fn assert_same_work(one: &Counters, other: &Counters, causes: &[Cause]) {
    for region in Region::ALL {
        for verb in Verb::ALL {
            for cause in causes {
                let of = |counters: &Counters| counters.operations(region, verb, *cause);
                assert_eq!(of(one), of(other), "{region} {verb:?} {cause:?}");
            }
        }
    }
    assert_eq!(
        (one.folds, one.wear_folds, one.switches),
        (other.folds, other.wear_folds, other.switches)
    );
    assert_eq!((one.reclaims, one.reclaimed_valid), (other.reclaims, other.reclaimed_valid));
    assert_eq!(one.reclaimed_kept, other.reclaimed_kept);
    assert_eq!((one.fast_sectors, one.main_sectors), (other.fast_sectors, other.main_sectors));
    assert_eq!(one.rejected_by_index, other.rejected_by_index);
    assert_eq!(one.rejected_by_throttle, other.rejected_by_throttle);
}

/// Returns all kinds of devices, one with endurances so different that the throttle is active.
fn all_kinds() -> Vec<(&'static str, (Geometry, Config))> {
    let (geometry, config) = devices::hybrid();
    let endurance = ftl_core::Endurance { fast: 1_000, main: 2_000 };
    let throttled = Config { endurance, ..config };
    let wide = IndexConfig { entries: Some(60), probes: 5, probing: ftl_core::Probing::Quadratic };
    let mut all: Vec<_> =
        devices::all().map(|(name, geometry, config)| (name, (geometry, config))).into();
    all.push(("hybrid, throttled", (geometry, throttled)));
    all.push(("hybrid, quadratic", (geometry, Config { index: wide, ..config })));
    all.push(("hybrid, no maps", (geometry, Config { mapping_cache_entries: 0, ..config })));
    all
}

#[test]
fn an_ftl_that_was_stopped_and_mounted_goes_on_as_one_that_was_only_stopped() {
    for (name, device) in all_kinds() {
        for seed in 0..6 {
            println!("{name}, {seed}");
            let (stayed, its_inside) = work(device, seed, Pause::Stop, Rest::None);
            let (came_back, inside) = work(device, seed, Pause::Mount, Rest::None);
            assert_eq!(inside, its_inside);
            let causes =
                [Cause::Host, Cause::Gc, Cause::WriteBack, Cause::WearLeveling, Cause::Meta];
            assert_same_work(&stayed, &came_back, &causes);
        }
    }
}

#[test]
fn an_ftl_that_was_stopped_and_mounted_at_rest_goes_on_as_if_it_had_never_been_away() {
    for (name, device) in all_kinds() {
        for seed in 10..16 {
            println!("{name}, {seed}");
            let (stayed, its_inside) = work(device, seed, Pause::None, Rest::UntilDone);
            let (came_back, inside) = work(device, seed, Pause::Mount, Rest::UntilDone);
            assert_eq!(inside, its_inside);
            let causes = [Cause::Host, Cause::Gc, Cause::WriteBack, Cause::WearLeveling];
            assert_same_work(&stayed, &came_back, &causes);
        }
    }
}

/// Fills a device with stamped sectors, works on it and stops it. Returns the reads of a mount: after the clean stop,
/// and without it.
fn reads_of_mounts(name: &str, config: &Config, requests: u32) -> (u64, u64) {
    let part = builtin(name).expect("a device that is built in");
    let kept = part.geometry.slc().expect("an SLC region").spare_bytes;
    let content = Content::Stamps { sector: config.sector_bytes, spare_kept: kept };
    let chip = Chip::new(&part, content).expect("a possible part");
    let plan = RamPlan::new(chip.geometry(), config).expect("the configuration fits");
    let mut ram = OwnedRam::for_plan(&plan);
    let mut ftl =
        Ftl::format(chip, config, ram.lend(), KEY, Counters::default()).expect("formatted");
    let mut dice = Dice::new(1);
    let sector = config.sector_bytes.as_usize();
    let capacity = ftl.capacity().get();
    let mut data = vec![0; 64 * sector];
    for at in 0..requests {
        let (first, count) = match at % 4 {
            0 => (dice.below(capacity - 64), 64),
            _ => (dice.below(capacity / 50), 1),
        };
        for chunk in data[..count * sector].chunks_mut(sector) {
            nand_model::content::Stamp::new(at).write_to(chunk);
        }
        ftl.write(Sector::new(first), &data[..count * sector]).expect("written");
    }
    let reads = |stopped: bool, ftl: Ftl<'_, Chip, Counters>| {
        let (chip, _) = ftl.into_parts();
        let mut ram = OwnedRam::for_plan(&plan);
        let mut ftl = Ftl::mount(chip, config, ram.lend(), Counters::default()).expect("mounted");
        let reads = Region::ALL.map(|region| ftl.probe().total(region, Verb::Read));
        if stopped {
            assert_eq!(changes(ftl.probe()), 0);
        }
        ftl.write(Sector::new(0), &data[..sector]).expect("written");
        (ftl.into_parts().0, reads.iter().sum::<u64>())
    };
    ftl.stop().expect("stopped");
    let (chip, clean) = reads(true, ftl);
    let mut ram = OwnedRam::for_plan(&plan);
    let ftl = Ftl::mount(chip, config, ram.lend(), Counters::default()).expect("mounted");
    let scanned = Region::ALL.map(|region| ftl.probe().total(region, Verb::Read)).iter().sum();
    println!("{name}: {clean} reads after a clean stop, {scanned} without");
    (clean, scanned)
}

#[test]
fn a_mount_after_a_clean_stop_reads_few_pages() {
    let (clean, scanned) = reads_of_mounts("spi-nand-1g", &Config::one_region(64), 8_000);
    assert!(clean <= 64, "{clean}");
    assert!(scanned > 1_000, "{scanned}");
}

#[test]
fn a_mount_of_c3_after_a_clean_stop_reads_few_pages() {
    let config = Config {
        capacity: Some(SectorCount::new(10 << 20)),
        index: IndexConfig { entries: Some(32_768), ..Config::HYBRID.index },
        ..Config::HYBRID
    };
    let (clean, scanned) = reads_of_mounts("c3", &config, 8_000);
    assert!(clean <= 3_000, "{clean}");
    assert!(scanned > 43_000, "{scanned}");
}
