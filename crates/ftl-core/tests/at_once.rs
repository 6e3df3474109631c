//! In each request as many blocks fail as the device's health allows at once, at the worst moments, and the device
//! continues until its reserve is used up.

use crate::world;

use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::hybrid::shape::{Area, SPARE_BLOCKS_MIN, Shape};
use ftl_core::probe::Counters;
use ftl_core::{Config, Ftl, RamPlan};
use ftl_core::{Operations, WorstCase};
use ftl_iface::{
    Block, BlockStore, Geometry, NandDevice, Page, PageCount, Sector, SectorCount, StoreWriteError,
    Work,
};
use nand_model::Chip;
use nand_model::faults::FaultInjector;

use world::{Dice, Faults, Faulty, KEY, content, devices, operations};

/// Which operations on the chains fail while failures are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    /// Every operation.
    All,
    /// Every program except the first of a block.
    LaterPrograms,
    /// Programs of last pages: of folds that are nearly complete.
    LastPages,
    /// Every erase.
    Erases,
    /// Random operations, or none.
    Any,
}

/// Lets as many blocks of the chains fail as are granted.
struct AtOnce {
    chain: Area,
    which: Which,
    dice: Dice,
    /// Blocks that have failed since the last grant.
    hit: Vec<Block>,
    granted: usize,
    /// All blocks that have failed.
    failed: Vec<Block>,
}

impl AtOnce {
    fn new(shape: &Shape, which: Which, seed: u64) -> Self {
        Self {
            chain: shape.chain,
            which,
            dice: Dice::new(seed),
            hit: Vec::new(),
            granted: 0,
            failed: Vec::new(),
        }
    }

    fn grant(&mut self, blocks: u32) {
        self.hit.clear();
        self.granted = blocks as usize;
    }
}

impl Faults for AtOnce {
    fn fails(&mut self, _: &mut FaultInjector<Chip>, block: Block, page: Option<Page>) -> bool {
        let chain = self.chain;
        let last = chain.first + chain.block_count().get();
        let lies_there =
            block.region() == chain.region && (chain.first..last).contains(&block.index());
        let wanted = match (self.which, page) {
            (Which::All, _) | (Which::Erases, None) => true,
            (Which::LaterPrograms, Some(page)) => page.index().get() > 0,
            (Which::LastPages, Some(page)) => page.index().get() + 1 == chain.pages,
            (Which::Any, _) => self.dice.percent(10),
            _ => false,
        };
        let fails =
            lies_there && wanted && (self.hit.contains(&block) || self.hit.len() < self.granted);
        if fails {
            for list in [&mut self.hit, &mut self.failed] {
                if !list.contains(&block) {
                    list.push(block);
                }
            }
        }
        fails
    }
}

const BYTES: usize = 512;

/// The result of a request.
type Ended = Result<(), StoreWriteError<<Faulty<AtOnce> as NandDevice>::Error>>;

/// Does a random write, trim or idle work. Returns the result, and the most that it may have cost.
fn one_request(
    ftl: &mut Ftl<'_, &mut Faulty<AtOnce>, Counters>,
    worst: &WorstCase,
    dice: &mut Dice,
    (version, truth): (u32, &mut [u32]),
) -> (Ended, Operations) {
    let capacity = ftl.capacity().get();
    let longest = if dice.percent(30) { 40 } else { 3 };
    let count = (1 + dice.below(longest)).min(capacity);
    let first = dice.below(capacity - count + 1);
    let (trims, idle) = (dice.percent(8), dice.percent(8));
    let run = first as usize..(first + count) as usize;
    let sectors = SectorCount::new(count);
    if trims {
        truth[run].fill(0);
        (ftl.trim(Sector::new(first), sectors), worst.trim(sectors))
    } else if idle {
        let budget = if dice.percent(50) { 20 } else { 2_000 };
        (ftl.maintain(PageCount::new(budget)).map(drop), worst.maintain(budget))
    } else {
        truth[run].fill(version);
        let data: Vec<u8> =
            (first..first + count).flat_map(|at| content(at, version, BYTES)).collect();
        (ftl.write(Sector::new(first), &data), worst.write(sectors))
    }
}

