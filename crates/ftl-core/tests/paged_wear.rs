//! The wear of the page store: blocks with data that is never replaced take part in it, the throttle keeps the fast
//! area from wearing out before the main one, and the write amplification of greedy victims is that of theory.

use crate::world;

use ftl_core::config::{Endurance, FilterChoice, PairedPages, WearLeveling};
use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan, RunEnds, Streams, Victims};
use ftl_core::probe::{Cause, Counters, Verb};
use ftl_iface::{BlockStore, Bytes, Cell, Geometry, Region, Sector, SectorCount};
use nand_model::{Chip, Stamp};

use world::{Dice, KEY, devices, part, region};

const BYTES: u32 = 512;

const CONFIG: PagedConfig = PagedConfig {
    sector_bytes: Bytes::new(BYTES),
    dirty_entries: 300,
    anchor_blocks: 3,
    ..PagedConfig::SMALL
};

fn sector() -> Vec<u8> {
    let mut data = vec![0; BYTES as usize];
    Stamp::new(1).write_to(&mut data);
    data
}

/// Calls a function with a formatted device.
pub(crate) fn on<T>(
    geometry: Geometry,
    config: &PagedConfig,
    with: impl FnOnce(&mut PageFtl<'_, Chip, Counters>) -> T,
) -> T {
    let plan = PagedPlan::new(&geometry, config).expect("the configuration fits");
    let mut ram = OwnedPagedRam::for_plan(&plan);
    let chip = devices::stamped(&part(geometry), &plan);
    let ftl = PageFtl::format(chip, config, ram.lend(), KEY, Counters::default());
    with(&mut ftl.expect("formatted"))
}

/// Writes most of the device once, and then only a few sectors. Returns the spreads of erase counts in the main and the
/// fast area, the pages copied for wear leveling, and all programmed pages. The least worn block of the main area is
/// left out: it may be open for a stream that is hardly ever written.
fn cold_and_hot(geometry: Geometry, config: &PagedConfig) -> ([u32; 2], u64, u64) {
    on(geometry, config, |ftl| {
        let capacity = ftl.capacity().get();
        let data = sector();
        for number in 0..capacity {
            ftl.write(Sector::new(number), &data).expect("written");
        }
        let mut dice = Dice::new(5);
        for _ in 0..200_000 {
            ftl.write(Sector::new(dice.below(capacity / 20)), &data).expect("written");
        }
        ftl.check().expect("every invariant holds");
        let health = ftl.health();
        let spread = |wear: ftl_core::Wear| wear.most - wear.least;
        // Two headers and three blocks of anchors come first, in the fast region if there is one.
        let (main, head) = if health.fast.is_some() { (Region::Mlc, 0) } else { (Region::Slc, 5) };
        let mut erases: Vec<u32> = ftl.device().erase_counts(main).skip(head).collect();
        erases.sort_unstable();
        let spreads = [erases[erases.len() - 1] - erases[1], health.fast.map_or(0, spread)];
        let programs = |cause| -> u64 {
            let of = |region: &Region| ftl.probe().operations(*region, Verb::Program, cause);
            Region::ALL.iter().map(of).sum()
        };
        let all = Cause::ALL.into_iter().map(programs).sum();
        (spreads, programs(Cause::WearLeveling), all)
    })
}

#[test]
fn what_is_never_replaced_does_not_keep_its_block_from_wearing() {
    let slc = devices::geometry(Some(region(Cell::Slc, 100, 16, 1024)), None);
    let mlc = region(Cell::Mlc, 90, 16, 2048);
    let both = devices::geometry(Some(region(Cell::Slc, 24, 16, 1024)), Some(mlc));
    for (name, geometry, sectors) in [("one region", slc, 2_000), ("two regions", both, 4_000)] {
        for streams in [Streams::One, Streams::Two, Streams::ByLifetime] {
            let level = |threshold| WearLeveling { enabled: threshold > 0, threshold };
            let config = |threshold| PagedConfig {
                capacity: Some(SectorCount::new(sectors)),
                streams,
                // All writes go to the main area.
                filter: FilterChoice::BySize {
                    initial: SectorCount::ZERO,
                    largest: SectorCount::new(1),
                },
                run_ends: RunEnds::BySize,
                wear_leveling: level(threshold),
                ..CONFIG
            };
            let (without, none, _) = cold_and_hot(geometry, &config(0));
            let (with, copies, programs) = cold_and_hot(geometry, &config(8));
            println!("{name}, {streams:?}: {without:?} {with:?}, {copies} of {programs}");
            assert_eq!(none, 0);
            assert!(with.into_iter().all(|spread| spread <= 4 * 8), "{name}: {with:?}");
            assert!(without[0] > 2 * with[0], "{name}: {without:?} {with:?}");
            assert!(copies > 0 && copies * 6 < programs, "{name}: {copies} of {programs}");
        }
    }
}

#[test]
fn the_fast_area_wears_no_faster_than_its_endurance_allows() {
    let slc = region(Cell::Slc, 24, 16, 1024);
    let geometry = devices::geometry(Some(slc), Some(region(Cell::Mlc, 90, 16, 2048)));
    let config = |throttle| PagedConfig {
        capacity: Some(SectorCount::new(4_000)),
        streams: Streams::ByLifetime,
        throttle,
        ..CONFIG
    };
    let worn = |config: &PagedConfig| {
        on(geometry, config, |ftl| {
            let mut dice = Dice::new(6);
            let data = sector();
            for _ in 0..100_000 {
                ftl.write(Sector::new(dice.below(400)), &data).expect("written");
            }
            ftl.check().expect("every invariant holds");
            let health = ftl.health();
            (health.fast.expect("a fast area").mean, health.main.mean)
        })
    };
    let (fast, main) = worn(&config(None));
    assert!(fast > 12 * main, "all of it is hot: {fast}, {main}");
    let (fast, main) = worn(&config(Some(Endurance { fast: 4_000, main: 1_000 })));
    // Map pages are written there whatever the throttle says: very few for so few sectors.
    assert!(fast <= 4 * main + 6, "{fast} for {main}");
    assert!(main > 20, "what the fast area does not take goes to the main one: {main}");
}

/// Returns Lambert's W on its principal branch; `x` must be at least -1/e.
fn lambert(x: f64) -> f64 {
    (0..200).fold(0.0, |w: f64, _| {
        let e = w.exp();
        w - (w * e - x) / (e * (w + 1.0) - (w + 2.0) * (w * e - x) / (2.0 * w + 2.0))
    })
}

/// Returns the write amplification of greedy garbage collection under random writes, with this much over-provisioning
/// and pages per block, by L. Xiang and B. M. Kurkoski, "An Improved Analytical Expression for Write Amplification in
/// NAND Flash" (2012).
fn closed_form(beyond: f64, pages: f64) -> f64 {
    let whole = 1.0 + beyond;
    let shifted = (1.0 + 0.5 / pages) * whole;
    let valid = -0.5 - pages / whole * lambert(-shifted * (-shifted).exp());
    pages / (pages - valid)
}

/// Returns the write amplification of a device with one region, one stream and greedy victims, with this many
/// over-provisioned blocks, and that of theory. The table holds every sector, and the first epoch outlasts the test, so
/// no map pages are written.
#[allow(clippy::cast_precision_loss)]
fn measured(blocks: u32, spare: u32) -> (f64, f64) {
    const PAGES: u32 = 32;
    const HEADERS: u32 = 2;
    let capacity = (blocks - spare) * PAGES;
    let config = PagedConfig {
        capacity: Some(SectorCount::new(capacity)),
        dirty_entries: 20 * capacity,
        anchor_blocks: 0,
        streams: Streams::One,
        victims: Victims::Greedy,
        paired_pages: PairedPages::Accept,
        wear_leveling: WearLeveling { enabled: false, threshold: 16 },
        ..CONFIG
    };
    let geometry = devices::geometry(Some(region(Cell::Slc, blocks, PAGES, BYTES)), None);
    on(geometry, &config, |ftl| {
        let mut dice = Dice::new(3);
        let data = sector();
        let mut write = |ftl: &mut PageFtl<'_, Chip, Counters>, count: u32| {
            let programs = |ftl: &PageFtl<'_, Chip, Counters>| {
                let of = |cause| ftl.probe().operations(Region::Slc, Verb::Program, cause);
                [of(Cause::Host), of(Cause::Gc)]
            };
            let before = programs(ftl);
            let mut free = 0;
            for _ in 0..count {
                ftl.write(Sector::new(dice.below(capacity)), &data).expect("written");
                free += u64::from(ftl.health().at_once.get());
            }
            let [host, copies] = programs(ftl);
            let factor = 1.0 + (copies - before[1]) as f64 / (host - before[0]) as f64;
            (factor, free as f64 / f64::from(count))
        };
        write(ftl, 8 * capacity);
        let (factor, free) = write(ftl, 3 * capacity);
        // Three more blocks are free than may fail at once. Two hold headers, one takes map pages, and on average half
        // of the open block has no data yet.
        let used = f64::from(blocks - HEADERS) - (free + 3.0) - 1.0 - 0.5;
        let beyond = used * f64::from(PAGES) / f64::from(capacity) - 1.0;
        (factor, closed_form(beyond, PAGES.into()))
    })
}

#[test]
fn greedy_victims_cost_what_theory_says() {
    for spare in [70, 120, 200] {
        let (measured, theory) = measured(600, spare);
        let off = measured / theory - 1.0;
        println!("{spare} blocks: {measured:.3} for {theory:.3}");
        assert!(off.abs() < 0.02, "{spare} blocks: {measured:.3} for {theory:.3}");
    }
}
