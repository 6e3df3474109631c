//! Whatever is wrong with what C passes is an error number, and nothing is lost.

use std::ffi::{CStr, c_void};
use std::ptr;

use ftl_c::*;

use crate::drivers::circle;
use crate::model::Model;
use crate::world::{Ram, SILENT, World, needed, words};

/// Formats with that, and tells what is wrong with it.
fn refused(start: *const Start) -> (i32, Detail) {
    let (mut device, mut detail) = (ptr::null_mut(), SILENT);
    // SAFETY: what is wrong in these tests can be seen.
    let outcome = unsafe { tandem_format(start, 1, &raw mut device, &raw mut detail) };
    assert!(device.is_null(), "nothing is mounted");
    (outcome, detail)
}

#[test]
fn a_start_without_something_or_with_the_wrong_memory_is_refused() {
    let mut world = World::new(Model::slc(32));
    let good = world.start();
    assert_eq!(refused(ptr::null()).0, Error::Null.number());
    let odd = (&raw const good).wrapping_byte_add(1);
    assert_eq!(refused(odd).0, Error::Misaligned.number());
    let starts = [
        (Start { ram: ptr::null_mut(), ..good }, Error::Null),
        (Start { nand: ptr::null(), ..good }, Error::Null),
        (Start { config: ptr::null(), ..good }, Error::Null),
        (Start { ram: good.ram.wrapping_byte_add(4), ..good }, Error::Misaligned),
        (Start { ram_bytes: good.ram_bytes - 1, ..good }, Error::RamTooSmall),
        (Start { ram_bytes: 0, ..good }, Error::RamTooSmall),
    ];
    for (start, error) in starts {
        let (outcome, detail) = refused(&raw const start);
        assert_eq!(outcome, error.number());
        if error == Error::RamTooSmall {
            assert_eq!(detail.number as usize, needed(&world.nand.geometry, &world.config));
        }
    }
    // SAFETY: null where the device is wanted.
    let nowhere = unsafe { tandem_format(&raw const good, 1, ptr::null_mut(), ptr::null_mut()) };
    assert_eq!(nowhere, Error::Null.number());
}

#[test]
fn a_table_with_a_hole_or_a_bad_buffer_is_refused() {
    let mut world = World::new(Model::slc(32));
    let mut start = world.start();
    let good = world.nand;
    let mut bounce = Ram::new(512);
    let tables = [
        (Nand { read: None, ..good }, Error::Null),
        (Nand { program: None, ..good }, Error::Null),
        (Nand { erase: None, ..good }, Error::Null),
        (Nand { is_bad: None, ..good }, Error::Null),
        (Nand { mark_bad: None, ..good }, Error::Null),
        (Nand { buffer: bounce.at(), buffer_bytes: 527, ..good }, Error::Value),
        (Nand { buffer: start.ram, buffer_bytes: 528, ..good }, Error::Overlap),
        (Nand { buffer: bounce.at(), buffer_bytes: usize::MAX, ..good }, Error::Overlap),
    ];
    for (nand, error) in tables {
        start.nand = &raw const nand;
        assert_eq!(refused(&raw const start).0, error.number(), "{error:?}");
    }
}

#[test]
fn an_impossible_geometry_names_its_figure() {
    let mut world = World::new(Model::slc(32));
    let mut start = world.start();
    let good = world.nand.geometry;
    let changed = |change: fn(&mut Region)| {
        let mut geometry = good;
        change(&mut geometry.slc);
        geometry
    };
    let geometries = [
        (changed(|slc| slc.blocks = 0), "blocks"),
        (changed(|slc| slc.pages_per_block = 0), "pages_per_block"),
        (changed(|slc| slc.pages_per_block = u32::MAX), "pages_per_block"),
        (changed(|slc| slc.blocks = u32::MAX), "pages_per_block"),
        (changed(|slc| slc.page_bytes = 500), "page_bytes"),
        (changed(|slc| slc.page_bytes = u32::MAX), "page_bytes"),
        (changed(|slc| slc.spare_bytes = 513), "spare_bytes"),
        (changed(|slc| slc.cell_bits = 0), "cell_bits"),
        (changed(|slc| slc.cell_bits = 9), "cell_bits"),
        (changed(|slc| slc.pairing = 77), "pairing"),
        (changed(|slc| slc.pairing = Pages::Distance3 as u32), "pairing"),
    ];
    for (geometry, what) in geometries {
        let nand = Nand { geometry, ..world.nand };
        start.nand = &raw const nand;
        let (outcome, detail) = refused(&raw const start);
        assert_eq!((outcome, words(&detail)), (Error::Geometry.number(), what));
    }
}

