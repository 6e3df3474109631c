//! Checkpoints that are interrupted, damaged, foreign, void, on bad blocks, or forged: a mount always finds what was
//! acknowledged.

use crate::world;

use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::hybrid::shape::CheckpointArea;
use ftl_core::layout::{FormatKey, Seal, image_check};
use ftl_core::probe::{Counters, Verb};
use ftl_core::{Config, Ftl, RamPlan, Stopped as Left};
use ftl_iface::{Block, BlockStore, Bytes, Geometry, NandDevice, Page, Region, Sector};
use nand_model::faults::{FaultInjector, When};
use nand_model::power::PowerCut;
use nand_model::{Chip, Content, Fork};

use world::{Dice, KEY, Step, World, devices, part};

type Device = FaultInjector<Chip>;

/// A device with data that was stopped a number of times, and the expected content.
struct Stopped {
    world: World,
    chip: Device,
    config: Config,
    plan: RamPlan,
}

fn stopped(geometry: Geometry, config: Config, stops: u32) -> Stopped {
    let mut world = World::new(geometry, config);
    let chip = Chip::new(&part(geometry), Content::Bytes).expect("a possible part");
    let chip = FaultInjector::new(chip, 1);
    let plan = *world.plan();
    let capacity = world.capacity();
    let mut dice = Dice::new(7);
    let mut ram = OwnedRam::for_plan(&plan);
    let mut ftl =
        Ftl::format(chip, &config, ram.lend(), KEY, Counters::default()).expect("formatted");
    for _ in 0..stops {
        for _ in 0..400 {
            let most = if dice.percent(25) { 20 } else { 2 };
            world.step(&mut ftl, dice.write(capacity, most));
        }
        world.step(&mut ftl, Step::Maintain { budget: 1_000 });
        ftl.stop().expect("stopped");
    }
    let (chip, _) = ftl.into_parts();
    Stopped { world, chip, config, plan }
}

fn first_region(geometry: &Geometry, config: &Config) -> Region {
    let both = geometry.slc().is_some() && geometry.mlc().is_some();
    let hybrid = both && config.log == ftl_core::LogRegion::SlcRegion;
    if hybrid || geometry.mlc().is_none() { Region::Slc } else { Region::Mlc }
}

impl Stopped {
    fn place(&self, number: u16) -> CheckpointArea {
        CheckpointArea::new(&self.plan.shape().meta, number)
    }

    fn page(&self, place: CheckpointArea, number: u32) -> Page {
        let (block, page) = place.page(number);
        let region = first_region(self.chip.geometry(), &self.config);
        // The meta area uses the first page of each word line.
        let page = self.plan.shape().word_lines.nth_first_page(page);
        Block::new(region, u32::from(block)).page(page)
    }

