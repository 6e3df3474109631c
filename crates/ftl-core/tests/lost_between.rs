//! Unreadable and weak pages at points where the FTL decides something else: which page is newer, to which chain a
//! block belongs, whether housekeeping is complete.

use crate::world;

use core::convert::Infallible;

use ftl_core::config::{Refresh, WearLeveling};
use ftl_core::hybrid::bound::WorstCase;
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::probe::Counters;
use ftl_core::{Config, Ftl, RamPlan};
use ftl_iface::{
    Block, BlockStore, Bytes, Corrected, Geometry, NandDevice, Page, PageCount, PageIndex,
    ReadError, Region, Sector, SectorCount, StoreReadError, Work,
};
use nand_model::Chip;
use nand_model::faults::FaultInjector;

use world::{Dice, Faults, Faulty, KEY, content, devices};

const BYTES: usize = 512;
const DATA: u8 = 0x55;
const CHAIN: u8 = 0x5A;
const IN_PLACE: u8 = 0x66;
const TRIM: u8 = 0x69;
const LOG: u8 = 0x33;

/// Every read of some pages reports a corrected bit, and the data of some pages, without the tag, is unreadable.
#[derive(Default)]
struct Wear {
    /// Whether headers report a corrected bit, and whether all other pages do.
    weak: (bool, bool),
    unreadable_data: Vec<Page>,
    programs: u64,
    header_erases: u64,
}

type Worn = Faulty<Wear>;

impl Worn {
    /// Returns for each programmed page its address, kind, stamp and slots, in the order of programming.
    fn tags(&mut self) -> Vec<(Page, u8, u64, Vec<u32>)> {
        let geometry = *self.geometry();
        let mut found = Vec::new();
        for region in Region::ALL {
            let Some(shape) = geometry.region(region).copied() else {
                continue;
            };
            for block in 0..shape.blocks.get() {
                for page in 0..shape.pages_per_block.get() as u16 {
                    let page = Block::new(region, block).page(PageIndex::new(page));
                    let mut spare = [0; 20];
                    let read = self.chip.read(page, Bytes::ZERO, &mut [], &mut spare);
                    if read.is_err() || spare.iter().all(|byte| *byte == 0xFF) {
                        continue;
                    }
                    let stamp = (1..7).rev().fold(0, |stamp, at| stamp << 8 | u64::from(spare[at]));
                    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four"));
                    found.push((page, spare[0], stamp, spare[12..].chunks(4).map(word).collect()));
                }
            }
        }
        found.sort_by_key(|tag| tag.2);
        found
    }

    /// Returns the newest page of one of these kinds that holds a sector.
    fn page_of(&mut self, kinds: &[u8], sector: u32) -> Page {
        let tags = self.tags();
        let mut youngest = tags.iter().rev();
        youngest
            .find(|(_, kind, _, slots)| kinds.contains(kind) && slots.contains(&sector))
            .expect("it was written")
            .0
    }
}

