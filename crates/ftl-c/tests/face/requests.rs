//! What the functions do, for both FTLs.

use std::ptr;

use ftl_c::*;

use crate::drivers::watch::{self, Watch};
use crate::model::Model;
use crate::world::{Ram, SILENT, World, words};

#[test]
fn a_device_is_formatted_written_and_mounted_again() {
    for model in [Model::slc(32), Model::tiny()] {
        let mut world = World::new(model);
        let sector = world.config.sector_bytes as usize;
        let device = world.format();
        // SAFETY: a mounted device, and buffers of ours.
        unsafe {
            assert_eq!(tandem_capacity(device), world.config.capacity);
            assert_eq!(tandem_sector_bytes(device) as usize, sector);
            let data = vec![7_u8; 3 * sector];
            assert_eq!(tandem_write(device, 5, 3, data.as_ptr().cast()), OK);
            let life = Life::Long as u32;
            assert_eq!(tandem_write_hinted(device, 40, 1, data.as_ptr().cast(), life), OK);
            assert_eq!(tandem_trim(device, 6, 1), OK);
            assert_eq!(tandem_flush(device), OK);
            assert_eq!(tandem_scrub(device), OK);
            while tandem_maintain(device, 8) == WORK_LEFT {}
            assert_eq!(tandem_settle(device), OK);
            assert_eq!(tandem_stop(device), OK);
            assert_eq!(tandem_close(device), OK);
            assert_eq!(tandem_flush(device), Error::NotADevice.number(), "it was closed");
        }
        world.chip().power_again();
        let device = world.mount();
        let mut back = vec![0xFF_u8; 3 * sector];
        // SAFETY: as before.
        unsafe {
            assert_eq!(tandem_read(device, 5, 3, back.as_mut_ptr().cast()), OK);
            let mut health = Health::default();
            assert_eq!(tandem_health(device, &raw mut health), OK);
            assert_eq!((health.read_only, health.lost, health.failed), (0, 0, 0));
            assert!(health.reserve > 0 && health.main.most >= health.main.least);
        }
        let [first, second, third] = [0, 1, 2].map(|at| &back[at * sector..(at + 1) * sector]);
        assert!(first.iter().chain(third).all(|byte| *byte == 7), "written");
        assert!(second.iter().all(|byte| *byte == 0), "trimmed");
    }
}

#[test]
fn the_hybrid_does_the_same_under_its_own_names() {
    let mut world = World::new(Model::tiny());
    let mut config = HybridConfig::default();
    let (mut bytes, mut detail, mut device) = (0, SILENT, ptr::null_mut());
    let mut back = [0_u8; 1024];
    // SAFETY: structures and buffers of ours, and a mounted device.
    unsafe {
        assert_eq!(tandem_hybrid_config_two_regions(&raw mut config), OK);
        (config.sector_bytes, config.capacity, config.cached_maps) = (1024, 320, 4);
        let needed = tandem_hybrid_ram_bytes(
            &raw const world.nand.geometry,
            &raw const config,
            &raw mut bytes,
            &raw mut detail,
        );
        assert_eq!(needed, OK, "{}", words(&detail));
        let mut ram = Ram::new(bytes);
        let start = HybridStart {
            ram: ram.at(),
            ram_bytes: ram.bytes(),
            nand: &raw const world.nand,
            config: &raw const config,
        };
        let formatted = tandem_hybrid_format(&raw const start, 9, &raw mut device, &raw mut detail);
        assert_eq!(formatted, OK, "{}", words(&detail));
        let data = [3_u8; 1024];
        assert_eq!(tandem_hybrid_write(device, 9, 1, data.as_ptr().cast()), OK);
        assert_eq!(tandem_hybrid_stop(device), OK);
        // The other FTL finds out that it is not its own: RAM and flash.
        assert_eq!(tandem_flush(device.cast()), Error::NotADevice.number());
        assert_eq!(tandem_hybrid_close(device), OK);
        let (refused, _) = world.try_mount().expect_err("it is the hybrid's");
        assert_eq!(refused, Error::OtherFtl.number());
        assert_eq!(tandem_hybrid_mount(&raw const start, &raw mut device, &raw mut detail), OK);
        assert_eq!(tandem_hybrid_read(device, 9, 1, back.as_mut_ptr().cast()), OK);
        let mut worst = WorstCase::default();
        let geometry = &raw const world.nand.geometry;
        let config = &raw const config;
        assert_eq!(tandem_hybrid_worst_case(geometry, config, 1, &raw mut worst), OK);
        assert!(worst.write.programs >= 1 && worst.read.programs == 0);
    }
    assert_eq!(back, [3; 1024]);
}

