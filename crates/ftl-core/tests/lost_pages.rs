//! An unreadable page costs its own sectors, which are reported as lost until they are written again; none reads as an
//! older version. Each page of a device is lost in turn, and the device is mounted.

use crate::world;

use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::probe::Counters;
use ftl_core::{Config, Ftl, RamPlan};
use ftl_iface::{
    Block, BlockStore, Bytes, Geometry, NandDevice, Page, PageCount, PageIndex, Region, Sector,
    SectorCount, StoreReadError, Work,
};
use nand_model::faults::FaultInjector;
use nand_model::{Chip, Content};

use world::{Dice, KEY, content, devices, part};

type Device = FaultInjector<Chip>;

const BYTES: usize = 512;
/// The kind of a trim page, in its tag.
const TRIM: u8 = 0x69;

/// How the FTL was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Stopped,
    Dropped,
}

/// Returns a device that was written, trimmed and written again, and the content of its sectors; zero is none.
fn used(geometry: Geometry, config: &Config, seed: u64, end: End) -> (Device, Vec<u32>) {
    let chip = Chip::new(&part(geometry), Content::Bytes).expect("a possible part");
    let mut device = FaultInjector::new(chip, seed);
    let mut ram = OwnedRam::for_plan(&RamPlan::new(&geometry, config).expect("fits"));
    let mut ftl =
        Ftl::format(&mut device, config, ram.lend(), KEY, Counters::default()).expect("formatted");
    let mut dice = Dice::new(seed);
    let capacity = ftl.capacity().get();
    let mut truth = vec![0; capacity as usize];
    for version in 1..160 {
        let count = if dice.percent(20) { 1 + dice.below(24) } else { 1 + dice.below(3) };
        let count = count.min(capacity);
        let first = dice.below(capacity - count + 1);
        let run = first as usize..(first + count) as usize;
        if dice.percent(15) {
            ftl.trim(Sector::new(first), SectorCount::new(count)).expect("trimmed");
            truth[run].fill(0);
        } else {
            let data: Vec<u8> =
                (first..first + count).flat_map(|at| content(at, version, BYTES)).collect();
            ftl.write(Sector::new(first), &data).expect("written");
            truth[run].fill(version);
        }
    }
    if end == End::Stopped {
        ftl.stop().expect("stopped");
    }
    (device, truth)
}

/// The sectors that were not read back.
#[derive(Debug, Default, PartialEq)]
struct Losses {
    lost: Vec<u32>,
    /// Sectors that read as something other than the last write.
    wrong: Vec<u32>,
}

fn look(ftl: &mut Ftl<'_, &mut Device, Counters>, truth: &[u32]) -> Losses {
    let mut found = Losses::default();
    let mut data = [0; BYTES];
    for (sector, version) in (0..).zip(truth) {
        let wanted = match version {
            0 => vec![0; BYTES],
            _ => content(sector, *version, BYTES),
        };
        match ftl.read(Sector::new(sector), &mut data) {
            Ok(()) if data[..] == wanted => {}
            Ok(()) => found.wrong.push(sector),
            Err(StoreReadError::Lost(named)) => {
                assert_eq!(named, Sector::new(sector));
                found.lost.push(sector);
            }
            Err(error) => panic!("sector {sector}: {error}"),
        }
    }
    found
}

fn is_erased(device: &mut Device, page: Page) -> bool {
    let mut spare = [0; 16];
    match device.read(page, Bytes::ZERO, &mut [], &mut spare) {
        Ok(_) => spare.iter().all(|byte| *byte == 0xFF),
        Err(_) => false,
    }
}

/// Whether nothing on flash tells the content of a page: it is the last page programmed in its block, or may have been
/// corrupted together with that.
fn stands_at_an_end(device: &mut Device, page: Page) -> bool {
    let shape = *device.geometry().region(page.region()).expect("the region");
    let pages = shape.pages_per_block;
    let at = |index| page.block().page(PageIndex::new(index));
    let last = (0..pages.get() as u16).rev().find(|index| !is_erased(device, at(*index)));
    let last = last.unwrap_or(0);
    let ruins = |later| {
        let mut ruined = shape.pairing.endangered(PageIndex::new(later), pages);
        ruined.any(|index| index == page.index())
    };
    last == page.index().get() || (last..pages.get() as u16).any(ruins)
}

