//! What is mounted by mistake: another configuration, another FTL, or a driver that tells another shape of the device.

use std::sync::Arc;

use ftl_core::Config;
use ftl_core::config::{IndexConfig, LogRegion};
use ftl_core::paged::PagedConfig;
use ftl_iface::{Bytes, Geometry, PageCount, Pairing, RegionGeometry, SectorCount};

use crate::dice::Dice;
use crate::hybrid::Hybrid;
use crate::paged::{Paged, settings};
use crate::played::Play;
use crate::subject::{Configured, Subject, WrongMount};

/// Trials to draw something that fits the device.
const TRIALS: u32 = 20;

/// What is mounted by mistake on a device with this FTL.
pub(crate) fn draw(subject: &dyn Subject, geometry: &Geometry, seed: u64) -> Option<WrongMount> {
    let (capacity, dice) = (subject.capacity(), &mut Dice::new(seed));
    match subject.configured() {
        Configured::Hybrid(config) => for_hybrid(geometry, &config, capacity, dice),
        Configured::Paged(config) => for_paged(geometry, &config, capacity, dice),
    }
}

/// The same on a device of the page store.
fn for_paged(
    geometry: &Geometry,
    config: &PagedConfig,
    capacity: u32,
    dice: &mut Dice,
) -> Option<WrongMount> {
    let sector = config.sector_bytes.get();
    let paged = |config: PagedConfig| Paged::new(geometry, config).ok();
    match dice.below(6) {
        0 => hybrid_on(geometry, config.sector_bytes, dice),
        1 => shaped(geometry, dice, |told| Some(Arc::new(Paged::new(told, *config).ok()?))),
        2 => {
            let other = SectorCount::new(1 + dice.below(capacity));
            let what = format!("{} sectors of {capacity}", other.get());
            let config = PagedConfig { capacity: Some(other), ..settings(config, dice) };
            configured(what, Arc::new(paged(config)?))
        }
        3 => {
            let anchor_blocks = dice.below(12) as u16;
            let what = format!("{anchor_blocks} anchor blocks of {}", config.anchor_blocks);
            let config = PagedConfig { anchor_blocks, ..settings(config, dice) };
            configured(what, Arc::new(paged(config)?))
        }
        4 => {
            let sector_bytes = Bytes::new(dice.pick(&[512, 1024, 2048, 4096]));
            let what = format!("sectors of {} for {sector}", sector_bytes.get());
            // The same size in bytes, as far as it can be.
            let bytes = u64::from(capacity) * u64::from(sector);
            let sectors = (bytes / u64::from(sector_bytes.get())).max(1) as u32;
            let capacity = Some(SectorCount::new(sectors));
            configured(what, Arc::new(paged(PagedConfig { sector_bytes, capacity, ..*config })?))
        }
        _ => {
            let dirty_entries = 1 + dice.below(2 * config.dirty_entries);
            let what = format!("{dirty_entries} dirty entries for {}", config.dirty_entries);
            let subject = Arc::new(paged(PagedConfig { dirty_entries, ..*config })?);
            let may_change = dirty_entries <= config.dirty_entries;
            let play = if may_change { Play::OtherSettings } else { Play::OtherConfig };
            Some(WrongMount { play, what, subject, told: None })
        }
    }
}

/// The same on a device of the hybrid FTL.
fn for_hybrid(
    geometry: &Geometry,
    config: &Config,
    capacity: u32,
    dice: &mut Dice,
) -> Option<WrongMount> {
    let hybrid = |config: Config| Hybrid::new(geometry, config).ok();
    match dice.below(5) {
        0 => page_store_on(geometry, config.sector_bytes, dice),
        1 => shaped(geometry, dice, |told| Some(Arc::new(Hybrid::new(told, *config).ok()?))),
        2 => {
            let other = SectorCount::new(1 + dice.below(capacity));
            let what = format!("{} sectors of {capacity}", other.get());
            configured(what, Arc::new(hybrid(Config { capacity: Some(other), ..*config })?))
        }
        3 => {
            let sector_bytes = Bytes::new(dice.pick(&[512, 1024, 2048, 4096]));
            let what = format!("sectors of {} bytes", sector_bytes.get());
            configured(what, Arc::new(hybrid(Config { sector_bytes, ..*config })?))
        }
        _ => {
            let entries = 3 + dice.below(100);
            let what = format!("{entries} entries in the hash table");
            let index = IndexConfig { entries: Some(entries), ..config.index };
            configured(what, Arc::new(hybrid(Config { index, ..*config })?))
        }
    }
}

