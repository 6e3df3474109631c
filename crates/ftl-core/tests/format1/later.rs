//! What a later version, or one before format 1, may have written; and mounts with other configurations.

use ftl_core::config::{
    Endurance, FilterChoice, IndexConfig, LogRegion, PairedPages, WearLeveling,
};
use ftl_core::layout::{self, FormatKey, Tag};
use ftl_core::paged::{Bursts, History, PagedConfig, PagedKind, Streams};
use ftl_core::probe::NoProbe;
use ftl_core::{Config, FtlKind, Hybrid, MountedFtl, Owned, PageStore};
use ftl_iface::{Block, Bytes, NandDevice, PageIndex, Region, SectorCount};
use nand_model::power::{Cut, PowerCut};

use crate::devices::{self, Device};
use crate::image::{self, Worn};
use crate::truth::{Power, Truth};
use crate::world::{Dice, KEY, change_header};

const VERSION_AT: usize = 8;
const FEATURES_AT: usize = 24;
const OPTIONAL_AT: usize = 28;

/// Loads an image whose headers have this word.
fn with_header<C>(device: &Device<C>, at: usize, word: u32) -> (Worn, Truth) {
    image::load_changed(device.name, |_, data, _| {
        if data.starts_with(b"TANDEM") {
            // The version shares its word with a number of blocks.
            let kept = u32::from_le_bytes([0, 0, data[10], data[11]]);
            change_header(data, at, if at == VERSION_AT { word | kept } else { word });
        }
    })
}

/// Mounts a device. It must be refused, with nothing programmed or erased.
fn refused<F: FtlKind>(device: &Device<F::Config>, chip: Worn) -> String {
    let plan = F::plan(&device.geometry, &device.config).expect("the configuration fits");
    let mut ram = Owned::for_plan(&plan);
    let mut chip = PowerCut::new(chip, Cut::never());
    let mounted = F::mount(&mut chip, &device.config, ram.lend(), NoProbe);
    let sentence = mounted.err().expect("a refusal").to_string();
    assert_eq!(chip.operations(), 0, "{sentence}");
    sentence
}

/// Mounts a device with a configuration, finds every sector and writes some.
fn serves<F: FtlKind>(chip: Worn, config: &F::Config, truth: &mut Truth) -> Worn {
    let plan = F::plan(chip.geometry(), config).expect("the configuration fits");
    let mut ram = Owned::for_plan(&plan);
    let mut ftl = F::mount(chip, config, ram.lend(), NoProbe)
        .unwrap_or_else(|error| panic!("it should be mounted: {error}"));
    truth.verify(&mut ftl);
    ftl.check().unwrap_or_else(|violation| panic!("{violation}"));
    assert_eq!(truth.churn(&mut ftl, &mut Dice::new(5), 200), Power::Stayed);
    truth.verify(&mut ftl);
    ftl.into_parts().0
}

fn versions_are_told_apart<F: FtlKind>(device: &Device<F::Config>) {
    for version in [0_u32, 4, 5, 6, 255] {
        let sentence = refused::<F>(device, with_header(device, VERSION_AT, version).0);
        let wanted = format!(
            "the device was formatted by a version before format 1 (its format is {version}): \
             read its data with that version, or format the device"
        );
        assert_eq!(sentence, wanted);
    }
    for version in [0x0101_u32, 0x0200, 0xFFFF] {
        let sentence = refused::<F>(device, with_header(device, VERSION_AT, version).0);
        let wanted = format!(
            "the device has a later format than 1 ({version:#06x} in its header): mount it with a newer version"
        );
        assert_eq!(sentence, wanted);
    }
}

#[test]
fn versions_before_and_after_format_1_are_refused_with_a_sentence() {
    devices::hybrid().iter().take(3).for_each(versions_are_told_apart::<Hybrid>);
    devices::paged().iter().take(3).for_each(versions_are_told_apart::<PageStore>);
}

fn unknown_features_are_named<F: FtlKind>(device: &Device<F::Config>, first: u32) {
    let needs = |bits: &str| {
        format!(
            "the device needs features that this version does not have (bit{bits}): mount it with a newer version"
        )
    };
    for bit in first..32 {
        let sentence = refused::<F>(device, with_header(device, FEATURES_AT, 1 << bit).0);
        assert_eq!(sentence, needs(&format!(" {bit}")));
    }
    let sentence = refused::<F>(device, with_header(device, FEATURES_AT, 1 << 17 | 1 << 3).0);
    assert_eq!(sentence, needs(" 3 17"));
}

#[test]
fn a_feature_that_is_not_known_is_named_and_nothing_is_changed() {
    // Feature 0 of the hybrid FTL is known: `mounts.rs`.
    unknown_features_are_named::<Hybrid>(&devices::hybrid()[0], 1);
    unknown_features_are_named::<PageStore>(&devices::paged()[0], 0);
}

