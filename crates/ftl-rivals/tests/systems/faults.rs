//! Blocks fail under every system that has flash: nothing is lost, and when no block is left, writes are refused and
//! everything can be read; a cache leaves what it cannot hold to the disk.

use std::collections::HashMap;

use ftl_iface::{
    Block, BlockStore, Bytes, NandDevice, NoProbe, Region, Sector, SectorCount, StoreWriteError,
};
use ftl_rivals::kit::{Lanes, Mapped, Policy, Victims};
use ftl_rivals::{
    Rival, Unfit, ahdm, combo, d_choices, density, disk_cache, ko, midas, page_map, pslc, sep_bit,
};
use nand_model::faults::Chance;
use nand_model::{Chip, Content, FaultInjector};

use crate::world;

type Faulty = FaultInjector<Chip>;

const SECTOR: Bytes = Bytes::new(1024);
const CAPACITY: SectorCount = SectorCount::new(400);
/// Of a write: a page of the device, so that it is done whole or not at all.
const AT_ONCE: u32 = 2;

/// A small chip one in so many of whose programs and erases fail.
fn chip(seed: u64) -> Faulty {
    let chip = Chip::new(&world::part("tiny", 40, 60), Content::Bytes).unwrap();
    let mut faulty = FaultInjector::new(chip, seed);
    faulty.fail_programs(Chance::one_in(400));
    faulty.fail_erases(Chance::one_in(60));
    faulty
}

/// Writes at random until the store refuses to.
fn wear_out<R: Policy<Faulty, NoProbe>>(
    name: &str,
    store: Result<Mapped<Faulty, NoProbe, R>, Unfit>,
) {
    let mut store = store.unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut dice = fastrand::Rng::with_seed(4);
    let mut truth: HashMap<u32, u8> = HashMap::new();
    let mut written = 0;
    loop {
        let range = if dice.bool() { CAPACITY.get() / 10 } else { CAPACITY.get() };
        let first = dice.u32(0..range / AT_ONCE) * AT_ONCE;
        let content = dice.u8(..);
        match store.write(Sector::new(first), &[content; 2048]) {
            Ok(()) => drop(truth.insert(first, content)),
            Err(StoreWriteError::ReadOnly) => break,
            Err(error) => panic!("{name}, write {written}: {error}"),
        }
        written += 1;
        assert!(written < 1_000_000, "{name}: no block is left, and it goes on");
        if written % 50 == 0 {
            store.check().unwrap_or_else(|error| panic!("{name}, write {written}: {error}"));
        }
    }
    store.check().unwrap_or_else(|error| panic!("{name}, at the end: {error}"));
    for first in (0..CAPACITY.get()).step_by(AT_ONCE as usize) {
        let mut data = [0x5A; 2048];
        store.read(Sector::new(first), &mut data).unwrap();
        let must = truth.get(&first).copied().unwrap_or(0);
        assert_eq!(data, [must; 2048], "{name}, sector {first}");
    }
    store.check().unwrap_or_else(|error| panic!("{name}, after the reads: {error}"));
    assert!(written > 1_000, "{name} gave up after {written} writes");
    // Blocks that failed are marked, so that another driver leaves them alone.
    assert_eq!(marked(&mut chip(0)), 0);
    assert!(marked(&mut store.into_device()) > 3);
}

fn marked(device: &mut Faulty) -> usize {
    let of_region = |region: Region| {
        let blocks = device.geometry().region(region).map_or(0, |shape| shape.blocks.get());
        (0..blocks).filter(|at| device.is_bad(Block::new(region, *at)).unwrap()).count()
    };
    Region::ALL.map(of_region).iter().sum()
}

const SEEDS: [u64; 3] = [9, 10, 11];

