//! The cache before a disk: random requests beside a truth, under every policy, and what each policy does otherwise.

use ftl_iface::BlockStore;
use ftl_iface::{Bytes, Cause, Counters, NoProbe, Region, Sector, SectorCount, Verb};
use ftl_rivals::Rival;
use ftl_rivals::disk_cache::{DiskCacheConfig, Rule, new};
use nand_model::{Chip, Content};

use crate::world;

/// A small chip with an SLC mode.
fn chip() -> Chip {
    Chip::new(&world::part("tiny", 12, 24), Content::Bytes).unwrap()
}

/// Before a disk of three times as much.
fn config(rule: Rule, blocks: [u32; 2], chip: &Chip) -> DiskCacheConfig {
    let bytes = world::region_bytes(chip.part(), Region::Mlc);
    DiskCacheConfig {
        sector: chip.part().sector_bytes,
        capacity: SectorCount::new((3 * bytes / u64::from(chip.part().sector_bytes.get())) as u32),
        blocks,
        dram: Bytes::new(16 << 10),
        cold_percent: 50,
        rule,
        long: SectorCount::new(6),
    }
}

const RULES: [Rule; 5] =
    [Rule::DiskAlone, Rule::Proposed, Rule::LongBypass, Rule::Apart, Rule::NothingStays];

#[test]
fn every_policy_keeps_what_was_written_at_every_share_of_slc() {
    for rule in RULES {
        for blocks in [[24, 0], [0, 24], [10, 14], [4, 20]] {
            let chip = chip();
            let config = config(rule, blocks, &chip);
            let mut store = new(chip, NoProbe, world::Disk::default(), &config).unwrap();
            world::live(&mut store, 11, 3_000, |store| store.check().unwrap());
            store.settle().unwrap();
            store.check().unwrap();
        }
    }
}

/// What random requests cost the flash under a policy, and where reads found what they asked for.
fn spent(rule: Rule) -> (Counters, Vec<(&'static str, f64)>) {
    let chip = chip();
    let config = config(rule, [12, 12], &chip);
    let mut counters = Counters::default();
    let mut store = new(chip, &mut counters, world::Disk::default(), &config).unwrap();
    world::live(&mut store, 5, 3_000, |_| ());
    let figures = store.figures();
    drop(store);
    (counters, figures)
}

#[test]
fn each_policy_does_what_sets_it_apart() {
    let programs =
        |counters: &Counters, cause| counters.operations(Region::Mlc, Verb::Program, cause);
    let (proposed, found) = spent(Rule::Proposed);
    assert!(found.iter().all(|(_, count)| *count > 10.0), "reads find it everywhere: {found:?}");
    assert!(programs(&proposed, Cause::Gc) > 0 && programs(&proposed, Cause::WriteBack) > 0);
    let (nothing_stays, _) = spent(Rule::NothingStays);
    assert_eq!(programs(&nothing_stays, Cause::Gc), 0);
    let (apart, _) = spent(Rule::Apart);
    assert_eq!(programs(&apart, Cause::WriteBack), 0, "nothing moves from one region to the other");
    let (alone, found) = spent(Rule::DiskAlone);
    assert_eq!(alone.total(Region::Mlc, Verb::Program), 0);
    assert!(found[1].1 == 0.0 && found[3].1 > 0.0, "{found:?}");
}

#[test]
fn long_writes_pass_the_slc_by_under_policy_1_alone() {
    for (rule, bypassed) in [(Rule::Proposed, false), (Rule::LongBypass, true)] {
        let chip = chip();
        let config = config(rule, [12, 12], &chip);
        let mut store = new(chip, NoProbe, world::Disk::default(), &config).unwrap();
        let long = vec![7; 8 * config.sector.as_usize()];
        for at in 0..6 {
            store.write(Sector::new(at * 8), &long).unwrap();
        }
        store.flush().unwrap();
        assert_eq!(store.units().area(0).now() == 0, bypassed, "{rule:?}");
        assert_eq!(store.units().area(1).now() > 0, bypassed, "{rule:?}");
    }
}
