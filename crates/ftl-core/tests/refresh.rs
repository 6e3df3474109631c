//! Weak pages are refreshed while they can be read, in bounded steps, and so are headers. A page that suddenly becomes
//! unreadable costs its own sectors, which are reported as lost until they are written again.

use crate::world;

use ftl_core::config::Refresh;
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::probe::{Counters, Verb};
use ftl_core::{Config, Ftl, RamPlan};
use ftl_iface::{
    Block, BlockStore, Corrected, Geometry, PageCount, PageIndex, Region, Sector, Work,
};
use nand_model::{Chip, Content};

use world::fading::{Fading, days, fading, fill, harmed, lost};
use world::{Dice, KEY, content, devices, part};

const BYTES: usize = 512;

fn device(geometry: Geometry, seed: u64) -> Fading {
    fading(Chip::new(&part(geometry), Content::Bytes).expect("a possible part"), seed)
}

fn refreshing(config: Config, bits: u16) -> Config {
    let limit = Corrected::bits(bits);
    Config { refresh: Refresh { log: limit, chain: limit }, ..config }
}

/// The idle work of a device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Care {
    None,
    Scrub,
}

/// Leaves a device idle for forty days, with a scrub every fourth day or without. Returns the number of lost sectors,
/// which is all if it cannot be mounted, and the number of refreshes.
fn lie_idle(geometry: Geometry, config: &Config, seed: u64, care: Care) -> (usize, u32) {
    let mut device = device(geometry, seed);
    let mut ram = OwnedRam::for_plan(&RamPlan::new(&geometry, config).expect("fits"));
    let mut ftl =
        Ftl::format(&mut device, config, ram.lend(), KEY, Counters::default()).expect("formatted");
    let truth = fill(&mut ftl, &mut Dice::new(seed));
    let mut refreshed = 0;
    for round in 0..10 {
        ftl.stop().expect("stopped");
        device.age(days(4));
        let Ok(mounted) = Ftl::mount(&mut device, config, ram.lend(), Counters::default()) else {
            return (truth.len(), refreshed);
        };
        ftl = mounted;
        if care == Care::Scrub {
            ftl.scrub();
            while ftl.maintain(PageCount::new(1)).expect("idle") == Work::Left {}
            assert_eq!(ftl.scrub_left(), PageCount::ZERO);
            ftl.check().unwrap_or_else(|violation| panic!("round {round}: {violation}"));
        }
        refreshed += ftl.health().refreshed;
    }
    // Without a checkpoint, so that the mount must use headers, summaries and tags.
    match Ftl::mount(&mut device, config, ram.lend(), Counters::default()) {
        Ok(mut ftl) if care == Care::Scrub => (lost(&mut ftl, &truth).len(), refreshed),
        Ok(mut ftl) => (harmed(&mut ftl, &truth), refreshed),
        Err(_) => (truth.len(), refreshed),
    }
}

#[test]
fn a_device_that_is_scrubbed_loses_nothing_where_another_loses_much() {
    for (name, geometry, config) in devices::all() {
        for seed in 0..4 {
            let config = refreshing(config, 4);
            let (lost, refreshed) = lie_idle(geometry, &config, seed, Care::Scrub);
            assert_eq!(lost, 0, "{name}, seed {seed}: {refreshed} refreshed");
            assert!(refreshed > 10, "{name}, seed {seed}: {refreshed} refreshed");
        }
    }
}

#[test]
fn without_a_scrub_the_same_device_loses_data_so_that_the_test_above_says_something() {
    let mut losses = 0;
    for (_, geometry, config) in devices::all() {
        losses += lie_idle(geometry, &refreshing(config, 0), 1, Care::None).0;
    }
    assert!(losses > 100, "{losses}");
}

#[test]
fn a_weak_page_that_a_request_meets_is_written_anew_without_a_scrub() {
    for (name, geometry, config) in devices::all() {
        let config = refreshing(config, 2);
        let mut device = device(geometry, 7);
        let mut ram = OwnedRam::for_plan(&RamPlan::new(&geometry, &config).expect("fits"));
        let mut ftl = Ftl::format(&mut device, &config, ram.lend(), KEY, Counters::default())
            .expect("formatted");
        let truth = fill(&mut ftl, &mut Dice::new(7));
        while ftl.maintain(PageCount::new(8)).expect("idle") == Work::Left {}
        assert_eq!(ftl.health().refreshed, 0, "{name}");
        ftl.device_mut().age(days(8));
        // The log may hold any number of weak pages; those that are read are noted, eight at a time.
        for _ in 0..100 {
            assert!(lost(&mut ftl, &truth).is_empty(), "{name}");
            while ftl.maintain(PageCount::new(1)).expect("idle") == Work::Left {}
            ftl.check().unwrap_or_else(|violation| panic!("{name}: {violation}"));
        }
        let health = ftl.health();
        assert!(health.refreshed > 3, "{name}: {health:?}");
        assert!(health.corrected >= Corrected::bits(2), "{name}: {health:?}");
        // By now no page that requests read is weak.
        let before = health.refreshed;
        lost(&mut ftl, &truth);
        while ftl.maintain(PageCount::new(1)).expect("idle") == Work::Left {}
        assert_eq!(ftl.health().refreshed, before, "{name}");
    }
}

