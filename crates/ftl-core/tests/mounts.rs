//! Devices that cannot be mounted, each refused with its error and left unchanged; and bad blocks in every area.

use crate::world;

use ftl_core::config::{FilterChoice, IndexConfig, LogRegion, WearLeveling};
use ftl_core::hybrid::mount::FormatSetting;
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::layout::{Header, OtherFormat};
use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedMountError, PagedPlan};
use ftl_core::probe::Counters;
use ftl_core::{Config, Ftl, MountError, RamPlan};
use ftl_iface::{
    Block, BlockCount, BlockStore, Bytes, Cell, Geometry, NandDevice, PageCount, PageIndex,
    Pairing, Region, RegionGeometry, Sector, SectorCount,
};
use nand_model::faults::When;
use nand_model::{Chip, Content, FaultInjector};

use world::{Checks, Dice, KEY, Step, World, change_header, devices, part, region};

type Refusal<E> = Option<MountError<E>>;

fn chip(geometry: Geometry) -> Chip {
    Chip::new(&part(geometry), Content::Bytes).expect("a possible part")
}

fn mount<D: NandDevice>(device: &mut D, config: &Config) -> Refusal<D::Error> {
    let plan = RamPlan::new(device.geometry(), config).expect("the configuration fits");
    let mut ram = OwnedRam::for_plan(&plan);
    Ftl::mount(device, config, ram.lend(), Counters::default()).err()
}

fn format<D: NandDevice>(device: &mut D, config: &Config) -> Refusal<D::Error> {
    let plan = RamPlan::new(device.geometry(), config).expect("the configuration fits");
    let mut ram = OwnedRam::for_plan(&plan);
    Ftl::format(device, config, ram.lend(), KEY, Counters::default()).err()
}

/// Mounts a device that must be refused, without a program or an erase.
fn refused(chip: &mut Chip, config: &Config) -> (MountError<core::convert::Infallible>, String) {
    let before = chip.stats();
    let refusal = mount(chip, config).expect("a refusal");
    let after = chip.stats();
    for (before, after) in [(before.slc, after.slc), (before.mlc, after.mlc)] {
        let changes = |stats: nand_model::RegionStats| (stats.tally.programs, stats.tally.erases);
        assert_eq!(changes(after), changes(before));
    }
    (refusal, refusal.to_string())
}

/// Returns the header that a format writes, with its tag.
fn header_page(geometry: &Geometry, config: &Config) -> (Vec<u8>, Vec<u8>) {
    let mut chip = chip(*geometry);
    assert_eq!(format(&mut chip, config), None);
    let (mut data, mut spare) = (vec![0; 2048], vec![0; 128]);
    let page = Block::new(Region::Slc, 0).page(PageIndex::new(0));
    chip.read(page, Bytes::ZERO, &mut data, &mut spare).expect("it was written");
    (data, spare)
}

fn put_header(chip: &mut Chip, block: u32, change: impl Fn(&mut [u8])) {
    let (geometry, config) = devices::hybrid();
    let (mut page, spare) = header_page(&geometry, &config);
    change(&mut page);
    let page_0 = Block::new(Region::Slc, block).page(PageIndex::new(0));
    chip.program(page_0, &page, &spare).expect("programmed");
}

#[test]
fn a_device_that_was_never_formatted_is_not_mounted() {
    for (_, geometry, config) in devices::all() {
        let (error, sentence) = refused(&mut chip(geometry), &config);
        assert_eq!(error, MountError::NotFormatted);
        assert_eq!(sentence, "the device has no header of this FTL: format it first");
    }
}

