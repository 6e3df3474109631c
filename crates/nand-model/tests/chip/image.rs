//! Images: what is saved is loaded, and what is damaged is reported to be.

use crate::support::{STAMPS, byte, chip, hybrid, mlc, mlc_shape, page, part, program, read, slc};
use crate::support::{stamp_chip, try_program};
use ftl_iface::{NandDevice, Pairing, ReadError, Region, RegionGeometry};
use nand_model::faults::{Ageing, Chance, FaultInjector, When};
use nand_model::image::ImageError;
use nand_model::part::{Ecc, Layout, Nanos, Part};
use nand_model::power::{BlockFate, PageFate, PairFate, Tear};
use nand_model::{Chip, Content, Stamp, Time, Timed, Truth};
use proptest::prelude::*;

fn saved(chip: &Chip) -> Vec<u8> {
    let mut image = Vec::new();
    chip.save(&mut image).unwrap();
    image
}

/// A chip with something of everything: gaps, erases, a bad block, time.
fn used(mut chip: Chip) -> Chip {
    for index in [0, 1, 5] {
        let mut data = [0; 1024];
        Stamp::new(u32::from(index)).write_to(&mut data[512..]);
        chip.program(page(mlc(3), index), &data, &[0xFF; 32]).unwrap();
    }
    chip.program(page(slc(1), 2), b"metadata".repeat(64).as_slice(), &[0xFF; 16]).unwrap();
    chip.erase(slc(0)).unwrap();
    chip.erase(slc(0)).unwrap();
    chip.mark_bad(mlc(9)).unwrap();
    chip
}

fn assert_same(left: &mut Chip, right: &mut Chip) {
    assert_eq!(left.part(), right.part());
    assert_eq!(left.content(), right.content());
    assert_eq!((left.stats(), left.now(), left.time()), (right.stats(), right.now(), right.time()));
    for (region, blocks, pages) in [(Region::Slc, 8, 4), (Region::Mlc, 16, 8)] {
        for block in (0..blocks).map(|index| ftl_iface::Block::new(region, index)) {
            assert_eq!(left.erase_count(block), right.erase_count(block));
            assert_eq!(left.next_page(block), right.next_page(block));
            assert_eq!(left.is_bad(block), right.is_bad(block));
            for index in 0..pages {
                let at = page(block, index);
                assert_eq!(left.is_programmed(at), right.is_programmed(at));
                assert_eq!(read(left, at), read(right, at));
            }
        }
    }
}

#[test]
fn a_loaded_chip_is_the_one_that_was_saved() {
    for chip in [chip(), stamp_chip()] {
        let mut chip = used(chip);
        let mut loaded = Chip::load(saved(&chip).as_slice()).unwrap();
        assert_same(&mut chip, &mut loaded);
        // And it continues as one.
        loaded.program(page(mlc(3), 6), &[0xFF; 1024], &[0xFF; 32]).unwrap();
        assert!(loaded.is_programmed(page(mlc(3), 6)) && !loaded.is_programmed(page(mlc(3), 7)));
        loaded.erase(slc(1)).unwrap();
        assert_eq!(byte(&mut loaded, page(slc(1), 2)), 0xFF);
    }
}

#[test]
fn saving_a_loaded_chip_gives_the_same_image() {
    for chip in [chip(), stamp_chip()] {
        let image = saved(&used(chip));
        assert_eq!(saved(&Chip::load(image.as_slice()).unwrap()), image);
    }
}

#[test]
fn a_chip_whose_dies_are_at_work_is_loaded_at_rest() {
    let mut chip = used(chip()).with_time(Time::Overlapped);
    chip.erase(slc(5)).unwrap();
    let loaded = Chip::load(saved(&chip).as_slice()).unwrap();
    assert_eq!(loaded.time(), Time::Overlapped);
    assert_eq!(loaded.now(), chip.stats().elapsed);
    assert_eq!(loaded.stats(), chip.stats());
}

#[test]
fn a_part_with_a_pairing_table_of_its_own_is_saved_with_it() {
    static TABLE: [u16; 8] = [0, 1, 0, 1, 2, 3, 2, 3];
    let shape = RegionGeometry { pairing: Pairing::Table(&TABLE), ..mlc_shape() };
    let chip = Chip::new(&part(None, Some(shape), 5, Layout::SINGLE), Content::Bytes).unwrap();
    let loaded = Chip::load(saved(&chip).as_slice()).unwrap();
    assert_eq!(loaded.part(), chip.part());
}

#[test]
fn any_flipped_bit_is_noticed() {
    let image = saved(&used(stamp_chip()));
    for at in 0..image.len() {
        let mut damaged = image.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(Chip::load(damaged.as_slice()).is_err(), "byte {at} of {}", image.len());
    }
}

#[test]
fn an_image_cut_short_anywhere_is_noticed() {
    let image = saved(&used(stamp_chip()));
    for length in 0..image.len() {
        let error = Chip::load(&image[..length]).unwrap_err();
        assert!(matches!(error, ImageError::Truncated), "{length} bytes: {error}");
    }
}

#[test]
fn a_foreign_file_is_called_one() {
    let error = Chip::load(b"#!/bin/sh\necho no image at all\n".as_slice()).unwrap_err();
    assert_eq!(error.to_string(), "this is not a chip image: give a file that was saved as one");
    let faults = FaultInjector::<Chip>::load(saved(&chip()).as_slice()).unwrap_err();
    assert_eq!(faults.to_string(), "this is not a faults image: give a file that was saved as one");
}

