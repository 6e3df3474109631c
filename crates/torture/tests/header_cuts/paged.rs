//! The page store without data and anchors.

use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan, RefreshLimits};
use ftl_core::probe::NoProbe;
use ftl_iface::{BlockStore, Bytes, Corrected, NandDevice, PageCount, SectorCount, Work};
use nand_model::datasheet;

use super::twice::{Headers, Mounted};

pub(crate) struct Store {
    config: PagedConfig,
    plan: PagedPlan,
}

impl Store {
    pub(crate) fn new(name: &str, sectors: u32) -> Self {
        let part = datasheet::builtin(name).expect("known");
        let config = PagedConfig {
            sector_bytes: Bytes::new(1024),
            capacity: Some(SectorCount::new(sectors)),
            dirty_entries: 100,
            cached_leaves: 2,
            anchor_blocks: 0,
            refresh: RefreshLimits { fast: Corrected::bits(1), main: Corrected::bits(1) },
            ..PagedConfig::SMALL
        };
        let plan = PagedPlan::new(&part.geometry, &config).expect("fits");
        Self { config, plan }
    }
}

impl Headers for Store {
    fn format<D: NandDevice>(&self, device: &mut D) {
        let mut ram = OwnedPagedRam::for_plan(&self.plan);
        drop(PageFtl::format(device, &self.config, ram.lend(), 7, NoProbe).expect("formatted"));
    }

    fn refresh<D: NandDevice>(&self, device: &mut D) -> Mounted {
        let mut ram = OwnedPagedRam::for_plan(&self.plan);
        let Ok(mut ftl) = PageFtl::mount(device, &self.config, ram.lend(), NoProbe) else {
            return Mounted::No;
        };
        ftl.scrub();
        while let Ok(Work::Left) = ftl.maintain(PageCount::new(1)) {}
        Mounted::Yes
    }
}
