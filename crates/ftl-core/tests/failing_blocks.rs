//! Blocks that fail in use: wherever a program or an erase fails, nothing is lost and the device continues until its
//! reserve is used up; then everything can still be read.

use crate::world;

use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::probe::Counters;
use ftl_core::{Config, FilterChoice, Ftl, MountError, RamPlan};
use ftl_iface::{
    Block, BlockStore, Geometry, NandDevice, Page, PageCount, PageIndex, Region, Sector,
    SectorCount, StoreWriteError,
};
use nand_model::Chip;
use nand_model::faults::{FaultInjector, When};

use world::{Dice, Faults, Faulty, KEY, content, devices};

/// Chosen operations fail.
struct Chosen {
    /// Programs, erases and marks so far.
    operations: u64,
    /// Whether the operation with this number fails.
    fails: Box<dyn Fn(u64) -> bool>,
    /// Whether failed blocks can be marked bad.
    marks: bool,
    /// A page of each block, and the programs of it in the first region.
    watched: PageIndex,
    seen: Vec<u64>,
}

impl Faults for Chosen {
    fn fails(&mut self, chip: &mut FaultInjector<Chip>, block: Block, page: Option<Page>) -> bool {
        self.operations += 1;
        if block.region() == Region::Slc && page.is_some_and(|page| page.index() == self.watched) {
            self.seen.push(self.operations);
        }
        let fails = (self.fails)(self.operations);
        if fails && !self.marks {
            chip.fail_mark(block);
        }
        fails
    }

    fn marked(&mut self) {
        self.operations += 1;
    }
}

type Device = Faulty<Chosen>;

fn sound(geometry: Geometry) -> Device {
    let faults = Chosen {
        operations: 0,
        fails: Box::new(|_| false),
        marks: true,
        watched: PageIndex::new(0),
        seen: Vec::new(),
    };
    Faulty::new(geometry, 1, faults)
}

/// Within so many operations a format has erased its headers.
const HEADERS_ERASED: u64 = 3;

const SPARE: u32 = ftl_core::hybrid::shape::SPARE_BLOCKS_MIN as u32;

/// Returns one of the small devices with this many blocks of reserve.
fn with_reserve(geometry: &Geometry, config: Config, reserve: u32) -> Config {
    let plan = RamPlan::new(geometry, &config).expect("fits");
    let shape = *plan.shape();
    let blocks = shape.chain.block_count().get() - SPARE - reserve;
    let capacity = blocks * shape.sectors_per_block.get();
    Config { capacity: Some(SectorCount::new(capacity)), ..config }
}

/// The acknowledged content, and what a refused request may have left.
struct Truth {
    now: Vec<u32>,
    asked: Vec<Option<u32>>,
    next: u32,
}

const BYTES: usize = 512;

impl Truth {
    fn new(capacity: SectorCount) -> Self {
        Self { now: vec![0; capacity.as_usize()], asked: vec![None; capacity.as_usize()], next: 1 }
    }

    fn holds(version: u32, sector: u32, found: &[u8]) -> bool {
        match version {
            0 => found.iter().all(|byte| *byte == 0),
            _ => found == content(sector, version, BYTES),
        }
    }

    fn compare<D: NandDevice>(&mut self, ftl: &mut Ftl<'_, D, Counters>) {
        let mut data = [0xA5; BYTES];
        for sector in 0..self.now.len() as u32 {
            let at = sector as usize;
            ftl.read(Sector::new(sector), &mut data)
                .unwrap_or_else(|error| panic!("sector {sector}: {error}"));
            if let Some(asked) = self.asked[at].take()
                && Self::holds(asked, sector, &data)
            {
                self.now[at] = asked;
            }
            assert!(Self::holds(self.now[at], sector, &data), "sector {sector} is not what it was");
        }
    }

