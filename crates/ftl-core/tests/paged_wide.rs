//! The page store on devices with more blocks than 16 bits can number: writes on both sides of block 65,535, mounts by
//! anchors, whose blocks take three bytes there, and by reading every block.

use ftl_core::config::FilterChoice;
use ftl_core::paged::{
    OwnedPagedRam, PageFtl, PagedConfig, PagedPlan, PagedShape, PagedShapeError, Streams,
};
use ftl_core::probe::Counters;
use ftl_iface::{
    Block, BlockCount, BlockStore, Bytes, Geometry, NandDevice, PageCount, Region, RegionGeometry,
    Sector, SectorCount,
};
use nand_model::part::Part;
use nand_model::{Chip, Content, Fork, datasheet};

const BYTES: usize = 1024;
const CAPACITY: u32 = 600;
/// The first block number that does not fit in 16 bits.
const BEYOND: u32 = 1 << 16;

fn region(device: &str, region: Region, blocks: u32, page: u32) -> RegionGeometry {
    let part = datasheet::builtin(device).expect("a part of that name");
    RegionGeometry {
        blocks: BlockCount::new(blocks),
        pages_per_block: PageCount::new(16),
        page_bytes: Bytes::new(page),
        spare_bytes: Bytes::new(64),
        ..*part.geometry.region(region).expect("the region")
    }
}

fn part(device: &str, slc: Option<RegionGeometry>, mlc: Option<RegionGeometry>) -> Part {
    let part = datasheet::builtin(device).expect("a part of that name");
    Part { geometry: Geometry::new(slc, mlc).expect("a possible geometry"), ..part }
}

const CONFIG: PagedConfig = PagedConfig {
    sector_bytes: Bytes::new(BYTES as u32),
    capacity: Some(SectorCount::new(CAPACITY)),
    dirty_entries: 200,
    cached_leaves: 2,
    anchor_blocks: 48,
    streams: Streams::ByLifetime,
    filter: FilterChoice::BySize { initial: SectorCount::new(2), largest: SectorCount::new(4) },
    ..PagedConfig::SMALL
};

/// Returns a chip with few good blocks, those in the given ranges, so that not all of it must be written.
fn chip_of(part: &Part, good: &[(Region, std::ops::Range<u32>)]) -> Chip {
    let mut chip = Chip::new(part, Content::Bytes).expect("a possible part");
    for region in Region::ALL {
        let Some(shape) = part.geometry.region(region) else { continue };
        for block in 0..shape.blocks.get() {
            if !good.iter().any(|(of, range)| *of == region && range.contains(&block)) {
                chip.mark_bad(Block::new(region, block)).expect("marked");
            }
        }
    }
    chip
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) % u64::from(end)) as u32
    }
}

fn content(sector: u32, version: u32) -> Vec<u8> {
    (0..BYTES as u32).map(|at| (sector * 31 + version * 7 + at / 4) as u8 | 1).collect()
}

fn holds(ftl: &mut PageFtl<'_, Chip, Counters>, truth: &[u32]) {
    for (sector, version) in (0..).zip(truth) {
        let mut data = vec![0xA5; BYTES];
        ftl.read(Sector::new(sector), &mut data).expect("it reads");
        let expected = if *version == 0 { vec![0; BYTES] } else { content(sector, *version) };
        assert_eq!(data, expected, "sector {sector}");
    }
}

/// Does some requests, and updates the expected content.
fn requests(ftl: &mut PageFtl<'_, Chip, Counters>, truth: &mut [u32], dice: &mut Dice, life: u32) {
    for request in 0..150 {
        let version = life * 1_000 + request + 1;
        let first = dice.below(CAPACITY);
        let count = [1, 2, 3, 24][dice.below(4) as usize].min(CAPACITY - first);
        let run = first as usize..(first + count) as usize;
        if dice.below(15) == 0 {
            ftl.trim(Sector::new(first), SectorCount::new(count)).expect("trimmed");
            truth[run].fill(0);
        } else {
            let data: Vec<u8> =
                (first..first + count).flat_map(|at| content(at, version)).collect();
            ftl.write(Sector::new(first), &data).expect("written");
            truth[run].fill(version);
        }
    }
}

fn reads(chip: &Chip) -> u64 {
    chip.stats().slc.tally.reads + chip.stats().mlc.tally.reads
}

/// Mounts and settles a copy of the chip, and returns the pages read by that. All data must be as expected.
fn mounted(chip: &mut Chip, plan: &PagedPlan, truth: &[u32]) -> u64 {
    let copy = chip.fork();
    let before = reads(&copy);
    let mut memory = OwnedPagedRam::for_plan(plan);
    let mut ftl =
        PageFtl::mount(copy, plan.config(), memory.lend(), Counters::default()).expect("it mounts");
    ftl.settle().expect("settled");
    let took = reads(ftl.device()) - before;
    ftl.check().expect("every invariant holds");
    holds(&mut ftl, truth);
    took
}

