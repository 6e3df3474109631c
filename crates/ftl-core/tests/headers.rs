//! The hybrid's headers.

use crate::world;

use ftl_core::config::Refresh;
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::probe::NoProbe;
use ftl_core::{Config, Ftl, RamPlan};
use ftl_iface::{BlockStore, Corrected, Geometry, NandDevice, PageCount, Work};
use nand_model::{Chip, Content};

use world::fading::{days, fading};
use world::headers::{Headers, Mounted, cut_twice};
use world::{KEY, devices, part};

struct Hybrid {
    config: Config,
    plan: RamPlan,
}

impl Hybrid {
    fn new(geometry: &Geometry, config: Config) -> Self {
        let limit = Corrected::bits(1);
        let config = Config { refresh: Refresh { log: limit, chain: limit }, ..config };
        Self { config, plan: RamPlan::new(geometry, &config).expect("fits") }
    }
}

impl Headers for Hybrid {
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

#[test]
fn one_of_both_headers_outlives_a_cut_in_each_of_two_refreshes_and_a_dead_page() {
    for (name, geometry, config) in devices::all() {
        let hybrid = Hybrid::new(&geometry, config);
        let cuts = (0..100).map(|seed| {
            let chip = Chip::new(&part(geometry), Content::Bytes).expect("a possible part");
            let mut device = fading(chip, seed);
            let mut ram = OwnedRam::for_plan(&hybrid.plan);
            let formatted = Ftl::format(&mut device, &hybrid.config, ram.lend(), KEY, NoProbe);
            drop(formatted.expect("formatted"));
            device.age(days(4));
            cut_twice(&mut device, &hybrid, seed)
        });
        let cuts: u32 = cuts.sum();
        assert!(cuts > 5_000, "{name}: {cuts} pairs of cuts");
    }
}