#[test]
fn a_field_that_means_nothing_is_named_and_one_that_does_not_fit_is_explained() {
    let mut world = World::new(Model::slc(32));
    let mut start = world.start();
    let good = world.config;
    let nothing = [
        (Config { streams: 3, ..good }, "streams"),
        (Config { cost_benefit: 2, ..good }, "cost_benefit"),
        (Config { cached_leaves: 1 << 16, ..good }, "cached_leaves"),
        (Config { anchor_blocks: u32::MAX, ..good }, "anchor_blocks"),
        (Config { guard_pairs: 7, ..good }, "guard_pairs"),
        (Config { fast_cycles: 1, main_cycles: 0, ..good }, "main_cycles"),
        (Config { bursts_to_fast: 1, ..good }, "bursts_to_fast"),
        (Config { refresh_main_bits: u32::MAX, ..good }, "refresh_main_bits"),
    ];
    for (config, what) in nothing {
        start.config = &raw const config;
        let (outcome, detail) = refused(&raw const start);
        assert_eq!((outcome, words(&detail)), (Error::Config.number(), what));
    }
    let misfits = [
        (Config { sector_bytes: 0, ..good }, "sector_bytes"),
        (Config { sector_bytes: 4096, ..good }, "sector_bytes"),
        (Config { capacity: u32::MAX, ..good }, "capacity"),
        (Config { dirty_entries: 3, ..good }, "dirty_entries"),
        (Config { dirty_entries: u32::MAX, ..good }, "dirty_entries"),
        (Config { cached_leaves: 1, ..good }, "cached_leaves"),
        (Config { anchor_blocks: 1, ..good }, "anchor_blocks"),
        (Config::default(), "streams"),
    ];
    for (config, what) in misfits {
        start.config = &raw const config;
        let (outcome, detail) = refused(&raw const start);
        assert!(outcome == Error::Misfit.number() || outcome == Error::Config.number());
        assert!(words(&detail).starts_with(what), "{}", words(&detail));
    }
}

#[test]
fn what_is_no_device_is_refused_by_every_function() {
    let mut space = Ram::new(4096);
    let somewhere = space.at().cast::<Tandem>();
    let places = [
        (ptr::null_mut(), Error::Null),
        (somewhere.wrapping_byte_add(2), Error::Misaligned),
        (somewhere, Error::NotADevice),
    ];
    let mut data = [0_u8; 512];
    let data = data.as_mut_ptr().cast::<c_void>();
    let (mut health, mut detail) = (Health::default(), SILENT);
    for (device, error) in places {
        // SAFETY: the pointers are those that can be told from a device.
        let outcomes = unsafe {
            [
                tandem_close(device),
                tandem_read(device, 0, 1, data),
                tandem_write(device, 0, 1, data),
                tandem_write_hinted(device, 0, 1, data, 0),
                tandem_trim(device, 0, 1),
                tandem_flush(device),
                tandem_maintain(device, 1),
                tandem_scrub(device),
                tandem_settle(device),
                tandem_stop(device),
                tandem_health(device, &raw mut health),
                tandem_detail(device, &raw mut detail),
            ]
        };
        assert_eq!(outcomes, [error.number(); 12]);
        // SAFETY: as before.
        assert_eq!(unsafe { (tandem_capacity(device), tandem_sector_bytes(device)) }, (0, 0));
    }
}

