//! Plans in a `const`.

use ftl_core::paged::{PagedConfig, PagedPlan};
use ftl_core::{Config, RamPlan};
use ftl_iface::Geometry;

/// The page store's plan for a chip and configuration, in a `const`: what does not fit stops the build.
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