    /// Mounts a device, which must hold all expected data. Returns whether it was scanned, and the device.
    fn mounts<D: NandDevice>(&self, chip: D, config: &Config) -> (bool, D) {
        let mut ram = OwnedRam::for_plan(&RamPlan::new(chip.geometry(), config).expect("fits"));
        let mut ftl = Ftl::mount(chip, config, ram.lend(), Counters::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let reads: u64 =
            Region::ALL.iter().map(|region| ftl.probe().total(*region, Verb::Read)).sum();
        // A scan reads each block; a mount from a checkpoint reads a header, two seals, and an image of a few pages.
        let scanned = reads > u64::from(self.place(0).seal()) + 3;
        ftl.check().unwrap_or_else(|violation| panic!("{violation}"));
        self.world.read_all(&mut ftl);
        (scanned, ftl.into_parts().0)
    }

    /// Returns the number of the checkpoint area with the valid seal.
    fn newest(&mut self) -> u16 {
        let key = FormatKey::new(KEY);
        let turns = [0, 1].map(|number| {
            let page = self.page(self.place(number), self.place(number).seal());
            let mut data = vec![0; self.plan.shape().meta.page_bytes.as_usize()];
            self.chip.read(page, Bytes::ZERO, &mut data, &mut []).expect("read");
            Seal::parse(&data, key).map(|seal| seal.turn)
        });
        assert_ne!(turns, [None; 2], "one seal stands");
        assert!(turns.contains(&None), "and one alone: {turns:?}");
        u16::from(turns[1] > turns[0])
    }
}

#[test]
fn places_are_used_in_turn_and_one_seal_stands_at_a_time() {
    for (name, geometry, config) in devices::all() {
        for stops in 1..5 {
            let mut device = stopped(geometry, config, stops);
            assert_eq!(u32::from(device.newest()), stops % 2, "{name}");
            assert!(!device.mounts(device.chip.clone(), &config).0, "{name}: no scan");
        }
    }
}

#[test]
fn a_checkpoint_with_any_page_unreadable_is_passed_over_and_nothing_is_lost() {
    for (name, geometry, config) in devices::all() {
        let mut device = stopped(geometry, config, 3);
        let newest = device.newest();
        let place = device.place(newest);
        let mut spoilt = 0;
        for number in 0..=place.seal() {
            let mut chip = device.chip.fork();
            chip.uncorrectable(device.page(place, number));
            spoilt += u32::from(device.mounts(chip, &config).0);
        }
        // Pages between image and seal are not programmed.
        assert!((2..=place.seal() + 1).contains(&spoilt), "{name}: {spoilt}");
    }
}

#[test]
fn another_configuration_scans_and_the_old_one_then_has_no_checkpoint_either() {
    let (geometry, config) = devices::hybrid();
    let device = stopped(geometry, config, 2);
    for other in [
        Config { window_max: Some(3), ..config },
        Config { throttle: !config.throttle, ..config },
        Config { chain_log_blocks_max: 3, ..config },
    ] {
        let (scanned, chip) = device.mounts(device.chip.clone(), &other);
        assert!(scanned, "{other:?}");
        // The mount may have erased stale blocks or not; either way the old configuration finds everything.
        device.mounts(chip, &config);
    }
    // Settings that the image does not depend on may change.
    let (scanned, _) =
        device.mounts(device.chip.clone(), &Config { mapping_cache_entries: 3, ..config });
    assert!(!scanned);
}

#[test]
fn a_stop_that_is_cut_anywhere_loses_nothing() {
    for (name, geometry, config) in devices::all() {
        let mut device = stopped(geometry, config, 2);
        // A change makes the checkpoint void, and idle work leaves no fold to finish.
        let mut ram = OwnedRam::for_plan(&device.plan);
        let mut ftl = Ftl::mount(device.chip.fork(), &config, ram.lend(), Counters::default())
            .expect("mounted");
        device.world.step(&mut ftl, Step::Write { first: 5, count: 1 });
        device.world.step(&mut ftl, Step::Maintain { budget: 1_000 });
        device.chip = ftl.into_parts().0;
        let (mut cuts, mut sealed) = (0, 0);
        'cuts: for at in 0.. {
            for seed in 0..12 {
                let chip = PowerCut::new(device.chip.fork(), world::cut(&config, at, seed));
                let mut ram = OwnedRam::for_plan(&device.plan);
                let mut ftl =
                    Ftl::mount(chip, &config, ram.lend(), Counters::default()).expect("mounted");
                let _ = ftl.stop();
                if ftl.device().is_on() {
                    break 'cuts;
                }
                cuts += 1;
                // A page that reads well at first may be unreadable in a later mount, which then scans.
                let mut chip = ftl.into_parts().0.into_inner();
                for _ in 0..3 {
                    let (scanned, after) = device.mounts(chip, &config);
                    sealed += u32::from(!scanned);
                    chip = after;
                }
            }
        }
        println!("{name}: {cuts} cuts, {sealed} mounts by a checkpoint");
        assert!(cuts > 30 && sealed > 0, "{name}: {cuts} cuts, {sealed} mounts by a checkpoint");
    }
}

#[test]
fn a_seal_whose_breaking_is_cut_is_true_or_not_there() {
    for (name, geometry, config) in devices::all() {
        let mut device = stopped(geometry, config, 2);
        for seed in 0..40 {
            let chip = PowerCut::new(device.chip.fork(), world::cut(&config, 0, seed));
            let mut ram = OwnedRam::for_plan(&device.plan);
            let mut ftl =
                Ftl::mount(chip, &config, ram.lend(), Counters::default()).expect("mounted");
            assert!(ftl.write(Sector::new(0), &[1; 512]).is_err(), "{name}: cut");
            let chip = ftl.into_parts().0.into_inner();
            // Whatever the block reads as now, after a write it must not be valid any more.
            let (_, chip) = device.mounts(chip, &config);
            let mut ram = OwnedRam::for_plan(&device.plan);
            let mut ftl =
                Ftl::mount(chip, &config, ram.lend(), Counters::default()).expect("mounted");
            let mut data = [0; 512];
            ftl.read(Sector::new(0), &mut data).expect("read");
            data[0] ^= 1;
            ftl.write(Sector::new(0), &data).expect("written");
            let (chip, _) = ftl.into_parts();
            let mut ram = OwnedRam::for_plan(&device.plan);
            let mut ftl =
                Ftl::mount(chip, &config, ram.lend(), Counters::default()).expect("mounted");
            assert_eq!(world::read_sector(&mut ftl, 0), data, "{name}");
        }
    }
}

