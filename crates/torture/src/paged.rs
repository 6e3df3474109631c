//! The page store of `ftl-core` as a subject.

use std::ops::Range;
use std::sync::Arc;

use ftl_core::config::{FilterChoice, WearLeveling};
use ftl_core::layout::{self, Slot};
use ftl_core::paged::address::Leaf;
use ftl_core::paged::shape::HEADERS;
use ftl_core::paged::{
    Bursts, History, PagedConfig, PagedKind, PagedPlan, PagedShapeError, RefreshLimits, RunEnds,
    Streams, Victims,
};
use ftl_core::{Endurance, PageStore};
use ftl_iface::{Block, Bytes, Corrected, Geometry};
use nand_model::Stamp;

use crate::dice::Dice;
use crate::faults::Faults;
use crate::on_flash::{
    Area, Bounded, LostProgram, OnFlash, PageContent, Purpose, RecordedBy, UnreadablePage,
};
use crate::subject::{self, Configured, Live, Subject, Unmounted};
use crate::tags;
use crate::test_device::TestDevice;

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

    fn kept(&self, data: &[u8], spare: &[u8], key: u32) -> Option<PageContent> {
        match tags::read(data, self.sector_bytes(), spare, key)?.kind {
            PagedKind::Sectors | PagedKind::RepeatedSectors => Some(PageContent::Data),
            PagedKind::Map | PagedKind::RepeatedMap => Some(PageContent::Map),
            PagedKind::Proof => Some(PageContent::Nothing),
            _ => None,
        }
    }

    fn range(&self, data: &[u8], spare: &[u8], key: u32) -> Option<Range<u32>> {
        if self.kept(data, spare, key)? != PageContent::Map {
            return None;
        }
        let Slot::Holds(leaf) = layout::slot(spare, 0) else { return None };
        let (first, sectors) = self.plan.shape().sectors_of(Leaf::new(leaf.get()));
        Some(first.get()..first.get() + sectors)
    }

    fn stamp(&self, data: &[u8], spare: &[u8], key: u32) -> Option<u64> {
        Some(tags::read::<PagedKind>(data, self.sector_bytes(), spare, key)?.stamp.get())
    }

    fn is_header(&self, data: &[u8], _: &[u8], key: u32) -> bool {
        data.starts_with(b"TANDEMPG") && data.get(12..16) == Some(&key.to_le_bytes())
    }

    fn unreadable_page(&self, lost: &LostProgram<'_>) -> Option<UnreadablePage> {
        let sectors = lost.data.chunks(self.sector_bytes().as_usize());
        let contents = sectors.filter_map(Stamp::read_from).collect();
        let (page, told) = (Some(lost.page), RecordedBy::ItsEntry);
        let [places, marks] = [Vec::new(), Vec::new()];
        Some(UnreadablePage { page, told, contents, places, marks, untold: false })
    }

    fn explain(&self, spare: &[u8], key: u32) -> String {
        tags::explain::<PagedKind>(spare, key)
    }

    fn forge(&self, spare: &mut [u8], key: u32, below: &mut dyn FnMut(u32) -> u32) {
        use PagedKind::{Anchor, Header, Map, Sectors};
        tags::forge(spare, key, &[Header, Map, Sectors, Anchor], below);
    }
}

impl Subject for Paged {
    fn format(&self, device: &mut TestDevice, key: u32) -> Result<(), String> {
        subject::format::<PageStore>(device, self.plan.config(), &self.plan, key)
    }

    fn mount(&self, device: &mut TestDevice, live: &mut Live<'_>) -> Result<(), Unmounted> {
        subject::mount::<PageStore>(device, self.plan.config(), &self.plan, live)
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
        fast: dice.pick(&[3, 30, 1_000]),
        main: dice.pick(&[3, 30, 1_000]),
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