    /// Does a request of any kind. Returns `false` if it was refused because the device is read-only.
    fn step<D: NandDevice>(&mut self, ftl: &mut Ftl<'_, D, Counters>, dice: &mut Dice) -> bool {
        let capacity = self.now.len() as u32;
        let most = if dice.percent(40) { 20 } else { 2 };
        let count = (1 + dice.below(most)).min(capacity);
        let hot = if dice.percent(50) { capacity.min(16 + count) } else { capacity };
        let first = dice.below(hot - count + 1);
        let run = first as usize..(first + count) as usize;
        let outcome = if dice.percent(10) {
            self.asked[run.clone()].fill(Some(0));
            ftl.trim(Sector::new(first), SectorCount::new(count))
        } else {
            let version = self.next;
            self.next += 1;
            self.asked[run.clone()].fill(Some(version));
            let data: Vec<u8> =
                (first..first + count).flat_map(|sector| content(sector, version, BYTES)).collect();
            ftl.write(Sector::new(first), &data)
        };
        match outcome {
            Ok(()) => {
                for at in run {
                    self.now[at] = self.asked[at].take().unwrap_or(self.now[at]);
                }
                true
            }
            Err(StoreWriteError::ReadOnly) => false,
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Runs the same life each time: filled, used, idle, stopped, mounted, switched off at rest, mounted again.
fn live(device: &mut Device, config: &Config, seed: u64) {
    let mut ram = OwnedRam::for_plan(&RamPlan::new(device.geometry(), config).expect("fits"));
    let mut dice = Dice::new(seed);
    let formatted =
        Ftl::format(&mut *device, config, ram.lend(), KEY, Counters::default()).map(drop);
    if let Err(error) = formatted {
        // The old header may still be there, and nothing can say that its block is bad.
        assert!(matches!(error, MountError::BlockFailed), "{error}");
        assert!(device.faults.operations <= HEADERS_ERASED && !device.faults.marks, "{error}");
        return;
    }
    let mut ftl =
        Ftl::mount(&mut *device, config, ram.lend(), Counters::default()).expect("mounted");
    let mut truth = Truth::new(ftl.capacity());
    for life in 0..4 {
        for at in 0..60 {
            assert!(truth.step(&mut ftl, &mut dice), "read-only with reserve left");
            if at % 20 == 0 {
                ftl.maintain(PageCount::new(10)).expect("idle");
                ftl.check().unwrap_or_else(|violation| panic!("{violation}"));
            }
        }
        if life % 2 == 0 {
            ftl.stop().expect("stopped");
        }
        ftl = Ftl::mount(ftl.into_parts().0, config, ram.lend(), Counters::default())
            .unwrap_or_else(|error| panic!("{error}"));
        truth.compare(&mut ftl);
        ftl.check().unwrap_or_else(|violation| panic!("{violation}"));
        assert!(!ftl.health().read_only);
    }
}

#[test]
fn whichever_operation_fails_nothing_is_lost_and_the_device_goes_on() {
    for (name, geometry, config) in devices::all() {
        let config = with_reserve(&geometry, config, 3);
        let mut device = sound(geometry);
        live(&mut device, &config, 5);
        let operations = device.faults.operations;
        assert!(operations > 600, "{name}: {operations}");
        for marks in [true, false] {
            // Failing every operation in turn would take too long; the stride has no factor in common with the periods
            // of the load.
            for fails in (1..operations).step_by(29) {
                let mut device = sound(geometry);
                device.faults.fails = Box::new(move |operation| operation == fails);
                device.faults.marks = marks;
                let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    live(&mut device, &config, 5);
                }));
                assert!(lived.is_ok(), "{name}: operation {fails} failed, marks: {marks}");
            }
        }
    }
}

#[test]
fn a_block_of_the_log_may_fail_within_a_request_of_several_pages() {
    let (geometry, config) = devices::hybrid();
    let config = Config { filter: FilterChoice::AcceptAll, throttle: false, ..config };
    let config = with_reserve(&geometry, config, 3);
    let mut ram = OwnedRam::for_plan(&RamPlan::new(&geometry, &config).expect("fits"));
    // The largest request that goes to the log, so that a failing block takes space that the request needs.
    let run = |fails: u64, ram: &mut OwnedRam| {
        let mut device = sound(geometry);
        let mut ftl = Ftl::format(&mut device, &config, ram.lend(), KEY, Counters::default())
            .expect("formatted");
        let begun = ftl.device().faults.operations;
        ftl.device_mut().faults.fails = Box::new(move |operation| operation == begun + fails);
        let log = ftl.shape().log.expect("a log");
        let sectors = (log.block_count().get() - 1) * u32::from(log.data_pages() * log.slots) / 2;
        for request in 0..12 {
            let first = request % 3 * 4;
            let data: Vec<u8> =
                (first..first + sectors).flat_map(|at| content(at, request + 1, BYTES)).collect();
            ftl.write(Sector::new(first), &data)
                .unwrap_or_else(|error| panic!("operation {fails} failed: {error}"));
            let mut found = vec![0; data.len()];
            ftl.read(Sector::new(first), &mut found).expect("read");
            assert_eq!(found, data, "operation {fails} failed");
        }
        ftl.check().unwrap_or_else(|violation| panic!("operation {fails} failed: {violation}"));
        ftl.device().faults.operations - begun
    };
    let operations = run(u64::MAX / 2, &mut ram);
    assert!(operations > 100, "{operations}");
    for fails in 1..operations {
        run(fails, &mut ram);
    }
}

