//! The worst case of a request is reached, so the formula is tight. Every run of the world that the other tests use
//! asserts that no request exceeds it.

use crate::world;

use ftl_core::Config;
use ftl_core::config::{LogRegion, WearLeveling};
use ftl_core::hybrid::bound::WorstCase;
use ftl_core::hybrid::shape::Shape;
use ftl_iface::{Bytes, Cell, Geometry, SectorCount};

use world::{Checks, Step, World, region};

/// One-sector writes to another logical block each time, on a device that does one step per page.
#[test]
fn a_one_page_write_can_cost_two_folds_and_its_step_and_never_more() {
    let geometry = Geometry::new(None, Some(region(Cell::Mlc, 26, 8, 512))).expect("possible");
    let config = Config {
        sector_bytes: Bytes::new(512),
        capacity: Some(SectorCount::new(12 * 8)),
        log: LogRegion::None,
        chain_log_blocks_max: 1,
        mapping_cache_entries: 2,
        free_blocks_low: 3,
        copies_per_page: 1,
        wear_leveling: WearLeveling { enabled: false, threshold: 16 },
        ..Config::CONVENTIONAL
    };
    let shape = Shape::new(&geometry, &config).expect("the configuration fits");
    let bound = WorstCase::new(&shape, &config).write(SectorCount::new(1));
    // The page itself, two folds of eight pages less the one that was programmed before, and the step.
    assert_eq!(bound.programs, 1 + (2 * 8 - 1) + 1);

    let mut world = World::new(geometry, config);
    let mut state = 1_u32;
    let steps: Vec<Step> = (0..20_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let anywhere = (state >> 8) % world.capacity();
            // Half of the writes fill the log block of one chain, so that it reaches its limit.
            let first = if state >> 31 == 0 { anywhere } else { anywhere % 8 };
            Step::Write { first, count: 1 }
        })
        .collect();
    world.run(&steps, Checks::Never);
    assert_eq!(world.costliest.programs, bound.programs);
}
