//! Paths into the chains and out of them.

use ftl_core::Config;
use ftl_core::config::PairedPages;
use ftl_iface::Sector;

use super::{
    BLOCK, BLOCK_PAGES, CHAINS, HYBRID, LARGEST, Measure, Null, Numbers, Path, Rig, on_ftl,
    round_robin,
};

pub(super) const PATHS: &[Path] = &[
    Path::new("chain write: map cached", "page", CACHED_PAGES, cached),
    Path::new("chain write: run of 32 pages", "page", CACHED_PAGES, run),
    Path::new("chain write: half a page", "page", CACHED_PAGES, half),
    Path::new("chain write: in order, switching", "page", FILLED * BLOCK_PAGES, in_order)
        .repeatable(),
    Path::new("chain write: map not cached", "page", UNCACHED_PAGES, uncached),
    Path::new("chain write: pairs guarded by the log", "page", CACHED_PAGES, guarded),
    Path::new("read: in place", "page", READS, read_in_place).repeatable(),
    Path::new("read: log block, map cached", "page", READS, read_cached).repeatable(),
    Path::new("read: run of 32 pages in place", "page", READS, read_run).repeatable(),
];

/// Chains of which most maps are cached at once: the cache holds 48.
const CACHED: u32 = 40;
/// They are not folded before their four log blocks are full.
const CACHED_PAGES: u32 = CACHED * 480;
const FILLED: u32 = 64;
const UNCACHED: u32 = 64;
const UNCACHED_PAGES: u32 = UNCACHED * 8;
const READS: u32 = 16_384;
/// Sectors of a page.
const PAGE: u32 = 2;

fn write_order(rig: &mut Rig<'_>, sectors: u32) {
    for at in 0..rig.order.len() {
        rig.write(rig.order[at], sectors);
    }
}

fn read_order(rig: &mut Rig<'_>, sectors: u32) {
    for at in 0..rig.order.len() {
        rig.read(rig.order[at], sectors);
    }
}

/// Each write goes to another chain than the one before.
fn cached(device: &mut Null, measure: Measure<'_>) {
    let prepare = |rig: &mut Rig<'_>| {
        rig.order = round_robin(CACHED, CACHED_PAGES, PAGE, &mut Numbers::new(3));
    };
    on_ftl(device, &CHAINS, prepare, |rig| write_order(rig, PAGE), measure);
}

/// Cold writes on a device with a log.
fn run(device: &mut Null, measure: Measure<'_>) {
    let prepare = |rig: &mut Rig<'_>| {
        let requests = CACHED_PAGES * PAGE / LARGEST;
        rig.order = round_robin(CACHED, requests, LARGEST, &mut Numbers::new(3));
    };
    on_ftl(device, &HYBRID, prepare, |rig| write_order(rig, LARGEST), measure);
}

/// Cold writes of a page, before which the pages of earlier requests that share its cells are copied to the log.
fn guarded(device: &mut Null, measure: Measure<'_>) {
    let config = Config { paired_pages: PairedPages::Guard, ..HYBRID };
    let prepare = |rig: &mut Rig<'_>| {
        rig.order = round_robin(CACHED, CACHED_PAGES, PAGE, &mut Numbers::new(3));
    };
    on_ftl(device, &config, prepare, |rig| write_order(rig, PAGE), measure);
}

/// The other half of the page is blanked, and the host's half copied.
fn half(device: &mut Null, measure: Measure<'_>) {
    let prepare = |rig: &mut Rig<'_>| {
        rig.order = round_robin(CACHED, CACHED_PAGES, 1, &mut Numbers::new(3));
    };
    on_ftl(device, &CHAINS, prepare, |rig| write_order(rig, 1), measure);
}

/// Each block becomes the data block once it is full, and the one before it is erased.
fn in_order(device: &mut Null, measure: Measure<'_>) {
    on_ftl(device, &HYBRID, |rig| rig.fill(FILLED), |rig| rig.fill(FILLED), measure);
}

/// Each write scans a log block that is half full.
fn uncached(device: &mut Null, measure: Measure<'_>) {
    let config = Config { mapping_cache_entries: 0, ..CHAINS };
    let prepare = |rig: &mut Rig<'_>| {
        let numbers = &mut Numbers::new(3);
        let half = round_robin(UNCACHED, UNCACHED * BLOCK_PAGES / 2, PAGE, numbers);
        rig.write_all(&half, PAGE);
        rig.order = round_robin(UNCACHED, UNCACHED_PAGES, PAGE, numbers);
    };
    on_ftl(device, &config, prepare, |rig| write_order(rig, PAGE), measure);
}

fn read_in_place(device: &mut Null, measure: Measure<'_>) {
    let prepare = |rig: &mut Rig<'_>| {
        rig.fill(FILLED);
        rig.order = round_robin(FILLED, READS, 1, &mut Numbers::new(4));
    };
    on_ftl(device, &HYBRID, prepare, |rig| read_order(rig, 1), measure);
}

/// Chains of two to four log blocks.
fn read_cached(device: &mut Null, measure: Measure<'_>) {
    let prepare = |rig: &mut Rig<'_>| {
        let requests = CACHED_PAGES * PAGE / LARGEST;
        let writes = round_robin(CACHED, requests, LARGEST, &mut Numbers::new(3));
        rig.write_all(&writes, LARGEST);
        let numbers = &mut Numbers::new(4);
        let written = |_| {
            let first = writes[numbers.below(requests) as usize];
            Sector::new(first.get() + numbers.below(LARGEST))
        };
        rig.order = (0..READS).map(written).collect();
    };
    on_ftl(device, &HYBRID, prepare, |rig| read_order(rig, 1), measure);
}

fn read_run(device: &mut Null, measure: Measure<'_>) {
    let prepare = |rig: &mut Rig<'_>| {
        rig.fill(FILLED);
        let requests = READS * PAGE / LARGEST;
        rig.order = (0..requests).map(|at| Sector::new(at * LARGEST % (FILLED * BLOCK))).collect();
    };
    on_ftl(device, &HYBRID, prepare, |rig| read_order(rig, LARGEST), measure);
}