/// Another configuration.
#[expect(clippy::unnecessary_wraps, reason = "the others may not fit the device")]
fn configured(what: String, subject: Arc<dyn Subject>) -> Option<WrongMount> {
    Some(WrongMount { play: Play::OtherConfig, what, subject, told: None })
}

/// The hybrid FTL on the device.
fn hybrid_on(geometry: &Geometry, sector: Bytes, dice: &mut Dice) -> Option<WrongMount> {
    let both = geometry.slc().is_some() && geometry.mlc().is_some();
    let drawn = (0..TRIALS).find_map(|_| {
        let log = match dice.below(3) {
            0 => LogRegion::None,
            _ if both => LogRegion::SlcRegion,
            _ => LogRegion::FirstBlocks(2 + dice.below(5) as u16),
        };
        let capacity = Some(SectorCount::new(1 + dice.below(60)));
        let config = Config { sector_bytes: sector, log, capacity, ..Config::HYBRID };
        Hybrid::new(geometry, config).ok()
    });
    let (play, what) = (Play::OtherFtl, "the hybrid FTL".into());
    Some(WrongMount { play, what, subject: Arc::new(drawn?), told: None })
}

/// The page store on the device.
fn page_store_on(geometry: &Geometry, sector: Bytes, dice: &mut Dice) -> Option<WrongMount> {
    let drawn = (0..TRIALS).find_map(|_| {
        let config = PagedConfig {
            sector_bytes: sector,
            capacity: Some(SectorCount::new(1 + dice.below(60))),
            dirty_entries: 300,
            anchor_blocks: dice.pick(&[0, 2, 3]),
            ..PagedConfig::SMALL
        };
        Paged::new(geometry, config).ok()
    });
    let (play, what) = (Play::OtherFtl, "the page store".into());
    Some(WrongMount { play, what, subject: Arc::new(drawn?), told: None })
}

/// A driver that tells another shape, with the FTL planned for that.
fn shaped(
    geometry: &Geometry,
    dice: &mut Dice,
    planned: impl Fn(&Geometry) -> Option<Arc<dyn Subject>>,
) -> Option<WrongMount> {
    let mut regions = [geometry.slc().copied(), geometry.mlc().copied()];
    let at = dice.below(2) as usize;
    let region = regions[at].as_mut()?;
    let before = *region;
    match dice.below(3) {
        0 => {
            let pages = region.pages_per_block.get();
            let fewer = pages.div_ceil(2) + dice.below(pages / 2 + 1);
            region.pages_per_block = PageCount::new(fewer.min(pages));
        }
        1 => region.page_bytes = Bytes::new(region.page_bytes.get() / 2),
        _ if region.pairing == Pairing::None => return None,
        _ => {
            let schemes = [Pairing::Adjacent2, Pairing::Distance3, Pairing::Distance6];
            region.pairing = dice.pick(&schemes);
        }
    }
    if *region == before {
        return None;
    }
    let what = format!("another shape: {} for {}", told(region), told(&before));
    let told = Geometry::new(regions[0], regions[1]).ok()?;
    Some(WrongMount { play: Play::OtherShape, what, subject: planned(&told)?, told: Some(told) })
}

fn told(region: &RegionGeometry) -> String {
    let RegionGeometry { pages_per_block, page_bytes, pairing, .. } = region;
    format!("{} pages of {} bytes, {pairing:?}", pages_per_block.get(), page_bytes.get())
}