#[test]
fn a_device_with_something_else_on_it_is_not_mounted() {
    let (geometry, config) = devices::hybrid();
    let mut chip = chip(geometry);
    let mut dice = Dice::new(1);
    for region in Region::ALL {
        let shape = *geometry.region(region).expect("both regions");
        for block in 0..shape.blocks.get() {
            for page in 0..shape.pages_per_block.get() as u16 {
                let mut noise = |bytes: Bytes| -> Vec<u8> {
                    (0..bytes.get()).map(|_| dice.below(256) as u8).collect()
                };
                let (data, spare) = (noise(shape.page_bytes), noise(shape.spare_bytes));
                let page = Block::new(region, block).page(PageIndex::new(page));
                chip.program(page, &data, &spare).expect("programmed");
            }
        }
    }
    assert_eq!(refused(&mut chip, &config).0, MountError::NotFormatted);
    // It can be formatted, whatever was on it.
    assert_eq!(format(&mut chip, &config), None);
    assert_eq!(mount(&mut chip, &config), None);
}

#[test]
fn a_device_of_another_version_is_not_mounted() {
    let (geometry, config) = devices::hybrid();
    let put = |chip: &mut Chip, version: u16| {
        put_header(chip, 0, |page| page[8..10].copy_from_slice(&version.to_le_bytes()));
    };
    for version in [0, 1, 2, 3, 4, 5, 6, u8::MAX] {
        let mut chip = chip(geometry);
        put(&mut chip, version.into());
        let (error, sentence) = refused(&mut chip, &config);
        assert_eq!(error, MountError::Version(OtherFormat::Earlier(version)));
        let wanted = format!(
            "the device was formatted by a version before format 1 (its format is {version}): \
             read its data with that version, or format the device"
        );
        assert_eq!(sentence, wanted);
    }
    for version in [0x0101, 0x0200, 0x0500, u16::MAX] {
        let mut chip = chip(geometry);
        put(&mut chip, version);
        let (error, sentence) = refused(&mut chip, &config);
        assert_eq!(error, MountError::Version(OtherFormat::Later(version)));
        let wanted = format!(
            "the device has a later format than 1 ({version:#06x} in its header): mount it with a newer version"
        );
        assert_eq!(sentence, wanted);
    }
}

#[test]
fn a_device_with_wide_numbers_is_not_mounted_as_one_without() {
    let (geometry, config) = devices::hybrid();
    let mut chip = chip(geometry);
    put_header(&mut chip, 0, |page| change_header(page, 24, Header::WIDE_NUMBERS));
    let (error, sentence) = refused(&mut chip, &config);
    if cfg!(feature = "wide") {
        assert_eq!(error, MountError::DamagedHeader, "it has few blocks");
    } else {
        assert_eq!(error, MountError::Version(OtherFormat::Features(Header::WIDE_NUMBERS)));
        let wanted = "the device has more blocks than 16 bits number: build ftl-core with its feature `wide`";
        assert_eq!(sentence, wanted);
    }
}

#[test]
fn every_damaged_bit_of_a_header_is_seen() {
    let (geometry, config) = devices::hybrid();
    for bit in 0..Header::BYTES * 8 {
        let mut chip = chip(geometry);
        for block in 0..2 {
            put_header(&mut chip, block, |page| page[bit / 8] ^= 1 << (bit % 8));
        }
        let (error, sentence) = refused(&mut chip, &config);
        match bit / 8 {
            0..8 => assert_eq!(error, MountError::NotFormatted, "bit {bit}"),
            8..10 => assert!(matches!(error, MountError::Version(_)), "bit {bit}: {error}"),
            _ => {
                assert_eq!(error, MountError::DamagedHeader, "bit {bit}");
                let wanted = "both headers are damaged or cannot be read: if the driver has the ECC right, \
                              only a format helps";
                assert_eq!(sentence, wanted);
            }
        }
    }
}

#[test]
fn one_whole_header_of_the_two_is_enough() {
    let (geometry, config) = devices::hybrid();
    for whole in 0..2 {
        let mut chip = chip(geometry);
        put_header(&mut chip, whole, |_| ());
        assert_eq!(mount(&mut chip, &config), None, "the other place is empty");
        put_header(&mut chip, 1 - whole, |page| page[20] ^= 1);
        assert_eq!(mount(&mut chip, &config), None, "the other place is damaged");
    }
}

