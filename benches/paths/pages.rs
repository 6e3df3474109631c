//! Paths through the page store, on a sixteenth of C3 that is filled, so that each makes the room that it takes.

use ftl_core::config::PairedPages;
use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan};
use ftl_core::probe::NoProbe;
use ftl_iface::{BlockStore, NandDevice, Sector, SectorCount};

use super::keeping::Keeping;
use super::{Asked, DATA, LARGEST, Measure, Null, Numbers, Path, SECTOR, distinct};

pub(super) const PATHS: &[Path] = &[
    Path::new("page store: write of a page at random", "page", WRITES, at_random).of_pages(),
    Path::new("page store: write in order", "page", IN_ORDER * LARGEST / PAGE, in_order).of_pages(),
    Path::new("page store: read, map cached", "page", READS, read_cached).repeatable().of_pages(),
    Path::new("page store: read, map not cached", "page", READS, read_uncached)
        .repeatable()
        .of_pages(),
    Path::new("page store: mount of a sixteenth of C3", "mount", 1, mount).repeatable().of_pages(),
];

/// Sectors that the host may use: seven in eight of the MLC's.
const CAPACITY: u32 = 2688 * 256 / 8 * 7;
/// Sectors of a page of the MLC.
const PAGE: u32 = 2;
const WRITES: u32 = 16_384;
/// Requests of 128 KiB.
const IN_ORDER: u32 = 1024;
const READS: u32 = 16_384;
/// Sectors of fewer map pages than the cache has.
const CACHED: u32 = 4096;

/// The page store as it is for C3, but for what the device's size decides.
const CONFIG: PagedConfig = PagedConfig {
    capacity: Some(SectorCount::new(CAPACITY)),
    anchor_blocks: 2,
    // What guarding costs is no part of these paths.
    paired_pages: PairedPages::Accept,
    ..PagedConfig::LARGE
};

/// The page store at work, with memory for what its host reads.
struct Rig<'ram, 'device, 'null> {
    ftl: PageFtl<'ram, &'device mut Keeping<'null>, NoProbe>,
    read: Vec<u8>,
}

impl Rig<'_, '_, '_> {
    fn write(&mut self, first: Sector, sectors: u32) {
        let data = &DATA[..sectors as usize * SECTOR];
        self.ftl.write(first, data).expect("the device never fails");
    }

    fn read_all(&mut self, order: &[Sector]) {
        let data = &mut self.read[..PAGE as usize * SECTOR];
        for first in order {
            self.ftl.read(*first, data).expect("the device never fails");
        }
    }

    fn fill(&mut self) {
        for first in (0..CAPACITY).step_by(LARGEST as usize) {
            self.write(Sector::new(first), LARGEST);
        }
    }
}

/// Formats the device, and lets someone at the store once it is filled.
fn on_filled(device: &mut Keeping<'_>, with: impl FnOnce(&mut Rig<'_, '_, '_>)) {
    let plan = PagedPlan::new(device.geometry(), &CONFIG).expect("the configuration fits");
    let mut ram = OwnedPagedRam::for_plan(&plan);
    let ftl = PageFtl::format(device, &CONFIG, ram.lend(), 1, NoProbe);
    let read = vec![0; LARGEST as usize * SECTOR];
    let mut rig = Rig { ftl: ftl.expect("the device never fails"), read };
    rig.fill();
    with(&mut rig);
}

/// Prepares a store that is filled, and has the work measured.
fn on_store(
    device: &mut Null,
    prepare: impl FnOnce(&mut Rig<'_, '_, '_>),
    mut work: impl FnMut(&mut Rig<'_, '_, '_>),
    measure: Measure<'_>,
) {
    on_filled(&mut Keeping::new(device), |rig| {
        prepare(rig);
        *rig.ftl.device_mut().asked() = Asked::default();
        measure(&mut || work(rig));
    });
}

/// The first sectors of so many pages of the first `within` sectors.
fn pages(count: u32, within: u32, numbers: &mut Numbers) -> Vec<Sector> {
    (0..count).map(|_| Sector::new(numbers.below(within / PAGE) * PAGE)).collect()
}

/// Anywhere in 8 MiB, after the fast area was written once in the same way. Anywhere on a device that is full takes far
/// longer than can be counted here.
fn at_random(device: &mut Null, measure: Measure<'_>) {
    let mut numbers = Numbers::new(10);
    let before = pages(WRITES, CACHED, &mut numbers);
    let order = pages(WRITES, CACHED, &mut numbers);
    let prepare =
        |rig: &mut Rig<'_, '_, '_>| before.iter().for_each(|first| rig.write(*first, PAGE));
    let work = |rig: &mut Rig<'_, '_, '_>| order.iter().for_each(|first| rig.write(*first, PAGE));
    on_store(device, prepare, work, measure);
}

/// From the first sector on, over what stands there.
fn in_order(device: &mut Null, measure: Measure<'_>) {
    let work = |rig: &mut Rig<'_, '_, '_>| {
        for at in 0..IN_ORDER {
            rig.write(Sector::new(at * LARGEST), LARGEST);
        }
    };
    on_store(device, |_| {}, work, measure);
}

fn read_cached(device: &mut Null, measure: Measure<'_>) {
    let order = pages(READS, CACHED, &mut Numbers::new(11));
    on_store(device, |rig| rig.read_all(&order), |rig| rig.read_all(&order), measure);
}

fn read_uncached(device: &mut Null, measure: Measure<'_>) {
    let order = pages(READS, CAPACITY, &mut Numbers::new(11));
    on_store(device, |_| {}, |rig| rig.read_all(&order), measure);
}

/// After a loss of power, with the entries of RAM alone that random writes have left.
fn mount(device: &mut Null, measure: Measure<'_>) {
    let order = distinct(WRITES / PAGE, CAPACITY, &mut Numbers::new(12));
    let device = &mut Keeping::new(device);
    on_filled(device, |rig| order.iter().for_each(|first| rig.write(*first, 1)));
    let plan = PagedPlan::new(device.geometry(), &CONFIG).expect("the configuration fits");
    let mut ram = OwnedPagedRam::for_plan(&plan);
    *device.asked() = Asked::default();
    measure(&mut || {
        let ftl = PageFtl::mount(&mut *device, &CONFIG, ram.lend(), NoProbe);
        std::hint::black_box(ftl.expect("it was formatted").threshold());
    });
}
