//! Three requests from a fresh format, with two cuts: every cut, every number of reads that the first page survives.

use ftl_core::config::{FilterChoice, IndexConfig, WearLeveling};
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::{Config, Ftl, NoProbe, RamPlan};
use ftl_iface::{Bytes, Cell, Geometry, Pairing, RegionGeometry, SectorCount};
use nand_model::faults::FaultInjector;
use nand_model::power::{BlockFate, Cut, Fates, MarkFate, PageFate, PairFate, PowerCut};
use nand_model::{Chip, Fork};

use super::drawn::{chip, region};
use super::host::{Power, Step, Truth};

/// A page may be read some twenty times before a life has looked at everything.
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

/// What was tried, and what is wrong.
#[derive(Debug, Default)]
pub(crate) struct Tried {
    pub(crate) cuts: u64,
    pub(crate) wrong: Vec<String>,
}

/// A sector is written hot, then it and its neighbour cold, in a request in which power fails; then the neighbour hot,
/// and power fails again and takes a paired page along. Everything is read twice in each of two more lives.
pub(crate) fn three_requests() -> Tried {
    let plan = RamPlan::new(&geometry(), &config()).expect("it fits");
    let mut tried = Tried::default();
    for reads in 0..READS_MOST {
        let torn = fates(PageFate::Unstable { reads }, PairFate::Kept);
        for at in 0.. {
            let mut truth = Truth::new(24);
            let Some(mut device) = begun(&plan, Cut::chosen(at, torn), &mut truth) else { break };
            let ends = [PageFate::Complete, PageFate::Uncorrectable, PageFate::ReadsErased];
            for (again, page) in (0..).flat_map(|again| ends.map(|page| (again, page))) {
                let cut = Cut::chosen(again, fates(page, PairFate::Lost));
                let mut truth = truth.clone();
                let Some(mut device) = cut_again(&plan, &mut device, cut, &mut truth) else {
                    break;
                };
                tried.cuts += 1;
                if let Err(wrong) = compare(&plan, &mut device, &mut truth) {
                    tried.wrong.push(format!("{reads} reads, cuts {at} and {again}: {wrong}"));
                }
            }
        }
    }
    tried
}

const fn fates(page: PageFate, pair: PairFate) -> Fates {
    Fates { page, pair, block: BlockFate::Erased, mark: MarkFate::Untouched }
}

/// Formats a device, and sends the first two requests; power fails in the second. `None`: it does not.
fn begun(plan: &RamPlan, cut: Cut, truth: &mut Truth) -> Option<Device> {
    let mut device = PowerCut::new(chip(geometry(), 1), Cut::never());
    let mut ram = OwnedRam::for_plan(plan);
    let mut ftl = Ftl::format(&mut device, &config(), ram.lend(), 1, NoProbe).expect("formatted");
    truth.step(&mut ftl, Step::Write(2, 1)).expect("written");
    ftl.device_mut().set_cut(cut);
    let power = truth.step(&mut ftl, Step::Write(0, 2)).expect("written, or no power");
    (power == Power::Off).then(|| device.into_inner())
}

/// Sends the third request to a copy of the device; power fails in it. `None`: it does not.
fn cut_again(plan: &RamPlan, device: &mut Device, cut: Cut, truth: &mut Truth) -> Option<Device> {
    let mut device = PowerCut::new(device.fork(), cut);
    let mut ram = OwnedRam::for_plan(plan);
    let mut ftl = Ftl::mount(&mut device, &config(), ram.lend(), NoProbe).expect("mounted");
    let power = truth.step(&mut ftl, Step::Write(1, 1)).expect("written, or no power");
    (power == Power::Off).then(|| device.into_inner())
}

fn compare(plan: &RamPlan, device: &mut Device, truth: &mut Truth) -> Result<(), String> {
    for _ in 0..2 {
        let mut ram = OwnedRam::for_plan(plan);
        let mut ftl = Ftl::mount(&mut *device, &config(), ram.lend(), NoProbe).expect("mounted");
        for _ in 0..2 {
            truth.read_all(&mut ftl, 0)?;
        }
    }
    Ok(())
}
