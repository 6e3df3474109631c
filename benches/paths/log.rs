//! Paths of the hybrid into its log and out of it.

use ftl_core::Config;
use ftl_iface::Sector;

use super::{BLOCK, HYBRID, Measure, Null, Numbers, Path, Rig, distinct, on_ftl};

pub(super) const PATHS: &[Path] = &[
    Path::new("log write: new sector", "page", NEW, new),
    Path::new("log write: update", "page", UPDATES, update),
    Path::new("log write: update, stale tail", "page", UPDATES, update_stale).repeatable(),
    Path::new("log write: update, valid tail", "page", UPDATES, update_valid).repeatable(),
    Path::new("log write: 8 sectors, valid tail", "page", UPDATES, update_of_8).repeatable(),
    Path::new("read: in the log", "page", UPDATES, read).repeatable(),
];

/// A quarter of the hash table.
const NEW: u32 = 8192;
const UPDATES: u32 = 16_384;
/// Sectors that are updated: an eighth of the hash table.
const HOT: u32 = 4096;
/// A log that turns after so many pages that all sectors of its tail were written again since.
const LONG: Config = Config { window_max: Some(240), ..HYBRID };
/// A log that turns so soon that a third of them were not: 64 blocks of 63 pages.
const SHORT: Config = Config { window_max: Some(64), ..HYBRID };
/// A short log, and all requests are hot, whatever their size.
const ALL_HOT: Config = Config { filter: ftl_core::config::FilterChoice::AcceptAll, ..SHORT };
/// The host's address space, well within C3's.
const SPACE: u32 = 4096 * BLOCK;

/// Updates of these sectors, in random order.
fn updates(of: &[Sector], count: u32) -> Vec<Sector> {
    let mut numbers = Numbers::new(2);
    (0..count).map(|_| of[numbers.below(of.len() as u32) as usize]).collect()
}

fn write_order(rig: &mut Rig<'_>) {
    for at in 0..rig.order.len() {
        rig.write(rig.order[at], 1);
    }
}

fn new(device: &mut Null, measure: Measure<'_>) {
    let prepare = |rig: &mut Rig<'_>| rig.order = distinct(NEW, SPACE, &mut Numbers::new(1));
    on_ftl(device, &HYBRID, prepare, write_order, measure);
}

fn prepare_updates(rig: &mut Rig<'_>) {
    let hot = distinct(HOT, SPACE, &mut Numbers::new(1));
    rig.write_all(&hot, 1);
    rig.order = updates(&hot, UPDATES);
}

fn update(device: &mut Null, measure: Measure<'_>) {
    on_ftl(device, &HYBRID, prepare_updates, write_order, measure);
}

/// The tail is looked through in vain, and erased.
fn update_stale(device: &mut Null, measure: Measure<'_>) {
    let prepare = |rig: &mut Rig<'_>| {
        prepare_updates(rig);
        rig.order = updates(&rig.order[..HOT as usize / 4], UPDATES);
        write_order(rig);
    };
    on_ftl(device, &LONG, prepare, write_order, measure);
}

/// What is valid in the tail is copied to the head.
fn update_valid(device: &mut Null, measure: Measure<'_>) {
    let prepare = |rig: &mut Rig<'_>| {
        prepare_updates(rig);
        write_order(rig);
    };
    on_ftl(device, &SHORT, prepare, write_order, measure);
}

fn update_of_8(device: &mut Null, measure: Measure<'_>) {
    let prepare = |rig: &mut Rig<'_>| {
        let firsts = distinct(HOT / 8, SPACE / 8, &mut Numbers::new(1));
        let hot: Vec<Sector> = firsts.iter().map(|first| Sector::new(first.get() * 8)).collect();
        rig.write_all(&hot, 8);
        rig.order = updates(&hot, UPDATES / 8);
        rig.write_all(&rig.order.clone(), 8);
    };
    let work = |rig: &mut Rig<'_>| {
        for at in 0..rig.order.len() {
            rig.write(rig.order[at], 8);
        }
    };
    on_ftl(device, &ALL_HOT, prepare, work, measure);
}

fn read(device: &mut Null, measure: Measure<'_>) {
    let work = |rig: &mut Rig<'_>| {
        for at in 0..rig.order.len() {
            rig.read(rig.order[at], 1);
        }
    };
    on_ftl(device, &HYBRID, prepare_updates, work, measure);
}
