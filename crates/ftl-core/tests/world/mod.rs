//! A small world for tests: a chip, an FTL on it, and the expected content.
// Each test file compiles this module for itself and uses the part of it that it needs.
#![allow(dead_code, unreachable_pub, unused_imports)]

pub mod counted;
pub mod devices;
mod dice;
pub mod fading;
mod faulty;
mod life;

pub use dice::Dice;
pub use faulty::{Faults, Faulty};
pub use life::{Tandem, read_sector};

use ftl_core::config::PairedPages;
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::probe::{Counters, Verb};
use ftl_core::{Config, Ftl, RamPlan};
use ftl_core::{Operations, WorstCase};
use ftl_iface::{
    BlockCount, BlockStore, Bytes, Cell, Geometry, PageCount, Pairing, Region, RegionGeometry,
    Sector, SectorCount,
};
use nand_model::part::{Ecc, Layout, Nanos, Part, Power, RegionPart, Timing};
use nand_model::power::{Cut, Fates, PairFate};
use nand_model::{Chip, Content};

/// Returns a power cut with effects chosen by the seed. Pages that share cells with the one in flight stay intact if
/// the configuration does not protect them, because then nothing is promised about them.
pub fn cut(config: &Config, at: u64, seed: u64) -> Cut {
    match config.paired_pages {
        PairedPages::Guard => Cut::seeded(at, seed),
        PairedPages::Accept => cut_kept(at, seed),
    }
}

/// Returns a power cut with effects chosen by the seed, except that pages which share cells stay intact.
pub fn cut_kept(at: u64, seed: u64) -> Cut {
    let seeded = Cut::seeded(at, seed);
    Cut::chosen(at, Fates { pair: PairFate::Kept, ..*seeded.fates() })
}

/// The key of every format in tests.
pub const KEY: u32 = 0x00C0_FFEE;

/// Changes a word of a header of either FTL, and its check with it.
pub fn change_header(header: &mut [u8], at: usize, word: u32) {
    header[at..at + 4].copy_from_slice(&word.to_le_bytes());
    let check = header[..92].chunks_exact(4).fold(0x5441_4E44_u32, |hash, word| {
        let word = u32::from_le_bytes(word.try_into().expect("four bytes"));
        let hash = (hash ^ word).wrapping_mul(0x85EB_CA6B);
        hash ^ hash >> 13
    });
    header[92..96].copy_from_slice(&check.to_le_bytes());
}

/// Returns a region of this many blocks.
pub fn region(cell: Cell, blocks: u32, pages: u32, page_bytes: u32) -> RegionGeometry {
    RegionGeometry {
        cell,
        blocks: BlockCount::new(blocks),
        pages_per_block: PageCount::new(pages),
        page_bytes: Bytes::new(page_bytes),
        spare_bytes: Bytes::new(128),
        pairing: match cell {
            Cell::Slc => Pairing::None,
            Cell::Mlc => Pairing::Distance3,
            Cell::Tlc => Pairing::Adjacent3,
        },
    }
}

/// Returns the same region without shared cells.
pub fn unpaired(region: RegionGeometry) -> RegionGeometry {
    RegionGeometry { pairing: Pairing::Table(&[]), ..region }
}

/// Returns a part with this geometry, with the times of Chang's Table 1.
pub fn part(geometry: Geometry) -> Part {
    let figures = |read, program, endurance| RegionPart {
        timing: Timing {
            read: Nanos::from_micros(read),
            program: Nanos::from_micros(program),
            erase: Nanos::from_micros(1_500),
            bus_picos_per_byte: 0,
        },
        endurance,
        ecc: Ecc { correctable_bits: 8, codeword_bytes: 512 },
        factory_bad_blocks_max: BlockCount::ZERO,
        dollars_per_gib: 1.0,
        slc_mode: None,
        layout: None,
    };
    Part {
        name: "test".into(),
        title: "a chip for tests".into(),
        geometry,
        slc: geometry.slc().map(|_| figures(25, 200, 100_000)),
        mlc: geometry.mlc().map(|_| figures(60, 800, 5_000)),
        layout: Layout::SINGLE,
        power: Power { supply_millivolts: 3_300, active_microamps: 15_000, standby_microamps: 10 },
        exported_bytes: 0,
        sector_bytes: Bytes::new(512),
        price_source: None,
    }
}