#[test]
fn a_header_that_cannot_be_read_counts_as_damaged() {
    let (geometry, config) = devices::hybrid();
    let mut formatted = chip(geometry);
    assert_eq!(format(&mut formatted, &config), None);
    let mut chip = FaultInjector::new(formatted, 1);
    for (block, page) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        chip.uncorrectable(Block::new(Region::Slc, block).page(PageIndex::new(page)));
        let refusal = mount(&mut chip, &config);
        let all = (block, page) == (1, 1);
        assert_eq!(refusal, all.then_some(MountError::DamagedHeader), "{block} {page}");
    }
}

#[test]
fn a_device_of_other_figures_is_not_mounted_and_the_error_names_both() {
    let (geometry, config) = devices::hybrid();
    let mut chip = chip(geometry);
    assert_eq!(format(&mut chip, &config), None);
    let index = |entries, probes| IndexConfig { entries: Some(entries), probes, ..config.index };
    let others = [
        (Config { sector_bytes: Bytes::new(1024), ..config }, "512 bytes a sector", 1024),
        (
            Config { capacity: Some(SectorCount::new(383)), ..config },
            "384 sectors of capacity",
            383,
        ),
        (Config { index: index(60, 8), ..config }, "61 entries in the hash table", 60),
        (Config { index: index(200, 8), ..config }, "61 entries in the hash table", 200),
        (Config { index: index(61, 4), ..config }, "8 probes in the hash table", 4),
    ];
    for (other, formatted, mounted) in others {
        let (error, sentence) = refused(&mut chip, &other);
        assert!(matches!(error, MountError::OtherConfig(_)), "{error:?}");
        let wanted = format!(
            "the device was formatted with {formatted}, and is mounted with {mounted}: mount it as it was formatted"
        );
        assert_eq!(sentence, wanted);
    }
    assert_eq!(mount(&mut chip, &config), None);
}

const NO_LEVELING: WearLeveling = WearLeveling { enabled: false, threshold: 3 };

#[test]
fn settings_that_are_not_of_the_format_may_change_between_mounts() {
    let (geometry, config) = devices::hybrid();
    let mut chip = chip(geometry);
    assert_eq!(format(&mut chip, &config), None);
    let others = [
        Config { window_max: Some(2), chain_log_blocks_max: 1, ..config },
        Config { mapping_cache_entries: 0, chain_sketch_halves: 3, ..config },
        Config { free_blocks_low: 3, copies_per_page: 0, throttle: false, ..config },
        Config { filter: FilterChoice::AcceptAll, wear_leveling: NO_LEVELING, ..config },
    ];
    for other in others {
        assert_eq!(mount(&mut chip, &other), None);
    }
}

#[test]
fn a_log_of_another_length_on_the_same_chip_is_another_figure() {
    let (geometry, config) = devices::one_slc();
    let mut chip = chip(geometry);
    assert_eq!(format(&mut chip, &config), None);
    for (log, blocks) in
        [(LogRegion::FirstBlocks(4), 4), (LogRegion::FirstBlocks(6), 6), (LogRegion::None, 0)]
    {
        let other = Config { capacity: Some(SectorCount::new(100)), ..config };
        assert_eq!(format(&mut chip, &other), None);
        let (error, _) = refused(&mut chip, &Config { log, ..other });
        let MountError::OtherConfig(told) = error else { panic!("{error}") };
        assert_eq!(told.setting, FormatSetting::LogBlocks);
        assert_eq!((told.formatted, told.mounted), (5, blocks));
    }
}