#[test]
fn a_device_that_was_overwritten_or_copied_elsewhere_is_none() {
    let mut world = World::new(Model::slc(32));
    let device = world.format();
    let mut elsewhere = Ram::new(world.ram.bytes());
    // SAFETY: RAM of ours.
    unsafe {
        ptr::copy_nonoverlapping(
            world.ram.at().cast::<u8>(),
            elsewhere.at().cast::<u8>(),
            world.ram.bytes(),
        );
        assert_eq!(tandem_flush(elsewhere.at().cast()), Error::NotADevice.number());
        assert_eq!(tandem_flush(device), OK);
        ptr::write_bytes(world.ram.at().cast::<u8>(), 0, world.ram.bytes());
        assert_eq!(tandem_flush(device), Error::NotADevice.number());
    }
}

#[test]
fn requests_that_cannot_be_are_refused_and_change_nothing() {
    let mut world = World::new(Model::slc(32));
    let capacity = world.config.capacity;
    let device = world.format();
    let data = [9_u8; 512];
    let from = data.as_ptr().cast::<c_void>();
    let mut detail = SILENT;
    // SAFETY: a mounted device; what is wrong can be seen.
    unsafe {
        assert_eq!(tandem_write(device, capacity - 1, 1, from), OK);
        let beyond = Error::OutOfRange.number();
        for (first, count) in [(capacity, 1), (capacity - 1, 2), (0, u32::MAX), (u32::MAX, 1)] {
            assert_eq!(tandem_write(device, first, count, from), beyond);
            assert_eq!(tandem_read(device, first, count, from.cast_mut()), beyond);
            assert_eq!(tandem_trim(device, first, count), beyond);
            assert_eq!(tandem_detail(device, &raw mut detail), OK);
            assert_eq!(detail.number, capacity);
        }
        assert_eq!(tandem_write(device, 0, 1, ptr::null()), Error::Null.number());
        assert_eq!(tandem_read(device, 0, 1, ptr::null_mut()), Error::Null.number());
        assert_eq!(tandem_write(device, 0, 0, ptr::null()), OK, "nothing is asked for");
        assert_eq!(tandem_write_hinted(device, 0, 1, from, 5), Error::Value.number());
        let within = world.ram.at().wrapping_byte_add(world.ram.bytes() - 1);
        assert_eq!(tandem_read(device, 0, 1, within), Error::Overlap.number());
        assert_eq!(tandem_write(device, 0, 1, device.cast()), Error::Overlap.number());
        assert_eq!(tandem_health(device, ptr::null_mut()), Error::Null.number());
        let mut back = [0_u8; 512];
        assert_eq!(tandem_read(device, capacity - 1, 1, back.as_mut_ptr().cast()), OK);
        assert_eq!(back, data);
    }
}

/// What is told is never put over a device, nor where one is to be.
#[test]
fn places_in_the_ram_are_refused() {
    let mut world = World::new(Model::slc(32));
    let device = world.format();
    let capacity = world.config.capacity;
    let start = world.start();
    let (mut mounted, mut detail) = (ptr::null_mut(), SILENT);
    for at in [0, 8, 256, world.ram.bytes() - 8] {
        let within = world.ram.at().wrapping_byte_add(at);
        // SAFETY: a mounted device, and structures of ours; what is wrong can be seen.
        let outcomes = unsafe {
            [
                tandem_health(device, within.cast()),
                tandem_detail(device, within.cast()),
                tandem_mount(&raw const start, within.cast(), &raw mut detail),
                tandem_mount(&raw const start, &raw mut mounted, within.cast()),
                tandem_format(&raw const start, 2, within.cast(), ptr::null_mut()),
            ]
        };
        assert_eq!(outcomes, [Error::Overlap.number(); 5]);
        // SAFETY: as before: it is still mounted.
        assert_eq!(unsafe { (tandem_capacity(device), tandem_flush(device)) }, (capacity, OK));
    }
    assert!(mounted.is_null());
}

#[test]
fn a_request_for_nothing_has_nothing_to_tell() {
    let mut world = World::new(Model::slc(32));
    let device = world.format();
    let mut detail = SILENT;
    // SAFETY: a mounted device; what is wrong can be seen.
    unsafe {
        assert_eq!(tandem_read(device, u32::MAX, 1, ptr::null_mut()), Error::OutOfRange.number());
        assert_eq!(tandem_read(device, 0, 0, ptr::null_mut()), OK);
        assert_eq!(tandem_detail(device, &raw mut detail), OK);
        assert_eq!((detail.number, words(&detail)), (0, ""));
        assert_eq!(tandem_write(device, u32::MAX, 1, ptr::null()), Error::OutOfRange.number());
        assert_eq!(tandem_write(device, 0, 0, ptr::null()), OK);
        assert_eq!(tandem_detail(device, &raw mut detail), OK);
        assert_eq!((detail.number, words(&detail)), (0, ""));
    }
}

