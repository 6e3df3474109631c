//! `ftl-core`'s FTL as a subject.

use std::ops::Range;
use std::sync::Arc;

use ftl_core::hybrid::flash;
use ftl_core::hybrid::shape::{HEADER_BLOCKS, RESCUE_BLOCKS, SPARE_BLOCKS_MIN};
use ftl_core::layout::{self, Kind, Slot};
use ftl_core::{Config, RamPlan, ShapeError};
use ftl_iface::{Block, Bytes, Geometry, NandDevice, Page, PageIndex};
use nand_model::{Chip, Stamp};

use crate::faults::Faults;
use crate::on_flash::{
    Area, Bounded, LostProgram, OnFlash, PageContent, Purpose, RecordedBy, UnreadablePage,
};
use crate::subject::{self, Configured, Live, Subject, Unmounted};
use crate::tags;
use crate::test_device::TestDevice;

/// The hybrid FTL with a configuration.
#[derive(Clone, Debug)]
pub(crate) struct Hybrid {
    config: Config,
    plan: RamPlan,
}

impl Hybrid {
    /// The FTL in this configuration on such a device.
    pub(crate) fn new(geometry: &Geometry, config: Config) -> Result<Self, ShapeError> {
        Ok(Self { config, plan: RamPlan::new(geometry, &config)? })
    }

    /// Its configuration.
    pub(crate) fn plan(&self) -> &RamPlan {
        &self.plan
    }
}

/// Blocks of the meta area that must be good besides those that have failed: two headers, counted separately, and three
/// for copies: two valid ones and one being made. If no rescue block is left, copies go to the places of checkpoints.
const HEADERS_AND_COPIES: u16 = HEADER_BLOCKS + RESCUE_BLOCKS + 1;

impl OnFlash for Hybrid {
    fn capacity(&self) -> u32 {
        self.plan.shape().capacity.get()
    }

    fn sector_bytes(&self) -> Bytes {
        self.config.sector_bytes
    }

    fn spare_used(&self) -> Bytes {
        let shape = self.plan.shape();
        Bytes::new(layout::tag_bytes(shape.chain.slots.max(shape.meta.slots)) as u32)
    }

    fn parts(&self, faults: &Faults) -> Vec<Area> {
        let shape = self.plan.shape();
        let part = |part: &ftl_core::hybrid::shape::Area, may_fail: u32| Area {
            region: part.region,
            first: part.first,
            blocks: part.block_count().get(),
            may_fail: may_fail as usize,
            bounded: Bounded::Not,
            factory_bad_max: 0,
        };
        // Factory bad blocks cannot fail any more.
        let spare = shape.chain.block_count().get()
            - shape.logical_block_count().get()
            - u32::from(SPARE_BLOCKS_MIN);
        let chains = Area {
            bounded: Bounded::AtOnce,
            factory_bad_max: shape.chain.block_count().get(),
            ..part(&shape.chain, spare.saturating_sub(faults.factory_bad))
        };
        // A log of two blocks has none to spare; but with too many failures it is closed, and the device works without
        // it.
        let log = shape.log.map(|log| Area {
            factory_bad_max: log.block_count().get() - 2,
            ..part(&log, log.block_count().get())
        });
        // A block that cannot be marked is listed in the headers, one of which is intact while the other is written.
        let headers = u32::from(faults.mark == 0);
        let headers = Area { blocks: HEADER_BLOCKS.into(), ..part(&shape.meta, headers) };
        let others = Area {
            first: shape.meta.first + u32::from(HEADER_BLOCKS),
            blocks: shape.meta.block_count().get() - u32::from(HEADER_BLOCKS),
            ..part(
                &shape.meta,
                shape.meta.block_count().get().saturating_sub(HEADERS_AND_COPIES.into()),
            )
        };
        [Some(chains), log, Some(headers), Some(others)].into_iter().flatten().collect()
    }

    fn unmarked_max(&self) -> usize {
        usize::from(flash::listed_max(&self.plan.shape().meta))
    }

    fn purpose(&self, block: Block) -> Purpose {
        let meta = &self.plan.shape().meta;
        let at = block.index().wrapping_sub(meta.first);
        let first_place = u32::from(HEADER_BLOCKS + RESCUE_BLOCKS);
        match at {
            _ if block.region() != meta.region => Purpose::Store,
            at if at < HEADER_BLOCKS.into() => Purpose::Headers,
            at if (first_place..meta.block_count().get()).contains(&at) => Purpose::Anchors,
            _ => Purpose::Store,
        }
    }

