//! The hot paths, each set up in a state of its own and then walked. `ftl.rs` measures how long they take,
//! `instructions.rs` how many instructions.
//!
//! A path is a function that prepares its state and then hands its work to a [`Measure`]: only that is measured.
// Each benchmark compiles this module for itself and uses the part of it that it needs.
#![allow(dead_code, unused_imports)]

mod chains;
mod chip;
mod housekeeping;
mod keeping;
mod log;
pub(crate) mod null;
mod pages;
mod parts;

use ftl_core::config::{FilterChoice, PairedPages};
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::probe::NoProbe;
use ftl_core::{Config, Ftl, RamPlan};
use ftl_iface::{BlockStore, Bytes, NandDevice, Sector, SectorCount};

pub(crate) use housekeeping::MOUNT_C3;
pub(crate) use null::{Asked, Null};

/// Measures the work that it is handed, which it may call more than once only where the path is
/// [`Path::repeatable`].
pub(crate) type Measure<'a> = &'a mut dyn FnMut(&mut dyn FnMut());

/// A path.
pub(crate) struct Path {
    /// What is done, and to what.
    pub(crate) name: &'static str,
    /// What a count of one stands for.
    pub(crate) unit: &'static str,
    /// Units that one call of the work does.
    pub(crate) units: u32,
    /// Whether the work leaves the state as it found it.
    pub(crate) repeatable: bool,
    /// Whether the path is walked on a sixteenth of C3.
    pub(crate) small: bool,
    /// Whose device it is.
    pub(crate) store: Store,
    /// Prepares and measures. The device's counts say afterwards what the work alone asked of it.
    pub(crate) walk: fn(&mut Null, Measure<'_>),
}

impl Path {
    const fn new(
        name: &'static str,
        unit: &'static str,
        units: u32,
        walk: fn(&mut Null, Measure<'_>),
    ) -> Self {
        Self { name, unit, units, repeatable: false, small: false, store: Store::Chains, walk }
    }

    const fn repeatable(self) -> Self {
        Self { repeatable: true, ..self }
    }

    const fn small(self) -> Self {
        Self { small: true, ..self }
    }

    /// A path of the page store, whose device is the small one.
    const fn of_pages(self) -> Self {
        Self { small: true, store: Store::Pages, ..self }
    }
}

/// The two FTLs. What the page store reads back is more than the other's device keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    Chains,
    Pages,
}

/// The devices' own cost: one path for each of their operations, in the order of [`Asked`]'s fields.
pub(crate) const DEVICE: [Path; 7] = [
    Path::new("device: read", "read", DEVICE_CALLS, null::reads).repeatable(),
    Path::new("device: program", "program", DEVICE_CALLS, null::programs).repeatable(),
    Path::new("device: erase", "erase", DEVICE_CALLS, null::erases).repeatable(),
    Path::new("page store's device: read", "read", DEVICE_CALLS, keeping::reads)
        .repeatable()
        .of_pages(),
    Path::new("page store's device: program", "program", DEVICE_CALLS, keeping::programs)
        .repeatable()
        .of_pages(),
    Path::new("page store's device: erase", "erase", DEVICE_CALLS, keeping::erases)
        .repeatable()
        .of_pages(),
    Path::new("page store's device: copy", "page", DEVICE_CALLS, keeping::copies)
        .repeatable()
        .of_pages(),
];

/// Calls of the device that are measured at once.
pub(crate) const DEVICE_CALLS: u32 = 4096;

/// Every path through the FTL, and those of the simulated chip.
pub(crate) fn all() -> impl Iterator<Item = &'static Path> {
    let paths =
        [log::PATHS, chains::PATHS, housekeeping::PATHS, pages::PATHS, parts::PATHS, chip::PATHS];
    paths.into_iter().flatten()
}

/// Numbers that look random and are the same at every run (Vigna's generator `SplitMix64`).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) % u64::from(limit)) as u32
    }

    /// Puts them in an order that looks random.
    pub(crate) fn shuffle<T>(&mut self, things: &mut [T]) {
        for end in (1..things.len()).rev() {
            let other = self.below(end as u32 + 1) as usize;
            things.swap(end, other);
        }
    }
}