#[test]
fn a_driver_that_talks_nonsense_ends_the_mount_and_loses_nothing() {
    for number in [1, -1, i32::MIN, i32::MAX, 70_000, NAND_UNCORRECTABLE - 7] {
        let mut world = World::new(Model::slc(32));
        let device = world.format();
        let data = [5_u8; 512];
        let mut detail = SILENT;
        // SAFETY: a mounted device and buffers of ours.
        unsafe {
            assert_eq!(tandem_write(device, 3, 1, data.as_ptr().cast()), OK);
            world.chip().talk_nonsense(Some(number));
            let outcome = tandem_write(device, 4, 1, data.as_ptr().cast());
            assert_eq!(outcome, Error::Driver.number());
            assert_eq!(tandem_detail(device, &raw mut detail), OK);
            assert_eq!(detail.driver, number);
            assert_eq!(tandem_flush(device), Error::Driver.number(), "until it is mounted again");
        }
        let (refused, _) = world.try_mount().expect_err("the driver still talks nonsense");
        assert!([Error::Driver.number(), Error::NotFormatted.number()].contains(&refused));
        world.chip().talk_nonsense(None);
        let device = world.mount();
        let mut back = [0_u8; 512];
        // SAFETY: as before.
        assert_eq!(unsafe { tandem_read(device, 3, 1, back.as_mut_ptr().cast()) }, OK);
        assert_eq!(back, data);
    }
}

#[test]
fn a_call_from_inside_the_driver_is_refused() {
    let mut world = World::new(Model::slc(32));
    let circle = circle::ReentrantDriver { inner: world.nand, device: ptr::null_mut(), found: OK };
    let circle = Box::into_raw(Box::new(circle));
    world.nand = Nand {
        context: circle.cast(),
        read: Some(circle::read),
        program: Some(circle::program),
        erase: Some(circle::erase),
        is_bad: Some(circle::is_bad),
        ..world.nand
    };
    let device = world.format();
    let mut data = [4_u8; 512];
    // SAFETY: a mounted device, buffers and a context of ours.
    unsafe {
        assert_eq!(tandem_write(device, 0, 1, data.as_ptr().cast()), OK);
        (*circle).device = device;
        assert_eq!(tandem_read(device, 0, 1, data.as_mut_ptr().cast()), OK);
        assert_eq!((*circle).found, Error::Busy.number());
        (*circle).device = ptr::null_mut();
        assert_eq!(tandem_flush(device), OK);
        drop(Box::from_raw(circle));
    }
    assert_eq!(data, [4; 512]);
}

#[test]
fn a_device_of_another_configuration_says_which_setting() {
    let mut world = World::new(Model::slc(32));
    let blank = world.try_mount().expect_err("it is blank");
    assert_eq!(blank.0, Error::NotFormatted.number());
    world.format();
    world.config.capacity -= 1;
    let (outcome, detail) = world.try_mount().expect_err("it is another");
    assert_eq!((outcome, words(&detail)), (Error::OtherConfig.number(), "capacity"));
    assert_eq!(detail.number, world.config.capacity + 1);
}

#[test]
fn every_error_has_a_text_and_says_what_to_do() {
    let said = |text: *const std::ffi::c_char| {
        // SAFETY: a constant of the library.
        unsafe { CStr::from_ptr(text) }.to_str().expect("English")
    };
    let mut texts = Vec::new();
    for error in Error::ALL {
        let text = said(tandem_error_text(error.number()));
        assert!(!texts.contains(&text), "{text} is said twice");
        assert!(said(tandem_error_advice(error.number())).len() > 10);
        texts.push(text);
    }
    assert_eq!(said(tandem_error_text(0)), "no error");
    assert_eq!(said(tandem_error_text(-999)), "no error has that number");
    assert_eq!(said(tandem_error_advice(-999)), "");
}
