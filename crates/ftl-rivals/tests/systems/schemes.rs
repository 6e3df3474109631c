//! Schemes of garbage collection: requests beside a truth, each one's own rule, and their order where theory has one.

use std::fmt::Debug;
use std::sync::Arc;

use fastrand::Rng;
use ftl_iface::{BlockStore, Bytes, NoProbe, Region, Sector, SectorCount};
use ftl_rivals::kit::{Mapped, Policy, Unit, Victims};
use ftl_rivals::midas::{self, MidasConfig, Pooled};
use ftl_rivals::page_map::{self, Copies, PageMapConfig};
use ftl_rivals::{Rival, d_choices, fk, sep_bit};
use nand_model::{Chip, Content, Stamp};

use crate::world;

const MLC: usize = 0;

/// A device of so many blocks of 128 pages of 4 KiB.
fn chip(blocks: u32) -> Chip {
    let part = world::part("c3", 1, blocks);
    let content = Content::Stamps { sector: Bytes::new(2048), spare_kept: Bytes::new(4) };
    Chip::new(&part, content).unwrap()
}

/// Where the next write goes, on a disk of so many pages.
type Load = fn(&mut Rng, u32) -> u32;

fn uniform(dice: &mut Rng, pages: u32) -> u32 {
    dice.u32(0..pages)
}

/// Zipf's law with an exponent of one: the share of a page falls with its rank, which is scattered over the disk.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // A rank below the number of pages.
fn zipf(dice: &mut Rng, pages: u32) -> u32 {
    let rank = f64::from(pages).powf(dice.f64()) as u64;
    (rank * 40_503 % u64::from(pages)) as u32
}

/// What is programmed for each page that the host writes, after the disk was filled in order and written as often.
#[allow(clippy::cast_precision_loss)] // Figures show few digits.
fn amplification<R>(store: &mut Mapped<Chip, NoProbe, R>, load: Load) -> f64
where
    R: Policy<Chip, NoProbe>,
{
    let pages = store.capacity().get();
    let mut dice = Rng::with_seed(5);
    let write = |store: &mut Mapped<Chip, NoProbe, R>, page: u32| {
        let mut data = vec![0; 4096];
        Stamp::new(page + 1).write_to(&mut data);
        store.write(Sector::new(page), &data).unwrap();
    };
    (0..pages).for_each(|page| write(store, page));
    let mut phase = |store: &mut Mapped<Chip, NoProbe, R>, writes: u32| {
        (0..writes).for_each(|_| write(store, load(&mut dice, pages)));
    };
    phase(store, 4 * pages);
    let before = store.units().area(MLC).now();
    phase(store, 8 * pages);
    store.check().unwrap();
    (store.units().area(MLC).now() - before) as f64 / f64::from(8 * pages)
}

/// The disks of the comparisons: blocks, and the pages that the host has.
const BLOCKS: u32 = 300;
const CAPACITY: SectorCount = SectorCount::new(128 * 270);
const SECTOR: Bytes = Bytes::new(4096);

fn map_config(victims: Victims, copies: Copies) -> PageMapConfig {
    let (sector, capacity) = (SECTOR, CAPACITY);
    PageMapConfig { region: Region::Mlc, victims, copies, sector, capacity, lanes: 1 }
}

fn of_map(victims: Victims, copies: Copies, load: Load) -> f64 {
    let config = map_config(victims, copies);
    amplification(&mut page_map::new(chip(BLOCKS), NoProbe, &config).unwrap(), load)
}

fn of_choices(choices: u32, load: Load) -> f64 {
    let (sector, capacity) = (SECTOR, CAPACITY);
    let config = d_choices::DChoicesConfig { sector, capacity, lanes: 1, choices };
    amplification(&mut d_choices::new(chip(BLOCKS), NoProbe, &config).unwrap(), load)
}

fn sep_bit() -> Mapped<Chip, NoProbe, sep_bit::SepBit> {
    let (sector, capacity, victims) = (SECTOR, CAPACITY, Victims::CostBenefit);
    let config = sep_bit::SepBitConfig { sector, capacity, lanes: 1, victims };
    sep_bit::new(chip(BLOCKS), NoProbe, &config).unwrap()
}

fn midas() -> Mapped<Chip, NoProbe, midas::Midas> {
    let (sector, capacity, pooled) = (SECTOR, CAPACITY, Pooled::CostBenefit);
    let config = MidasConfig { sector, capacity, lanes: 1, pooled };
    midas::new(chip(BLOCKS), NoProbe, &config).unwrap()
}

fn of_fk(reach: fk::Reach, load: Load) -> f64 {
    let diary = fk::Diary::default();
    let config = map_config(Victims::Greedy, Copies::Apart);
    let mut first = fk::diarist(chip(BLOCKS), NoProbe, &config, diary.clone()).unwrap();
    amplification(&mut first, load);
    let (sector, capacity, victims) = (SECTOR, CAPACITY, Victims::CostBenefit);
    let future = Arc::new(diary.future());
    let config = fk::FkConfig { sector, capacity, lanes: 1, victims, reach, future };
    amplification(&mut fk::new(chip(BLOCKS), NoProbe, &config).unwrap(), load)
}

fn live<S: Rival>(mut store: S)
where
    S::Error: Debug,
{
    for seed in 0..2 {
        world::live(&mut store, seed, 3_000, |store| store.check().unwrap());
        store.settle().unwrap();
        store.check().unwrap();
        // The truth of the next host begins with nothing.
        let capacity = store.capacity();
        store.trim(Sector::new(0), capacity).unwrap();
    }
    assert!(store.ram_bytes() > 0);
}

