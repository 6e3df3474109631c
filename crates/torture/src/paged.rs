//! The page store of `ftl-core` as a subject.

use ftl_core::layout::{self, Kind};
use ftl_core::paged::shape::HEADERS;
use ftl_core::paged::{
    OwnedPagedRam, PageFtl, PagedConfig, PagedMountError, PagedPlan, PagedShapeError,
};
use ftl_iface::{BlockCount, Bytes, Geometry, StoreWriteError};
use nand_model::Stamp;

use crate::crossing::{Crossing, Halt};
use crate::faults::Faults;
use crate::on_flash::{Area, Bounded, Injury, OnFlash, RecordedBy, Struck};
use crate::subject::{Live, Mounted, Subject, Unchecked, Unmounted};
use crate::tags;
use crate::teller::Teller;

/// The page store with a configuration.
#[derive(Clone, Debug)]
pub(crate) struct Paged {
    plan: PagedPlan,
}

impl Paged {
    /// The page store in this configuration on such a device.
    pub(crate) fn new(geometry: &Geometry, config: PagedConfig) -> Result<Self, PagedShapeError> {
        Ok(Self { plan: PagedPlan::new(geometry, &config)? })
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

    fn injury(&self, struck: &Struck<'_>) -> Option<Injury> {
        let sectors = struck.data.chunks(self.sector_bytes().as_usize());
        let contents = sectors.filter_map(Stamp::read_from).collect();
        let (page, told) = (Some(struck.page), RecordedBy::ItsEntry);
        Some(Injury { page, told, contents, places: Vec::new(), untold: false })
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
        let mut memory = OwnedPagedRam::for_plan(&self.plan);
        let teller = Teller::new(device.account());
        PageFtl::format(device, self.plan.config(), memory.lend(), key, teller)
            .map(drop)
            .map_err(|error| error.to_string())
    }

    fn mount(&self, device: &mut Crossing, live: &mut Live<'_>) -> Result<(), Unmounted> {
        let mut memory = OwnedPagedRam::for_plan(&self.plan);
        let teller = Teller::new(device.account());
        match PageFtl::mount(device, self.plan.config(), memory.lend(), teller) {
            Ok(mut ftl) => {
                live(&mut ftl);
                Ok(())
            }
            Err(error @ (PagedMountError::NotFormatted | PagedMountError::DamagedHeader)) => {
                Err(Unmounted::Blank(error.to_string()))
            }
            Err(error) => Err(Unmounted::Failed(error.to_string())),
        }
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
