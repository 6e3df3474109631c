//! Plans in a `const`, and the hybrid with the fewest mechanisms.

use ftl_core::paged::{PagedConfig, PagedPlan};
use ftl_core::{Config, Hybrid, Mechanisms, RamPlan};
use ftl_iface::Geometry;

/// Chains on a chip of one bit a cell, with nothing that they can do without.
#[derive(Clone, Copy, Debug)]
pub enum Least {}

impl Mechanisms for Least {
    const LOG: bool = false;
    const PAIRED_PAGES: bool = false;
    const CHECKPOINTS: bool = false;
    const WEAR_LEVELING: bool = false;
    const REFRESH: bool = false;
}

/// The FTL of them.
pub type LeastChains = Hybrid<Least>;

/// The page store's plan for that chip and configuration, in a `const`: what does not fit stops the build.
pub const fn plan(geometry: &Geometry, config: &PagedConfig) -> PagedPlan {
    match PagedPlan::new(geometry, config) {
        Ok(plan) => plan,
        Err(_) => panic!("the configuration does not fit the chip"),
    }
}

/// The same for the hybrid.
pub const fn plan_hybrid(geometry: &Geometry, config: &Config) -> RamPlan {
    match RamPlan::new(geometry, config) {
        Ok(plan) => plan,
        Err(_) => panic!("the configuration does not fit the chip"),
    }
}