/// A driver that tells another geometry than the device was formatted with.
#[test]
fn a_device_of_another_geometry_is_not_mounted_and_the_error_names_both() {
    let (geometry, config) = devices::hybrid();
    let config = Config { capacity: Some(SectorCount::new(100)), ..config };
    let (slc, mlc) = (*geometry.slc().expect("there"), *geometry.mlc().expect("there"));
    let (data, spare) = header_page(&geometry, &config);
    let pages = |count| PageCount::new(count);
    let told = [
        (slc, RegionGeometry { pages_per_block: pages(6), ..mlc }, FormatSetting::ChainPages),
        (RegionGeometry { pages_per_block: pages(6), ..slc }, mlc, FormatSetting::FirstPages),
        (slc, RegionGeometry { pairing: Pairing::Adjacent2, ..mlc }, FormatSetting::ChainPairing),
        (
            slc,
            RegionGeometry { page_bytes: Bytes::new(1024), ..mlc },
            FormatSetting::ChainPageBytes,
        ),
        (slc, RegionGeometry { blocks: BlockCount::new(13), ..mlc }, FormatSetting::ChainBlocks),
        (RegionGeometry { blocks: BlockCount::new(11), ..slc }, mlc, FormatSetting::LogBlocks),
    ];
    for (slc, mlc, setting) in told {
        let mut told = chip(devices::geometry(Some(slc), Some(mlc)));
        let page = Block::new(Region::Slc, 0).page(PageIndex::new(0));
        told.program(page, &data, &spare).expect("programmed");
        let (error, _) = refused(&mut told, &config);
        let MountError::OtherConfig(other) = error else { panic!("{error}") };
        assert_eq!(other.setting, setting);
    }
}

#[test]
fn a_device_of_the_page_store_is_named() {
    let (geometry, config) = devices::hybrid();
    let mut chip = chip(geometry);
    put_header(&mut chip, 0, |page| page[..8].copy_from_slice(b"TANDEMPG"));
    let (error, sentence) = refused(&mut chip, &config);
    assert_eq!(error, MountError::OfPageStore);
    assert_eq!(sentence, "the device holds the page store: mount that, or format");
}

/// The other FTL would mount it: nobody should be told to format it.
#[test]
fn a_device_of_the_other_ftl_is_named_also_if_a_header_block_cannot_be_read() {
    let (geometry, config) = devices::hybrid();
    let paged = PagedConfig {
        sector_bytes: config.sector_bytes,
        capacity: Some(SectorCount::new(16)),
        dirty_entries: 64,
        anchor_blocks: 0,
        ..PagedConfig::SMALL
    };
    let plan = PagedPlan::new(&geometry, &paged).expect("it fits");
    let mut ram = OwnedPagedRam::for_plan(&plan);
    for block in 0..2 {
        let lose = |chip: &mut FaultInjector<Chip>| {
            for page in 0..4 {
                chip.uncorrectable(Block::new(Region::Slc, block).page(PageIndex::new(page)));
            }
        };
        let mut formatted = chip(geometry);
        assert_eq!(format(&mut formatted, &config), None);
        let mut device = FaultInjector::new(formatted, 1);
        lose(&mut device);
        let refused_by = PageFtl::mount(&mut device, &paged, ram.lend(), Counters::default()).err();
        assert_eq!(refused_by, Some(PagedMountError::OfHybrid), "block {block}");

        let mut formatted = chip(geometry);
        drop(
            PageFtl::format(&mut formatted, &paged, ram.lend(), KEY, Counters::default())
                .expect("formatted"),
        );
        let mut device = FaultInjector::new(formatted, 1);
        lose(&mut device);
        assert_eq!(mount(&mut device, &config), Some(MountError::OfPageStore), "block {block}");
    }
}

/// Without its tag a header is host data.
#[test]
fn host_data_that_looks_like_a_header_is_none() {
    let (geometry, config) = devices::hybrid();
    let (page, spare) = header_page(&geometry, &config);
    for spare in [vec![0xFF; 128], spare.iter().map(|byte| byte ^ 4).collect()] {
        let mut chip = chip(geometry);
        let page_0 = Block::new(Region::Slc, 0).page(PageIndex::new(0));
        chip.program(page_0, &page, &spare).expect("programmed");
        assert_eq!(refused(&mut chip, &config).0, MountError::NotFormatted);
    }
}

