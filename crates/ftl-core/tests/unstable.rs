//! Pages that a power cut leaves unstable: they read well for a while, and die between two reads of one life. Every
//! decision about such a page must be right whichever of the two answers it met.

use crate::world;

use ftl_core::config::{FilterChoice, IndexConfig, WearLeveling};
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::probe::Counters;
use ftl_core::{Config, Ftl, RamPlan};
use ftl_iface::{
    BlockStore, Bytes, Cell, Geometry, NandDevice, Pairing, RegionGeometry, Sector, SectorCount,
    StoreReadError,
};
use nand_model::faults::FaultInjector;
use nand_model::power::{BlockFate, Cut, Fates, MarkFate, PageFate, PairFate, PowerCut};
use nand_model::{Chip, Content, Fork};

use world::{KEY, content, part, region};

const BYTES: usize = 512;

/// A page of a chain may be read some twenty times before a life has looked at everything.
const READS_MOST: u32 = 24;

type Device = FaultInjector<Chip>;

/// The smallest device with a log and paired pages.
fn geometry() -> Geometry {
    let mlc = RegionGeometry { pairing: Pairing::Adjacent2, ..region(Cell::Mlc, 6, 6, 1024) };
    Geometry::new(Some(region(Cell::Slc, 9, 6, 1024)), Some(mlc)).expect("possible")
}

/// Requests of one sector are hot. The log's tail is reclaimed as soon as there is one.
fn config() -> Config {
    Config {
        sector_bytes: Bytes::new(512),
        capacity: Some(SectorCount::new(24)),
        index: IndexConfig { entries: Some(31), ..Config::HYBRID.index },
        window_max: Some(1),
        chain_log_blocks_max: 2,
        mapping_cache_entries: 2,
        free_blocks_low: 2,
        copies_per_page: 2,
        filter: FilterChoice::ByBytes { initial: Bytes::new(512), largest: Bytes::new(512) },
        throttle: false,
        wear_leveling: WearLeveling { enabled: false, threshold: 16 },
        ..Config::HYBRID
    }
}

/// The versions that a sector may read as: zero is zeros.
#[derive(Clone, Debug)]
struct Truth(Vec<Vec<u32>>);

impl Truth {
    fn write(&mut self, first: u32, count: u32, version: u32) {
        for sector in first..first + count {
            self.0[sector as usize].push(version);
        }
    }
}

/// A request: the version of its sectors is its number.
#[derive(Clone, Copy, Debug)]
struct Write(u32, u32);

fn send<D: NandDevice>(ftl: &mut Ftl<'_, D, Counters>, write: Write, version: u32) -> bool {
    let Write(first, count) = write;
    let data: Vec<u8> = (first..first + count).flat_map(|at| content(at, version, BYTES)).collect();
    ftl.write(Sector::new(first), &data).is_ok()
}

/// Formats a device, and sends the first two requests; power fails in that operation of the second. `None`: it does not
/// reach it.
fn begun(plan: &RamPlan, cut: impl Fn(u64) -> Cut) -> Option<Device> {
    let chip = Chip::new(&part(geometry()), Content::Bytes).expect("a possible part");
    let mut device = PowerCut::new(FaultInjector::new(chip, 1), Cut::never());
    let mut ram = OwnedRam::for_plan(plan);
    let mut ftl = Ftl::format(&mut device, &config(), ram.lend(), KEY, Counters::default())
        .expect("formatted");
    assert!(send(&mut ftl, Write(2, 1), 1));
    ftl.device_mut().set_cut(cut(0));
    let done = send(&mut ftl, Write(0, 2), 2);
    (!done).then(|| device.into_inner())
}

/// Sends a request in a new life, in which power fails in that operation. `None`: it does not reach it.
fn cut_in(plan: &RamPlan, device: &Device, request: (Write, u32), cut: Cut) -> Option<Device> {
    let mut cut = PowerCut::new(device.clone().fork(), cut);
    let mut ram = OwnedRam::for_plan(plan);
    let mut ftl =
        Ftl::mount(&mut cut, &config(), ram.lend(), Counters::default()).expect("mounted");
    let done = send(&mut ftl, request.0, request.1);
    (!done).then(|| cut.into_inner())
}

/// Reads everything twice in each of two lives. Returns what is wrong.
fn compare(plan: &RamPlan, device: &mut Device, truth: &Truth) -> Result<(), String> {
    let mut seen = vec![None; truth.0.len()];
    for life in 0..2 {
        let mut ram = OwnedRam::for_plan(plan);
        let mut ftl =
            Ftl::mount(&mut *device, &config(), ram.lend(), Counters::default()).expect("mounted");
        for _ in 0..2 {
            for (sector, allowed) in (0..).zip(&truth.0) {
                let mut data = [0xA5; BYTES];
                let found = match ftl.read(Sector::new(sector), &mut data) {
                    Ok(()) if data == [0; BYTES] => 0,
                    Ok(()) => *allowed
                        .iter()
                        .find(|version| data[..] == content(sector, **version, BYTES))
                        .ok_or(format!("sector {sector} is another, life {life}"))?,
                    Err(StoreReadError::Lost(_)) => {
                        return Err(format!("sector {sector} is lost, life {life}"));
                    }
                    Err(error) => return Err(format!("sector {sector}: {error}")),
                };
                let before = seen[sector as usize].replace(found);
                if !allowed.contains(&found) || before.is_some_and(|before| before != found) {
                    return Err(format!("sector {sector} is {found}, {before:?} of {allowed:?}"));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn a_page_that_dies_after_its_chain_was_scanned_is_not_taken_for_the_newest_copy() {
    let plan = RamPlan::new(&geometry(), &config()).expect("fits");
    let mut truth = Truth(vec![vec![0]; 24]);
    truth.0[2] = vec![1];
    let fates =
        |page, pair| Fates { page, pair, block: BlockFate::Erased, mark: MarkFate::Untouched };
    let mut tried = 0;
    let mut wrong = Vec::new();
    for reads in 0..READS_MOST {
        let first = fates(PageFate::Unstable { reads }, PairFate::Kept);
        for at in 0.. {
            let Some(device) = begun(&plan, |_| Cut::chosen(at, first)) else { break };
            let mut truth = truth.clone();
            truth.write(0, 2, 2);
            truth.write(1, 1, 3);
            let ends = [PageFate::Complete, PageFate::Uncorrectable, PageFate::ReadsErased];
            for (again, page) in (0..).flat_map(|again| ends.map(|page| (again, page))) {
                let second = Cut::chosen(again, fates(page, PairFate::Lost));
                let cut = cut_in(&plan, &device, (Write(1, 1), 3), second);
                let Some(mut device) = cut else { break };
                tried += 1;
                if let Err(sentence) = compare(&plan, &mut device, &truth) {
                    wrong.push(format!("{at}, {reads} reads, {again} {page:?}: {sentence}"));
                }
            }
        }
    }
    println!("{tried} tried");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}