impl Faults for Wear {
    fn fails(&mut self, _: &mut FaultInjector<Chip>, block: Block, page: Option<Page>) -> bool {
        self.programs += u64::from(page.is_some());
        if page.is_none() {
            self.header_erases += u64::from(block.index() < 2);
            self.unreadable_data.retain(|page| page.block() != block);
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
        if !data.is_empty() && self.unreadable_data.contains(&page) {
            return Err(ReadError::Uncorrectable);
        }
        let corrected = chip.read(page, at, data, spare)?;
        let (headers, others) = self.weak;
        let weak = if page.block().index() < 2 { headers } else { others };
        let erased = spare.iter().all(|byte| *byte == 0xFF);
        Ok(if weak && !erased { Corrected::bits(1) } else { corrected })
    }
}

type Store<'a> = Ftl<'a, &'a mut Worn, Counters>;

fn write(ftl: &mut Store<'_>, first: u32, count: u32, version: u32) {
    let data: Vec<u8> = (first..first + count).flat_map(|at| content(at, version, BYTES)).collect();
    ftl.write(Sector::new(first), &data).expect("written");
}

/// Returns the version that a sector reads as, zero for zeros; `None`: it is lost.
fn version(ftl: &mut Store<'_>, sector: u32) -> Option<u32> {
    let mut data = [0; BYTES];
    match ftl.read(Sector::new(sector), &mut data) {
        Ok(()) if data == [0; BYTES] => Some(0),
        Ok(()) => (1..100).find(|version| data[..] == content(sector, *version, BYTES)),
        Err(StoreReadError::Lost(_)) => None,
        Err(error) => panic!("sector {sector}: {error}"),
    }
}

/// Does idle work until none is left, and returns the number of steps.
fn rest(ftl: &mut Store<'_>) -> u32 {
    let done = |_: &u32| ftl.maintain(PageCount::new(1)).expect("idle") == Work::Done;
    (0..2_000).find(done).expect("idle work comes to an end")
}

/// Uses a newly formatted device, damages it, and returns what is found after a mount.
fn told<T>(
    (geometry, config): (Geometry, Config),
    live: impl FnOnce(&mut Store<'_>),
    injure: impl FnOnce(&mut Worn),
    look: impl FnOnce(&mut Store<'_>) -> T,
) -> T {
    let plan = RamPlan::new(&geometry, &config).expect("fits");
    let mut device = Worn::new(geometry, 1, Wear::default());
    let mut ram = OwnedRam::for_plan(&plan);
    live(
        &mut Ftl::format(&mut device, &config, ram.lend(), KEY, Counters::default())
            .expect("formatted"),
    );
    injure(&mut device);
    let mut ram = OwnedRam::for_plan(&plan);
    look(&mut Ftl::mount(&mut device, &config, ram.lend(), Counters::default()).expect("mounted"))
}

fn lose(kinds: &'static [u8], sector: u32) -> impl FnOnce(&mut Worn) {
    move |device| {
        let page = device.page_of(kinds, sector);
        device.chip.lose(page);
    }
}

#[test]
fn a_block_that_says_no_owner_keeps_idle_work_no_longer_than_it_takes_to_look() {
    // A log block whose only page is lost.
    let (geometry, config) = devices::conventional();
    let mut device = Worn::new(geometry, 1, Wear::default());
    let mut ram = OwnedRam::for_plan(&RamPlan::new(&geometry, &config).expect("fits"));
    let mut ftl =
        Ftl::format(&mut device, &config, ram.lend(), KEY, Counters::default()).expect("formatted");
    write(&mut ftl, 0, 1, 1);
    rest(&mut ftl);
    let page = ftl.device_mut().page_of(&[CHAIN], 0);
    ftl.device_mut().chip.lose(page);
    assert_eq!(version(&mut ftl, 0), None);
    rest(&mut ftl);
    // A free block that a power cut has left half erased, read by a scrub.
    let free = |device: &mut Worn| {
        let used: Vec<Block> = device.tags().iter().map(|(page, ..)| page.block()).collect();
        let blocks = (6..20).rev().map(|block| Block::new(Region::Mlc, block));
        let free = { blocks }.find(|block| !used.contains(block)).expect("a free block");
        device.chip.lose(free.page(PageIndex::new(0)));
    };
    told(
        devices::conventional(),
        |ftl| write(ftl, 0, 8, 1),
        free,
        |ftl| {
            rest(ftl);
            ftl.scrub();
            rest(ftl);
            assert_eq!(ftl.scrub_left(), PageCount::ZERO);
        },
    );
}

#[test]
fn pages_that_are_weak_as_soon_as_they_are_written_are_refreshed_once_a_scrub() {
    for weak in [(true, false), (false, true)] {
        for (name, geometry, config) in devices::all() {
            let limit = Corrected::bits(1);
            let config = Config { refresh: Refresh { log: limit, chain: limit }, ..config };
            let fill = |ftl: &mut Store<'_>| {
                (0..6).for_each(|at| write(ftl, at * 16, 16, 1));
                (0..10).for_each(|at| write(ftl, at * 5, 1, 2));
                ftl.stop().expect("stopped");
            };
            told(
                (geometry, config),
                fill,
                |device| device.faults.weak = weak,
                |ftl| {
                    rest(ftl);
                    ftl.scrub();
                    rest(ftl);
                    assert_eq!(ftl.scrub_left(), PageCount::ZERO, "{name}");
                    assert!(ftl.health().refreshed > 0, "{name}");
                    assert!(ftl.device_mut().faults.header_erases <= 12, "{name}");
                },
            );
        }
    }
}

#[test]
fn a_stop_keeps_the_place_of_a_scrub_though_nothing_else_has_changed() {
    let stopped = |ftl: &mut Store<'_>| {
        write(ftl, 0, 6, 3);
        ftl.stop().expect("stopped");
        ftl.scrub();
        for _ in 0..20 {
            assert_eq!(ftl.maintain(PageCount::new(1)), Ok(Work::Left));
        }
        ftl.stop().expect("stopped again");
    };
    let left = told(devices::one_slc(), stopped, |_| (), |ftl| ftl.scrub_left());
    assert!(!left.is_zero());
    let from_the_start = told(
        devices::one_slc(),
        |_| (),
        |_| (),
        |ftl| {
            ftl.scrub();
            ftl.scrub_left()
        },
    );
    assert!(left < from_the_start, "{left} of {from_the_start}");
}

#[test]
fn refreshing_costs_no_request_more_than_the_worst_case() {
    let (geometry, config) = devices::conventional();
    let limit = Corrected::bits(1);
    let blocks = geometry.mlc().expect("the region").blocks.get();
    let config = Config {
        refresh: Refresh { log: limit, chain: limit },
        wear_leveling: WearLeveling { enabled: false, threshold: 16 },
        copies_per_page: 1,
        capacity: Some(SectorCount::new((blocks - 6 - 4) * 32)),
        ..config
    };
    let mut device = Worn::new(geometry, 1, Wear::default());
    let mut ram = OwnedRam::for_plan(&RamPlan::new(&geometry, &config).expect("fits"));
    let mut ftl =
        Ftl::format(&mut device, &config, ram.lend(), KEY, Counters::default()).expect("formatted");
    let capacity = ftl.capacity().get();
    for at in (0..capacity).step_by(32) {
        write(&mut ftl, at, 32.min(capacity - at), 1);
    }
    ftl.device_mut().faults.weak = (false, true);
    let bound = WorstCase::new(ftl.shape(), &config).write(SectorCount::new(1));
    let mut dice = Dice::new(3);
    for _ in 0..5_000 {
        let sector = dice.below(capacity);
        if dice.percent(50) {
            version(&mut ftl, sector);
        }
        let before = ftl.device_mut().faults.programs;
        write(&mut ftl, dice.below(capacity), 1, 2);
        let spent = ftl.device_mut().faults.programs - before;
        assert!(spent <= bound.programs, "{spent} programs, at most {}", bound.programs);
    }
    assert!(ftl.health().refreshed > 100, "{:?}", ftl.health());
}

#[test]
fn where_one_of_two_copies_is_lost_the_older_is_never_taken_for_the_newest() {
    // Written to the chain, then to the log; the chain's copy is lost.
    let log_last = |ftl: &mut Store<'_>| {
        write(ftl, 0, 6, 1);
        write(ftl, 5, 1, 2);
        write(ftl, 6, 6, 3);
        write(ftl, 20, 1, 4);
    };
    let chain = lose(&[CHAIN, IN_PLACE], 5);
    let found = told(devices::one_slc(), log_last, chain, |ftl| version(ftl, 5));
    assert!(found.is_none_or(|version| version == 2), "{found:?}");
    // Written to the log, then to the chain; the log's copy is lost.
    let chain_last = |ftl: &mut Store<'_>| {
        (0..8).for_each(|at| write(ftl, 40 + at, 1, 1));
        write(ftl, 5, 1, 2);
        write(ftl, 0, 6, 3);
        (0..8).for_each(|at| write(ftl, 50 + at, 1, 4));
    };
    let found = told(devices::one_slc(), chain_last, lose(&[LOG], 5), |ftl| version(ftl, 5));
    assert!(found.is_none_or(|version| version == 3), "{found:?}");
    // The log's copy is the newest, in its tail, and lost.
    let in_tail = |ftl: &mut Store<'_>| {
        write(ftl, 40, 1, 1);
        write(ftl, 0, 6, 3);
        write(ftl, 5, 1, 4);
        (0..8).for_each(|at| write(ftl, 50 + at, 1, 4));
    };
    assert_eq!(told(devices::one_slc(), in_tail, lose(&[LOG], 5), |ftl| version(ftl, 5)), None);
    // A trim is lost, but the later write to the log is not.
    let trimmed = |ftl: &mut Store<'_>| {
        write(ftl, 0, 16, 1);
        ftl.trim(Sector::new(4), SectorCount::new(4)).expect("trimmed");
        write(ftl, 5, 1, 2);
        write(ftl, 10, 4, 3);
        write(ftl, 40, 1, 2);
    };
    let trim = lose(&[TRIM], 4 | 1 << 30);
    assert_eq!(told(devices::one_slc(), trimmed, trim, |ftl| version(ftl, 5)), Some(2));
}

