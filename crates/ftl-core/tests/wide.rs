//! Devices with more chain blocks than 16 bits can number, which need the feature `wide`: every block in use, writes
//! near the last of them, mounts by a checkpoint and by a scan, and power cuts. Without the feature they are refused:
//! `refusals.rs` and `mounts.rs`.

use ftl_core::config::{FilterChoice, IndexConfig, LogRegion, PairedPages, Probing};
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::layout::{Header, PagesOf, TableOf};
use ftl_core::probe::Counters;
use ftl_core::{Config, Ftl, RamPlan, Stopped};
use ftl_iface::{
    Block, BlockStore, Bytes, Cell, Geometry, NandDevice, PageCount, PageIndex, Region,
    RegionGeometry, Sector, SectorCount,
};
use nand_model::power::{Cut, PowerCut};
use nand_model::{Chip, Content, FaultInjector, Fork};

use crate::reader::Reader;
use crate::world::{Dice, KEY, content, part, region};

const BLOCKS: u32 = 66_000;
/// Spare blocks.
const SPARE: u32 = 40;
/// Sectors of a chain block.
const SECTORS: u32 = 4;
const BYTES: usize = 512;

const CONFIG: Config = Config {
    sector_bytes: Bytes::new(BYTES as u32),
    capacity: Some(SectorCount::new((BLOCKS - SPARE) * SECTORS)),
    index: IndexConfig { entries: Some(40), probes: 4, probing: Probing::Linear },
    chain_log_blocks_max: 2,
    mapping_cache_entries: 3,
    free_blocks_low: 2,
    copies_per_page: 2,
    // Two sectors are cold, one is hot.
    filter: FilterChoice::ByBytes { initial: Bytes::new(512), largest: Bytes::new(512) },
    paired_pages: PairedPages::Guard,
    ..Config::HYBRID
};

fn geometry() -> Geometry {
    let small = |region: RegionGeometry| RegionGeometry { spare_bytes: Bytes::new(32), ..region };
    let slc = small(region(Cell::Slc, 120, 16, 2048));
    let mlc = small(region(Cell::Mlc, BLOCKS, SECTORS, BYTES as u32));
    Geometry::new(Some(slc), Some(mlc)).expect("a possible geometry")
}

/// A device, and which version of each sector it holds.
struct Device {
    chip: Chip,
    plan: RamPlan,
    truth: Vec<u32>,
}

fn write<S: BlockStore>(
    store: &mut S,
    truth: &mut [u32],
    first: u32,
    count: u32,
    version: u32,
) -> bool {
    let data: Vec<u8> = (first..first + count).flat_map(|at| content(at, version, BYTES)).collect();
    let written = store.write(Sector::new(first), &data).is_ok();
    if written {
        truth[first as usize..(first + count) as usize].fill(version);
    }
    written
}

/// Does hot and cold writes to the last logical blocks. Stops at a failed write, and returns its first sector and
/// version.
fn churn<S: BlockStore>(
    store: &mut S,
    truth: &mut [u32],
    dice: &mut Dice,
    life: u32,
) -> Option<(u32, u32)> {
    let capacity = truth.len() as u32;
    for request in 0..120 {
        let first = capacity - 2 - dice.below(60);
        let count = 1 + dice.below(2);
        let version = life * 1_000 + request;
        if !write(store, truth, first, count, version) {
            return Some((first, version));
        }
    }
    None
}

impl Device {
    /// Returns a device whose logical blocks are all written, so that every block except the spare ones is in use.
    fn filled() -> Self {
        let plan = RamPlan::new(&geometry(), &CONFIG).expect("the configuration fits");
        assert!(plan.shape().width().is_wide());
        let mut truth = vec![0; plan.shape().capacity.as_usize()];
        let chip = Chip::new(&part(geometry()), Content::Bytes).expect("a possible part");
        let mut ram = OwnedRam::for_plan(&plan);
        let mut ftl =
            Ftl::format(chip, &CONFIG, ram.lend(), KEY, Counters::default()).expect("formatted");
        for logical in 0..BLOCKS - SPARE {
            assert!(write(&mut ftl, &mut truth, logical * SECTORS, 2, 1));
        }
        ftl.check().expect("every invariant holds");
        let (chip, _) = ftl.into_parts();
        Self { chip, plan, truth }
    }

