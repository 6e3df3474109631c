//! The hybrid's hash table when it is full, filled again by a mount: entries that fit in one order must fit in another.

use crate::world;

use ftl_core::Config;
use ftl_core::config::Probing;
use ftl_core::config::{FilterChoice, IndexConfig, WearLeveling};
use ftl_iface::{Bytes, Cell, Geometry};

use world::{Checks, Dice, Step, World, region};

/// Does six writes per entry, of single sectors and sometimes of three, anywhere; then a mount.
fn fill_and_mount(probing: Probing, entries: u32) {
    let geometry = Geometry::new(
        Some(region(Cell::Slc, entries / 8, 64, 512)),
        Some(region(Cell::Mlc, entries / 16, 64, 512)),
    )
    .expect("possible");
    let config = Config {
        sector_bytes: Bytes::new(512),
        index: IndexConfig { entries: Some(entries), probes: 8, probing },
        filter: FilterChoice::AcceptAll,
        throttle: false,
        wear_leveling: WearLeveling { enabled: false, threshold: 16 },
        ..Config::HYBRID
    };
    let mut world = World::new(geometry, config);
    let mut dice = Dice::new(1);
    let reach = world.capacity() - 3;
    let mut steps: Vec<Step> = (0..entries * 6)
        .map(|at| {
            let count = if at % 8 == 7 && at > entries * 2 { 3 } else { 1 };
            Step::Write { first: dice.below(reach), count }
        })
        .collect();
    steps.push(Step::Remount);
    world.run(&steps, Checks::Never);
    assert!(world.counters().rejected_by_index > 0, "the table was never full");
}

#[test]
fn a_full_table_with_linear_probing_is_filled_again() {
    fill_and_mount(Probing::Linear, 16_384);
}

#[test]
fn a_full_table_with_quadratic_probing_is_filled_again() {
    fill_and_mount(Probing::Quadratic, 16_384);
}