fn log_region(device: &Device) -> Region {
    if device.geometry().slc().is_some() { Region::Slc } else { Region::Mlc }
}

/// Returns every page of the device.
fn pages(geometry: &Geometry) -> Vec<Page> {
    let region = |region| geometry.region(region).map(|shape| (region, *shape));
    let regions = Region::ALL.into_iter().filter_map(region);
    regions
        .flat_map(|(region, shape)| {
            (0..shape.blocks.get()).flat_map(move |block| {
                let pages = 0..shape.pages_per_block.get() as u16;
                pages.map(move |page| Block::new(region, block).page(PageIndex::new(page)))
            })
        })
        .collect()
}

#[test]
fn a_lost_page_costs_its_own_sectors_and_they_say_so() {
    for (name, geometry, config) in devices::all() {
        let plan = RamPlan::new(&geometry, &config).expect("fits");
        let shape = *plan.shape();
        let logs = shape.log.map_or(0..0, |log| log.first..log.first + log.block_count().get());
        let mut ram = OwnedRam::for_plan(&plan);
        let (mut costly, mut at_ends) = (0, 0);
        for end in [End::Stopped, End::Dropped] {
            let (used, truth) = used(geometry, &config, 11, end);
            for page in pages(&geometry) {
                let mut device = used.clone();
                if is_erased(&mut device, page) {
                    continue;
                }
                let trims = kind_of(&mut device, page) == TRIM;
                device.lose(page);
                let mut ftl = Ftl::mount(&mut device, &config, ram.lend(), Counters::default())
                    .unwrap_or_else(|error| panic!("{name}: {page}: {error}"));
                let found = look(&mut ftl, &truth);
                let slots = usize::from(shape.chain.slots.max(shape.meta.slots));
                assert!(found.lost.len() <= slots, "{name}: {page}: {found:?}");
                assert!(!trims || found.lost.is_empty(), "{name}: {page}, a trim: {found:?}");
                let in_log =
                    page.region() == log_region(&device) && logs.contains(&page.block().index());
                let at_end =
                    if in_log { end == End::Dropped } else { stands_at_an_end(&mut device, page) };
                assert!(found.wrong.is_empty() || at_end, "{name}, {end:?}: {page}: {found:?}");
                if !found.wrong.is_empty() {
                    at_ends += 1;
                }
                if !found.lost.is_empty() {
                    costly += 1;
                    stays_lost(&mut device, &config, &mut ram, &truth, &found);
                }
            }
        }
        println!("{name}: {costly} pages cost sectors; {at_ends} at an end are not told");
        assert!(costly > 100, "{name}: {costly}");
        assert!(at_ends * 10 < costly, "{name}: {at_ends} of {costly}");
    }
}

/// Returns the kind in a page's tag.
fn kind_of(device: &mut Device, page: Page) -> u8 {
    let mut spare = [0; 1];
    device.read(page, Bytes::ZERO, &mut [], &mut spare).expect("it can be read");
    spare[0]
}

/// Asserts that lost sectors stay lost through reads, folds and mounts, until they are written.
fn stays_lost(
    device: &mut Device,
    config: &Config,
    ram: &mut OwnedRam,
    truth: &[u32],
    before: &Losses,
) {
    let mut ftl =
        Ftl::mount(&mut *device, config, ram.lend(), Counters::default()).expect("mounted");
    ftl.scrub();
    while ftl.maintain(PageCount::new(8)).expect("idle") == Work::Left {}
    assert_eq!(look(&mut ftl, truth), *before);
    let mut ftl =
        Ftl::mount(&mut *device, config, ram.lend(), Counters::default()).expect("mounted");
    assert_eq!(look(&mut ftl, truth), *before);
    let mut truth = truth.to_vec();
    for (turn, sector) in before.lost.iter().enumerate() {
        if turn % 2 == 0 {
            ftl.write(Sector::new(*sector), &content(*sector, 999, BYTES)).expect("written");
            truth[*sector as usize] = 999;
        } else {
            ftl.trim(Sector::new(*sector), SectorCount::new(1)).expect("trimmed");
            truth[*sector as usize] = 0;
        }
    }
    assert_eq!(look(&mut ftl, &truth), Losses::default());
}