/// Runs lives of the device, and asserts that blocks of a region on both sides of `at` were used.
fn lives(part: &Part, mut chip: Chip, (region, at): (Region, u32)) {
    let plan = PagedPlan::new(&part.geometry, &CONFIG).expect("the configuration fits");
    assert!(plan.shape().blocks() > BEYOND);
    let mut memory = OwnedPagedRam::for_plan(&plan);
    let ftl =
        PageFtl::format(chip, &CONFIG, memory.lend(), 7, Counters::default()).expect("formatted");
    (chip, _) = ftl.into_parts();
    let (mut truth, mut dice) = (vec![0; CAPACITY as usize], Dice(5));
    for life in 0..6 {
        let mut memory = OwnedPagedRam::for_plan(&plan);
        let mut ftl =
            PageFtl::mount(chip, &CONFIG, memory.lend(), Counters::default()).expect("it mounts");
        requests(&mut ftl, &mut truth, &mut dice, life);
        ftl.check().expect("every invariant holds");
        if life % 2 == 1 {
            ftl.stop().expect("stopped");
        }
        (chip, _) = ftl.into_parts();
        let took = mounted(&mut chip, &plan, &truth);
        // The first life is too short for a walk over all blocks. Reading every block takes four reads of each.
        assert!(life == 0 || took < 2_500, "life {life}: {took} reads by anchors");
    }
    let erased = |blocks: std::ops::Range<u32>| {
        blocks.filter(|block| chip.erase_count(Block::new(region, *block)) > 0).count()
    };
    assert!(erased(at - 20..at) >= 4 && erased(at..at + 20) >= 4, "both sides were used");
    for block in 0..u32::from(CONFIG.anchor_blocks) {
        let anchors = Block::new(plan.shape().map_area().region, 2 + block);
        chip.erase(anchors).expect("erased");
    }
    let whole = mounted(&mut chip, &plan, &truth);
    assert!(whole > 2_500, "{whole} reads without anchors");
}

#[test]
fn one_region_is_written_on_both_sides_of_block_65_535() {
    let slc = region("tiny-slc", Region::Slc, BEYOND + 500, 4 * BYTES as u32);
    let part = part("tiny-slc", Some(slc), None);
    // Headers and anchors come before block number 0.
    let at = BEYOND + 2 + u32::from(CONFIG.anchor_blocks);
    let good = [(Region::Slc, 0..at - BEYOND), (Region::Slc, at - 20..at + 20)];
    lives(&part, chip_of(&part, &good), (Region::Slc, at));
}

#[test]
fn the_large_one_of_two_regions_is_written_on_both_sides_of_block_65_535() {
    let slc = region("tiny", Region::Slc, 40_000, 4 * BYTES as u32);
    let mlc = region("tiny", Region::Mlc, 40_000, 4 * BYTES as u32);
    let part = part("tiny", Some(slc), Some(mlc));
    let before = 2 + u32::from(CONFIG.anchor_blocks);
    let at = BEYOND - (40_000 - before);
    let good =
        [(Region::Slc, 0..before), (Region::Slc, 39_960..40_000), (Region::Mlc, at - 20..at + 20)];
    lives(&part, chip_of(&part, &good), (Region::Mlc, at));
}

/// Returns the shape of one region with pages of one 4-KiB sector.
fn shape(blocks: u32, pages: u32) -> Result<PagedShape, PagedShapeError> {
    let only = RegionGeometry {
        pages_per_block: PageCount::new(pages),
        ..region("tiny-slc", Region::Slc, blocks, 4096)
    };
    let geometry = Geometry::new(Some(only), None).expect("a possible geometry");
    PagedShape::new(
        &geometry,
        &PagedConfig { sector_bytes: Bytes::new(4096), ..PagedConfig::LARGE },
    )
}

#[test]
fn devices_of_2_tib_fit_and_larger_ones_are_refused_with_a_reason() {
    // 2 TiB in blocks of 1 MiB, and a nineteenth more.
    let large = shape(2_210_000, 256).expect("it fits");
    assert!(u64::from(large.capacity.get()) >= 2 << 40 >> 12, "{:?}", large.capacity);
    assert_eq!((large.block_bytes, large.entry_bytes), (3, 4));
    // The same in blocks of 128 KiB.
    assert_eq!(shape(8 * 2_210_000, 32).expect("it fits").block_bytes, 4);
    assert_eq!(shape(60_000, 256).expect("it fits").block_bytes, 2);
    assert_eq!(shape(1_000, 256).expect("it fits").block_bytes, 2);
    let refused = shape(2 * 2_210_000, 256).expect_err("there are too many places");
    assert_eq!(refused, PagedShapeError::Places);
    assert!(refused.to_string().contains("more than 2^30 sectors: choose larger sectors"));
    assert_eq!(shape(100, 1 << 13), Err(PagedShapeError::BlockSlots));
}
