//! Paths that make room, and the mount.

use ftl_core::Config;
use ftl_core::config::WriteBackConfig;
use ftl_iface::{BlockStore, PageCount, Sector, SectorCount};

use super::{
    BLOCK, BLOCK_PAGES, HYBRID, Measure, Null, Numbers, Path, Rig, distinct, on_ftl, on_mount,
    round_robin,
};

pub(super) const PATHS: &[Path] = &[
    Path::new("fold", "page", FOLDED * BLOCK_PAGES, fold),
    Path::new("reclaim: kept in the log", "page", RECLAIMED * KEPT, reclaim_keeping),
    Path::new("reclaim: moved to chains", "page", RECLAIMED * LOG_PAGES, reclaim_moving),
    Path::new("trim of a logical block", "request", TRIMMED, trim),
    Path::new("mount of a sixteenth of C3", "mount", 1, mount).repeatable().small(),
];

/// The mount of the whole device, too large to be walked under an emulator.
pub(crate) const MOUNT_C3: Path = Path::new("mount of C3", "mount", 1, mount_c3).repeatable();

/// Chains whose maps are all in the cache.
const FOLDED: u32 = 40;
const TRIMMED: u32 = 64;
/// Blocks of the log that are reclaimed.
const RECLAIMED: u32 = 32;
/// Pages of a log block, beside its summary.
const LOG_PAGES: u32 = 63;
/// Of these, valid where a third is not: few enough for all of them to be kept.
const KEPT: u32 = 42;

/// Requests do no housekeeping, so that all of it waits: many blocks between tail and head where one may be.
const LAZY: Config = Config { copies_per_page: 0, window_max: Some(1), ..HYBRID };

/// Chains of a data block and one log block, written at random places.
fn fold(device: &mut Null, measure: Measure<'_>) {
    let config = Config { chain_log_blocks_max: 1, ..HYBRID };
    let prepare = |rig: &mut Rig<'_>| {
        rig.fill(FOLDED);
        let numbers = &mut Numbers::new(5);
        rig.write_all(&round_robin(FOLDED, FOLDED * BLOCK_PAGES, 2, numbers), 2);
        rig.order = round_robin(FOLDED, FOLDED, 2, numbers);
    };
    // A write finds its chain full and folds it.
    let work = |rig: &mut Rig<'_>| {
        for at in 0..rig.order.len() {
            rig.write(rig.order[at], 2);
        }
    };
    on_ftl(device, &config, prepare, work, measure);
}

fn work_while_idle(rig: &mut Rig<'_>, steps: u32) {
    rig.ftl.maintain(PageCount::new(steps)).expect("the device never fails");
}

/// Of three pages one is written again at once; the others are valid, and their chains have no log block.
fn reclaim_keeping(device: &mut Null, measure: Measure<'_>) {
    let prepare = |rig: &mut Rig<'_>| {
        let numbers = &mut Numbers::new(6);
        let pairs = distinct((RECLAIMED + 2) * LOG_PAGES * 2 / 3, 4096 * BLOCK, numbers);
        for pair in pairs.chunks(2) {
            let [one, other] = pair else { continue };
            rig.write_all(&[*one, *other, *other], 1);
        }
    };
    // The block's erase is a step, too.
    let work = |rig: &mut Rig<'_>| work_while_idle(rig, RECLAIMED * (KEPT + 1));
    on_ftl(device, &LAZY, prepare, work, measure);
}

/// Every page is valid, and every sector leaves for one of a few chains.
fn reclaim_moving(device: &mut Null, measure: Measure<'_>) {
    let leaving = WriteBackConfig { follow_log_blocks: false, ..HYBRID.write_back };
    let config = Config { write_back: leaving, ..LAZY };
    let prepare = |rig: &mut Rig<'_>| {
        let sectors = distinct((RECLAIMED + 2) * LOG_PAGES, 40 * BLOCK, &mut Numbers::new(6));
        rig.write_all(&sectors, 1);
    };
    let work = |rig: &mut Rig<'_>| work_while_idle(rig, RECLAIMED * (LOG_PAGES + 1));
    on_ftl(device, &config, prepare, work, measure);
}

fn trim(device: &mut Null, measure: Measure<'_>) {
    let work = |rig: &mut Rig<'_>| {
        for block in 0..TRIMMED {
            let first = Sector::new(block * BLOCK);
            rig.ftl.trim(first, SectorCount::new(BLOCK)).expect("the device never fails");
        }
    };
    on_ftl(device, &HYBRID, |rig| rig.fill(TRIMMED), work, measure);
}

/// A device filled with data blocks, some of which have a log block, and with a log.
fn fill_whole(rig: &mut Rig<'_>) {
    let blocks = rig.ftl.capacity().get() / BLOCK;
    rig.fill(blocks);
    let numbers = &mut Numbers::new(7);
    rig.write_all(&round_robin(blocks, blocks / 40, 64, numbers), 64);
    let hot = blocks / 2;
    rig.write_all(&distinct(hot, blocks * BLOCK, numbers), 1);
}

fn mount(device: &mut Null, measure: Measure<'_>) {
    on_mount(device, &HYBRID, fill_whole, measure);
}

fn mount_c3(device: &mut Null, measure: Measure<'_>) {
    on_mount(device, &HYBRID, fill_whole, measure);
}
