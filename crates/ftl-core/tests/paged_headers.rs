//! The page store's headers.

use crate::world;

use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan, RefreshLimits};
use ftl_core::probe::NoProbe;
use ftl_iface::{BlockStore, Bytes, Corrected, NandDevice, PageCount, SectorCount, Work};
use nand_model::{Chip, Content, datasheet};

use world::KEY;
use world::fading::{days, fading};
use world::headers::{Headers, Mounted, cut_twice};

/// Without anchors: only the headers are refreshed.
struct Store {
    config: PagedConfig,
    plan: PagedPlan,
}

impl Headers for Store {
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

#[test]
fn one_of_both_headers_outlives_a_cut_in_each_of_two_refreshes_and_a_dead_page() {
    for (name, capacity) in [("tiny-slc", 72), ("tiny-mlc", 120), ("tiny", 112)] {
        let part = datasheet::builtin(name).expect("known");
        let config = PagedConfig {
            sector_bytes: Bytes::new(1024),
            capacity: Some(SectorCount::new(capacity)),
            dirty_entries: 100,
            cached_leaves: 2,
            anchor_blocks: 0,
            refresh: RefreshLimits { fast: Corrected::bits(1), main: Corrected::bits(1) },
            ..PagedConfig::SMALL
        };
        let plan = PagedPlan::new(&part.geometry, &config).expect("fits");
        let store = Store { config, plan };
        let cuts = (0..100).map(|seed| {
            let chip = Chip::new(&part, Content::Bytes).expect("a possible part");
            let mut device = fading(chip, seed);
            let mut ram = OwnedPagedRam::for_plan(&store.plan);
            let formatted = PageFtl::format(&mut device, &store.config, ram.lend(), KEY, NoProbe);
            drop(formatted.expect("formatted"));
            device.age(days(4));
            cut_twice(&mut device, &store, seed)
        });
        let cuts: u32 = cuts.sum();
        assert!(cuts > 5_000, "{name}: {cuts} pairs of cuts");
    }
}