#[test]
fn every_sector_reads_as_it_was_written_last() {
    let sector = Bytes::new(1024);
    let chip = || Chip::new(&world::part("tiny", 12, 60), Content::Bytes).unwrap();
    let capacity = SectorCount::new(
        (world::region_bytes(&world::part("tiny", 12, 60), Region::Mlc) / 1024 / 4) as u32 - 7,
    );
    for lanes in [1, 2] {
        let config = d_choices::DChoicesConfig { sector, capacity, lanes, choices: 3 };
        live(d_choices::new(chip(), NoProbe, &config).unwrap());
        for victims in [Victims::CostBenefit, Victims::Greedy] {
            let config = sep_bit::SepBitConfig { sector, capacity, lanes, victims };
            live(sep_bit::new(chip(), NoProbe, &config).unwrap());
        }
        for pooled in [Pooled::CostBenefit, Pooled::Greedy] {
            let config = MidasConfig { sector, capacity, lanes, pooled };
            live(midas::new(chip(), NoProbe, &config).unwrap());
        }
    }
}

#[test]
fn more_choices_come_closer_to_greedy_collection() {
    let greedy = of_map(Victims::Greedy, Copies::Apart, uniform);
    let [one, four, ten] = [1, 4, 10].map(|choices| of_choices(choices, uniform));
    assert!(one > 1.3 * four && four > ten, "{one}, {four}, {ten}");
    assert!(ten > greedy && ten < 1.12 * greedy, "{ten} for {greedy}");
}

#[test]
fn sep_bit_keeps_apart_what_is_replaced_soon() {
    let mut store = sep_bit();
    amplification(&mut store, zipf);
    let stream = |unit: u32| {
        let (area, block) = store.units().block_of(Unit(unit)).unwrap();
        store.units().area(area).stream_of(block)
    };
    // The page of the first rank is replaced every few writes, most others hardly ever.
    assert_eq!(stream(40_503 % CAPACITY.get()), 0);
    let pages = 0..CAPACITY.get();
    let of = |wanted: usize| pages.clone().filter(|unit| stream(*unit) == wanted).count();
    let counts: Vec<usize> = (0..6).map(of).collect();
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    assert!(counts[5] > counts[4] && counts[5] > counts[0], "most of the data is old: {counts:?}");
    let short = store.figures()[0].1;
    assert!((0.2..0.9).contains(&short), "{short}");
}

/// Nine of ten writes go to a twentieth of the disk, at random.
fn hot(dice: &mut Rng, pages: u32) -> u32 {
    let range = if dice.u8(0..10) > 0 { pages / 20 } else { pages };
    dice.u32(0..range) * 101 % pages
}

#[test]
fn midas_sets_sizes_and_groups_keep_to_them() {
    let mut store = midas();
    amplification(&mut store, hot);
    let (area, sizes) = (store.units().area(MLC), store.policy().sizes());
    assert!(sizes.len() > 1, "a model was found: {sizes:?}");
    let full = (0..area.blocks()).filter(|block| area.is_full(*block));
    let mut counts = [0; 9];
    full.for_each(|block| counts[area.stream_of(block)] += 1);
    let is_kept = |(size, count): (&u32, &u32)| count <= &(size + 1);
    assert!(sizes.iter().zip(&counts).all(is_kept), "{counts:?} for {sizes:?}");
    let rest: u32 = counts[sizes.len()..].iter().sum();
    assert!(rest > BLOCKS / 2, "most of the data is old: {counts:?}");
}

#[test]
fn who_knows_more_copies_less() {
    let mixed = of_map(Victims::Greedy, Copies::Mixed, zipf);
    let apart = of_map(Victims::Greedy, Copies::Apart, zipf);
    let by_age = of_map(Victims::CostBenefit, Copies::Apart, zipf);
    let of_sep_bit = amplification(&mut sep_bit(), zipf);
    let of_midas = amplification(&mut midas(), zipf);
    let [fk, widening] = [fk::Reach::Equal, fk::Reach::Widening].map(|reach| of_fk(reach, zipf));
    let order = [mixed, apart, by_age, of_sep_bit, widening];
    assert!(order.is_sorted_by(|more, less| more > less), "{order:?}");
    assert!(of_midas < by_age, "{of_midas} for {by_age}");
    // Its six classes of a block each are but a 50th of the disk.
    assert!(fk < by_age, "{fk} for {order:?}");
}

#[test]
fn uniform_writes_leave_nothing_to_separate() {
    let by_age = of_map(Victims::Greedy, Copies::Apart, uniform);
    let of_sep_bit = amplification(&mut sep_bit(), uniform);
    assert!(of_sep_bit > 0.98 * by_age, "{of_sep_bit} for {by_age}");
}

#[test]
fn another_load_than_was_foreseen_is_found_out() {
    let diary = fk::Diary::default();
    let config = map_config(Victims::Greedy, Copies::Apart);
    let mut first = fk::diarist(chip(BLOCKS), NoProbe, &config, diary.clone()).unwrap();
    for page in [1, 2, 1, 2] {
        first.write(Sector::new(page), &[0; 4096]).unwrap();
    }
    let (sector, capacity, victims) = (SECTOR, CAPACITY, Victims::CostBenefit);
    let future = Arc::new(diary.future());
    let reach = fk::Reach::Equal;
    let config = fk::FkConfig { sector, capacity, lanes: 1, victims, reach, future };
    for (pages, is_same) in [([1, 2, 1, 2], true), ([1, 2, 2, 1], false)] {
        let mut second = fk::new(chip(BLOCKS), NoProbe, &config).unwrap();
        for page in pages {
            second.write(Sector::new(page), &[0; 4096]).unwrap();
        }
        assert_eq!(second.check().is_ok(), is_same, "{pages:?}");
    }
}
