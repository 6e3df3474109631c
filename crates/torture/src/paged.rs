//! The page store of `ftl-core` as a subject.

use std::ops::Range;
use std::sync::Arc;

use ftl_core::Endurance;
use ftl_core::config::{FilterChoice, WearLeveling};
use ftl_core::layout::{self, Kind, Slot};
use ftl_core::paged::address::Leaf;
use ftl_core::paged::shape::HEADERS;
use ftl_core::paged::{
    Bursts, History, PageFtl, PagedConfig, PagedMountError, PagedPlan, PagedShapeError,
    RefreshLimits, RunEnds, Streams, Victims,
};
use ftl_iface::{Block, BlockCount, Bytes, Corrected, Geometry, StoreWriteError};
use nand_model::Stamp;

use crate::crossing::{Crossing, Halt};
use crate::dice::Dice;
use crate::faults::Faults;
use crate::on_flash::{Area, Bounded, Injury, Kept, OnFlash, Purpose, RecordedBy, Struck};
use crate::subject::{Configured, Live, Mounted, Subject, Unchecked, Unmounted};
use crate::tags;
use crate::teller::Teller;

/// The page store with a configuration.
#[derive(Clone, Debug)]
pub(crate) struct Paged {
    geometry: Geometry,
    plan: PagedPlan,
}

impl Paged {
    /// The page store in this configuration on such a device.
    pub(crate) fn new(geometry: &Geometry, config: PagedConfig) -> Result<Self, PagedShapeError> {
        Ok(Self { geometry: *geometry, plan: PagedPlan::new(geometry, &config)? })
    }

    /// Its configuration.
    pub(crate) fn plan(&self) -> &PagedPlan {
        &self.plan
    }
}

impl OnFlash for Paged {
    fn capacity(&self) -> u32 {
        self.plan.shape().capacity.get()
    }

    fn sector_bytes(&self) -> Bytes {
        self.plan.shape().sector_bytes
    }

    fn spare_used(&self) -> Bytes {
        Bytes::new(layout::tag_bytes(self.plan.shape().slots_max()) as u32)
    }

    fn parts(&self, faults: &Faults) -> Vec<Area> {
        let shape = self.plan.shape();
        let part = |first: u32, blocks: u32, needed: u32| Area {
            region: shape.main.region,
            first,
            blocks,
            may_fail: (blocks - needed).saturating_sub(faults.factory_bad) as usize,
            bounded: Bounded::AtOnce,
            factory_bad_max: blocks - needed,
        };
        let main = part(shape.main.first, shape.main.blocks, shape.main_needed);
        let fast = shape.fast.map(|fast| Area {
            region: fast.region,
            ..part(fast.first, fast.blocks, shape.fast_needed)
        });
        let headers = Area {
            region: shape.map_area().region,
            may_fail: 1,
            bounded: Bounded::Not,
            factory_bad_max: 0,
            ..part(0, HEADERS.into(), 0)
        };
        // It also mounts without anchors; but two must be good for the last one to be trusted.
        let anchors = Area {
            region: shape.map_area().region,
            bounded: Bounded::Not,
            ..part(HEADERS.into(), shape.anchors.into(), shape.anchors.min(2).into())
        };
        [Some(main), fast, Some(headers), Some(anchors)].into_iter().flatten().collect()
    }

    fn unmarked_max(&self) -> usize {
        self.plan.shape().blocks() as usize
    }

    fn purpose(&self, block: Block) -> Purpose {
        let shape = self.plan.shape();
        let anchors = HEADERS.into()..u32::from(HEADERS + shape.anchors);
        match block.index() {
            _ if block.region() != shape.map_area().region => Purpose::Store,
            at if at < HEADERS.into() => Purpose::Headers,
            at if anchors.contains(&at) => Purpose::Anchors,
            _ => Purpose::Store,
        }
    }

    fn kept(&self, data: &[u8], spare: &[u8], key: u32) -> Option<Kept> {
        match tags::read(data, self.sector_bytes(), spare, key)?.kind {
            Kind::Sectors | Kind::Rescue => Some(Kept::Data),
            Kind::Map | Kind::Commit => Some(Kept::Map),
            Kind::Backup => Some(Kept::Nothing),
            _ => None,
        }
    }

    fn range(&self, data: &[u8], spare: &[u8], key: u32) -> Option<Range<u32>> {
        if self.kept(data, spare, key)? != Kept::Map {
            return None;
        }
        let Slot::Holds(leaf) = layout::slot(spare, 0) else { return None };
        let (first, sectors) = self.plan.shape().sectors_of(Leaf::new(leaf.get()));
        Some(first.get()..first.get() + sectors)
    }

    fn stamp(&self, data: &[u8], spare: &[u8], key: u32) -> Option<u64> {
        Some(tags::read(data, self.sector_bytes(), spare, key)?.stamp.get())
    }

    fn is_header(&self, data: &[u8], _: &[u8], key: u32) -> bool {
        data.starts_with(b"TANDEMPG") && data.get(12..16) == Some(&key.to_le_bytes())
    }

    fn injury(&self, struck: &Struck<'_>) -> Option<Injury> {
        let sectors = struck.data.chunks(self.sector_bytes().as_usize());
        let contents = sectors.filter_map(Stamp::read_from).collect();
        let (page, told) = (Some(struck.page), RecordedBy::ItsEntry);
        let [places, marks] = [Vec::new(), Vec::new()];
        Some(Injury { page, told, contents, places, marks, untold: false })
    }