#[test]
fn two_devices_are_mounted_at_once() {
    let mut worlds = [World::new(Model::slc(32)), World::new(Model::slc(32))];
    let devices = worlds.each_mut().map(World::format);
    for (device, fill) in devices.iter().zip([1_u8, 2]) {
        let data = [fill; 512];
        // SAFETY: mounted devices and buffers of ours.
        assert_eq!(unsafe { tandem_write(*device, 0, 1, data.as_ptr().cast()) }, OK);
    }
    for (device, fill) in devices.iter().zip([1_u8, 2]) {
        let mut back = [0_u8; 512];
        // SAFETY: as before.
        assert_eq!(unsafe { tandem_read(*device, 0, 1, back.as_mut_ptr().cast()) }, OK);
        assert_eq!(back, [fill; 512]);
    }
}

#[test]
fn all_data_passes_through_the_drivers_buffer_if_it_has_one() {
    let mut world = World::new(Model::slc(32));
    let mut buffer = Ram::new(512 + 16);
    let mut watch = Watch { inner: world.nand, buffer: buffer.at(), page: 512, calls: 0 };
    let watching = &raw mut watch;
    world.nand = Nand {
        context: watching.cast(),
        read: Some(watch::read),
        program: Some(watch::program),
        erase: Some(watch::erase),
        is_bad: Some(watch::is_bad),
        buffer: buffer.at(),
        buffer_bytes: buffer.bytes(),
        ..world.nand
    };
    let device = world.format();
    for round in 0..300_u32 {
        let data = [round as u8; 512];
        // SAFETY: a mounted device and buffers of ours.
        unsafe {
            assert_eq!(tandem_write(device, round % 96, 1, data.as_ptr().cast()), OK);
            let mut back = [0_u8; 512];
            assert_eq!(tandem_read(device, round % 96, 1, back.as_mut_ptr().cast()), OK);
            assert_eq!(back, data);
            // The buffer is the driver's: data there would be overwritten.
            let within = buffer.at();
            assert_eq!(tandem_write(device, 0, 1, within), Error::Overlap.number());
        }
    }
    assert!(watch.calls > 600);
}

#[test]
fn profiles_fit_the_constants_that_the_header_names() {
    // With wide block numbers, which only a workspace of hosts builds, a device is larger.
    let wider = if ftl_core::WIDE { 512 } else { 0 };
    let sizes = [RAM_ONE_GBIT, RAM_ONE_GBIT_SMALL, RAM_HALF_GBIT_SMALL];
    for (profile, size) in (1..).zip(sizes) {
        let (mut geometry, mut config) = (Geometry::default(), Config::default());
        // SAFETY: structures of ours.
        assert_eq!(unsafe { tandem_profile(profile, &raw mut geometry, &raw mut config) }, OK);
        assert!(crate::world::needed(&geometry, &config) <= size + wider);
    }
    for (profile, size) in (1..).zip([HYBRID_RAM_ONE_GBIT, HYBRID_RAM_HALF_GBIT]) {
        let (mut geometry, mut config) = (Geometry::default(), HybridConfig::default());
        let (mut bytes, mut detail) = (0, SILENT);
        // SAFETY: structures of ours.
        unsafe {
            let filled = tandem_hybrid_profile(profile, &raw mut geometry, &raw mut config);
            assert_eq!(filled, OK);
            let (geometry, config) = (&raw const geometry, &raw const config);
            let (bytes, detail) = (&raw mut bytes, &raw mut detail);
            assert_eq!(tandem_hybrid_ram_bytes(geometry, config, bytes, detail), OK);
        }
        assert!(bytes <= size + wider);
    }
}