#[test]
fn blocks_fail_until_none_is_left_and_every_sector_reads_as_it_was_written_last() {
    let (sector, capacity, lanes) = (SECTOR, CAPACITY, 1);
    for seed in SEEDS {
        let chip = || chip(seed);
        for victims in [Victims::Greedy, Victims::Cat] {
            let (region, copies) = (Region::Mlc, page_map::Copies::Apart);
            let config =
                page_map::PageMapConfig { region, victims, copies, sector, capacity, lanes };
            wear_out("page-mlc", page_map::new(chip(), NoProbe, &config));
        }
        let short = SectorCount::new(4);
        let config =
            ko::KoConfig { sector, capacity, lanes: Lanes::alike(lanes), short, threshold: 2 };
        wear_out("ko", ko::new(chip(), NoProbe, &config));
        let config =
            combo::ComboConfig { sector, capacity, lanes: Lanes::alike(lanes), hot_percent: 50 };
        wear_out("combo", combo::new(chip(), NoProbe, &config));
        let config = world::ahdm_config(ahdm::Threshold::Adaptive(2), capacity, lanes);
        wear_out("ahdm", ahdm::new(chip(), NoProbe, &config));
        let config =
            density::DensityConfig { sector, capacity, lanes, threshold: 3, extra_blocks: 24 };
        wear_out("density", density::new(chip(), NoProbe, &config));
        for when_full in world::WHEN_FULL {
            let config = world::pslc_config(when_full, capacity, lanes, [50, 500]);
            wear_out("pslc", pslc::new(chip(), NoProbe, &config));
        }
    }
}

#[test]
fn blocks_fail_under_schemes_of_collection_too() {
    let (sector, capacity, lanes) = (SECTOR, CAPACITY, 1);
    for seed in SEEDS {
        let chip = || chip(seed);
        let config = d_choices::DChoicesConfig { sector, capacity, lanes, choices: 4 };
        wear_out("d-choices", d_choices::new(chip(), NoProbe, &config));
        let victims = Victims::CostBenefit;
        let config = sep_bit::SepBitConfig { sector, capacity, lanes, victims };
        wear_out("sepbit", sep_bit::new(chip(), NoProbe, &config));
        let pooled = midas::Pooled::CostBenefit;
        let config = midas::MidasConfig { sector, capacity, lanes, pooled };
        wear_out("midas", midas::new(chip(), NoProbe, &config));
    }
}

#[test]
fn a_cache_whose_blocks_have_failed_leaves_everything_to_the_disk() {
    use disk_cache::Rule::{Apart, LongBypass, NothingStays, Proposed};
    for (seed, rule) in (0..).zip([Proposed, LongBypass, Apart, NothingStays]) {
        for blocks in [[60, 0], [0, 60], [30, 30]] {
            let config = disk_cache::DiskCacheConfig {
                sector: SECTOR,
                capacity: SectorCount::new(3_000),
                blocks,
                dram: Bytes::new(16 << 10),
                cold_percent: 50,
                rule,
                long: SectorCount::new(6),
            };
            let disk = world::Disk::default();
            let mut store = disk_cache::new(chip(seed), NoProbe, disk, &config).unwrap();
            let mut host = world::Host::new(seed, 12);
            let mut steps = 0;
            // Until nothing more is programmed: no block is left that takes anything.
            let mut idle = 0;
            while idle < 300 {
                let clock = |area| store.units().area(area).now();
                let before = clock(0) + clock(1);
                host.step(&mut store);
                let clock = |area| store.units().area(area).now();
                idle = if clock(0) + clock(1) == before { idle + 1 } else { 0 };
                if steps % 20 == 0 {
                    store.check().unwrap_or_else(|error| panic!("{rule:?}, {blocks:?}: {error}"));
                }
                steps += 1;
                assert!(steps < 200_000, "{rule:?}, {blocks:?}: no block is left, and it goes on");
            }
            store.flush().unwrap();
            store.check().unwrap();
            host.read_all(&mut store);
            assert!(steps > 1_000 && marked(&mut store.into_device()) > 40, "{rule:?}, {blocks:?}");
        }
    }
}