#[test]
fn two_lost_pages_of_a_run_in_order_are_both_told() {
    let live = |ftl: &mut Store<'_>| {
        write(ftl, 0, 16, 1);
        write(ftl, 0, 10, 2);
        write(ftl, 40, 1, 2);
    };
    let injure = |device: &mut Worn| {
        for sector in [2, 4] {
            let page = device.page_of(&[IN_PLACE], sector);
            device.chip.lose(page);
        }
    };
    let found = told(devices::one_slc(), live, injure, |ftl| {
        (0..10).map(|sector| version(ftl, sector)).collect::<Vec<_>>()
    });
    let lost = |sector| (2..6).contains(&sector);
    let wanted: Vec<_> = (0..10).map(|sector| (!lost(sector)).then_some(2)).collect();
    assert_eq!(found, wanted);
}

#[test]
fn a_trim_of_which_the_tag_alone_can_be_read_is_told_by_the_next_page() {
    let live = |ftl: &mut Store<'_>| {
        write(ftl, 0, 16, 1);
        write(ftl, 5, 1, 2);
        ftl.trim(Sector::new(4), SectorCount::new(4)).expect("trimmed");
        write(ftl, 10, 4, 2);
        write(ftl, 40, 1, 2);
    };
    let injure = |device: &mut Worn| {
        let page = device.page_of(&[TRIM], 4 | 1 << 30);
        device.faults.unreadable_data.push(page);
    };
    told(devices::one_slc(), live, injure, |ftl| {
        let found = version(ftl, 5);
        assert!(found != Some(1), "{found:?}");
        assert_eq!((version(ftl, 0), version(ftl, 10)), (Some(1), Some(2)));
        for at in 0..400 {
            write(ftl, 32 + at % 40, 1, 9);
        }
    });
}