#[test]
fn an_image_of_before_prices_had_a_source_is_loaded_without_one() {
    let known = Part { price_source: Some("a list (2026)".into()), ..hybrid() };
    let known = Chip::new(&known, Content::Bytes).unwrap();
    let loaded = Chip::load(saved(&known).as_slice()).unwrap();
    assert_eq!(loaded.part(), known.part());
    // Without the header's last byte, which says that there is none.
    let mut old = saved(&chip());
    let length = u32::from_le_bytes(old[10..14].try_into().unwrap());
    old[10..14].copy_from_slice(&(length - 1).to_le_bytes());
    assert_eq!(old.remove(13 + length as usize), 0);
    let loaded = Chip::load(resealed(old).as_slice()).unwrap();
    assert_eq!(loaded.part(), chip().part());
}

#[test]
fn a_newer_image_is_told_by_its_version() {
    let mut image = saved(&chip());
    image[8..10].copy_from_slice(&5_u16.to_le_bytes());
    let error = Chip::load(image.as_slice()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the image has version 5, this program reads version 4: save it again"
    );
}

#[test]
fn an_image_that_announces_gigabytes_is_refused_before_they_are_asked_for() {
    let mut image = saved(&chip());
    image[10..14].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = Chip::load(image.as_slice()).unwrap_err();
    assert!(matches!(error, ImageError::Damaged("an impossible length")), "{error}");
    image[10..14].copy_from_slice(&1_000_000_u32.to_le_bytes());
    assert!(matches!(Chip::load(image.as_slice()).unwrap_err(), ImageError::Truncated));
}

#[test]
fn a_broken_file_is_told_apart_from_a_short_one() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is on fire"))
        }
    }
    let error = Chip::load(Broken).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the image could not be read or written (the disk is on fire): check the file"
    );
}

#[test]
fn faults_are_saved_with_the_chip_and_what_they_left_too() {
    let mut device = FaultInjector::new(used(chip()), 5);
    device
        .age_region(Region::Slc, Ageing::SLC, Ecc { correctable_bits: 1, codeword_bytes: 512 })
        .unwrap();
    device.factory_bad(mlc(12));
    device.uncorrectable(page(mlc(3), 1));
    device.fail_erase(mlc(4), When::Always);
    device.fail_programs(Chance::one_in(2));
    device.age(Nanos::from_micros(9));
    let (data, spare) = ([3; 1024], [3; 32]);
    let fate = PageFate::Unstable { reads: 1 };
    device.tear_program(page(mlc(5), 0), &data, &spare, fate, PairFate::Kept).unwrap();
    device.tear_erase(mlc(6), BlockFate::Erased).unwrap();
    let mut image = Vec::new();
    device.save(&mut image).unwrap();
    let mut loaded = FaultInjector::load(image.as_slice()).unwrap();
    assert!(loaded.is_bad(mlc(12)).unwrap());
    assert_eq!(read(&mut loaded, page(mlc(3), 1)), Err(ReadError::Uncorrectable));
    assert_eq!(byte(&mut loaded, page(mlc(5), 0)), 3);
    assert_eq!(read(&mut loaded, page(mlc(5), 0)), Err(ReadError::Uncorrectable));
    assert!(loaded.erase(mlc(4)).is_err());
    let too_early = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        program(&mut loaded, page(mlc(6), 0), 1);
    }));
    assert!(too_early.is_err(), "the torn erase was forgotten");
    // Chance continues as it would have.
    let outcomes = |device: &mut FaultInjector<Chip>| -> Vec<bool> {
        (0..8).map(|index| try_program(device, page(mlc(7), index), 1).is_ok()).collect()
    };
    assert_eq!(
        outcomes(&mut FaultInjector::load(image.as_slice()).unwrap()),
        outcomes(&mut device)
    );
    for at in 0..image.len() {
        let mut damaged = image.clone();
        damaged[at] ^= 0x10;
        assert!(FaultInjector::<Chip>::load(damaged.as_slice()).is_err(), "byte {at}");
    }
}

/// The image with its checks made right again, as an attacker would.
fn resealed(mut image: Vec<u8>) -> Vec<u8> {
    let end = image.len() - 4;
    let check = crc32fast::hash(&image[..end]);
    image[end..].copy_from_slice(&check.to_le_bytes());
    image
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_hostile_image_panics_and_what_loads_can_be_used(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
        stamps in any::<bool>(),
    ) {
        let content = if stamps { STAMPS } else { Content::Bytes };
        let mut image = saved(&used(Chip::new(&hybrid(), content).unwrap()));
        for (at, byte) in edits {
            // Past magic and version, where most edits would end.
            let at = 10 + at.index(image.len() - 14);
            image[at] = byte;
        }
        if let Some(cut) = cut {
            image.truncate(cut.index(image.len()).max(4));
        }
        if let Ok(mut chip) = Chip::load(resealed(image).as_slice()) {
            let shape = *chip.geometry().region(Region::Slc).unwrap();
            for index in 0..shape.pages_per_block.get().min(8) as u16 {
                let _ = read(&mut chip, page(slc(0), index));
            }
            let _ = chip.stats();
        }
    }

    #[test]
    fn noise_is_never_an_image(noise in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Chip::load(noise.as_slice()).is_err());
        prop_assert!(FaultInjector::<Chip>::load(noise.as_slice()).is_err());
    }
}