    /// Mounts the device and passes it to the test.
    fn live<T>(&mut self, act: impl FnOnce(&mut Ftl<'_, Chip, Counters>, &mut [u32]) -> T) -> T {
        let mut ram = OwnedRam::for_plan(&self.plan);
        let chip = self.chip.fork();
        let mut ftl =
            Ftl::mount(chip, &CONFIG, ram.lend(), Counters::default()).expect("it mounts");
        let outcome = act(&mut ftl, &mut self.truth);
        (self.chip, _) = ftl.into_parts();
        outcome
    }
}

/// Asserts that every sector holds its version; after an interrupted request, the version before it or its own.
fn holds<D: NandDevice>(ftl: &mut Ftl<'_, D, Counters>, truth: &[u32], cut: Option<(u32, u32)>) {
    let mut data = vec![0; SECTORS as usize * BYTES];
    for (first, versions) in (0..).step_by(SECTORS as usize).zip(truth.chunks(SECTORS as usize)) {
        ftl.read(Sector::new(first), &mut data).expect("it reads");
        for ((sector, version), found) in (first..).zip(versions).zip(data.chunks(BYTES)) {
            let wanted =
                if *version == 0 { vec![0; BYTES] } else { content(sector, *version, BYTES) };
            let own = cut.filter(|(at, _)| (*at..at + 2).contains(&sector));
            let own = own.is_some_and(|(_, version)| found == content(sector, version, BYTES));
            assert!(found == wanted || own, "sector {sector} of version {version}");
        }
    }
}

#[test]
fn every_block_is_used_and_found_again_by_a_checkpoint_and_by_a_scan() {
    let mut device = Device::filled();
    let mut dice = Dice::new(3);
    for life in 1..4 {
        device.live(|ftl, truth| {
            assert_eq!(churn(ftl, truth, &mut dice, life), None);
            holds(ftl, truth, None);
            ftl.check().expect("every invariant holds");
            if life == 2 {
                assert_eq!(ftl.stop().expect("stopped"), Stopped::Checkpoint);
            }
        });
    }
    let last =
        (BLOCKS - 10..BLOCKS).map(|block| device.chip.erase_count(Block::new(Region::Mlc, block)));
    assert!(last.clone().all(|erases| erases > 1), "{:?}", last.collect::<Vec<_>>());
    let before = device.chip.stats().mlc.tally.reads;
    device.live(|ftl, _| ftl.stop().expect("stopped"));
    let scanned = device.chip.stats().mlc.tally.reads - before;
    device.live(|ftl, truth| {
        let read = ftl.device().stats().mlc.tally.reads - before - scanned;
        assert!(
            scanned > u64::from(BLOCKS) && read == 0,
            "{scanned} by the scan, {read} by the checkpoint"
        );
        ftl.check().expect("every invariant holds");
        holds(ftl, truth, None);
    });
}

#[test]
fn a_power_cut_loses_nothing() {
    let mut device = Device::filled();
    for seed in 0..8 {
        let (mut truth, mut dice) = (device.truth.clone(), Dice::new(seed));
        let mut ram = OwnedRam::for_plan(&device.plan);
        let cut = PowerCut::new(FaultInjector::new(device.chip.fork(), seed), Cut::never());
        let mut ftl = Ftl::mount(cut, &CONFIG, ram.lend(), Counters::default()).expect("it mounts");
        ftl.settle().expect("settled");
        ftl.device_mut().set_cut(Cut::seeded(20 + seed * 37, seed));
        let refused = churn(&mut ftl, &mut truth, &mut dice, 1);
        assert!(refused.is_some(), "power failed");
        let chip = ftl.into_parts().0.into_inner();
        let mut ram = OwnedRam::for_plan(&device.plan);
        let mut ftl =
            Ftl::mount(chip, &CONFIG, ram.lend(), Counters::default()).expect("it mounts");
        ftl.settle().expect("settled");
        ftl.check().expect("every invariant holds");
        holds(&mut ftl, &truth, refused);
    }
}

#[test]
fn its_header_says_so_and_the_second_reader_reads_it() {
    let mut device = Device::filled();
    device.live(|ftl, truth| churn(ftl, truth, &mut Dice::new(1), 1));
    let mut page = vec![0; Header::BYTES];
    let at = Block::new(Region::Slc, 0).page(PageIndex::new(0));
    device.chip.read(at, Bytes::ZERO, &mut page, &mut []).expect("read");
    assert_eq!(page[24..28], Header::WIDE_NUMBERS.to_le_bytes());
    assert_eq!(page[36..40], BLOCKS.to_le_bytes());
    let mut reader = Reader::open(&mut device.chip);
    assert_eq!((reader.capacity as usize, reader.sector_bytes), (device.truth.len(), BYTES));
    let everything = reader.read_everything();
    let mounted = reader.mount();
    for (sector, version) in (0..).zip(&device.truth) {
        let wanted = (*version > 0).then(|| content(sector, *version, BYTES));
        let by_stamp = everything.get(&sector).and_then(|place| reader.data(*place));
        assert!(by_stamp == wanted, "sector {sector}, by the largest stamp");
        let by_mount = mounted.find(sector).and_then(|place| reader.data(place));
        assert!(by_mount == wanted, "sector {sector}, by the mount");
    }
}

#[test]
fn every_damaged_bit_of_a_wide_header_is_seen() {
    let mut whole = vec![0xFF; BYTES];
    Header {
        meta_blocks: 12,
        key: ftl_core::layout::FormatKey::new(KEY),
        sector_bytes: Bytes::new(2_048),
        capacity: SectorCount::new(10_485_760),
        log_blocks: 2_036,
        chain_blocks: 172_032,
        first: PagesOf { page_bytes: Bytes::new(2_048), pages: PageCount::new(64), pairing: 1 },
        chains: PagesOf { page_bytes: Bytes::new(4_096), pages: PageCount::new(128), pairing: 2 },
        table: TableOf { entries: 32_768, probes: 8, probing: 0 },
        optional: 0,
    }
    .put(&mut whole);
    assert!(Header::parse(&whole).is_ok_and(|header| header.chain_blocks == 172_032));
    for bit in 0..Header::BYTES * 8 {
        let mut page = whole.clone();
        page[bit / 8] ^= 1 << (bit % 8);
        assert!(Header::parse(&page).is_err(), "bit {bit}");
    }
}

#[test]
fn numbers_take_16_bits_up_to_the_last_device_that_they_name() {
    let plan = |blocks| {
        let mlc = region(Cell::Mlc, blocks, 16, BYTES as u32);
        let geometry = Geometry::new(None, Some(mlc)).expect("a possible geometry");
        let config = Config { log: LogRegion::None, capacity: None, ..CONFIG };
        RamPlan::new(&geometry, &config).expect("it fits")
    };
    // Up to here, headers and checkpoints take the additional blocks.
    let short = plan(65_600);
    assert!(!short.shape().width().is_wide());
    let wide = plan(70_000);
    assert!(wide.shape().width().is_wide());
    let table =
        |plan: &RamPlan| plan.rows().find(|row| row.name.starts_with("LB")).map(|row| row.elements);
    assert_eq!(table(&short), Some(short.shape().chain.blocks as usize));
    assert_eq!(table(&wide), Some(2 * wide.shape().chain.blocks as usize));
}