#[test]
fn two_operations_in_a_row_may_fail() {
    for (name, geometry, config) in devices::all() {
        let config = with_reserve(&geometry, config, 4);
        for fails in (1..1_000).step_by(17) {
            let mut device = sound(geometry);
            device.faults.fails =
                Box::new(move |operation| (fails..fails + 2).contains(&operation));
            let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                live(&mut device, &config, 6);
            }));
            // A format with two failures may have no block for its header.
            assert!(lived.is_ok() || fails < 60, "{name}: operations from {fails} on failed");
        }
    }
}

/// A life in which one operation fails.
#[derive(Clone, Copy, Debug)]
struct Life {
    seed: u64,
    fails: u64,
    /// Requests after that one, before power is switched off.
    requests: u32,
}

/// Lives so and mounts. Returns the numbers of the programs of a log block's last page, without its summary.
fn live_and_mount(config: &Config, geometry: Geometry, life: Life) -> Vec<u64> {
    let plan = RamPlan::new(&geometry, config).expect("fits");
    let mut ram = OwnedRam::for_plan(&plan);
    let mut dice = Dice::new(life.seed);
    let mut device = sound(geometry);
    let log = plan.shape().log.expect("it has a log");
    device.faults.watched = PageIndex::new(log.data_pages() - 1);
    device.faults.fails = Box::new(move |operation| operation == life.fails);
    let mut ftl =
        Ftl::format(&mut device, config, ram.lend(), KEY, Counters::default()).expect("formatted");
    let mut truth = Truth::new(ftl.capacity());
    let mut left = life.requests;
    for _ in 0..200 {
        assert!(truth.step(&mut ftl, &mut dice), "read-only with reserve left");
        if ftl.device_mut().faults.operations >= life.fails {
            let Some(one_less) = left.checked_sub(1) else { break };
            left = one_less;
        }
    }
    let device = ftl.into_parts().0;
    let seen = core::mem::take(&mut device.faults.seen);
    let mut ftl = Ftl::mount(device, config, ram.lend(), Counters::default()).expect("mounted");
    truth.compare(&mut ftl);
    seen
}

/// The summary of a log block does not follow a last page that failed.
#[test]
fn what_was_acknowledged_after_the_last_page_of_a_log_block_failed_survives_the_next_mount() {
    let (geometry, config) = devices::guarded_hybrid();
    let config = with_reserve(&geometry, config, 3);
    let mut lives = 0;
    for seed in 0..40 {
        let sound = Life { seed, fails: u64::MAX, requests: 0 };
        for fails in live_and_mount(&config, geometry, sound) {
            for requests in 0..3 {
                let life = Life { fails, requests, ..sound };
                let outcome = std::panic::catch_unwind(|| live_and_mount(&config, geometry, life));
                assert!(outcome.is_ok(), "{life:?}");
                lives += 1;
            }
        }
    }
    assert!(lives > 1_000, "{lives} lives");
}

#[test]
fn when_the_reserve_is_gone_everything_can_be_read_and_nothing_is_written_any_more() {
    for (name, geometry, config) in devices::all() {
        for (seed, marks) in [(1, true), (2, true), (3, true), (4, false), (5, false)] {
            let config = with_reserve(&geometry, config, 3);
            wear_out(name, geometry, &config, seed, marks);
        }
    }
}