#[test]
fn a_device_formatted_anew_with_another_key_has_nothing_of_its_earlier_life() {
    let (geometry, config) = devices::hybrid();
    let mut world = World::new(geometry, config);
    let capacity = world.capacity();
    let mut dice = Dice::new(2);
    world.run(&(0..400).map(|_| dice.write(capacity, 9)).collect::<Vec<_>>(), Checks::Never);
    let mut chip = world.take_chip();
    let plan = RamPlan::new(&geometry, &config).expect("the configuration fits");
    let mut ram = OwnedRam::for_plan(&plan);
    assert!(Ftl::format(&mut chip, &config, ram.lend(), KEY + 1, Counters::default()).is_ok());
    let mut ftl = Ftl::mount(&mut chip, &config, ram.lend(), Counters::default()).expect("mounted");
    let mut data = vec![7; capacity as usize * 512];
    ftl.read(Sector::new(0), &mut data).expect("read");
    assert!(data.iter().all(|byte| *byte == 0));
    ftl.check().expect("every invariant holds");
}

/// Formatted with a log in the SLC region, then without: the headers of before are gone.
#[test]
fn a_format_without_a_log_leaves_no_header_in_the_other_region() {
    let (geometry, config) = devices::hybrid();
    let alone = Config { log: LogRegion::None, ..config };
    for magic in [b"TANDEMFT", b"TANDEMPG"] {
        let mut chip = chip(geometry);
        put_header(&mut chip, 0, |page| page[..8].copy_from_slice(magic));
        put_header(&mut chip, 1, |_| ());
        assert_eq!(format(&mut chip, &alone), None);
        assert_eq!(mount(&mut chip, &config), Some(MountError::NotFormatted));
        assert_eq!(mount(&mut chip, &alone), None);
    }
    // Anything else in that region stays.
    let mut chip = chip(geometry);
    put_header(&mut chip, 0, |page| page[0] ^= 1);
    assert_eq!(format(&mut chip, &alone), None);
    assert_eq!(chip.erase_count(Block::new(Region::Slc, 0)), 0);
}

/// The header of before would still be there, and count if the other one is lost.
#[test]
fn a_format_fails_if_a_header_block_can_be_neither_erased_nor_marked() {
    let (geometry, config) = devices::hybrid();
    for failing in 0..2 {
        let mut chip = FaultInjector::new(chip(geometry), 1);
        assert_eq!(format(&mut chip, &config), None);
        let block = Block::new(Region::Slc, failing);
        chip.fail_erase(block, When::Always);
        chip.fail_mark(block);
        assert_eq!(format(&mut chip, &config), Some(MountError::BlockFailed));
        chip.lift_all();
        chip.fail_erase(block, When::Always);
        assert_eq!(format(&mut chip, &config), None, "it can be marked");
        assert_eq!(mount(&mut chip, &config), None);
    }
}

/// Marks the blocks bad before the device is formatted, runs a workload with remounts, and checks every invariant on
/// the way.
fn lives_with_bad_blocks(geometry: Geometry, config: Config, bad: &[(Region, u32)]) {
    let mut chip = chip(geometry);
    for (region, block) in bad {
        chip.mark_bad(Block::new(*region, *block)).expect("marked");
    }
    let mut world = World::on(chip, config);
    let capacity = world.capacity();
    let mut dice = Dice::new(3);
    let steps: Vec<Step> = (0..900)
        .map(|at| if at % 150 == 149 { Step::Remount } else { dice.write(capacity, 6) })
        .collect();
    world.run(&steps, Checks::EachStep);
    for (region, block) in bad {
        let block = Block::new(*region, *block);
        assert_eq!(world.chip().erase_count(block), 0, "{block} was left alone");
    }
}