#[test]
fn a_fold_whose_first_page_is_lost_is_as_old_as_it_was() {
    let (geometry, config) = devices::one_slc();
    let config = Config { capacity: Some(SectorCount::new(11 * 16)), copies_per_page: 0, ..config };
    let mut lost = None;
    let mut before = Vec::new();
    let mut live = |ftl: &mut Store<'_>| {
        let capacity = ftl.capacity().get();
        for at in (0..capacity).step_by(16) {
            write(ftl, at, 16.min(capacity - at), 1);
        }
        for at in [8, 24, 40] {
            write(ftl, at, 4, 2);
        }
        // Does steps until a fold has begun.
        let (page, first) = (0..50)
            .find_map(|_| {
                ftl.maintain(PageCount::new(1)).expect("idle");
                let tags = ftl.device_mut().tags();
                let (page, kind, _, slots) = tags.last().expect("a page");
                let begun = *kind == DATA && page.index() == PageIndex::new(0);
                begun.then(|| (*page, slots[0] & ((1 << 30) - 1)))
            })
            .expect("a fold begins");
        // The chain's log block is younger than the fold, and older than its second page.
        write(ftl, first + 1, 4, 3);
        assert_eq!(ftl.maintain(PageCount::new(7)), Ok(Work::Left));
        write(ftl, first + 10, 4, 5);
        write(ftl, 90, 1, 3);
        lost = Some((page, first));
        before = (first..first + 16).map(|sector| version(ftl, sector)).collect();
    };
    let plan = RamPlan::new(&geometry, &config).expect("fits");
    let mut device = Worn::new(geometry, 1, Wear::default());
    let mut ram = OwnedRam::for_plan(&plan);
    live(
        &mut Ftl::format(&mut device, &config, ram.lend(), KEY, Counters::default())
            .expect("formatted"),
    );
    let (page, first) = lost.expect("a fold began");
    device.chip.lose(page);
    let mut ram = OwnedRam::for_plan(&plan);
    let mut ftl =
        Ftl::mount(&mut device, &config, ram.lend(), Counters::default()).expect("mounted");
    for (sector, wanted) in (first..first + 16).zip(before) {
        let found = version(&mut ftl, sector);
        let may_be_lost = sector < first + 2;
        assert!(found == wanted || found.is_none() && may_be_lost, "sector {sector}: {found:?}");
    }
}