/// Returns the content of a sector in one of its versions: no two are alike, none is all zeros.
pub fn content(sector: u32, version: u32, bytes: usize) -> Vec<u8> {
    let mut state = u64::from(sector) << 32 | u64::from(version) | 1 << 63;
    (0..bytes)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect()
}

/// When a world checks every invariant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Checks {
    EachStep,
    Never,
}

/// A step of the host.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Write {
        first: u32,
        count: u32,
    },
    Read {
        first: u32,
        count: u32,
    },
    Trim {
        first: u32,
        count: u32,
    },
    Maintain {
        budget: u32,
    },
    /// The FTL is dropped with its memory and mounted again.
    Remount,
}

pub struct World {
    pub config: Config,
    plan: RamPlan,
    chip: Option<Chip>,
    counters: Counters,
    /// The version of each sector; none: it was never written, or is trimmed.
    pub truth: Vec<Option<u32>>,
    next_version: u32,
    /// The most that any request has cost, for each kind of operation.
    pub costliest: Operations,
}

/// Returns the operations of the device so far.
pub fn operations(counters: &Counters) -> Operations {
    let total = |verb| Region::ALL.iter().map(|region| counters.total(*region, verb)).sum();
    Operations {
        reads: total(Verb::Read),
        programs: total(Verb::Program),
        erases: total(Verb::Erase),
    }
}

/// Returns the larger of each number.
pub fn most(one: Operations, other: Operations) -> Operations {
    Operations {
        reads: one.reads.max(other.reads),
        programs: one.programs.max(other.programs),
        erases: one.erases.max(other.erases),
    }
}

impl World {
    pub fn new(geometry: Geometry, config: Config) -> Self {
        let mut world = Self::unformatted(geometry, config);
        let mut ram = OwnedRam::for_plan(&world.plan);
        let chip = world.chip.take().expect("there is a chip");
        let ftl = Ftl::format(chip, &config, ram.lend(), KEY, Counters::default()).expect("format");
        world.chip = Some(ftl.into_parts().0);
        world
    }

    fn unformatted(geometry: Geometry, config: Config) -> Self {
        let plan = RamPlan::new(&geometry, &config).expect("the configuration fits the device");
        let chip = Chip::new(&part(geometry), Content::Bytes).expect("the part is possible");
        let truth = vec![None; plan.shape().capacity.as_usize()];
        Self {
            config,
            plan,
            chip: Some(chip),
            counters: Counters::default(),
            truth,
            next_version: 1,
            costliest: Operations::default(),
        }
    }

    pub fn capacity(&self) -> u32 {
        self.truth.len() as u32
    }

