//! Weak pages in the page store: the valid data of their block is copied while it can be read, in bounded steps, and so
//! are headers. A scrub finds weak pages that no request reads.

use core::convert::Infallible;

use crate::world;

use ftl_core::paged::{
    OwnedPagedRam, PageFtl, PagedConfig, PagedMountError, PagedPlan, RefreshLimits, Streams,
    Victims,
};
use ftl_core::probe::{Counters, Probe, Verb};
use ftl_iface::{
    Block, BlockStore, Bytes, Corrected, Geometry, NandDevice, Page, PageCount, PageIndex,
    ReadError, Region, Sector, SectorCount, Work,
};
use nand_model::faults::FaultInjector;
use nand_model::{Chip, Content, datasheet};

use world::fading::{Fading, days, fading, fill, lost};
use world::{Dice, Faults, Faulty, KEY, content};

const BYTES: usize = 1024;

fn device(name: &str, seed: u64) -> Fading {
    let part = datasheet::builtin(name).expect("known");
    fading(Chip::new(&part, Content::Bytes).expect("a possible part"), seed)
}

/// Returns devices with two regions and with one, in many configurations, with pages weak from this many bits on.
fn all(bits: u16) -> Vec<(&'static str, PagedConfig)> {
    let limit = Corrected::bits(bits);
    let config = |capacity: u32| PagedConfig {
        sector_bytes: Bytes::new(BYTES as u32),
        capacity: Some(SectorCount::new(capacity)),
        dirty_entries: 100,
        cached_leaves: 2,
        anchor_blocks: 2,
        refresh: RefreshLimits { fast: limit, main: limit },
        ..PagedConfig::SMALL
    };
    let (one, greedy) = (Streams::One, Victims::Greedy);
    vec![
        ("tiny", config(300)),
        ("tiny", PagedConfig { streams: Streams::ByLifetime, ..config(84) }),
        ("tiny-tlc", PagedConfig { streams: one, victims: greedy, ..config(400) }),
        ("tiny-slc", PagedConfig { streams: one, anchor_blocks: 0, ..config(72) }),
        ("tiny-mlc", PagedConfig { anchor_blocks: 0, ..config(120) }),
    ]
}

fn plan(name: &str, config: &PagedConfig) -> (Geometry, PagedPlan) {
    let geometry = datasheet::builtin(name).expect("known").geometry;
    (geometry, PagedPlan::new(&geometry, config).expect("fits"))
}

fn idle<D: NandDevice>(ftl: &mut PageFtl<'_, D, impl Probe>) {
    while ftl.maintain(PageCount::new(1)).expect("idle") == Work::Left {}
}

/// The idle work of a device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Idle {
    Scrub,
    Nothing,
}

/// Leaves a device idle for forty days, with a scrub every fourth day or without. Returns the number of unreadable
/// sectors, which is all if it cannot be mounted, and the number of refreshes.
fn lie_idle((name, config): (&str, &PagedConfig), seed: u64, idle_work: Idle) -> (usize, u32) {
    let mut device = device(name, seed);
    let (_, plan) = plan(name, config);
    let mut ram = OwnedPagedRam::for_plan(&plan);
    let mut ftl = PageFtl::format(&mut device, config, ram.lend(), KEY, Counters::default())
        .expect("formatted");
    let truth = fill(&mut ftl, &mut Dice::new(seed));
    let mut refreshed = 0;
    for round in 0..10 {
        if round % 2 == 0 {
            ftl.stop().expect("stopped");
        }
        device.age(days(4));
        let Ok(mounted) = PageFtl::mount(&mut device, config, ram.lend(), Counters::default())
        else {
            return (truth.len(), refreshed);
        };
        ftl = mounted;
        if idle_work == Idle::Scrub {
            ftl.scrub();
            idle(&mut ftl);
            assert_eq!(ftl.scrub_left(), PageCount::ZERO);
            ftl.check().unwrap_or_else(|violation| panic!("{name}, round {round}: {violation}"));
        }
        refreshed += ftl.health().refreshed;
    }
    match PageFtl::mount(&mut device, config, ram.lend(), Counters::default()) {
        Ok(mut ftl) => {
            let mut data = [0; BYTES];
            let read = |sector| ftl.read(Sector::new(sector), &mut data).is_ok();
            let readable = (0..truth.len() as u32).map(read).filter(|read| *read).count();
            if idle_work == Idle::Scrub {
                assert!(lost(&mut ftl, &truth).is_empty(), "{name}, seed {seed}");
            }
            (truth.len() - readable, refreshed)
        }
        Err(_) => (truth.len(), refreshed),
    }
}

