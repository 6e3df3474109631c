//! Format 1 is final: every later version mounts what the first one wrote, and finds every sector. Twelve devices of
//! that first version are beside this file, as [`image`] has them.

mod devices;
mod image;
mod later;
mod make;
#[path = "../page_reader/mod.rs"]
mod page_reader;
#[path = "../reader/mod.rs"]
mod reader;
mod truth;
#[path = "../world/mod.rs"]
mod world;

use std::collections::BTreeSet;
use std::fs;

use ftl_core::layout::{self, FormatKey, Kind, TagKind};
use ftl_core::paged::PagedKind;
use ftl_core::probe::NoProbe;
use ftl_core::{FtlKind, Hybrid, MountedFtl, Owned, PageStore};
use nand_model::power::{Cut, PowerCut};

use devices::{Device, Life};
use truth::Power;
use world::{Dice, KEY};

/// Without the feature `wide` the hybrid FTL refuses a device of that kind: `mounts.rs` has the sentence.
fn can_be_mounted<C>(device: &Device<C>) -> bool {
    cfg!(feature = "wide") || device.name != "hybrid-wide"
}

/// Mounts an image and finds every sector. Then lives go on with power cuts, and again every sector is found.
fn lives_on<F: FtlKind>(device: &Device<F::Config>) {
    let (mut chip, mut truth) = image::load(device.name);
    assert_eq!(*ftl_iface::NandDevice::geometry(&chip), device.geometry, "{}", device.name);
    let plan = F::plan(&device.geometry, &device.config).expect("the configuration fits");
    let mut dice = Dice::new(1);
    let lives = if device.life == Life::Wide { 2 } else { 12 };
    for life in 0..lives {
        let mut ram = Owned::for_plan(&plan);
        let mut cut = PowerCut::new(chip, Cut::never());
        let mut ftl = F::mount(&mut cut, &device.config, ram.lend(), NoProbe)
            .unwrap_or_else(|error| panic!("{}, life {life}: {error}", device.name));
        truth.verify(&mut ftl);
        ftl.settle().expect("settled");
        ftl.check().unwrap_or_else(|violation| panic!("{}, life {life}: {violation}", device.name));
        let at = u64::from(dice.below(150));
        ftl.device_mut().set_cut(world::cut_kept(at, life));
        assert_eq!(truth.churn(&mut ftl, &mut dice, 10_000), Power::Failed);
        drop(ftl);
        chip = cut.into_inner();
    }
}

#[test]
fn every_device_is_mounted_and_lives_on() {
    devices::hybrid().iter().filter(|device| can_be_mounted(device)).for_each(lives_on::<Hybrid>);
    devices::paged().iter().for_each(lives_on::<PageStore>);
}

#[test]
fn the_second_reader_of_the_hybrid_finds_every_sector() {
    for device in devices::hybrid() {
        let (mut chip, truth) = image::load(device.name);
        let mut reader = reader::Reader::open(&mut chip);
        let everything = reader.read_everything();
        let mounted = reader.mount();
        assert_eq!(reader.capacity as usize, truth.versions.len());
        for sector in 0..truth.versions.len() as u32 {
            let by_stamp = everything.get(&sector).and_then(|place| reader.data(*place));
            let by_mount = mounted.find(sector).and_then(|place| reader.data(place));
            for found in [by_stamp, by_mount] {
                truth.version(sector, &found.unwrap_or_else(|| truth.content(sector, 0)));
            }
        }
    }
}

#[test]
fn the_second_reader_of_the_page_store_finds_every_sector() {
    for device in devices::paged() {
        let (mut chip, truth) = image::load(device.name);
        let mut reader = page_reader::Reader::open(&mut chip);
        let places = reader.places();
        for sector in 0..truth.versions.len() as u32 {
            let found = places.get(&sector).map(|place| reader.at(*place, sector));
            truth.version(sector, &found.unwrap_or_else(|| truth.content(sector, 0)));
        }
    }
}

/// The kinds of pages on these devices.
fn kinds<K: TagKind>(names: impl Iterator<Item = &'static str>) -> BTreeSet<u8> {
    let mut kinds = BTreeSet::new();
    for name in names {
        let _ = image::load_changed(name, |_, data, spare| {
            let slots = [512, 1024].map(|sector| layout::tag_bytes((data.len() / sector) as u16));
            let keys = [FormatKey::new(KEY), FormatKey::HEADER];
            let tags = slots.into_iter().chain([layout::tag_bytes(1)]);
            for (bytes, key) in tags.flat_map(|bytes| keys.map(|key| (bytes, key))) {
                kinds
                    .extend(layout::tag_with::<K>(&spare[..bytes], key).map(|tag| tag.kind.code()));
            }
        });
    }
    kinds
}

#[test]
fn every_kind_of_page_is_in_an_image() {
    let of_hybrid = kinds::<Kind>(devices::hybrid().iter().map(|device| device.name));
    let of_page_store = kinds::<PagedKind>(devices::paged().iter().map(|device| device.name));
    let hybrid = [0x0F, 0x33, 0x3C, 0x55, 0x5A, 0x66, 0x69, 0x96, 0xA5, 0xAA, 0xC3, 0xCC];
    let page_store = [0x0F, 0x96, 0x99, 0xA5, 0xAA, 0xC3, 0xF0];
    assert_eq!((of_hybrid, of_page_store), (hybrid.into(), page_store.into()));
}

#[test]
fn the_images_take_less_than_a_megabyte() {
    let names = devices::hybrid().map(|device| device.name).into_iter();
    let names = names.chain(devices::paged().map(|device| device.name));
    let sizes = names.map(|name| fs::metadata(image::path(name)).expect("an image").len());
    assert!(sizes.sum::<u64>() < 1_000_000);
}
