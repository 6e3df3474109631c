//! Every paper's system: random requests beside a truth, with every invariant between them.

use ftl_iface::{BlockStore, Bytes, NoProbe, Region, Sector, SectorCount};
use ftl_rivals::kit::{Lanes, Mapped, Policy};
use ftl_rivals::pslc::WhenFull;
use ftl_rivals::{Rival, Unfit, ahdm, combo, density, ko, page_map, pslc};
use nand_model::{Chip, Content};

use crate::world::{self, WHEN_FULL};

const SECTOR: Bytes = Bytes::new(1024);
const STEPS: u32 = 4_000;

/// A small chip of both kinds, and how much of it a host may use.
fn chip(slc: u32, mlc: u32, used: u64) -> (Chip, SectorCount) {
    let part = world::part("tiny", slc, mlc);
    let bytes = world::region_bytes(&part, Region::Mlc) * used / 100;
    (Chip::new(&part, Content::Bytes).unwrap(), SectorCount::new((bytes / 1024) as u32 - 5))
}

/// Lives with the store that `build` makes of a chip, and gives it back.
fn lived<R: Policy<Chip, NoProbe>>(
    build: impl Fn(Chip, SectorCount) -> Result<Mapped<Chip, NoProbe, R>, Unfit>,
    (chip, capacity): (Chip, SectorCount),
) -> Mapped<Chip, NoProbe, R> {
    let mut store = build(chip, capacity).unwrap();
    world::live(&mut store, 11, STEPS, |store| store.check().unwrap());
    store.settle().unwrap();
    store.check().unwrap();
    assert!(store.ram_bytes() > 0);
    store
}

#[test]
fn ko_keeps_what_is_updated_and_lets_the_rest_leave() {
    let figures = [0, 2, 250].map(|threshold| {
        let config = |capacity| ko::KoConfig {
            sector: SECTOR,
            capacity,
            lanes: Lanes::alike(1),
            short: SectorCount::new(4),
            threshold,
        };
        let build = |chip, capacity| ko::new(chip, NoProbe, &config(capacity));
        let mut store = build(chip(12, 40, 60).0, chip(12, 40, 60).1).unwrap();
        world::live(&mut store, 11, STEPS, |store| store.check().unwrap());
        store.figures()
    });
    let stayed = figures.each_ref().map(|figures| figures[0].1);
    assert!(stayed[0] > stayed[1] && stayed[2] == 0.0, "{stayed:?}");
    assert!(figures.iter().all(|figures| figures[1].1 > 0.0));
}

#[test]
fn combo_moves_on_from_hot_to_warm_to_mlc() {
    for lanes in [Lanes::alike(1), Lanes::alike(2), Lanes { slc: 1, mlc: 3 }] {
        let config =
            |capacity| combo::ComboConfig { sector: SECTOR, capacity, lanes, hot_percent: 50 };
        let build = |chip, capacity| combo::new(chip, NoProbe, &config(capacity));
        let mut store = build(chip(12, 60, 50).0, chip(12, 60, 50).1).unwrap();
        world::live(&mut store, 11, STEPS, |store| store.check().unwrap());
        assert!(store.figures().iter().all(|(_, figure)| *figure > 100.0), "{:?}", store.figures());
    }
}

#[test]
fn ahdm_keeps_hot_pages_in_the_slc_and_no_others() {
    use ahdm::Threshold::{Adaptive, Fixed};
    for threshold in [Fixed(2), Adaptive(2)] {
        let config = |capacity| ahdm::AhdmConfig {
            sector: SECTOR,
            capacity,
            lanes: Lanes::alike(1),
            threshold,
            warm: 4,
            endurance: [100_000, 10_000],
        };
        let build = |chip, capacity| ahdm::new(chip, NoProbe, &config(capacity));
        let mut store = build(chip(16, 60, 60).0, chip(16, 60, 60).1).unwrap();
        world::live(&mut store, 11, STEPS, |store| store.check().unwrap());
        assert!(store.figures()[0].1 > 0.05, "{:?}", store.figures());
        store.settle().unwrap();
        store.check().unwrap();
    }
}

#[test]
fn density_control_keeps_in_slc_mode_what_is_accessed_often() {
    let config = |capacity| density::DensityConfig {
        sector: SECTOR,
        capacity,
        lanes: 1,
        threshold: 3,
        extra_blocks: 24,
    };
    let store = lived(|chip, at| density::new(chip, NoProbe, &config(at)), chip(12, 70, 50));
    let chip = store.units().device();
    let in_slc_mode: u32 = chip.slc_mode_erase_counts(Region::Mlc).sum();
    assert!(in_slc_mode > 20, "{in_slc_mode}");
}

/// Writes all of a store in order and then much of it at random.
fn full<R: Policy<Chip, NoProbe>>(
    name: &str,
    store: Result<Mapped<Chip, NoProbe, R>, Unfit>,
    steps: u32,
) {
    let mut store = store.unwrap_or_else(|error| panic!("{name}: {error}"));
    let capacity = store.capacity().get();
    for first in (0..capacity).step_by(32) {
        let count = 32.min(capacity - first) as usize;
        store.write(Sector::new(first), &vec![7; count * 1024]).unwrap();
    }
    let mut dice = fastrand::Rng::with_seed(9);
    let mut data = vec![0; 12 * 1024];
    for step in 0..steps {
        let count = dice.u32(1..=12).min(capacity);
        let first = if dice.bool() { dice.u32(0..capacity / 8) } else { dice.u32(0..capacity) };
        let first = Sector::new(first.min(capacity - count));
        let data = &mut data[..count as usize * 1024];
        let outcome = if dice.bool() {
            store.write(first, data).map_err(|error| error.to_string())
        } else {
            store.read(first, data).map_err(|error| error.to_string())
        };
        outcome.unwrap_or_else(|error| panic!("{name}, step {step}: {error}"));
        store.check().unwrap_or_else(|error| panic!("{name}, step {step}: {error}"));
    }
}