fn wear_out(name: &str, geometry: Geometry, config: &Config, seed: u64, marks: bool) {
    let mut ram = OwnedRam::for_plan(&RamPlan::new(&geometry, config).expect("fits"));
    let mut dice = Dice::new(seed);
    let mut device = sound(geometry);
    let mut ftl =
        Ftl::format(&mut device, config, ram.lend(), KEY, Counters::default()).expect("formatted");
    let mut truth = Truth::new(ftl.capacity());
    let full = ftl.health();
    assert_eq!((full.reserve_left.get(), full.reserve.get(), full.read_only), (3, 3, false));
    ftl.device_mut().faults.marks = marks;
    ftl.device_mut().faults.fails = Box::new(move |at| (at ^ seed).is_multiple_of(61));
    let mut least = full.reserve_left;
    for at in 0.. {
        assert!(at < 20_000, "{name}: it never ends");
        let goes_on = truth.step(&mut ftl, &mut dice);
        let health = ftl.health();
        assert!(health.reserve_left <= least, "{name}: the reserve only shrinks");
        least = health.reserve_left;
        if at % 50 == 49 && goes_on {
            ftl = Ftl::mount(ftl.into_parts().0, config, ram.lend(), Counters::default())
                .expect("mounted");
            truth.compare(&mut ftl);
            least = ftl.health().reserve_left;
        }
        if !goes_on {
            break;
        }
    }
    assert!(ftl.health().read_only, "{name}");
    truth.compare(&mut ftl);
    for life in 0..3 {
        let refused = Err(StoreWriteError::ReadOnly);
        assert_eq!(ftl.write(Sector::new(0), &[1; BYTES]), refused, "{name}");
        assert_eq!(ftl.trim(Sector::new(0), SectorCount::new(1)), refused, "{name}");
        assert_eq!(ftl.maintain(PageCount::new(100)), Err(StoreWriteError::ReadOnly), "{name}");
        assert_eq!(ftl.settle(), refused, "{name}");
        if life % 2 == 0 {
            ftl.stop().expect("stopped");
        }
        let device = ftl.into_parts().0;
        let before = device.faults.operations;
        ftl = Ftl::mount(device, config, ram.lend(), Counters::default()).expect("mounted");
        truth.compare(&mut ftl);
        ftl.check().unwrap_or_else(|violation| panic!("{name}: {violation}"));
        if !ftl.health().read_only && !ftl.device().faults.marks {
            // A block that could be neither marked nor listed counts as good again.
            return;
        }
        assert!(ftl.health().read_only, "{name} {seed}: {:?}", ftl.health());
        assert_eq!(
            ftl.device().faults.operations,
            before,
            "{name}: a read-only device is left alone"
        );
    }
}

#[test]
fn a_format_does_without_blocks_that_do_not_erase_as_long_as_the_capacity_is_held() {
    let (geometry, config) = devices::one_slc();
    let config = with_reserve(&geometry, config, 2);
    let plan = RamPlan::new(&geometry, &config).expect("fits");
    let shape = *plan.shape();
    let chain = |number: u32| Block::new(shape.chain.region, shape.chain.first + number);
    for failing in 0..4 {
        let mut ram = OwnedRam::for_plan(&plan);
        let mut device = sound(geometry);
        for number in 0..failing {
            device.chip.fail_erase(chain(number), When::Always);
        }
        let formatted = Ftl::format(device, &config, ram.lend(), KEY, Counters::default());
        if failing <= 2 {
            let health = formatted.expect("formatted").health();
            assert_eq!(health.reserve_left.get(), 2 - failing);
            assert_eq!(health.failed.get(), failing);
        } else {
            let needed = shape.logical_blocks + 2;
            let refused = MountError::TooFewBlocks { good: needed - 1, needed };
            assert_eq!(formatted.err(), Some(refused));
        }
    }
}

#[test]
fn a_log_without_blocks_is_closed_and_its_content_stays() {
    let (geometry, config) = devices::one_slc();
    let config = with_reserve(&geometry, config, 2);
    let plan = RamPlan::new(&geometry, &config).expect("fits");
    let log = plan.shape().log.expect("there is one");
    let mut ram = OwnedRam::for_plan(&plan);
    let mut device = sound(geometry);
    let mut ftl =
        Ftl::format(&mut device, &config, ram.lend(), KEY, Counters::default()).expect("formatted");
    let mut truth = Truth::new(ftl.capacity());
    let mut dice = Dice::new(9);
    for _ in 0..100 {
        truth.step(&mut ftl, &mut dice);
    }
    assert!(ftl.health().fast.is_some());
    for number in 0..log.block_count().get() {
        let block = Block::new(log.region, log.first + number);
        ftl.device_mut().chip.fail_erase(block, When::Always);
    }
    for _ in 0..400 {
        assert!(truth.step(&mut ftl, &mut dice), "the chains take it all");
    }
    assert_eq!(ftl.health().fast, None);
    assert_eq!(ftl.health().reserve_left, ftl.health().reserve);
    for stops in [true, false] {
        ftl.check().unwrap_or_else(|violation| panic!("{violation}"));
        if stops {
            ftl.stop().expect("stopped");
        }
        ftl = Ftl::mount(ftl.into_parts().0, &config, ram.lend(), Counters::default())
            .expect("mounted");
        truth.compare(&mut ftl);
        assert_eq!(ftl.health().fast, None);
        for _ in 0..50 {
            assert!(truth.step(&mut ftl, &mut dice));
        }
    }
}