#[test]
fn a_device_that_is_scrubbed_loses_nothing_where_another_loses_much() {
    for (name, config) in all(4) {
        for seed in 0..4 {
            let (lost, refreshed) = lie_idle((name, &config), seed, Idle::Scrub);
            assert_eq!(lost, 0, "{name}, seed {seed}: {refreshed} refreshed");
            assert!(refreshed > 10, "{name}, seed {seed}: {refreshed} refreshed");
        }
    }
}

#[test]
fn without_a_scrub_the_same_device_loses_data_so_that_the_test_above_says_something() {
    let losses: usize =
        all(0).iter().map(|(name, config)| lie_idle((name, config), 1, Idle::Nothing).0).sum();
    assert!(losses > 100, "{losses}");
}

#[test]
fn a_weak_page_that_a_request_meets_is_written_anew_without_a_scrub() {
    for (name, config) in all(2) {
        let (_, plan) = plan(name, &config);
        let mut ram = OwnedPagedRam::for_plan(&plan);
        let mut ftl =
            PageFtl::format(device(name, 2), &config, ram.lend(), KEY, Counters::default())
                .expect("formatted");
        let truth = fill(&mut ftl, &mut Dice::new(1));
        idle(&mut ftl);
        assert_eq!(ftl.health().refreshed, 0, "{name}");
        ftl.device_mut().age(days(8));
        // Weak blocks are noted when they are read, eight at a time.
        for _ in 0..20 {
            assert!(lost(&mut ftl, &truth).is_empty(), "{name}");
            while ftl.maintain(PageCount::new(1)).expect("idle") == Work::Left {
                ftl.check().unwrap_or_else(|violation| panic!("{name}: {violation}"));
            }
        }
        let health = ftl.health();
        assert!(health.refreshed > 3, "{name}: {health:?}");
        assert!(health.corrected >= Corrected::bits(2), "{name}: {health:?}");
        // By now no page that requests read is weak.
        lost(&mut ftl, &truth);
        idle(&mut ftl);
        assert_eq!(ftl.health().refreshed, health.refreshed, "{name}");
    }
}

#[test]
fn writes_alone_refresh_what_is_weak() {
    for (name, config) in all(2) {
        let (_, plan) = plan(name, &config);
        let mut ram = OwnedPagedRam::for_plan(&plan);
        let mut ftl =
            PageFtl::format(device(name, 2), &config, ram.lend(), KEY, Counters::default())
                .expect("formatted");
        let mut truth = fill(&mut ftl, &mut Dice::new(1));
        ftl.device_mut().age(days(8));
        for round in 0..40 {
            assert!(lost(&mut ftl, &truth).is_empty(), "{name}");
            for sector in 0..4 {
                let version = 1_000 + round;
                ftl.write(Sector::new(sector), &content(sector, version, BYTES)).expect("written");
                truth[sector as usize] = version;
                ftl.check().unwrap_or_else(|violation| panic!("{name}: {violation}"));
            }
        }
        assert!(ftl.health().refreshed > 3, "{name}: {:?}", ftl.health());
    }
}

#[test]
fn a_step_of_a_scrub_reads_a_page_and_a_step_of_a_refresh_copies_one() {
    for (name, config) in all(2) {
        let (_, plan) = plan(name, &config);
        let mut ram = OwnedPagedRam::for_plan(&plan);
        let counters = Counters::default();
        let mut ftl = PageFtl::format(device(name, 2), &config, ram.lend(), KEY, counters)
            .expect("formatted");
        let truth = fill(&mut ftl, &mut Dice::new(3));
        idle(&mut ftl);
        ftl.device_mut().age(days(8));
        ftl.scrub();
        let done = |counters: &Counters, verb| {
            Region::ALL.iter().map(|region| counters.total(*region, verb)).sum::<u64>()
        };
        let leaves = u64::from(ftl.shape().leaves);
        let pages = u64::from(ftl.shape().main.pages);
        let mut left = ftl.scrub_left();
        let mut steps = 0;
        loop {
            let before = ftl.probe().clone();
            let work = ftl.maintain(PageCount::new(1)).expect("idle");
            let spent = |verb| done(ftl.probe(), verb) - done(&before, verb);
            // A page of copies, a map page for each leaf that makes space in the table for the block's entries, an
            // anchor; both headers. Each may open a block.
            assert!(spent(Verb::Program) <= 3 + leaves, "{name}: {}", spent(Verb::Program));
            assert!(spent(Verb::Erase) <= 3, "{name}: {}", spent(Verb::Erase));
            // The pages of a victim are read until a page is full, and the map for their sectors.
            let most = 2 * pages + 2 * leaves + 4;
            assert!(spent(Verb::Read) <= most, "{name}: {}", spent(Verb::Read));
            assert!(ftl.scrub_left() <= left, "{name}: the scrub goes on");
            left = ftl.scrub_left();
            steps += 1;
            if work == Work::Done {
                break;
            }
        }
        assert!(steps > 10, "{name}: {steps}");
        assert_eq!(left, PageCount::ZERO, "{name}");
        assert!(lost(&mut ftl, &truth).is_empty(), "{name}");
    }
}