#[test]
fn a_full_device_of_few_blocks_takes_any_number_of_writes() {
    let capacity = SectorCount::new(320);
    let (sector, lanes, short) = (SECTOR, 1, SectorCount::new(4));
    let chip = |mlc| Chip::new(&world::part("tiny", 12, mlc), Content::Bytes).unwrap();
    for threshold in [0, 16] {
        let config =
            ko::KoConfig { sector, capacity, lanes: Lanes::alike(lanes), short, threshold };
        full("ko", ko::new(chip(18), NoProbe, &config), 4_000);
    }
    let config =
        combo::ComboConfig { sector, capacity, lanes: Lanes::alike(lanes), hot_percent: 50 };
    full("combo", combo::new(chip(18), NoProbe, &config), 4_000);
    let config = world::ahdm_config(ahdm::Threshold::Adaptive(2), capacity, lanes);
    full("ahdm", ahdm::new(chip(18), NoProbe, &config), 4_000);
    let config = density::DensityConfig { sector, capacity, lanes, threshold: 4, extra_blocks: 6 };
    full("density", density::new(chip(24), NoProbe, &config), 4_000);
    for when_full in WHEN_FULL {
        for shares in [[10, 250], [0, 900], [0, 0]] {
            let config = world::pslc_config(when_full, capacity, lanes, shares);
            full("pslc", pslc::new(chip(18), NoProbe, &config), 4_000);
            let config = pslc::PslcConfig { fold_percent: 150, ..config };
            full("pslc", pslc::new(chip(18), NoProbe, &config), 1_000);
        }
    }
}

/// The SLC has room enough: so many blocks of MLC, and so many filled in turn.
fn accepted(mlc: u32, lanes: u32) -> Vec<&'static str> {
    let (sector, short, capacity) = (SECTOR, SectorCount::new(4), SectorCount::new(320));
    let chip = || Chip::new(&world::part("tiny", 60, mlc), Content::Bytes).unwrap();
    let mut accepted = Vec::new();
    let mut note = |name, is_accepted: bool| accepted.extend(is_accepted.then_some(name));
    let config = page_map::PageMapConfig {
        region: Region::Mlc,
        victims: ftl_rivals::kit::Victims::Greedy,
        copies: page_map::Copies::Apart,
        sector,
        capacity,
        lanes,
    };
    note("page-mlc", lived_if_it_fits("page-mlc", page_map::new(chip(), NoProbe, &config)));
    let config = ko::KoConfig { sector, capacity, lanes: Lanes::alike(lanes), short, threshold: 0 };
    note("ko", lived_if_it_fits("ko", ko::new(chip(), NoProbe, &config)));
    let config =
        combo::ComboConfig { sector, capacity, lanes: Lanes::alike(lanes), hot_percent: 50 };
    note("combo", lived_if_it_fits("combo", combo::new(chip(), NoProbe, &config)));
    let config = world::ahdm_config(ahdm::Threshold::Fixed(1), capacity, lanes);
    note("ahdm", lived_if_it_fits("ahdm", ahdm::new(chip(), NoProbe, &config)));
    let config =
        density::DensityConfig { sector, capacity, lanes, threshold: 2, extra_blocks: mlc / 3 };
    note("density", lived_if_it_fits("density", density::new(chip(), NoProbe, &config)));
    let config = world::pslc_config(WHEN_FULL[mlc as usize / 6 % 3], capacity, lanes, [10, 500]);
    note("pslc", lived_if_it_fits("pslc", pslc::new(chip(), NoProbe, &config)));
    accepted
}

/// Whether the store could be made; if so, it must take whatever comes.
fn lived_if_it_fits<R: Policy<Chip, NoProbe>>(
    name: &str,
    store: Result<Mapped<Chip, NoProbe, R>, Unfit>,
) -> bool {
    let fits = store.is_ok();
    if fits {
        full(name, store, 300);
    }
    fits
}

#[test]
fn a_device_is_refused_or_takes_any_number_of_writes() {
    let mut both = [0; 2];
    for lanes in [1, 3, 8] {
        for mlc in (12..72).step_by(6) {
            let accepted = accepted(mlc, lanes).len();
            both[0] += 6 - accepted;
            both[1] += accepted;
        }
    }
    assert!(both.iter().all(|count| *count > 40), "refused and accepted: {both:?}");
}

#[test]
fn a_device_that_is_refused_says_how_much_more_it_needs() {
    let config = world::pslc_config(WhenFull::Beside, SectorCount::new(320), 8, [10, 250]);
    let (chip, _) = chip(12, 30, 50);
    let refused = pslc::new(chip, NoProbe, &config).unwrap_err().to_string();
    // Ten of data, one of the cache that is emptied, three streams in each lane, one free for each and one more.
    for told in ["10 blocks of data, 1 of cache, 24 that are filled", "25 kept free", "60", "30"] {
        assert!(refused.contains(told), "{refused}");
    }
}
