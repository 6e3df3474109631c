//! The reads of the page store's mounts: after a power loss at any moment, after a clean stop, and when no anchor can
//! be read.

use std::convert::Infallible;

use ftl_core::config::FilterChoice;
use ftl_core::layout;
use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan};
use ftl_core::probe::Counters;
use ftl_iface::{
    Block, BlockStore, Bytes, Corrected, NandDevice, Page, ReadError, Region, Sector, SectorCount,
    forward_nand,
};
use nand_model::{Chip, Content, Fork, Stamp, datasheet};

/// A chip that counts reads.
struct Counting {
    chip: Chip,
    /// Reads of pages, and calls of `is_bad`, which read a page on most chips.
    reads: u64,
}

impl NandDevice for Counting {
    type Error = Infallible;

    forward_nand!(self => self.chip; geometry program erase mark_bad);

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Infallible>> {
        self.reads += 1;
        self.chip.read(page, at, data, spare)
    }

    fn is_bad(&mut self, block: Block) -> Result<bool, Infallible> {
        self.reads += 1;
        self.chip.is_bad(block)
    }
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) % u64::from(end)) as u32
    }
}

/// Returns sectors with a stamp each, which is all that a chip without full content keeps.
fn sectors(count: usize, bytes: usize) -> Vec<u8> {
    let mut data = vec![0; count * bytes];
    for (number, sector) in (1..).zip(data.chunks_mut(bytes)) {
        Stamp::new(number).write_to(sector);
    }
    data
}

/// The cost of a mount.
#[derive(Clone, Copy, Debug)]
struct Took {
    reads: u64,
    micros: u64,
}

fn device(name: &str, config: &PagedConfig) -> (Counting, PagedPlan) {
    let part = datasheet::builtin(name).expect("a part of that name");
    let plan = PagedPlan::new(&part.geometry, config).expect("the configuration fits");
    let spare_kept = Bytes::new(layout::tag_bytes(plan.shape().slots_max()) as u32);
    let content = Content::Stamps { sector: config.sector_bytes, spare_kept };
    let mut chip = Chip::new(&part, content).expect("a possible part");
    chip.pack(plan.shape().main.region);
    (Counting { chip, reads: 0 }, plan)
}

fn busy_micros(chip: &Chip) -> u64 {
    let stats = chip.stats();
    (stats.slc.tally.busy.get() + stats.mlc.tally.busy.get()) / 1_000
}

/// Whether every invariant is checked after a mount.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Check,
    Nothing,
}

fn mounted(chip: &mut Chip, plan: &PagedPlan, after: After) -> Took {
    let copy = Counting { chip: chip.fork(), reads: 0 };
    let before = busy_micros(&copy.chip);
    let mut memory = OwnedPagedRam::for_plan(plan);
    let mut ftl =
        PageFtl::mount(copy, plan.config(), memory.lend(), Counters::default()).expect("it mounts");
    let took = Took { reads: ftl.device().reads, micros: busy_micros(&ftl.device().chip) - before };
    if after == After::Check {
        ftl.check().expect("every invariant holds");
    }
    took
}

fn small() -> PagedConfig {
    PagedConfig {
        capacity: Some(SectorCount::new(61_440)),
        filter: FilterChoice::AcceptAll,
        ..PagedConfig::SMALL
    }
}

