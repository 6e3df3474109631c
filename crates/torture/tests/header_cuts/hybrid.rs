//! The hybrid without data.

use ftl_core::config::{LogRegion, Refresh};
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::probe::NoProbe;
use ftl_core::{Config, Ftl, RamPlan};
use ftl_iface::{BlockStore, Corrected, NandDevice, PageCount, Work};
use nand_model::datasheet;

use super::twice::{Headers, Mounted};

pub(crate) struct Hybrid {
    config: Config,
    plan: RamPlan,
}

impl Hybrid {
    pub(crate) fn new(name: &str, log: LogRegion) -> Self {
        let part = datasheet::builtin(name).expect("known");
        let limit = Corrected::bits(1);
        let config = Config {
            sector_bytes: part.sector_bytes,
            log,
            mapping_cache_entries: 4,
            free_blocks_low: 2,
            chain_log_blocks_max: 2,
            refresh: Refresh { log: limit, chain: limit },
            ..Config::HYBRID
        };
        Self { config, plan: RamPlan::new(&part.geometry, &config).expect("fits") }
    }
}

impl Headers for Hybrid {
    fn format<D: NandDevice>(&self, device: &mut D) {
        let mut ram = OwnedRam::for_plan(&self.plan);
        drop(Ftl::format(device, &self.config, ram.lend(), 7, NoProbe).expect("formatted"));
    }

    fn refresh<D: NandDevice>(&self, device: &mut D) -> Mounted {
        let mut ram = OwnedRam::for_plan(&self.plan);
        let Ok(mut ftl) = Ftl::mount(device, &self.config, ram.lend(), NoProbe) else {
            return Mounted::No;
        };
        ftl.scrub();
        while let Ok(Work::Left) = ftl.maintain(PageCount::new(1)) {}
        Mounted::Yes
    }
}