/// Writes and trims, with as many failures in each request as the device allows, until as many blocks have failed as
/// the reserve holds. Every request is acknowledged, and none costs more than its bound. Returns the programs of the
/// costliest request, in hundredths of its bound.
fn wear_out(geometry: Geometry, config: &Config, reserve: usize, which: Which, seed: u64) -> u64 {
    let plan = RamPlan::new(&geometry, config).expect("fits");
    let mut ram = OwnedRam::for_plan(&plan);
    let mut device = Faulty::new(geometry, seed, AtOnce::new(plan.shape(), which, seed));
    let mut ftl =
        Ftl::format(&mut device, config, ram.lend(), KEY, Counters::default()).expect("formatted");
    let capacity = ftl.capacity().get();
    let mut truth = vec![0_u32; capacity as usize];
    let mut dice = Dice::new(seed);
    let worst = WorstCase::new(plan.shape(), config);
    let mut nearest = 0;
    for version in 1..600 {
        let left = (reserve - ftl.device().faults.failed.len()) as u32;
        let health = ftl.health();
        assert!(!health.read_only, "read-only with {left} blocks of reserve left");
        assert!(health.at_once <= health.reserve_left);
        ftl.device_mut().faults.grant(health.at_once.get().min(left));
        let before = operations(ftl.probe());
        let (outcome, bound) = one_request(&mut ftl, &worst, &mut dice, (version, &mut truth));
        let hit = ftl.device().faults.hit.len();
        let cost = operations(ftl.probe()).less(before);
        let ended = ftl.health().read_only.then(|| worst.end_of_reserve());
        let end = ended.unwrap_or_default();
        let bound = bound.and(worst.failure().times(hit as u64)).and(end);
        nearest = nearest.max(hold_to_bound(cost, bound, hit));
        assert_ne!(outcome, Err(StoreWriteError::ReadOnly), "{hit} blocks failed, {left} left");
        outcome.expect("done");
        if version % 40 == 0 {
            ftl.check().unwrap_or_else(|violation| panic!("{violation}"));
        }
    }
    let mut rounds = 0;
    while ftl.maintain(PageCount::new(1_000)).expect("idle") == Work::Left {
        rounds += 1;
        assert!(rounds < 10, "the idle device has work without end");
    }
    let health = ftl.health();
    let expected =
        if health.reserve_left.get() >= 8 { 2 } else { health.reserve_left.get().min(1) };
    assert_eq!(health.at_once.get(), expected, "idle time wins them back");
    read_all(&mut ftl, &truth);
    if matches!(which, Which::All | Which::Any) {
        assert_eq!(device.faults.failed.len(), reserve, "the reserve was spent");
    }
    nearest
}

fn read_all<S: BlockStore>(ftl: &mut S, truth: &[u32]) {
    let mut data = [0xA5; BYTES];
    for (sector, version) in (0..).zip(truth) {
        assert!(ftl.read(Sector::new(sector), &mut data).is_ok(), "sector {sector} is readable");
        let expected =
            if *version == 0 { vec![0; BYTES] } else { content(sector, *version, BYTES) };
        assert_eq!(data[..], expected, "sector {sector}");
    }
}

/// Asserts that a request in which blocks failed cost no more than its bound. Returns its programs in hundredths of the
/// bound, or 0 if no block failed.
fn hold_to_bound(cost: Operations, bound: Operations, hit: usize) -> u64 {
    assert!(cost.within(bound), "{hit} blocks failed: cost {cost:?}, more than {bound:?}");
    if hit > 0 { cost.programs * 100 / bound.programs } else { 0 }
}

#[test]
fn as_many_blocks_as_the_device_says_may_fail_in_every_request_until_the_reserve_is_gone() {
    let all = [Which::All, Which::LaterPrograms, Which::LastPages, Which::Erases, Which::Any];
    let mut nearest = 0;
    for (name, geometry, config) in devices::all() {
        for reserve in [1, 3, 9] {
            let shape = *RamPlan::new(&geometry, &config).expect("fits").shape();
            let blocks = shape.chain.block_count().get() - u32::from(SPARE_BLOCKS_MIN) - reserve;
            let capacity = SectorCount::new(blocks * shape.sectors_per_block.get());
            let config = Config { capacity: Some(capacity), ..config };
            for (which, seed) in all.into_iter().flat_map(|which| [(which, 1), (which, 2)]) {
                let lived = std::panic::catch_unwind(|| {
                    wear_out(geometry, &config, reserve as usize, which, seed)
                });
                assert!(lived.is_ok(), "{name}: reserve {reserve}, {which:?}, seed {seed}");
                nearest = nearest.max(lived.unwrap_or_default());
            }
        }
    }
    assert!(nearest > 33, "what failures are said to cost is no idle figure: {nearest} hundredths");
}
