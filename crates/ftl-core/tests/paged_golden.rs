//! Golden counts of the page store: the cost of fixed requests on fixed devices, operation by operation, so that a
//! change of the code shows whether it changes the behaviour.
//!
//! The table is `tests/paged_golden.txt`. If a change of behaviour is intended,
//! `UPDATE_EXPECT=1 cargo test -p ftl-core paged_golden::` rewrites it. The difference belongs into the same commit as
//! the change, whose message says why the numbers are better.

use crate::world;

use expect_test::expect_file;
use ftl_core::config::{Endurance, FilterChoice, WearLeveling};
use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan, Streams, Victims};
use ftl_core::probe::{Cause, Counters, Verb};
use ftl_iface::{BlockStore, Bytes, Cell, Geometry, PageCount, Region, Sector, SectorCount};
use nand_model::{Chip, Content};

use world::counted::table_of_operations;
use world::{Dice, KEY, content, devices, part, region};

const BYTES: usize = 512;
const REQUESTS: u32 = 6_000;

const CONFIG: PagedConfig = PagedConfig {
    sector_bytes: Bytes::new(BYTES as u32),
    dirty_entries: 300,
    cached_leaves: 4,
    anchor_blocks: 3,
    streams: Streams::ByLifetime,
    filter: FilterChoice::BySize { initial: SectorCount::new(2), largest: SectorCount::new(8) },
    ..PagedConfig::SMALL
};

fn both() -> Geometry {
    let slc = region(Cell::Slc, 26, 16, 1024);
    devices::geometry(Some(slc), Some(region(Cell::Mlc, 80, 16, 2048)))
}

fn scenarios() -> Vec<(&'static str, Geometry, PagedConfig)> {
    let sectors = |count| Some(SectorCount::new(count));
    let two = PagedConfig { capacity: sectors(3_400), ..CONFIG };
    let one = PagedConfig { capacity: sectors(1_400), streams: Streams::Two, ..CONFIG };
    let slc = devices::geometry(Some(region(Cell::Slc, 70, 16, 1024)), None);
    let tlc = devices::geometry(None, Some(region(Cell::Tlc, 70, 12, 2048)));
    let plain = PagedConfig { streams: Streams::One, victims: Victims::Greedy, ..two };
    let eager = WearLeveling { enabled: true, threshold: 3 };
    vec![
        ("two regions", both(), two),
        ("two regions, one stream, greedy", both(), plain),
        (
            "two regions, everything hot",
            both(),
            PagedConfig { filter: FilterChoice::AcceptAll, ..two },
        ),
        (
            "two regions, throttled",
            both(),
            PagedConfig { throttle: Some(Endurance { fast: 100, main: 1_000 }), ..two },
        ),
        ("two regions, no anchors", both(), PagedConfig { anchor_blocks: 0, ..two }),
        ("two regions, worn evenly", both(), PagedConfig { wear_leveling: eager, ..two }),
        ("one SLC chip", slc, one),
        ("one TLC chip", tlc, PagedConfig { capacity: sectors(2_000), ..one }),
    ]
}

/// Does hot small writes, cold large ones, reads, trims, idle work and mounts. Returns the operations of all lives.
fn run(geometry: Geometry, config: &PagedConfig) -> Counters {
    let plan = PagedPlan::new(&geometry, config).expect("the configuration fits");
    let mut ram = OwnedPagedRam::for_plan(&plan);
    let chip = Chip::new(&part(geometry), Content::Bytes).expect("a possible part");
    let mut ftl =
        PageFtl::format(chip, config, ram.lend(), KEY, Counters::default()).expect("formatted");
    let capacity = ftl.capacity().get();
    let hot = capacity / 16;
    let mut dice = Dice::new(11);
    let mut data = vec![0; 40 * BYTES];
    let fill = (0..capacity.div_ceil(40)).map(|at| (at * 40, 40.min(capacity - at * 40)));
    let fill: Vec<_> = fill.collect();
    for at in 0..REQUESTS + fill.len() as u32 {
        let (first, count) = match fill.get(at as usize) {
            Some(run) => *run,
            None if dice.percent(75) => {
                (dice.below(hot).min(dice.below(hot)) * 4, dice.within(1..3))
            }
            None => (dice.below(capacity - 40), dice.within(1..41)),
        };
        let bytes = count as usize * BYTES;
        match if at < fill.len() as u32 { 0 } else { dice.below(1_000) } {
            0..880 => {
                let written: Vec<u8> =
                    (first..first + count).flat_map(|sector| content(sector, at, BYTES)).collect();
                ftl.write(Sector::new(first), &written).expect("written");
            }
            880..960 => ftl.read(Sector::new(first), &mut data[..bytes]).expect("read"),
            960..980 => ftl.trim(Sector::new(first), SectorCount::new(count)).expect("trimmed"),
            980..998 => drop(ftl.maintain(PageCount::new(count)).expect("idle")),
            _ => {
                let (chip, counters) = ftl.into_parts();
                ftl = PageFtl::mount(chip, config, ram.lend(), counters).expect("mounted");
            }
        }
    }
    ftl.check().expect("every invariant holds");
    ftl.probe().clone()
}

#[test]
fn fixed_requests_cost_what_they_always_did() {
    let tables = scenarios()
        .into_iter()
        .map(|(name, geometry, config)| table_of_operations(name, &run(geometry, &config)) + "\n");
    expect_file!["paged_golden.txt"].assert_eq(&tables.collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_scenarios_reach_what_they_are_named_for() {
    let of = |name: &str| {
        let scenario = scenarios().into_iter().find(|(found, ..)| *found == name);
        let (_, geometry, config) = scenario.unwrap_or_else(|| panic!("no scenario {name}"));
        run(geometry, &config)
    };
    let hot = |counters: &Counters| counters.operations(Region::Slc, Verb::Program, Cause::Host);
    let plain = of("two regions");
    assert!(hot(&of("two regions, throttled")) < hot(&plain));
    assert!(hot(&of("two regions, everything hot")) > hot(&plain));
    let leveled = of("two regions, worn evenly");
    let copies =
        |counters: &Counters| counters.operations(Region::Mlc, Verb::Program, Cause::WearLeveling);
    assert!(copies(&leveled) > copies(&plain));
}
