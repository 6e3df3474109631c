//! Power fails while both headers of a page store are rewritten, and again during the next rewrite; in between, a page of
//! a header may die. One header must be left.

use crate::world;

use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan, RefreshLimits};
use ftl_core::probe::NoProbe;
use ftl_iface::{
    Block, BlockStore, Bytes, Corrected, NandDevice, Page, PageCount, Region, SectorCount, Work,
};
use nand_model::power::{Cut, Fates, PageFate, PowerCut};
use nand_model::{Chip, Content, Fork, datasheet};

use world::fading::{Fading, days, fading};
use world::{Dice, KEY};

/// Returns a configuration without anchors. If there is no data either, only the headers are refreshed.
fn config(capacity: u32) -> PagedConfig {
    PagedConfig {
        sector_bytes: Bytes::new(1024),
        capacity: Some(SectorCount::new(capacity)),
        dirty_entries: 100,
        cached_leaves: 2,
        anchor_blocks: 0,
        refresh: RefreshLimits { fast: Corrected::bits(1), main: Corrected::bits(1) },
        ..PagedConfig::SMALL
    }
}

/// Mounts, reads everything once and refreshes what is weak. Returns whether the mount succeeded.
fn refresh<D: NandDevice>(device: &mut D, plan: &PagedPlan, config: &PagedConfig) -> bool {
    let mut ram = OwnedPagedRam::for_plan(plan);
    let Ok(mut ftl) = PageFtl::mount(device, config, ram.lend(), NoProbe) else { return false };
    ftl.scrub();
    while let Ok(Work::Left) = ftl.maintain(PageCount::new(1)) {}
    true
}

/// Returns the effect of a power cut in the operation with this number: one in two erases leaves pages that are
/// readable for a while, and one in two programs leaves such a page.
fn cut(at: u64, dice: &mut Dice) -> Cut {
    let drawn = Cut::seeded(at, dice.below(u32::MAX).into());
    let mut fates: Fates = *drawn.fates();
    if dice.below(2) == 0 {
        fates.page = PageFate::Unstable { reads: dice.below(6) };
    }
    Cut::chosen(at, fates)
}

/// Returns a device after a power cut in a refresh and some idle days.
fn after_a_cut(
    device: &mut Fading,
    at: u64,
    (plan, config): (&PagedPlan, &PagedConfig),
    dice: &mut Dice,
) -> Option<Fading> {
    let mut device = PowerCut::new(device.fork(), cut(at, dice));
    refresh(&mut device, plan, config);
    if device.is_on() {
        return None;
    }
    let mut device = device.into_inner();
    device.age(days(1));
    Some(device)
}

/// Whether a page reads as erased: such a page does not die.
fn is_erased(device: &mut Fading, page: Page) -> bool {
    let mut start = [0; 16];
    let read = device.fork().read(page, Bytes::ZERO, &mut start, &mut []);
    read.is_ok() && start == [0xFF; 16]
}

/// Returns the four pages for a copy of the header.
fn copies(device: &Fading) -> Vec<Page> {
    let geometry = device.geometry();
    let region = if geometry.slc().is_some() { Region::Slc } else { Region::Mlc };
    let pairing = geometry.region(region).expect("it has that region").pairing;
    let copy = |block, line| Block::new(region, block).page(pairing.nth_first_page(line));
    (0..4).map(|at| copy(at / 2, at as u16 % 2)).collect()
}

/// Cuts power in each of two refreshes of a device, at every operation of either, and lets no page or one of a header
/// die in between. Returns the number of pairs of cuts.
fn cut_twice(device: &mut Fading, (plan, config): (&PagedPlan, &PagedConfig), seed: u64) -> u32 {
    let mut dice = Dice::new(seed);
    let mut cuts = 0;
    let copies = copies(device);
    let deaths: Vec<Option<Page>> =
        [None].into_iter().chain(copies.into_iter().map(Some)).collect();
    for first in 0.. {
        let Some(mut once) = after_a_cut(device, first, (plan, config), &mut dice) else { break };
        for dead in &deaths {
            let mut once = once.fork();
            if let Some(page) = *dead {
                if is_erased(&mut once, page) {
                    continue;
                }
                once.lose(page);
            }
            for second in 0.. {
                let twice = after_a_cut(&mut once, second, (plan, config), &mut dice);
                let Some(mut twice) = twice else { break };
                cuts += 1;
                // By now the pages left by either cut are read.
                for life in 0..3 {
                    let mounted = refresh(&mut twice, plan, config);
                    assert!(
                        mounted,
                        "seed {seed}: cuts {first} and {second}, dead {dead:?}, life {life}"
                    );
                    twice.age(days(1));
                }
            }
        }
    }
    cuts
}

#[test]
fn one_of_both_headers_outlives_a_cut_in_each_of_two_refreshes() {
    for (name, capacity) in [("tiny-slc", 72), ("tiny-mlc", 120), ("tiny", 112)] {
        let part = datasheet::builtin(name).expect("known");
        let config = config(capacity);
        let plan = PagedPlan::new(&part.geometry, &config).expect("fits");
        let cuts = (0..100).map(|seed| {
            let chip = Chip::new(&part, Content::Bytes).expect("a possible part");
            let mut device = fading(chip, seed);
            let mut ram = OwnedPagedRam::for_plan(&plan);
            let formatted = PageFtl::format(&mut device, &config, ram.lend(), KEY, NoProbe);
            drop(formatted.expect("formatted"));
            device.age(days(4));
            cut_twice(&mut device, (&plan, &config), seed)
        });
        let cuts: u32 = cuts.sum();
        assert!(cuts > 5_000, "{name}: {cuts} pairs of cuts");
    }
}