    fn kept(&self, data: &[u8], spare: &[u8], key: u32) -> Option<PageContent> {
        match tags::read(data, self.sector_bytes(), spare, key)?.kind {
            Kind::Log | Kind::Data | Kind::Chain | Kind::ChainInPlace => Some(PageContent::Data),
            _ => None,
        }
    }

    fn range(&self, _: &[u8], _: &[u8], _: u32) -> Option<Range<u32>> {
        None
    }

    fn stamp(&self, data: &[u8], spare: &[u8], key: u32) -> Option<u64> {
        let tag = tags::read::<Kind>(data, self.sector_bytes(), spare, key)?;
        (tag.kind == Kind::Checkpoint).then(|| tag.stamp.get())
    }

    fn is_header(&self, data: &[u8], spare: &[u8], key: u32) -> bool {
        let tag = tags::read::<Kind>(data, self.sector_bytes(), spare, key);
        tag.is_some_and(|tag| tag.kind == Kind::Header)
    }

    fn unreadable_page(&self, lost: &LostProgram<'_>) -> Option<UnreadablePage> {
        let LostProgram { chip, page, data, spare, key } = *lost;
        let tag = tags::read::<Kind>(data, self.sector_bytes(), spare, key)?;
        // The last page of a fold, and the pages that it would corrupt if torn, show that the fold was completed.
        // Losing one while power fails during the erase of older blocks would be two faults at a time.
        let last = last_page(chip, page);
        if tag.kind == Kind::Data && (page.index() == last || is_endangered(chip, page, last)) {
            return None;
        }
        let told = match tag.kind {
            Kind::Log => RecordedBy::LastPage,
            Kind::Chain | Kind::ChainInPlace => RecordedBy::NextPage,
            Kind::Data => RecordedBy::ItsPlace,
            // Copies that a cut made necessary, and backups: to lose one is a second fault at a time.
            _ => return None,
        };
        let slots = 0..data.len() / self.config.sector_bytes.as_usize();
        let (mut places, mut marks) = (Vec::new(), Vec::new());
        for slot in slots {
            match layout::slot(spare, slot) {
                // For a data block, whose pages are mapped by place: all sectors, because which were holes is no longer
                // known.
                Slot::Hole(sector) | Slot::Elsewhere(sector) if tag.kind == Kind::Data => {
                    places.push(sector);
                }
                Slot::Lost(sector) => marks.push(sector),
                _ => {}
            }
        }
        let sectors = data.chunks(self.config.sector_bytes.as_usize());
        let contents = sectors.filter_map(Stamp::read_from).collect();
        Some(UnreadablePage { page: Some(page), told, contents, places, marks, untold: false })
    }

    fn explain(&self, spare: &[u8], key: u32) -> String {
        tags::explain::<Kind>(spare, key)
    }

    fn forge(&self, spare: &mut [u8], key: u32, below: &mut dyn FnMut(u32) -> u32) {
        tags::forge(spare, key, &FORGED, below);
    }
}

impl Subject for Hybrid {
    fn format(&self, device: &mut TestDevice, key: u32) -> Result<(), String> {
        subject::format::<ftl_core::Hybrid>(device, &self.config, &self.plan, key)
    }

    fn mount(&self, device: &mut TestDevice, live: &mut Live<'_>) -> Result<(), Unmounted> {
        subject::mount::<ftl_core::Hybrid>(device, &self.config, &self.plan, live)
    }

    /// Which of its settings may change is not said anywhere, so none does.
    fn with_other_settings(&self, _: u64) -> Option<Arc<dyn Subject>> {
        None
    }

    fn configured(&self) -> Configured {
        Configured::Hybrid(self.config)
    }
}

/// What a forged page may claim to be.
const FORGED: [Kind; 8] = [
    Kind::Header,
    Kind::Log,
    Kind::Summary,
    Kind::Data,
    Kind::Chain,
    Kind::ChainInPlace,
    Kind::Trim,
    Kind::Checkpoint,
];

fn last_page(chip: &Chip, page: Page) -> PageIndex {
    let shape = chip.geometry().region(page.region());
    PageIndex::new(shape.map_or(0, |shape| (shape.pages_per_block.get() - 1) as u16))
}

/// Whether a torn program of a later page of its block would corrupt it.
fn is_endangered(chip: &Chip, page: Page, later: PageIndex) -> bool {
    chip.geometry().region(page.region()).is_some_and(|shape| {
        shape.pairing.endangered(later, shape.pages_per_block).any(|index| index == page.index())
    })
}