#[test]
fn the_first_change_breaks_the_seal_before_anything_else_and_a_mount_believes_no_void_one() {
    for (name, geometry, config) in devices::all() {
        let mut device = stopped(geometry, config, 2);
        let newest = device.newest();
        let place = device.place(newest);
        let mut chip = device.chip.fork();
        let mut ram = OwnedRam::for_plan(&device.plan);
        let mut ftl =
            Ftl::mount(&mut chip, &config, ram.lend(), Counters::default()).expect("mounted");
        device.world.read_all(&mut ftl);
        let erases = |ftl: &Ftl<'_, &mut Device, Counters>| {
            Region::ALL.iter().map(|region| ftl.probe().total(*region, Verb::Erase)).sum::<u64>()
        };
        assert_eq!(erases(&ftl), 0, "{name}: reads leave it");
        device.world.step(&mut ftl, Step::Write { first: 3, count: 1 });
        let mut page = [0; 4];
        let seal_page = device.page(place, place.seal());
        ftl.device_mut().read(seal_page, Bytes::ZERO, &mut page, &mut []).expect("read");
        assert_eq!(page, [0xFF; 4], "{name}: the seal is erased");
        let (scanned, _) = device.mounts(chip, &config);
        assert!(scanned, "{name}");
    }
}

/// Makes a page of a checkpoint area fail: its first page or its seal.
type Fault = fn(&mut Device, Page, Page);

#[test]
fn a_place_that_fails_is_marked_bad_and_the_other_is_used() {
    for (name, geometry, config) in devices::all() {
        let mut device = stopped(geometry, config, 1);
        // The next stop goes to area 0.
        let place = device.place(0);
        let first = device.page(place, 0);
        let faults: [Fault; 3] = [
            |chip, first, _| chip.fail_program(first, When::Always),
            |chip, _, seal| chip.fail_program(seal, When::Always),
            |chip, first, _| chip.fail_erase(first.block(), When::Always),
        ];
        for fault in faults {
            let mut chip = device.chip.fork();
            fault(&mut chip, first, device.page(place, place.seal()));
            let mut ram = OwnedRam::for_plan(&device.plan);
            let mut ftl =
                Ftl::mount(&mut chip, &config, ram.lend(), Counters::default()).expect("mounted");
            for _ in 0..3 {
                device.world.step(&mut ftl, Step::Write { first: 9, count: 2 });
                assert_eq!(ftl.stop(), Ok(Left::Checkpoint));
            }
            assert!(chip.is_bad(first.block()).expect("a mark"), "{name}");
            let (scanned, _) = device.mounts(&mut chip, &config);
            assert!(!scanned, "{name}: the other place has it");
        }
    }
}

#[test]
fn without_a_good_place_a_stop_says_that_there_is_no_checkpoint_and_the_next_mount_scans() {
    let (geometry, config) = devices::hybrid();
    let mut device = stopped(geometry, config, 1);
    let mut chip = device.chip.fork();
    for number in [0, 1] {
        chip.fail_erase(device.page(device.place(number), 0).block(), When::Always);
    }
    let mut ram = OwnedRam::for_plan(&device.plan);
    let mut ftl = Ftl::mount(&mut chip, &config, ram.lend(), Counters::default()).expect("mounted");
    for first in 0..20 {
        device.world.step(&mut ftl, Step::Write { first, count: 2 });
        assert_eq!(ftl.stop(), Ok(Left::NoCheckpoint), "and says so");
    }
    let (scanned, _) = device.mounts(&mut chip, &config);
    assert!(scanned);
}

#[test]
fn a_seal_that_can_be_neither_erased_nor_marked_is_listed_as_void() {
    let (geometry, config) = devices::hybrid();
    let mut device = stopped(geometry, config, 2);
    let newest = device.newest();
    let place = device.place(newest);
    let seal = device.page(place, place.seal()).block();
    let mut chip = device.chip.fork();
    chip.fail_erase(seal, When::Always);
    chip.fail_mark(seal);
    let mut ram = OwnedRam::for_plan(&device.plan);
    let mut ftl = Ftl::mount(&mut chip, &config, ram.lend(), Counters::default()).expect("mounted");
    device.world.step(&mut ftl, Step::Write { first: 0, count: 1 });
    let (scanned, _) = device.mounts(&mut chip, &config);
    assert!(scanned);
    // The checkpoint stays invalid, whatever the block reads as.
    chip.lift_all();
    let (scanned, _) = device.mounts(chip, &config);
    assert!(scanned);
}

/// Writes an image with its seal to a checkpoint area, as a stop would.
fn forge(device: &Stopped, chip: &mut Device, number: u16, image: &[Vec<u8>], seal: Seal) {
    let key = FormatKey::new(KEY);
    let check = image.iter().fold(key.get(), |check, page| image_check(check, page));
    rewrite(device, chip, number, image, Seal { image_check: check, ..seal });
}

