//! Random requests over many small devices and configurations, compared with the expected content; every invariant is
//! checked after each step.

use crate::world;

use ftl_core::Config;
use ftl_core::config::ChainVictims::{Idle, LeastUsed};
use ftl_core::config::Probing;
use ftl_core::config::WriteBackConfig;
use ftl_core::config::{FilterChoice, IndexConfig, LogRegion, PairedPages, RunEnds, WearLeveling};
use ftl_iface::{Bytes, Cell, Geometry};
use proptest::prelude::*;

use world::{Checks, Step, World, region};

/// A device and its requests.
#[derive(Clone, Debug)]
struct Case {
    geometry: Geometry,
    config: Config,
}

fn geometries() -> impl Strategy<Value = (Geometry, LogRegion)> {
    let pages = prop::sample::select(vec![4_u32, 6, 8]);
    let bytes = prop::sample::select(vec![512_u32, 1024, 2048]);
    let shape = (pages.clone(), bytes.clone(), 4_u32..9, pages, bytes, 8_u32..16);
    (shape, 0..5_u8).prop_map(|((slc_pages, slc_bytes, slc_blocks, pages, bytes, blocks), kind)| {
        // A rescue block has space for two pages of the chains and the backup of one, a commit, and its proof.
        let slc_pages = slc_pages.max(3 * bytes.div_ceil(slc_bytes) + 2);
        let slc = region(Cell::Slc, slc_blocks + 4, slc_pages, slc_bytes);
        let mlc = region(Cell::Mlc, blocks + 4, pages, bytes);
        // Two pages share a word line, of which the meta area uses one.
        let one_mlc = region(Cell::Mlc, blocks + 4, 8, bytes);
        let one_slc = region(Cell::Slc, blocks + 10, pages, bytes);
        let one_tlc = region(Cell::Tlc, blocks + 10, 12, bytes);
        let log = (slc_blocks - 1) as u16;
        let (slc, mlc, log) = match kind {
            0 | 1 => (Some(slc), Some(mlc), LogRegion::SlcRegion),
            2 => (Some(one_slc), None, LogRegion::FirstBlocks(log.min(5))),
            3 => (None, Some(one_tlc), LogRegion::FirstBlocks(log.min(5))),
            _ => (None, Some(one_mlc), LogRegion::None),
        };
        (Geometry::new(slc, mlc).expect("a possible geometry"), log)
    })
}

fn cases() -> impl Strategy<Value = Case> {
    let index = (5_u32..60, 1_u8..9, any::<bool>());
    let limits = (1_u8..4, 0_u16..4, 0_u8..5, 1_u16..6, 0_u8..5);
    let switches = (any::<[bool; 8]>(), 1_u16..9, prop::option::of(1_u16..6));
    (geometries(), index, limits, switches).prop_map(
        |(
            (geometry, log),
            (entries, probes, linear),
            (
                chain_log_blocks_max,
                mapping_cache_entries,
                chain_sketch_halves,
                free_blocks_low,
                copies_per_page,
            ),
            (on, threshold, window_max),
        )| {
            let probing = if linear { Probing::Linear } else { Probing::Quadratic };
            let config = Config {
                sector_bytes: Bytes::new(512),
                log,
                index: IndexConfig { entries: Some(entries), probes, probing },
                window_max,
                chain_log_blocks_max,
                mapping_cache_entries,
                chain_sketch_halves,
                free_blocks_low,
                copies_per_page,
                victims: if chain_sketch_halves > 1 { LeastUsed } else { Idle },
                filter: if on[0] {
                    FilterChoice::AcceptAll
                } else {
                    FilterChoice::ByBytes { initial: Bytes::new(1024), largest: Bytes::new(2048) }
                },
                run_ends: if on[7] { RunEnds::Follow } else { RunEnds::BySize },
                throttle: on[1],
                wear_leveling: WearLeveling { enabled: on[2], threshold },
                write_back: WriteBackConfig {
                    follow_log_blocks: on[3],
                    collect_on_fold: on[4],
                    suspend_when_updates_fall: on[5],
                },
                paired_pages: if on[6] { PairedPages::Guard } else { PairedPages::Accept },
                ..Config::HYBRID
            };
            Case { geometry, config }
        },
    )
}

/// Returns steps as fractions of the device, so that they fit any device: address, length, kind.
fn raw_steps(most: usize) -> impl Strategy<Value = Vec<(u16, u8, u8)>> {
    prop::collection::vec((any::<u16>(), any::<u8>(), 0..100_u8), 1..most)
}

fn steps(raw: &[(u16, u8, u8)], capacity: u32) -> Vec<Step> {
    raw.iter()
        .map(|(at, length, kind)| {
            // Half of all requests go to an eighth of the device.
            let span = if at & 1 == 0 { capacity } else { capacity.div_ceil(8) };
            let first = u32::from(at >> 1) * span / (1 << 15);
            let count = match length {
                0..=127 => 1,
                128..=191 => 2,
                192..=239 => u32::from(length % 8) + 1,
                _ => u32::from(length % 40) + 1,
            };
            let count = count.min(capacity - first);
            match kind {
                0..=69 => Step::Write { first, count },
                70..=79 => Step::Read { first, count },
                80..=89 => Step::Trim { first, count },
                90..=95 => Step::Maintain { budget: count },
                _ => Step::Remount,
            }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_last_is_read_back_and_every_invariant_holds(
        case in cases(),
        raw in raw_steps(120),
    ) {
        let mut world = World::new(case.geometry, case.config);
        let steps = steps(&raw, world.capacity());
        world.run(&steps, Checks::EachStep);
    }

    #[test]
    fn long_runs_lose_nothing(case in cases(), raw in raw_steps(3_000)) {
        let mut world = World::new(case.geometry, case.config);
        let steps = steps(&raw, world.capacity());
        world.run(&steps, Checks::Never);
    }
}
