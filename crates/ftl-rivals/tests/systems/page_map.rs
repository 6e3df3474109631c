//! A page map over one region: requests beside a truth, and the write amplification that theory demands.

use fastrand::Rng;
use ftl_iface::{Bytes, NandDevice, NoProbe, Region, SectorCount};
use ftl_rivals::Rival;
use ftl_rivals::kit::Victims;
use ftl_rivals::page_map::{self, Copies, PageMapConfig};
use nand_model::{Chip, Content};

use crate::world;

const POLICIES: [Victims; 3] = [Victims::Greedy, Victims::CostBenefit, Victims::Cat];

#[test]
fn every_sector_reads_as_it_was_written_last() {
    let mixed = (Victims::Greedy, Copies::Mixed);
    let apart = POLICIES.map(|victims| (victims, Copies::Apart));
    for (seed, (victims, copies)) in (0..).zip(apart.into_iter().chain([mixed])) {
        for (device, region) in [("tiny", Region::Slc), ("tiny", Region::Mlc)] {
            for lanes in [1, 2] {
                let chip = world::chip(device);
                let bytes = chip.geometry().region(region).unwrap().capacity_bytes();
                let capacity = SectorCount::new((bytes / 1024 / 4) as u32 - 7);
                let config = PageMapConfig {
                    region,
                    victims,
                    copies,
                    sector: Bytes::new(1024),
                    capacity,
                    lanes,
                };
                let mut store = page_map::new(chip, NoProbe, &config).unwrap();
                world::live(&mut store, seed, 3_000, |store| store.check().unwrap());
            }
        }
    }
}

/// Lambert's W on its principal branch, where `x` is at least -1/e.
fn lambert(x: f64) -> f64 {
    (0..200).fold(0.0, |w: f64, _| {
        let e = w.exp();
        w - (w * e - x) / (e * (w + 1.0) - (w + 2.0) * (w * e - x) / (2.0 * w + 2.0))
    })
}

/// The write amplification of greedy collection under writes at random, with so much space beyond the data.
///
/// Every block comes down from `pages` valid pages to the `x` at which it is the least valid one and is collected. One
/// block passes each level in the time of one collection, and one with `i` valid pages stays there for a time that goes
/// with 1/i; so the space is to the data as pages (H(pages) - H(x)) is to pages - x, with harmonic numbers H. With
/// H(n) = ln(n + 1/2) this has a closed form. For large blocks it is that of L. Xiang and B. M. Kurkoski, "An Improved
/// Analytical Expression for Write Amplification in NAND Flash" (2012).
fn closed_form(beyond: f64, pages: f64) -> f64 {
    let whole = 1.0 + beyond;
    let shifted = (1.0 + 0.5 / pages) * whole;
    let valid = -0.5 - pages / whole * lambert(-shifted * (-shifted).exp());
    pages / (pages - valid)
}

/// The write amplification of a page map with so many free blocks beyond its data, and that of theory.
fn measured(spare: u32) -> (f64, f64) {
    let part = world::part("c3", 1, 1024);
    let content = Content::Stamps { sector: Bytes::new(2048), spare_kept: Bytes::new(4) };
    let per_block = part.geometry.mlc().unwrap().pages_per_block.get();
    let capacity = (1024 - spare) * per_block;
    let config = PageMapConfig {
        region: Region::Mlc,
        victims: Victims::Greedy,
        copies: Copies::Apart,
        sector: Bytes::new(4096),
        capacity: SectorCount::new(capacity),
        lanes: 1,
    };
    let chip = Chip::new(&part, content).unwrap();
    let mut store = page_map::new(chip, NoProbe, &config).unwrap();
    let mut dice = Rng::with_seed(3);
    world::write_at_random(&mut store, 1, 8 * capacity, &mut dice);
    store.check().unwrap();
    let before = store.units().device().stats().mlc.tally.programs;
    world::write_at_random(&mut store, 1, 3 * capacity, &mut dice);
    let programs = store.units().device().stats().mlc.tally.programs - before;
    // Blocks that are kept free are no space for data, nor is half of each that is being filled.
    let (free, open) = (store.units().area(0).least_free() - 1, 2.0);
    let blocks = f64::from(spare - free) - open / 2.0;
    let beyond = blocks * f64::from(per_block) / f64::from(capacity);
    #[allow(clippy::cast_precision_loss)]
    let amplification = programs as f64 / f64::from(3 * capacity);
    (amplification, closed_form(beyond, per_block.into()))
}

#[test]
fn greedy_collection_amplifies_writes_as_theory_says() {
    assert!((closed_form(0.3, 1e9) - 2.36).abs() < 0.005, "the paper's own example");
    for spare in [90, 160, 300] {
        let (measured, theory) = measured(spare);
        let off = measured / theory - 1.0;
        assert!(off.abs() < 0.02, "{spare} blocks: {measured:.3} for {theory:.3}");
    }
}