    /// Returns the chip between two lives of the FTL, to be read by other means.
    pub fn chip_mut(&mut self) -> &mut Chip {
        self.chip.as_mut().expect("there is a chip")
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Runs the steps, from a fresh mount.
    pub fn run(&mut self, steps: &[Step], checks: Checks) {
        let mut rest = steps;
        while !rest.is_empty() {
            let end = rest.iter().position(|step| matches!(step, Step::Remount));
            let (now, after) = rest.split_at(end.unwrap_or(rest.len()));
            self.session(now, checks);
            rest = after.get(1..).unwrap_or(&[]);
            if end.is_some() && rest.is_empty() {
                self.session(&[], checks);
            }
        }
    }

    /// Runs one life of the FTL: mounted, used, dropped.
    fn session(&mut self, steps: &[Step], checks: Checks) {
        let mut ram = OwnedRam::for_plan(&self.plan);
        let chip = self.chip.take().expect("there is a chip");
        let counters = std::mem::take(&mut self.counters);
        let mut ftl = Ftl::mount(chip, &self.config, ram.lend(), counters).expect("mount");
        // The work that a mount leaves to the first request is not part of that request's bound.
        ftl.settle().expect("settle");
        if checks == Checks::EachStep {
            ftl.check().unwrap_or_else(|violation| panic!("after the mount: {violation}"));
        }
        for (at, step) in steps.iter().enumerate() {
            let before = operations(ftl.probe());
            self.step(&mut ftl, *step);
            self.hold_to_bound(before, operations(ftl.probe()), *step);
            if checks == Checks::EachStep {
                ftl.check()
                    .unwrap_or_else(|violation| panic!("after step {at}, {step:?}: {violation}"));
            }
        }
        self.read_all(&mut ftl);
        let (chip, counters) = ftl.into_parts();
        self.chip = Some(chip);
        self.counters = counters;
    }

    /// Asserts that a request cost no more than its worst case.
    fn hold_to_bound(&mut self, before: Operations, after: Operations, step: Step) {
        let worst = WorstCase::new(self.plan.shape(), &self.config);
        let bound = match step {
            Step::Write { count, .. } => worst.write(SectorCount::new(count)),
            Step::Read { count, .. } => worst.read(SectorCount::new(count)),
            Step::Trim { count, .. } => worst.trim(SectorCount::new(count)),
            Step::Maintain { budget } => worst.maintain(budget),
            Step::Remount => unreachable!("a session has no mount in it"),
        };
        let cost = after.less(before);
        assert!(cost.within(bound), "{step:?} cost {cost:?}, more than {bound:?}");
        self.costliest = most(self.costliest, cost);
    }

    pub fn step<S: BlockStore>(&mut self, store: &mut S, step: Step) {
        let bytes = store.sector_bytes().as_usize();
        match step {
            Step::Write { first, count } => {
                let mut data = Vec::with_capacity(count as usize * bytes);
                for sector in first..first + count {
                    data.extend(content(sector, self.next_version, bytes));
                    self.truth[sector as usize] = Some(self.next_version);
                }
                self.next_version += 1;
                store.write(Sector::new(first), &data).expect("write");
            }
            Step::Read { first, count } => self.verify(store, first, count),
            Step::Trim { first, count } => {
                store.trim(Sector::new(first), SectorCount::new(count)).expect("trim");
                self.truth[first as usize..(first + count) as usize].fill(None);
            }
            Step::Maintain { budget } => {
                store.maintain(PageCount::new(budget)).expect("maintain");
            }
            Step::Remount => unreachable!("a session has no mount in it"),
        }
    }

    fn verify<S: BlockStore>(&self, store: &mut S, first: u32, count: u32) {
        let bytes = store.sector_bytes().as_usize();
        let mut data = vec![0xA5; count as usize * bytes];
        store.read(Sector::new(first), &mut data).expect("read");
        for (sector, found) in (first..).zip(data.chunks(bytes)) {
            let version = self.truth[sector as usize];
            let wanted = version.map_or(vec![0; bytes], |version| content(sector, version, bytes));
            assert!(
                found == wanted,
                "sector {sector} should read as version {version:?}, and is {}",
                self.recognise(sector, found)
            );
        }
    }

    /// Describes wrong content, for the message.
    fn recognise(&self, sector: u32, found: &[u8]) -> String {
        if found.iter().all(|byte| *byte == 0) {
            return "zeros".into();
        }
        let version =
            (1..self.next_version).find(|version| content(sector, *version, found.len()) == found);
        version.map_or("none of its versions".into(), |version| format!("version {version}"))
    }

    /// Reads the whole device, in requests of various lengths.
    pub fn read_all<S: BlockStore>(&self, store: &mut S) {
        let mut first = 0;
        let mut count = 1;
        while first < self.capacity() {
            let now = count.min(self.capacity() - first);
            self.verify(store, first, now);
            first += now;
            count = count % 7 + 1;
        }
    }
}
