//! What the index costs a request: lookups that hit and miss, insertion, removal, at three loads.
//!
//! The table is the one of Chang's device: 32,768 entries of four bytes, 8 linear probes, for 10 million sectors. The
//! sectors asked for are random, so that neither caches nor branch predictors learn the answers.

mod patience;

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput};
use ftl_core::config::Probing;
use ftl_core::hybrid::slc::index::{Index, IndexShape, LogSequence, LogSize, LogSlot, Window};
use ftl_iface::{BlockCount, Sector, SectorCount};

const ENTRIES: u32 = 32_768;
const SECTORS: u32 = 10 << 20;
const SLOTS: u32 = 2048 * 64;
const WINDOW: Window = Window { head: LogSequence::new(7), blocks: BlockCount::new(2048) };
/// Operations a measurement: enough that its own cost vanishes.
const BATCH: usize = 4096;

/// Numbers that look random and are the same at every run (Vigna's generator `SplitMix64`).
struct Numbers(u64);

impl Numbers {
    fn sector(&mut self) -> Sector {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        Sector::new(((mixed ^ mixed >> 31) % u64::from(SECTORS)) as u32)
    }
}

/// An index filled to that share, with the sectors that stand in it.
fn filled<'ram>(
    low: &'ram mut [u32],
    high: &'ram mut [u8],
    percent: u32,
    shape: IndexShape,
) -> (Index<'ram>, Vec<Sector>) {
    let mut index = Index::new(shape, low, high);
    let mut numbers = Numbers(u64::from(percent));
    let mut standing = Vec::new();
    while index.real_count() < ENTRIES / 100 * percent {
        let sector = numbers.sector();
        if index.find(sector).is_none() && index.place(sector, LogSlot::new(sector.get() % SLOTS)) {
            standing.push(sector);
        }
    }
    // In another order than that of insertion.
    standing.sort_by_key(|sector| sector.get().wrapping_mul(0x9E37_79B1));
    (index, standing)
}

fn shape(probing: Probing, probes: u8) -> IndexShape {
    let (sectors, blocks) = (SectorCount::new(SECTORS), BlockCount::new(2048));
    IndexShape::new(ENTRIES, sectors, LogSize { slots: SLOTS, blocks }, probes, probing)
        .expect("the paper's table")
}

fn lookups(criterion: &mut Criterion, name: &str, shape: IndexShape) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(BATCH as u64));
    for percent in [25, 50, 90] {
        let (mut low, mut high) = (vec![0; shape.low_words()], vec![0; shape.high_bytes()]);
        let (index, standing) = filled(&mut low, &mut high, percent, shape);
        let mut numbers = Numbers(99);
        let absent: Vec<Sector> = std::iter::repeat_with(|| numbers.sector())
            .filter(|sector| index.find(*sector).is_none())
            .take(BATCH)
            .collect();
        let hits: Vec<Sector> = standing.iter().copied().cycle().take(BATCH).collect();
        let sum = |sectors: &[Sector]| -> u32 {
            let places = sectors.iter().map(|s| index.find(*s).map_or(0, LogSlot::get));
            places.fold(0, u32::wrapping_add)
        };
        group.bench_function(format!("hit/{percent}"), |b| b.iter(|| sum(black_box(&hits))));
        group.bench_function(format!("miss/{percent}"), |b| b.iter(|| sum(black_box(&absent))));
    }
    group.finish();
}

/// Each measurement inserts its sectors into a table of the stated load and removes them again, so that the load stays.
fn changes(criterion: &mut Criterion) {
    let shape = shape(Probing::Linear, 8);
    let mut group = criterion.benchmark_group("index/linear8");
    group.throughput(Throughput::Elements(256));
    for percent in [25, 50, 90] {
        let (mut low, mut high) = (vec![0; shape.low_words()], vec![0; shape.high_bytes()]);
        let (index, standing) = filled(&mut low, &mut high, percent, shape);
        let index = std::cell::RefCell::new(index);
        let some: Vec<Sector> = standing.iter().copied().step_by(31).take(256).collect();
        let place = |sectors: &Vec<Sector>| {
            let mut index = index.borrow_mut();
            for sector in sectors {
                black_box(index.place(*sector, LogSlot::new(1)));
            }
        };
        let remove = |sectors: &Vec<Sector>| {
            let mut index = index.borrow_mut();
            for sector in sectors {
                index.remove(*sector);
            }
        };
        let reserve = |sectors: &Vec<Sector>| {
            let mut index = index.borrow_mut();
            for sector in sectors {
                black_box(index.reserve(*sector, SectorCount::new(1), WINDOW));
                black_box(index.set(*sector, LogSlot::new(2)));
            }
        };
        let absent = || {
            remove(&some);
            some.clone()
        };
        let present = || {
            place(&some);
            some.clone()
        };
        let size = BatchSize::PerIteration;
        group.bench_function(format!("place/{percent}"), |b| {
            b.iter_batched(absent, |s| place(&s), size);
        });
        group.bench_function(format!("reserve-set-new/{percent}"), |b| {
            b.iter_batched(absent, |s| reserve(&s), size);
        });
        group.bench_function(format!("reserve-set-known/{percent}"), |b| {
            b.iter_batched(present, |s| reserve(&s), size);
        });
        group.bench_function(format!("remove/{percent}"), |b| {
            b.iter_batched(present, |s| remove(&s), size);
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = patience::criterion();
    lookups(&mut criterion, "index/linear8", shape(Probing::Linear, 8));
    changes(&mut criterion);
    lookups(&mut criterion, "index/linear16", shape(Probing::Linear, 16));
    lookups(&mut criterion, "index/quadratic8", shape(Probing::Quadratic, 8));
    criterion.final_summary();
}