/// Pages in use become unreadable while the device is mounted: their sectors are lost, and their blocks are freed.
#[test]
fn a_block_in_which_pages_cannot_be_read_is_emptied_all_the_same() {
    for (name, config) in all(0) {
        let (geometry, plan) = plan(name, &config);
        let mut ram = OwnedPagedRam::for_plan(&plan);
        let chip = Chip::new(&datasheet::builtin(name).expect("known"), Content::Bytes);
        let device = FaultInjector::new(chip.expect("a possible part"), 1);
        let mut ftl = PageFtl::format(device, &config, ram.lend(), KEY, Counters::default())
            .expect("formatted");
        let mut dice = Dice::new(8);
        let mut truth = fill(&mut ftl, &mut dice);
        let capacity = truth.len() as u32;
        let region = if geometry.mlc().is_some() { Region::Mlc } else { Region::Slc };
        let shape = geometry.region(region).expect("the region");
        // With one region, headers and anchors are in the first blocks.
        for block in 4..shape.blocks.get() {
            let page = PageIndex::new(dice.below(shape.pages_per_block.get()) as u16);
            let page = Block::new(region, block).page(page);
            let mut tag = [0; 16];
            let device = ftl.device_mut();
            // A page that is not programmed yet would lose the next write.
            if device.read(page, Bytes::ZERO, &mut [], &mut tag).is_ok() && tag != [0xFF; 16] {
                device.lose(page);
            }
        }
        let before = lost(&mut ftl, &truth);
        assert!(!before.is_empty(), "{name}: something is lost");
        for version in 100..400 {
            // Lost sectors are never written again, nor is a fourth of the others.
            let sector = dice.below(capacity);
            if !sector.is_multiple_of(4) && !before.contains(&sector) {
                ftl.write(Sector::new(sector), &content(sector, version, BYTES)).expect("written");
                truth[sector as usize] = version;
            }
            if version % 20 == 0 {
                let _ = ftl.maintain(PageCount::new(50)).expect("idle");
            }
        }
        let after = lost(&mut ftl, &truth);
        assert!(after.iter().all(|sector| before.contains(sector)), "{name}: {before:?} {after:?}");
        assert_eq!(ftl.health().failed.get(), 0, "{name}: no block is given up");
        ftl.stop().expect("stopped");
        let (device, _) = ftl.into_parts();
        let mut ftl =
            PageFtl::mount(device, &config, ram.lend(), Counters::default()).expect("mounted");
        assert_eq!(lost(&mut ftl, &truth), after, "{name}");
    }
}

/// Firmware formats a device that is not formatted. One whose headers cannot be read, perhaps because the driver has
/// the ECC wrong, is not such a device.
#[test]
fn a_device_whose_headers_cannot_be_read_is_not_called_blank() {
    for (name, config) in all(0) {
        let mut device = device(name, 5);
        let (geometry, plan) = plan(name, &config);
        let mut ram = OwnedPagedRam::for_plan(&plan);
        let blank = PageFtl::mount(&mut device, &config, ram.lend(), Counters::default()).err();
        assert_eq!(blank, Some(PagedMountError::NotFormatted), "{name}");
        drop(
            PageFtl::format(&mut device, &config, ram.lend(), KEY, Counters::default())
                .expect("formatted"),
        );
        let region = if geometry.slc().is_some() { Region::Slc } else { Region::Mlc };
        let shape = *geometry.region(region).expect("it has that region");
        let lines = shape.pairing.word_lines(shape.pages_per_block).get() as u16;
        for number in 0..2 {
            for line in 0..lines {
                let page = shape.pairing.nth_first_page(line);
                device.lose(Block::new(region, number).page(page));
            }
        }
        let refused = PageFtl::mount(&mut device, &config, ram.lend(), Counters::default()).err();
        assert_eq!(refused, Some(PagedMountError::DamagedHeader), "{name}");
    }
}