/// Returns the image in a checkpoint area, and its seal.
fn image_of(device: &mut Stopped, number: u16) -> (Vec<Vec<u8>>, Seal) {
    let place = device.place(number);
    let bytes = device.plan.shape().meta.page_bytes.as_usize();
    let mut read = |number| {
        let page = device.page(place, number);
        let mut data = vec![0; bytes];
        device.chip.read(page, Bytes::ZERO, &mut data, &mut []).expect("read");
        data
    };
    let seal = Seal::parse(&read(place.seal()), FormatKey::new(KEY)).expect("a seal");
    let pages = seal.length.div_ceil(bytes as u32);
    ((0..pages).map(read).collect(), seal)
}

#[test]
fn an_image_that_was_taken_back_is_written_again_byte_by_byte() {
    for (name, geometry, config) in devices::all() {
        for stops in 1..6 {
            let mut device = stopped(geometry, config, stops);
            let number = device.newest();
            let (image, seal) = image_of(&mut device, number);
            let mut ram = OwnedRam::for_plan(&device.plan);
            let mut ftl = Ftl::mount(device.chip.fork(), &config, ram.lend(), Counters::default())
                .expect("mounted");
            ftl.void_checkpoint().expect("void");
            ftl.stop().expect("stopped");
            device.chip = ftl.into_parts().0;
            let (again, its_seal) = image_of(&mut device, 1 - number);
            assert!(again == image, "{name}, after {stops} stops");
            assert_eq!(its_seal, Seal { turn: seal.turn + 1, ..seal });
        }
    }
}

/// Images with correct checks and wrong numbers: each byte is set to another value.
#[test]
fn a_forged_image_makes_no_mount_panic_or_read_without_end() {
    for (name, geometry, config) in devices::all() {
        let mut device = stopped(geometry, config, 2);
        let number = device.newest();
        let (image, seal) = image_of(&mut device, number);
        let bytes = image[0].len();
        let (mut believed, mut scanned) = (0, 0);
        for at in 0..seal.length as usize {
            for value in [0x00, 0x01, 0x7F, 0xFF] {
                let mut forged = image.clone();
                let byte = &mut forged[at / bytes][at % bytes];
                if *byte == value {
                    continue;
                }
                *byte = value;
                let mut chip = device.chip.fork();
                forge(&device, &mut chip, number, &forged, seal);
                let mut ram = OwnedRam::for_plan(&device.plan);
                let ftl = Ftl::mount(&mut chip, &config, ram.lend(), Counters::default());
                let ftl = ftl.expect("a scan, where it is not believed");
                let reads: u64 =
                    Region::ALL.iter().map(|region| ftl.probe().total(*region, Verb::Read)).sum();
                assert!(reads < 1_000, "{name}: {reads} reads");
                let was_scanned = reads > u64::from(device.place(0).seal()) + 3;
                scanned += u32::from(was_scanned);
                believed += u32::from(!was_scanned);
            }
        }
        println!("{name}: {scanned} forged images were passed over, {believed} believed");
        assert!(scanned > 300 && believed > 100, "{name}: {scanned} and {believed}");
    }
}

#[test]
fn an_image_forged_without_its_check_is_never_believed() {
    let (geometry, config) = devices::hybrid();
    let mut device = stopped(geometry, config, 2);
    let number = device.newest();
    let (image, seal) = image_of(&mut device, number);
    let bytes = image[0].len();
    for bit in (0..image.len() * bytes * 8).step_by(7) {
        // The same seal over a page with one bit more or less.
        let mut chip = device.chip.fork();
        let mut forged = image.clone();
        forged[bit / 8 / bytes][bit / 8 % bytes] ^= 1 << (bit % 8);
        rewrite(&device, &mut chip, number, &forged, seal);
        let (scanned, _) = device.mounts(chip, &config);
        assert!(scanned, "bit {bit}");
    }
}

/// Writes these pages and the seal to a checkpoint area, with the existing tags.
fn rewrite(device: &Stopped, chip: &mut Device, number: u16, image: &[Vec<u8>], seal: Seal) {
    let place = device.place(number);
    let mut seal_page = vec![0xFF; image[0].len()];
    seal.put(&mut seal_page, FormatKey::new(KEY));
    let mut pages = Vec::new();
    let numbers = (0..image.len() as u32).chain([place.seal()]);
    for (number, data) in numbers.zip(image.iter().chain([&seal_page])) {
        let mut spare = vec![0; 128];
        let page = device.page(place, number);
        chip.read(page, Bytes::ZERO, &mut [], &mut spare).expect("read");
        pages.push((page, data, spare));
    }
    for block in place.first..place.first + place.blocks {
        chip.erase(Block::new(pages[0].0.region(), u32::from(block))).expect("erased");
    }
    for (page, data, spare) in pages {
        chip.program(page, data, &spare).expect("programmed");
    }
}
