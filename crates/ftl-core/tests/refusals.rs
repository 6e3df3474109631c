//! Bad input is an error that names what to change, and changes nothing.

use crate::world;

use ftl_core::config::{IndexConfig, LogRegion};
use ftl_core::hybrid::shape::ShapeError;
use ftl_core::hybrid::shape::index::IndexShapeError;
use ftl_core::probe::NoProbe;
use ftl_core::{Config, Ftl, MountError, RamPlan};
use ftl_core::{OwnedRam, Ram, WrongLength};
use ftl_iface::{
    BlockStore, Bytes, Cell, Geometry, PageCount, Region, Sector, SectorCount, StoreReadError,
    StoreWriteError, Work,
};
use nand_model::{Chip, Content};

use world::devices::{self, SMALL, geometry};
use world::{Checks, Dice, KEY, Step, Tandem, World, region};

/// Makes requests to a device in use, and asserts that nothing changed: no operation was done.
fn nothing_changes(ask: impl Fn(&mut Tandem<'_>, Sector, SectorCount)) {
    for (name, geometry, config) in devices::all() {
        println!("{name}");
        let mut world = World::new(geometry, config);
        let capacity = world.capacity();
        let mut dice = Dice::new(1);
        let steps: Vec<Step> = (0..200).map(|_| dice.write(capacity, 9)).collect();
        world.run(&steps, Checks::Never);
        world.live(|_, ftl| {
            let before = (ftl.probe().clone(), ftl.device().stats());
            ask(ftl, Sector::new(capacity), SectorCount::new(capacity));
            assert_eq!((ftl.probe().clone(), ftl.device().stats()), before);
            ftl.check().expect("every invariant holds");
        });
    }
}

#[test]
fn a_write_beyond_the_end_is_refused_whole() {
    nothing_changes(|ftl, end, capacity| {
        let last = Sector::new(end.get() - 1);
        for (first, sectors) in [(end, 1), (last, 2), (Sector::new(u32::MAX), 1), (end, 4_000)] {
            let count = SectorCount::new(sectors);
            let refused = StoreWriteError::OutOfRange { first, count, capacity };
            assert_eq!(ftl.write(first, &vec![7; sectors as usize * 512]), Err(refused));
        }
    });
}

#[test]
fn a_read_beyond_the_end_is_refused_whole_and_leaves_the_buffer() {
    nothing_changes(|ftl, end, capacity| {
        let last = Sector::new(end.get() - 1);
        for (first, sectors) in [(end, 1), (last, 2), (Sector::new(u32::MAX), 3)] {
            let count = SectorCount::new(sectors);
            let refused = StoreReadError::OutOfRange { first, count, capacity };
            let mut data = vec![7; sectors as usize * 512];
            assert_eq!(ftl.read(first, &mut data), Err(refused));
            assert!(data.iter().all(|byte| *byte == 7));
        }
    });
}

#[test]
fn a_trim_beyond_the_end_is_refused_whole() {
    nothing_changes(|ftl, end, capacity| {
        let last = Sector::new(end.get() - 1);
        for (first, sectors) in [(end, 1), (last, 2), (Sector::new(0), u32::MAX), (last, u32::MAX)]
        {
            let count = SectorCount::new(sectors);
            let refused = StoreWriteError::OutOfRange { first, count, capacity };
            assert_eq!(ftl.trim(first, count), Err(refused));
        }
    });
}

#[test]
fn a_buffer_that_is_no_whole_number_of_sectors_is_refused() {
    nothing_changes(|ftl, _, _| {
        let sector_bytes = Bytes::new(512);
        for bytes in [1, 511, 513, 1_023, 5 * 512 + 256] {
            let first = Sector::new(3);
            let refused = StoreWriteError::WrongLength { bytes, sector_bytes };
            assert_eq!(ftl.write(first, &vec![7; bytes]), Err(refused));
            let refused = StoreReadError::WrongLength { bytes, sector_bytes };
            assert_eq!(ftl.read(first, &mut vec![7; bytes]), Err(refused));
        }
    });
}

#[test]
fn empty_requests_and_flush_do_nothing() {
    for (name, geometry, config) in devices::all() {
        let mut world = World::new(geometry, config);
        let end = world.capacity();
        world.live(|_, ftl| {
            let before = ftl.device().stats();
            for first in [0, 7, end] {
                assert_eq!(ftl.write(Sector::new(first), &[]), Ok(()), "{name}");
                assert_eq!(ftl.read(Sector::new(first), &mut []), Ok(()), "{name}");
                assert_eq!(ftl.trim(Sector::new(first), SectorCount::ZERO), Ok(()), "{name}");
            }
            assert_eq!(ftl.flush(), Ok(()));
            assert_eq!(ftl.maintain(PageCount::ZERO), Ok(Work::Left));
            assert_eq!(ftl.maintain(PageCount::new(9)), Ok(Work::Done), "nothing waits");
            assert_eq!(ftl.device().stats(), before, "{name}");
        });
    }
}

fn refused(geometry: &Geometry, config: &Config) -> (ShapeError, String) {
    let error = RamPlan::new(geometry, config).expect_err("a figure that cannot be");
    (error, error.to_string())
}

fn hybrid_of(slc: [u32; 3], mlc: [u32; 3]) -> Geometry {
    let [slc_blocks, slc_pages, slc_bytes] = slc;
    let [blocks, pages, bytes] = mlc;
    let slc = region(Cell::Slc, slc_blocks, slc_pages, slc_bytes);
    geometry(Some(slc), Some(region(Cell::Mlc, blocks, pages, bytes)))
}

#[test]
fn a_sector_that_no_page_can_hold_is_refused() {
    let device = hybrid_of([12, 6, 1024], [14, 8, 2048]);
    for bytes in [0, 1, 256, 511, 513, 1_536, 2_048, 1 << 31] {
        let config = Config { sector_bytes: Bytes::new(bytes), ..SMALL };
        let (error, sentence) = refused(&device, &config);
        assert_eq!(error, ShapeError::SectorBytes(Bytes::new(bytes)));
        let wanted = format!(
            "a sector cannot have {bytes} bytes: choose a power of two from 512 to the smaller page size"
        );
        assert_eq!(sentence, wanted);
    }
}

#[test]
fn a_page_of_more_sectors_than_a_tag_names_is_refused() {
    let device = hybrid_of([10, 4, 2048], [14, 8, 32 << 10]);
    let (error, sentence) = refused(&device, &SMALL);
    assert_eq!(error, ShapeError::SlotsPerPage { slots: 64 });
    assert_eq!(sentence, "64 sectors per page are more than 32: choose larger sectors");
}

#[test]
fn a_tag_that_does_not_fit_the_spare_area_is_refused() {
    let (device, _) = devices::hybrid();
    let mut mlc = *device.mlc().expect("an MLC region");
    mlc.spare_bytes = Bytes::new(27);
    let device = geometry(device.slc().copied(), Some(mlc));
    let (error, sentence) = refused(&device, &SMALL);
    let given = Bytes::new(27);
    assert_eq!(error, ShapeError::SpareBytes { region: Region::Mlc, needed: 28, given });
    let wanted = "the tag of 28 bytes does not fit into the 27 bytes of spare area of the MLC region: choose larger \
                  sectors";
    assert_eq!(sentence, wanted);
    mlc.spare_bytes = Bytes::new(28);
    let device = geometry(device.slc().copied(), Some(mlc));
    assert!(RamPlan::new(&device, &SMALL).is_ok());
}

#[test]
fn more_blocks_than_sixteen_bits_number_are_refused() {
    let chains = hybrid_of([300, 4, 2048], [65_535, 8, 2048]);
    if cfg!(feature = "wide") {
        let plan = RamPlan::new(&chains, &SMALL).expect("wide numbers name them");
        assert!(plan.shape().width().is_wide());
    } else {
        let (error, sentence) = refused(&chains, &SMALL);
        assert_eq!(error, ShapeError::TooManyBlocks { blocks: 65_535 });
        let wanted = "65535 blocks for chains are more than 65534: use larger blocks, or build ftl-core with its \
                      feature `wide`";
        assert_eq!(sentence, wanted);
    }
    let (error, sentence) = refused(&hybrid_of([65_541, 4, 2048], [14, 8, 2048]), &SMALL);
    assert_eq!(error, ShapeError::TooManyLogBlocks { blocks: 65_535 });
    assert_eq!(
        sentence,
        "a log or checkpoints of 65535 blocks are more than 65534: make the log smaller"
    );
}

#[test]
fn more_sectors_than_a_tag_names_are_refused() {
    let device = hybrid_of([10, 4, 512], [65_534, 20_000, 512]);
    let (error, sentence) = refused(&device, &Config { chain_log_blocks_max: 1, ..SMALL });
    assert_eq!(error, ShapeError::TooManySectors { sectors: 65_532 * 20_000 });
    assert_eq!(sentence, "1310640000 sectors are more than 1073741823: choose larger sectors");
}

#[test]
fn a_log_where_the_device_has_no_room_of_that_kind_is_refused() {
    let (hybrid, _) = devices::hybrid();
    let (one_slc, _) = devices::one_slc();
    let first_blocks = Config { log: LogRegion::FirstBlocks(4), ..SMALL };
    let (error, sentence) = refused(&hybrid, &first_blocks);
    assert_eq!(error, ShapeError::LogRegion(LogRegion::FirstBlocks(4)));
    let wanted = "the log is configured as the first blocks, but the device has two regions: use the SLC region";
    assert_eq!(sentence, wanted);
    let (error, sentence) = refused(&one_slc, &SMALL);
    assert_eq!(error, ShapeError::LogRegion(LogRegion::SlcRegion));
    let wanted = "the log is configured as the SLC region, but the device has one region: use its first blocks";
    assert_eq!(sentence, wanted);
}

#[test]
fn a_log_of_one_block_is_refused() {
    let sentence = "a log of 1 blocks is too small: give it at least 2, or none at all";
    let (one_slc, _) = devices::one_slc();
    let config = Config { log: LogRegion::FirstBlocks(1), ..SMALL };
    let refusals =
        [refused(&hybrid_of([7, 4, 2048], [14, 8, 2048]), &SMALL), refused(&one_slc, &config)];
    for refusal in refusals {
        assert_eq!(refusal, (ShapeError::LogBlocks { blocks: 1 }, sentence.to_owned()));
    }
}

#[test]
fn blocks_too_short_for_what_a_mount_after_a_power_cut_needs_are_refused() {
    // A page of the chains takes two pages of the first region. Copies of two such pages, a commit, and its proof are
    // six.
    let (error, sentence) = refused(&hybrid_of([12, 5, 1024], [14, 8, 2048]), &SMALL);
    assert_eq!(error, ShapeError::MetaPages { pages: 5, needed: 6 });
    let wanted = "a block of 5 pages is too short for the recovery after a power cut: it needs 6 pages, or fewer with \
                  larger sectors";
    assert_eq!(sentence, wanted);
    assert!(RamPlan::new(&hybrid_of([12, 6, 1024], [14, 8, 2048]), &SMALL).is_ok());
}

#[test]
fn a_limit_of_log_blocks_that_places_cannot_name_is_refused() {
    let device = hybrid_of([12, 10, 2048], [14, 8, 2048]);
    for (limit, pages, bytes) in [(0, 8, 2048), (2, 1_024, 8_192), (255, 128, 2_048)] {
        let device = geometry(device.slc().copied(), Some(region(Cell::Mlc, 14, pages, bytes)));
        let (error, sentence) = refused(&device, &Config { chain_log_blocks_max: limit, ..SMALL });
        let ShapeError::ChainLogBlocks { most } = error else { panic!("{error}") };
        let wanted = format!(
            "a chain of this device may have 1 to {most} log blocks: choose a number in this range"
        );
        assert_eq!(sentence, wanted);
        // The sentence is right: the limit that it names is accepted, and one more is not.
        for (limit, fits) in [(most, true), (most + 1, false)] {
            let Ok(limit) = u8::try_from(limit) else { continue };
            let config = Config { chain_log_blocks_max: limit, ..SMALL };
            assert_eq!(RamPlan::new(&device, &config).is_ok(), fits, "{limit} of {most}");
        }
    }
}

#[test]
fn a_capacity_of_nothing_or_without_two_spare_blocks_is_refused() {
    let (device, _) = devices::hybrid();
    let most = SectorCount::new(12 * 32);
    for asked in [0, 12 * 32 + 1, u32::MAX] {
        let asked = SectorCount::new(asked);
        let (error, sentence) = refused(&device, &Config { capacity: Some(asked), ..SMALL });
        assert_eq!(error, ShapeError::Capacity { asked, most });
        let wanted = format!(
            "beside the spare blocks there is room for {most}, not for {asked}: ask for less, or add blocks"
        );
        assert_eq!(sentence, wanted);
    }
    for asked in [1, 12 * 32] {
        let config = Config { capacity: Some(SectorCount::new(asked)), ..SMALL };
        assert!(RamPlan::new(&device, &config).is_ok(), "{asked}");
    }
    // A device whose log leaves nothing for chains.
    let (one_slc, _) = devices::one_slc();
    let all_log = Config { log: LogRegion::FirstBlocks(5_000), ..SMALL };
    let (error, _) = refused(&one_slc, &all_log);
    assert!(matches!(error, ShapeError::Capacity { most: SectorCount::ZERO, .. }), "{error:?}");
}

#[test]
fn a_hash_table_of_impossible_size_or_probes_is_refused() {
    let (device, _) = devices::hybrid();
    let with = |index| Config { index, ..SMALL };
    let (error, _) = refused(&device, &with(IndexConfig { entries: Some(2), ..SMALL.index }));
    assert_eq!(error, ShapeError::Index(IndexShapeError::Entries(2)));
    for probes in [0, 33] {
        let (error, _) = refused(&device, &with(IndexConfig { probes, ..SMALL.index }));
        assert_eq!(error, ShapeError::Index(IndexShapeError::Probes(probes)));
    }
    let (error, sentence) =
        refused(&device, &with(IndexConfig { entries: Some(0), ..SMALL.index }));
    assert_eq!(error, ShapeError::Index(IndexShapeError::Entries(0)));
    assert_eq!(sentence, "an index of 0 entries: choose between 3 and 1048576");
}

#[test]
fn a_log_whose_blocks_have_one_page_has_no_room_for_data_beside_the_summary_and_is_refused() {
    let device = hybrid_of([10, 1, 1024], [14, 8, 2048]);
    let (error, sentence) = refused(&device, &SMALL);
    assert_eq!(error, ShapeError::LogPages { pages: 1 });
    let wanted =
        "a log block of 1 pages has no space for data beside its summary: configure no log";
    assert_eq!(sentence, wanted);
    // Two pages would be enough for the log, but not for rescue blocks, which need at least four.
    let (error, _) = refused(&hybrid_of([10, 2, 2048], [14, 8, 2048]), &SMALL);
    assert_eq!(error, ShapeError::MetaPages { pages: 2, needed: 4 });
    let four_word_lines = geometry(None, Some(region(Cell::Mlc, 20, 8, 2048)));
    let mut world = World::new(four_word_lines, Config { log: LogRegion::None, ..SMALL });
    let capacity = world.capacity();
    let mut dice = Dice::new(2);
    let steps: Vec<Step> = (0..300).map(|_| dice.write(capacity, 5)).collect();
    world.run(&steps, Checks::EachStep);
}

#[test]
fn a_log_of_more_places_than_can_be_numbered_is_refused() {
    // 65,000 blocks of 5,000 pages of 16 sectors: 5.2 thousand million slots.
    let device = hybrid_of([65_000, 5_000, 16_384], [14, 8, 2048]);
    let index = IndexConfig { entries: Some(1_000), ..SMALL.index };
    let config = Config { sector_bytes: Bytes::new(1024), index, ..SMALL };
    let (error, sentence) = refused(&device, &config);
    assert_eq!(error, ShapeError::LogPlaces);
    let wanted = "the log has slots for more than 4294967295 sectors: choose larger sectors, or a smaller log";
    assert_eq!(sentence, wanted);
}

#[test]
fn memory_of_other_lengths_than_the_plans_is_refused() {
    let (device, config) = devices::hybrid();
    let plan = RamPlan::new(&device, &config).expect("it fits");
    let needed = [plan.halves(), plan.words(), plan.bytes()];
    for (at, change) in [(0, 1), (1, 1), (2, 1), (0, -1), (1, -1), (2, -1)] {
        let mut lent = needed;
        lent[at] = lent[at].saturating_add_signed(change);
        let (mut halves, mut words, mut bytes) =
            (vec![0; lent[0]], vec![0; lent[1]], vec![0; lent[2]]);
        let error = Ram::lend(&plan, &mut halves, &mut words, &mut bytes).expect_err("too few");
        assert_eq!(error, WrongLength { needed, lent });
        let sentence = format!(
            "the plan needs {} halves, {} words and {} bytes, but {}, {} and {} were lent: size the arrays by the plan",
            needed[0], needed[1], needed[2], lent[0], lent[1], lent[2]
        );
        assert_eq!(error.to_string(), sentence);
    }
}

#[test]
fn memory_that_was_planned_for_another_device_is_refused() {
    let (geometry, config) = devices::hybrid();
    let (other, other_config) = devices::one_slc();
    let chip = |geometry| Chip::new(&world::part(geometry), Content::Bytes).expect("a chip");
    let plan = RamPlan::new(&other, &other_config).expect("it fits");
    let mut ram = OwnedRam::for_plan(&plan);
    let refused = Ftl::format(chip(geometry), &config, ram.lend(), KEY, NoProbe).err();
    assert_eq!(refused, Some(MountError::WrongPlan));
    let refused = Ftl::mount(chip(geometry), &config, ram.lend(), NoProbe).err();
    assert_eq!(refused, Some(MountError::WrongPlan));
    let sentence =
        "the memory was planned for another device or configuration: plan it for this one";
    assert_eq!(refused.map(|error| error.to_string()).as_deref(), Some(sentence));
}

#[test]
fn memory_that_was_planned_for_other_tables_of_the_same_device_is_refused() {
    // The division of the device is the same, but the hash table or the mapping cache has another size.
    let (geometry, config) = devices::hybrid();
    let plan = RamPlan::new(&geometry, &config).expect("it fits");
    let larger = IndexConfig { entries: Some(97), ..config.index };
    for other in [
        Config { index: larger, ..config },
        Config { mapping_cache_entries: config.mapping_cache_entries + 1, ..config },
    ] {
        let chip = Chip::new(&world::part(geometry), Content::Bytes).expect("a chip");
        let mut ram = OwnedRam::for_plan(&plan);
        let refused = Ftl::format(chip, &other, ram.lend(), KEY, NoProbe).err();
        assert_eq!(refused, Some(MountError::WrongPlan), "{other:?}");
    }
}