    fn explain(&self, spare: &[u8], key: u32) -> String {
        tags::explain(spare, key)
    }

    fn forge(&self, spare: &mut [u8], key: u32, below: &mut dyn FnMut(u32) -> u32) {
        tags::forge(spare, key, &[Kind::Header, Kind::Map, Kind::Sectors, Kind::Checkpoint], below);
    }
}

impl Subject for Paged {
    fn format(&self, device: &mut Crossing, key: u32) -> Result<(), String> {
        let mut memory = device.take_memory();
        let (ram, teller) = (memory.lend(&self.plan), Teller::new(device.account()));
        let formatted = PageFtl::format(&mut *device, self.plan.config(), ram, key, teller);
        let formatted = formatted.map(drop).map_err(|error| error.to_string());
        device.give_memory(memory);
        formatted
    }

    fn mount(&self, device: &mut Crossing, live: &mut Live<'_>) -> Result<(), Unmounted> {
        let mut memory = device.take_memory();
        let (ram, teller) = (memory.lend(&self.plan), Teller::new(device.account()));
        let mounted = match PageFtl::mount(&mut *device, self.plan.config(), ram, teller) {
            Ok(mut ftl) => {
                live(&mut ftl);
                Ok(())
            }
            Err(
                error @ (PagedMountError::NotFormatted
                | PagedMountError::DamagedHeader
                | PagedMountError::OfHybrid),
            ) => Err(Unmounted::Blank(error.to_string())),
            Err(error @ PagedMountError::Corrupt) => Err(Unmounted::Corrupt(error.to_string())),
            Err(error) => Err(Unmounted::Failed(error.to_string())),
        };
        device.give_memory(memory);
        mounted
    }

    fn with_other_settings(&self, seed: u64) -> Option<Arc<dyn Subject>> {
        let config = settings(self.plan.config(), &mut Dice::new(seed));
        let old = self.plan.shape();
        let other = Self::new(&self.geometry, config).ok()?;
        let new = other.plan.shape();
        // With more streams more blocks are needed, of which some may have failed.
        let fits = new.main_needed <= old.main_needed && new.fast_needed <= old.fast_needed;
        fits.then(|| -> Arc<dyn Subject> { Arc::new(other) })
    }

    fn configured(&self) -> Configured {
        Configured::Paged(*self.plan.config())
    }
}

/// A configuration with other settings: all that may change from one mount to the next.
pub(crate) fn settings(config: &PagedConfig, dice: &mut Dice) -> PagedConfig {
    let endurance = |dice: &mut Dice| Endurance {
        log: dice.pick(&[3, 30, 1_000]),
        chain: dice.pick(&[3, 30, 1_000]),
    };
    let largest = 2 + dice.below(12);
    let initial = 1 + dice.below(largest);
    let sector = config.sector_bytes;
    let bits = 1 + dice.below(3) as u16;
    PagedConfig {
        cached_leaves: dice.pick(&[2, 2, 3, 4, 8]),
        streams: dice.pick(&[Streams::One, Streams::Two, Streams::ByLifetime]),
        victims: dice.pick(&[Victims::Greedy, Victims::CostBenefit]),
        filter: match dice.below(3) {
            0 => FilterChoice::AcceptAll,
            _ => FilterChoice::ByBytes { initial: sector * initial, largest: sector * largest },
        },
        run_ends: dice.pick(&[RunEnds::Follow, RunEnds::BySize]),
        history: dice.pick(&[History::Ignored, History::Heeded]),
        refresh: match dice.below(3) {
            0 => RefreshLimits { fast: Corrected::NONE, main: Corrected::NONE },
            _ => RefreshLimits { fast: Corrected::bits(1), main: Corrected::bits(bits) },
        },
        wear_leveling: WearLeveling {
            enabled: dice.percent(75),
            threshold: dice.pick(&[1, 2, 4, 16]),
        },
        throttle: dice.percent(33).then(|| endurance(dice)),
        bursts: if dice.percent(33) { Bursts::ToFast(endurance(dice)) } else { Bursts::ToMain },
        ..*config
    }
}

impl Mounted for PageFtl<'_, &mut Crossing, Teller> {
    fn device(&self) -> &Crossing {
        self.device()
    }

    fn device_mut(&mut self) -> &mut Crossing {
        self.device_mut()
    }

    fn check(&mut self) -> Result<(), Unchecked> {
        Ok(self.check()?)
    }

    fn settle(&mut self) -> Result<(), StoreWriteError<Halt>> {
        self.settle()
    }

    fn scrub(&mut self) {
        self.scrub();
    }

    fn stop(&mut self) -> Result<(), StoreWriteError<Halt>> {
        self.stop()
    }

    fn at_once(&self) -> BlockCount {
        self.health().at_once
    }

    fn is_read_only(&self) -> bool {
        self.health().read_only
    }

    fn health(&self) -> String {
        let health = self.health();
        let state = if health.read_only { "read-only" } else { "writable" };
        format!(
            "it is {state}, {} of {} blocks of reserve are left, {} may fail at once",
            health.reserve_left.get(),
            health.reserve.get(),
            health.at_once.get()
        )
    }

    /// The page store does not yet report what idle work restores.
    fn owed(&self) -> Option<String> {
        None
    }
}