#[test]
fn a_header_that_cannot_be_read_is_written_anew_from_the_other() {
    for (name, config) in all(0) {
        for torn in 0..2_u32 {
            let mut device = device(name, 5);
            let (geometry, plan) = plan(name, &config);
            let mut ram = OwnedPagedRam::for_plan(&plan);
            let mut ftl =
                PageFtl::format(&mut device, &config, ram.lend(), KEY, Counters::default())
                    .expect("formatted");
            let truth = fill(&mut ftl, &mut Dice::new(5));
            let region = if geometry.slc().is_some() { Region::Slc } else { Region::Mlc };
            let header = |number| Block::new(region, number).page(PageIndex::new(0));
            // One header becomes unreadable while the device is in use.
            ftl.device_mut().lose(header(torn));
            ftl.scrub();
            idle(&mut ftl);
            assert_eq!(ftl.health().refreshed, 1, "{name}");
            // Now the other header becomes unreadable.
            device.lose(header(1 - torn));
            let mut ftl = PageFtl::mount(&mut device, &config, ram.lend(), Counters::default())
                .unwrap_or_else(|error| panic!("{name}, header {torn}: {error}"));
            assert!(lost(&mut ftl, &truth).is_empty(), "{name}");
        }
    }
}

/// A copy of the first header dies at a read: it was torn, and read well for a while. The other copy is dead.
struct Torn {
    copies: [Page; 2],
    /// None: it is not torn yet.
    reads_left: Option<u32>,
}

impl Faults for Torn {
    fn fails(&mut self, chip: &mut FaultInjector<Chip>, block: Block, page: Option<Page>) -> bool {
        let erases_other = page.is_none() && block == Block::new(block.region(), 1);
        if self.reads_left.is_some() && erases_other {
            let is_left = self.copies.iter().any(|copy| chip.is_intact(*copy));
            assert!(is_left, "the only header is erased");
        }
        false
    }

    fn read(
        &mut self,
        chip: &mut FaultInjector<Chip>,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Infallible>> {
        if let Some(left) = self.reads_left.as_mut().filter(|_| page == self.copies[1]) {
            match left.checked_sub(1) {
                Some(fewer) => *left = fewer,
                // It has been rewritten, or dies.
                None if chip.is_intact(self.copies[0]) => {}
                None => chip.lose(page),
            }
        }
        chip.read(page, at, data, spare)
    }
}

/// Writes a header block anew, without its second copy.
fn leave_one_copy(chip: &mut FaultInjector<Chip>, first: Page) {
    let shape = *chip.geometry().region(first.block().region()).expect("it has that region");
    let mut data = vec![0; shape.page_bytes.as_usize()];
    let mut spare = vec![0; shape.spare_bytes.as_usize()];
    chip.read(first, Bytes::ZERO, &mut data, &mut spare).expect("read");
    chip.erase(first.block()).expect("erased");
    chip.program(first, &data, &spare).expect("programmed");
}

/// Power failed before the second header had its second copy, and what is left of the first header dies while the
/// second is about to be rewritten.
#[test]
fn a_header_is_not_erased_once_the_other_one_is_seen_to_be_gone() {
    for (name, config) in all(0) {
        let (geometry, plan) = plan(name, &config);
        let region = if geometry.slc().is_some() { Region::Slc } else { Region::Mlc };
        let pairing = geometry.region(region).expect("it has that region").pairing;
        let copy = |block, line| Block::new(region, block).page(pairing.nth_first_page(line));
        for reads_left in 0..8 {
            let faults = Torn { copies: [copy(0, 0), copy(0, 1)], reads_left: None };
            let mut device = Faulty::new(geometry, 1, faults);
            let mut ram = OwnedPagedRam::for_plan(&plan);
            let ftl = PageFtl::format(&mut device, &config, ram.lend(), KEY, Counters::default());
            drop(ftl.expect("formatted"));
            leave_one_copy(&mut device.chip, copy(1, 0));
            device.chip.lose(copy(0, 0));
            device.faults.reads_left = Some(reads_left);
            for _ in 0..2 {
                let mut ftl = PageFtl::mount(&mut device, &config, ram.lend(), Counters::default())
                    .unwrap_or_else(|error| panic!("{name}, {reads_left} reads: {error}"));
                ftl.scrub();
                idle(&mut ftl);
            }
            let copies = [copy(0, 0), copy(0, 1), copy(1, 0), copy(1, 1)];
            let are_whole = copies.iter().all(|copy| device.chip.is_intact(*copy));
            assert!(are_whole, "{name}, {reads_left} reads");
        }
    }
}
