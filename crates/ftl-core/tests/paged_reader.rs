//! A second reader of the page store's format, written from `docs/PAGE_STORE.md` and `docs/FORMAT.md` alone: it shares
//! no code with tags, map or mount. Random requests run on small devices; then this reader reads the chip, and must
//! find the expected content by tags and map pages.

use crate::page_reader;
use crate::world;

use ftl_core::config::{Endurance, FilterChoice, WearLeveling};
use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan, Streams};
use ftl_core::probe::Counters;
use ftl_iface::{
    Block, BlockCount, BlockStore, Bytes, Geometry, NandDevice, PageCount, Region, RegionGeometry,
    Sector, SectorCount,
};
use nand_model::{Chip, Content, datasheet};

use page_reader::Reader;
use world::{Dice, KEY, content};

const BYTES: usize = 1024;

fn config(capacity: u32) -> PagedConfig {
    PagedConfig {
        sector_bytes: Bytes::new(BYTES as u32),
        capacity: Some(SectorCount::new(capacity)),
        dirty_entries: 100,
        cached_leaves: 2,
        anchor_blocks: 2,
        filter: FilterChoice::BySize { initial: SectorCount::new(2), largest: SectorCount::new(4) },
        wear_leveling: WearLeveling { enabled: true, threshold: 2 },
        throttle: Some(Endurance { fast: 100, main: 100 }),
        ..PagedConfig::SMALL
    }
}

/// Does requests in several lives. After each the chip is as a power loss between two requests leaves it.
fn the_reader_finds_the_truth(device: &str, config: &PagedConfig) {
    let part = datasheet::builtin(device).expect("a part of that name");
    the_reader_finds_it_on(Chip::new(&part, Content::Bytes).expect("a possible part"), config, 40);
}

fn the_reader_finds_it_on(mut chip: Chip, config: &PagedConfig, lives: u32) {
    let plan = PagedPlan::new(chip.geometry(), config).expect("the configuration fits");
    let capacity = plan.shape().capacity.get();
    let mut truth = vec![0; capacity as usize];
    let mut dice = Dice::new(7);
    let mut ram = OwnedPagedRam::for_plan(&plan);
    let mut formatted = false;
    for version in 1..=lives {
        let ftl = if formatted {
            PageFtl::mount(chip, config, ram.lend(), Counters::default())
        } else {
            PageFtl::format(chip, config, ram.lend(), KEY, Counters::default())
        };
        formatted = true;
        let mut ftl = ftl.expect("it mounts");
        for _ in 0..=dice.below(60) {
            let span = if dice.percent(50) { capacity } else { capacity / 8 };
            let first = dice.below(span);
            let longest = if dice.percent(20) { 40 } else { 3 };
            let count = dice.within(1..longest + 1).min(capacity - first);
            let run = first as usize..(first + count) as usize;
            match dice.below(20) {
                0 => drop(ftl.maintain(PageCount::new(count)).expect("idle")),
                1 | 2 => {
                    ftl.trim(Sector::new(first), SectorCount::new(count)).expect("trimmed");
                    truth[run].fill(0);
                }
                _ => {
                    let data: Vec<u8> = (first..first + count)
                        .flat_map(|sector| content(sector, version, BYTES))
                        .collect();
                    ftl.write(Sector::new(first), &data).expect("written");
                    truth[run].fill(version);
                }
            }
        }
        if dice.percent(20) {
            ftl.stop().expect("stopped");
        }
        (chip, _) = ftl.into_parts();
        let mut reader = Reader::open(&mut chip);
        let places = reader.places();
        for (sector, written) in (0..).zip(&truth) {
            let found = places.get(&sector).map(|place| reader.at(*place, sector));
            let expected = (*written > 0).then(|| content(sector, *written, BYTES));
            assert!(found == expected, "life {version}, sector {sector}: {written}");
        }
    }
}

#[test]
fn on_two_regions() {
    the_reader_finds_the_truth("tiny", &config(300));
    let streams = Streams::ByLifetime;
    the_reader_finds_the_truth("tiny", &PagedConfig { streams, ..config(112) });
}

#[test]
fn on_one_region_of_each_cell() {
    the_reader_finds_the_truth("tiny-slc", &PagedConfig { anchor_blocks: 0, ..config(72) });
    the_reader_finds_the_truth("tiny-mlc", &config(120));
    the_reader_finds_the_truth("tiny-tlc", &config(400));
}

#[test]
fn on_more_blocks_than_16_bits_number() {
    let mut part = datasheet::builtin("tiny-slc").expect("a part of that name");
    let blocks = BlockCount::new((1 << 16) + 20);
    let slc = RegionGeometry { blocks, ..*part.geometry.slc().expect("a region") };
    part.geometry = Geometry::new(Some(slc), None).expect("a possible geometry");
    let mut chip = Chip::new(&part, Content::Bytes).expect("a possible part");
    // Most blocks are bad, so that the last ones are used.
    for block in 4..blocks.get() - 40 {
        chip.mark_bad(Block::new(Region::Slc, block)).expect("marked");
    }
    the_reader_finds_it_on(chip, &config(72), 4);
}