#[test]
fn a_mount_of_the_spi_nand_reads_at_most_160_pages_whenever_power_is_lost() {
    let config = small();
    let (device, plan) = device("spi-nand-1g", &config);
    let mut memory = OwnedPagedRam::for_plan(&plan);
    let mut ftl =
        PageFtl::format(device, &config, memory.lend(), 7, Counters::default()).expect("formatted");
    let data = sectors(64, 2048);
    for first in (0..61_440).step_by(64) {
        ftl.write(Sector::new(first), &data).expect("written");
    }
    let mut dice = Dice(1);
    let mut most = 0;
    for write in 0..12_000 {
        ftl.write(Sector::new(dice.below(49_152)), &data[..2048]).expect("written");
        if write % 97 == 0 {
            let after = if write % 4_850 == 0 { After::Check } else { After::Nothing };
            let took = mounted(&mut ftl.device_mut().chip, &plan, after);
            most = most.max(took.reads);
            assert!(took.reads <= 160, "after {write} writes: {took:?}");
        }
    }
    println!("after power is lost: at most {most} reads");
    ftl.stop().expect("stopped");
    let took = mounted(&mut ftl.device_mut().chip, &plan, After::Check);
    println!("after a clean stop: {took:?}");
    assert!(took.reads <= 64, "{took:?}");
}

#[test]
fn where_no_anchor_can_be_read_every_block_is() {
    let config = PagedConfig { capacity: Some(SectorCount::new(20_000)), ..small() };
    let (device, plan) = device("spi-nand-1g", &config);
    let mut memory = OwnedPagedRam::for_plan(&plan);
    let mut ftl =
        PageFtl::format(device, &config, memory.lend(), 7, Counters::default()).expect("formatted");
    let data = sectors(1, 2048);
    let mut dice = Dice(2);
    for _ in 0..3_000 {
        ftl.write(Sector::new(dice.below(20_000)), &data).expect("written");
    }
    let mut chip = ftl.device_mut().chip.fork();
    let quick = mounted(&mut chip, &plan, After::Check);
    for block in 2..2 + u32::from(config.anchor_blocks) {
        chip.erase(Block::new(Region::Slc, block)).expect("erased");
    }
    let whole = mounted(&mut chip, &plan, After::Check);
    println!("with anchors: {quick:?}, without: {whole:?}");
    assert!(quick.reads <= 160 && whole.reads > 1_024, "{quick:?} {whole:?}");
}

/// Returns the longest of some mounts of a C3 that exports this fraction of its capacity, all of it written.
fn longest_of_c3(share: u64) -> Took {
    let part = datasheet::builtin("c3").expect("a part of that name");
    let exported = part.exported_bytes / u64::from(part.sector_bytes.get()) / share;
    let config = PagedConfig {
        sector_bytes: part.sector_bytes,
        capacity: Some(SectorCount::new(exported as u32)),
        ..PagedConfig::LARGE
    };
    let (device, plan) = device("c3", &config);
    let mut memory = OwnedPagedRam::for_plan(&plan);
    let mut ftl =
        PageFtl::format(device, &config, memory.lend(), 7, Counters::default()).expect("formatted");
    let bytes = part.sector_bytes.as_usize();
    let data = sectors(512, bytes);
    for first in (0..exported as u32 - 512).step_by(512) {
        ftl.write(Sector::new(first), &data).expect("written");
    }
    let mut dice = Dice(3);
    let mut longest = Took { reads: 0, micros: 0 };
    for write in 0..8_000 {
        let count = if write % 3 == 0 { 32 } else { 2 };
        let first = dice.below(exported as u32 - 32);
        ftl.write(Sector::new(first), &data[..count * bytes]).expect("written");
        if write % 1_999 == 1_998 {
            let took = mounted(&mut ftl.device_mut().chip, &plan, After::Nothing);
            if took.micros > longest.micros {
                longest = took;
            }
        }
    }
    println!("{longest:?}");
    longest
}

#[test]
fn a_mount_of_c3_leaves_the_map_to_be_counted_later() {
    let longest = longest_of_c3(16);
    assert!(longest.reads <= 1_500, "{longest:?}");
}

#[test]
#[ignore = "it fills 20 GiB: minutes"]
fn a_mount_of_c3_takes_at_most_a_twentieth_of_a_second_whenever_power_is_lost() {
    let longest = longest_of_c3(1);
    assert!(longest.micros <= 50_000, "{longest:?}");
}