const SECTOR: usize = 2048;
/// Sectors of a logical block of C3.
const BLOCK: u32 = 256;
/// Its pages.
const BLOCK_PAGES: u32 = 128;
/// The largest request of any path, in sectors: 128 KiB.
const LARGEST: u32 = 64;
static DATA: [u8; LARGEST as usize * SECTOR] = [0x5A; LARGEST as usize * SECTOR];

const ONE_SECTOR: Bytes = Bytes::new(SECTOR as u32);

/// The paper's device, with the filter set so that one sector is hot and more are cold: a path is chosen by the size
/// of its requests.
const HYBRID: Config = Config {
    filter: FilterChoice::ByBytes { initial: ONE_SECTOR, largest: ONE_SECTOR },
    // A lead of the log's wear is what these paths make, and the throttle would turn them away.
    throttle: false,
    // What guarding costs is a path of its own.
    paired_pages: PairedPages::Accept,
    ..Config::HYBRID
};

/// The same device without a log.
const CHAINS: Config =
    Config { throttle: false, paired_pages: PairedPages::Accept, ..Config::CONVENTIONAL };

/// An FTL at work, with memory for what its host asks.
struct Rig<'ram> {
    ftl: Ftl<'ram, &'ram mut Null>,
    order: Vec<Sector>,
    read: Vec<u8>,
}

impl Rig<'_> {
    fn write(&mut self, first: Sector, sectors: u32) {
        let data = &DATA[..sectors as usize * SECTOR];
        self.ftl.write(first, data).expect("the device never fails");
    }

    fn read(&mut self, first: Sector, sectors: u32) {
        let data = &mut self.read[..sectors as usize * SECTOR];
        self.ftl.read(first, data).expect("the device never fails");
    }

    /// Writes these sectors, so many a request.
    fn write_all(&mut self, order: &[Sector], sectors: u32) {
        for first in order {
            self.write(*first, sectors);
        }
    }

    /// Writes the first logical blocks from their first sector to their last.
    fn fill(&mut self, blocks: u32) {
        let firsts: Vec<Sector> =
            (0..blocks * BLOCK / LARGEST).map(|at| Sector::new(at * LARGEST)).collect();
        self.write_all(&firsts, LARGEST);
    }
}

/// Formats the device, prepares an FTL on it, and has the work measured.
fn on_ftl(
    device: &mut Null,
    config: &Config,
    prepare: impl FnOnce(&mut Rig<'_>),
    mut work: impl FnMut(&mut Rig<'_>),
    measure: Measure<'_>,
) {
    let plan = RamPlan::new(device.geometry(), config).expect("the configuration fits C3");
    let mut ram = OwnedRam::for_plan(&plan);
    let ftl = Ftl::format(device, config, ram.lend(), 1, NoProbe).expect("the device never fails");
    let read = vec![0; LARGEST as usize * SECTOR];
    let mut rig = Rig { ftl, order: Vec::new(), read };
    prepare(&mut rig);
    rig.ftl.device_mut().asked = Asked::default();
    measure(&mut || work(&mut rig));
}

/// Mounts what an FTL has left behind.
fn on_mount(
    device: &mut Null,
    config: &Config,
    prepare: impl FnOnce(&mut Rig<'_>),
    measure: Measure<'_>,
) {
    on_ftl(&mut *device, config, prepare, |_| {}, &mut |_| {});
    let plan = RamPlan::new(device.geometry(), config).expect("the configuration fits C3");
    let mut ram = OwnedRam::for_plan(&plan);
    device.asked = Asked::default();
    measure(&mut || {
        let ftl = Ftl::mount(&mut *device, config, ram.lend(), NoProbe).expect("it was formatted");
        std::hint::black_box(ftl.index_load());
    });
}

/// The first sectors of requests that go round so many logical blocks, each at a random place that is a multiple of
/// the request's length.
fn round_robin(blocks: u32, requests: u32, sectors: u32, numbers: &mut Numbers) -> Vec<Sector> {
    let place = |at: u32| at % blocks * BLOCK + numbers.below(BLOCK / sectors) * sectors;
    (0..requests).map(place).map(Sector::new).collect()
}

/// So many sectors of the first `within`, no two alike, in random order.
fn distinct(count: u32, within: u32, numbers: &mut Numbers) -> Vec<Sector> {
    let mut sectors: Vec<Sector> = (0..within).map(Sector::new).collect();
    numbers.shuffle(&mut sectors);
    sectors.truncate(count as usize);
    sectors
}