#[test]
fn factory_bad_blocks_in_meta_log_and_chains_are_passed_over() {
    use Region::{Mlc, Slc};
    let (geometry, config) = devices::hybrid();
    // The capacity that leaves four spare blocks beside the bad ones.
    let config = Config { capacity: Some(SectorCount::new(8 * 32)), ..config };
    let cases: [&[(Region, u32)]; 9] = [
        &[(Slc, 0)],
        &[(Slc, 1)],
        &[(Slc, 2), (Slc, 3)],
        &[(Slc, 4)],
        &[(Slc, 9)],
        &[(Slc, 4), (Slc, 5), (Slc, 8), (Slc, 9)],
        &[(Mlc, 0), (Mlc, 13)],
        &[(Mlc, 4), (Mlc, 5), (Mlc, 6)],
        &[(Slc, 1), (Slc, 3), (Slc, 6), (Mlc, 0), (Mlc, 1), (Mlc, 9)],
    ];
    for bad in cases {
        println!("{bad:?}");
        lives_with_bad_blocks(geometry, config, bad);
    }
}

#[test]
fn factory_bad_blocks_of_a_split_chip_are_passed_over_in_every_part() {
    for (geometry, config) in [devices::one_slc(), devices::one_tlc()] {
        let region = if geometry.slc().is_some() { Region::Slc } else { Region::Mlc };
        // Meta is 0 to 5, the log 6 to 10, and the chains follow.
        let per_block = RamPlan::new(&geometry, &config).expect("fits").shape().sectors_per_block;
        let config = Config { capacity: Some(SectorCount::new(9 * per_block.get())), ..config };
        for bad in
            [vec![0], vec![1, 6], vec![10, 11], vec![7, 8, 9], vec![0, 2, 3, 4, 6, 8, 12, 19, 25]]
        {
            println!("{bad:?}");
            let bad: Vec<(Region, u32)> = bad.into_iter().map(|block| (region, block)).collect();
            lives_with_bad_blocks(geometry, config, &bad);
        }
    }
}

#[test]
fn too_many_bad_blocks_are_counted_and_refused() {
    let (geometry, config) = devices::hybrid();
    // The chains of 14 blocks hold 12 logical ones: a single bad block is one too many.
    let mut formatted = chip(geometry);
    assert_eq!(format(&mut formatted, &config), None);
    formatted.mark_bad(Block::new(Region::Mlc, 3)).expect("marked");
    assert_eq!(mount(&mut formatted, &config), None, "everything can be read");
    let error = MountError::TooFewBlocks { good: 13, needed: 14 };
    assert_eq!(format(&mut formatted, &config), Some(error));
    let wanted =
        "13 good blocks are too few for the capacity, which needs 14: format with a smaller one";
    assert_eq!(error.to_string(), wanted);
    let smaller = Config { capacity: Some(SectorCount::new(11 * 32)), ..config };
    assert_eq!(format(&mut formatted, &smaller), None);

    // A log needs two good blocks.
    let mut log = chip(geometry);
    for block in 7..12 {
        log.mark_bad(Block::new(Region::Slc, block)).expect("marked");
    }
    assert_eq!(format(&mut log, &config), Some(MountError::TooFewBlocks { good: 1, needed: 2 }));

    // Without a good meta block there is no block for a header.
    let mut meta = chip(geometry);
    for block in 0..2 {
        meta.mark_bad(Block::new(Region::Slc, block)).expect("marked");
    }
    assert_eq!(format(&mut meta, &config), Some(MountError::BlockFailed));
    assert_eq!(mount(&mut meta, &config), Some(MountError::NotFormatted));
}

#[test]
fn two_good_log_blocks_of_many_are_enough() {
    let slc = region(Cell::Slc, 12, 4, 2048);
    let geometry = devices::geometry(Some(slc), Some(region(Cell::Mlc, 14, 8, 2048)));
    let bad: Vec<(Region, u32)> = [6, 8, 9, 10].map(|block| (Region::Slc, block)).into();
    lives_with_bad_blocks(geometry, devices::SMALL, &bad);
}