#[test]
fn a_step_of_a_scrub_reads_a_page_and_a_step_of_a_refresh_is_one_of_a_fold() {
    for (name, geometry, config) in devices::all() {
        let config = refreshing(config, 2);
        let mut ram = OwnedRam::for_plan(&RamPlan::new(&geometry, &config).expect("fits"));
        let counters = Counters::default();
        let mut ftl = Ftl::format(device(geometry, 3), &config, ram.lend(), KEY, counters)
            .expect("formatted");
        let truth = fill(&mut ftl, &mut Dice::new(3));
        while ftl.maintain(PageCount::new(8)).expect("idle") == Work::Left {}
        ftl.device_mut().age(days(8));
        ftl.scrub();
        let slots = u64::from(ftl.shape().chain.slots);
        let shape = *ftl.shape();
        let blocks = u64::from(shape.chain.blocks.max(4));
        let done = |counters: &Counters, verb| {
            Region::ALL.iter().map(|region| counters.total(*region, verb)).sum::<u64>()
        };
        let mut left = ftl.scrub_left();
        loop {
            let before = ftl.probe().clone();
            let work = ftl.maintain(PageCount::new(1)).expect("idle");
            let spent = |verb| done(ftl.probe(), verb) - done(&before, verb);
            // The last step of a fold erases the frozen blocks; both headers are written, each twice; and the seal is
            // erased.
            assert!(spent(Verb::Program) <= 4, "{name}");
            assert!(spent(Verb::Erase) <= blocks.min(6), "{name}");
            // A fold's first step may scan its chain, and prove its entries in the log.
            let chain = u64::from(shape.chain.pages) * u64::from(config.chain_log_blocks_max + 2);
            assert!(spent(Verb::Read) <= 2 * chain + 2 * slots + 32, "{name}");
            assert!(ftl.scrub_left() <= left, "{name}: the scrub goes on");
            left = ftl.scrub_left();
            if work == Work::Done {
                break;
            }
        }
        assert_eq!(left, PageCount::ZERO, "{name}");
        assert!(lost(&mut ftl, &truth).is_empty(), "{name}");
    }
}

#[test]
fn a_header_that_cannot_be_read_is_written_anew_from_the_other() {
    for (name, geometry, config) in devices::all() {
        for torn in 0..2_u32 {
            let mut device = device(geometry, 5);
            let mut ram = OwnedRam::for_plan(&RamPlan::new(&geometry, &config).expect("fits"));
            let mut ftl = Ftl::format(&mut device, &config, ram.lend(), KEY, Counters::default())
                .expect("formatted");
            let truth = fill(&mut ftl, &mut Dice::new(5));
            ftl.stop().expect("stopped");
            let region =
                if geometry.slc().is_some() && config.log != ftl_core::config::LogRegion::None {
                    Region::Slc
                } else {
                    Region::Mlc
                };
            let header = |number| Block::new(region, number).page(PageIndex::new(0));
            device.lose(header(torn));
            let mut ftl =
                Ftl::mount(&mut device, &config, ram.lend(), Counters::default()).expect("mounted");
            ftl.scrub();
            while ftl.maintain(PageCount::new(1)).expect("idle") == Work::Left {}
            // Now the other header becomes unreadable.
            device.lose(header(1 - torn));
            let mut ftl = Ftl::mount(&mut device, &config, ram.lend(), Counters::default())
                .unwrap_or_else(|error| panic!("{name}, header {torn}: {error}"));
            assert!(lost(&mut ftl, &truth).is_empty(), "{name}");
        }
    }
}

#[test]
fn log_and_chains_of_one_region_have_limits_of_their_own() {
    let (geometry, config) = devices::one_slc();
    let (never, often) = (Corrected::NONE, Corrected::bits(2));
    let refreshed = |log, chain| {
        let config = Config { refresh: Refresh { log, chain }, ..config };
        let mut device = device(geometry, 7);
        let mut ram = OwnedRam::for_plan(&RamPlan::new(&geometry, &config).expect("fits"));
        let mut ftl = Ftl::format(&mut device, &config, ram.lend(), KEY, Counters::default())
            .expect("formatted");
        // Only the log holds data.
        for sector in 0..12 {
            ftl.write(Sector::new(sector), &content(sector, 1, BYTES)).expect("written");
        }
        ftl.device_mut().age(days(8));
        assert!(lost(&mut ftl, &[1; 12]).is_empty());
        while ftl.maintain(PageCount::new(1)).expect("idle") == Work::Left {}
        ftl.health().refreshed
    };
    assert_eq!(refreshed(never, often), 0);
    assert!(refreshed(often, never) > 0);
}