fn optional_features_are_kept<F: FtlKind>(device: &Device<F::Config>) {
    const ALL: u32 = 0xF731;
    let (mut chip, mut truth) = with_header(device, OPTIONAL_AT, ALL);
    let region = if device.geometry.slc().is_some() { Region::Slc } else { Region::Mlc };
    // One header is missing, so that it is written anew.
    chip.erase(Block::new(region, 0)).expect("erased");
    let mut chip = serves::<F>(chip, &device.config, &mut truth);
    let headers = [0, 1].map(|block| {
        let mut header = [0; 96];
        let page = Block::new(region, block).page(PageIndex::new(0));
        chip.read(page, Bytes::ZERO, &mut header, &mut []).expect("a header");
        header
    });
    assert_eq!(headers[0], headers[1], "{}", device.name);
    assert_eq!(headers[0][OPTIONAL_AT..OPTIONAL_AT + 4], ALL.to_le_bytes());
}

#[test]
fn optional_features_are_ignored_and_kept() {
    let hybrid = devices::hybrid();
    for at in [0, 2, 3] {
        optional_features_are_kept::<Hybrid>(&hybrid[at]);
    }
    let paged = devices::paged();
    for device in &paged[..4] {
        optional_features_are_kept::<PageStore>(device);
    }
}

/// The spare area behind the tags is left for a longer check, and the upper bits of an erase count of the page store
/// for a stream's hint.
fn what_is_free_is_ignored<F: FtlKind>(device: &Device<F::Config>, sector_bytes: usize) {
    let (chip, mut truth) = image::load_changed(device.name, |_, data, spare| {
        let (bytes, behind) =
            spare.split_at_mut(layout::tag_bytes((data.len() / sector_bytes) as u16));
        behind.fill(0x5A);
        let key = FormatKey::new(KEY);
        let Some(tag) = layout::tag_with::<PagedKind>(bytes, key) else { return };
        if matches!(tag.kind, PagedKind::Sectors | PagedKind::Map) {
            layout::put_tag(bytes, &Tag { note: tag.note | 0x5A << 16, ..tag }, key);
        }
    });
    serves::<F>(chip, &device.config, &mut truth);
}

#[test]
fn what_format_1_leaves_free_is_ignored() {
    for device in devices::hybrid().iter().filter(|device| crate::can_be_mounted(device)) {
        what_is_free_is_ignored::<Hybrid>(device, 512);
    }
    for device in &devices::paged() {
        what_is_free_is_ignored::<PageStore>(device, 1024);
    }
}

/// Another number of streams, for example, may need more blocks than the device has.
#[test]
fn settings_that_no_byte_depends_on_may_change() {
    for Device { name, geometry, config, .. } in &devices::hybrid()[..5] {
        let wear_leveling = WearLeveling { enabled: false, threshold: 0 };
        let filter = FilterChoice::AcceptAll;
        for other in [
            Config { mapping_cache_entries: 0, copies_per_page: 4, ..*config },
            Config { filter, wear_leveling, throttle: false, ..*config },
            Config { chain_log_blocks_max: 3, free_blocks_low: 1, ..*config },
        ] {
            let (chip, mut truth) = image::load(name);
            if <Hybrid as FtlKind>::plan(geometry, &other).is_ok() {
                serves::<Hybrid>(chip, &other, &mut truth);
            }
        }
    }
    for Device { name, geometry, config, .. } in &devices::paged()[..5] {
        let wear_leveling = WearLeveling { enabled: false, threshold: 0 };
        let streams =
            if config.streams == Streams::Two { Streams::ByLifetime } else { Streams::Two };
        for other in [
            PagedConfig { dirty_entries: 80, cached_leaves: 4, ..*config },
            PagedConfig { streams, wear_leveling, throttle: None, ..*config },
            PagedConfig { history: History::Heeded, filter: FilterChoice::AcceptAll, ..*config },
            PagedConfig { bursts: Bursts::ToFast(Endurance { fast: 100, main: 100 }), ..*config },
        ] {
            let (chip, mut truth) = image::load(name);
            if PageStore::plan(geometry, &other).is_ok() {
                serves::<PageStore>(chip, &other, &mut truth);
            }
        }
    }
}

#[test]
fn a_setting_that_bytes_depend_on_is_named_with_both_values() {
    let device = &devices::hybrid()[2];
    let index = IndexConfig { entries: Some(60), ..device.config.index };
    for (other, what) in [
        (Config { index, ..device.config }, "61 entries in the hash table, and is mounted with 60"),
        (
            Config { log: LogRegion::FirstBlocks(4), ..device.config },
            "5 blocks of log, and is mounted with 4",
        ),
    ] {
        let sentence =
            refused::<Hybrid>(&Device { config: other, ..*device }, image::load(device.name).0);
        assert!(sentence.contains(what), "{sentence}");
    }
    let device = &devices::paged()[2];
    let capacity = Some(SectorCount::new(113));
    for (other, what) in [
        (
            PagedConfig { capacity, ..device.config },
            "112 sectors of capacity, and is mounted with 113",
        ),
        (
            PagedConfig { anchor_blocks: 3, ..device.config },
            "2 anchor blocks, and is mounted with 3",
        ),
        (
            PagedConfig { dirty_entries: 101, ..device.config },
            "100 dirty entries at most, and is mounted with 101",
        ),
        (
            PagedConfig { paired_pages: PairedPages::Accept, ..device.config },
            "1 as whether paired pages are guarded, and is mounted with 0",
        ),
    ] {
        let sentence =
            refused::<PageStore>(&Device { config: other, ..*device }, image::load(device.name).0);
        assert!(sentence.contains(what), "{sentence}");
    }
}
