//! Runs of large writes that end in a small one: the hybrid FTL takes the small one for hot, unless it follows runs.

use crate::world;

use ftl_core::config::{LogRegion, PairedPages, RunEnds};
use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::probe::{Counters, Verb};
use ftl_core::{Config, Ftl, RamPlan};
use ftl_iface::{BlockStore, Bytes, Cell, Region, Sector, SectorCount};
use nand_model::{Chip, Content};

use world::{Dice, KEY, devices, part, region};

const SECTOR: u32 = 2048;
/// Runs of 512 KiB, each of a logical block.
const RUN: u32 = (512 << 10) / SECTOR;
/// Requests of 64 KiB. The last one but one is shorter, so that the last one has 4 KiB.
const LARGE: u32 = (64 << 10) / SECTOR;
const END: u32 = (4 << 10) / SECTOR;
const BLOCKS: u32 = 32;

/// The cost of runs at random addresses.
struct Cost {
    log_writes: u64,
    programs: u64,
    erases: u64,
}

fn cost_of_runs(log: LogRegion, run_ends: RunEnds) -> Cost {
    let slc = region(Cell::Slc, 24, 64, 2048);
    let mlc = region(Cell::Mlc, 42, 128, 4096);
    let config = Config {
        sector_bytes: Bytes::new(SECTOR),
        capacity: Some(SectorCount::new(BLOCKS * RUN)),
        log,
        run_ends,
        throttle: false,
        // Protecting paired pages costs most without a log.
        paired_pages: PairedPages::Accept,
        ..Config::HYBRID
    };
    let slc = (log != LogRegion::None).then_some(slc);
    let geometry = devices::geometry(slc, Some(mlc));
    let plan = RamPlan::new(&geometry, &config).expect("the configuration fits");
    let mut ram = OwnedRam::for_plan(&plan);
    let content = Content::Stamps { sector: Bytes::new(SECTOR), spare_kept: Bytes::new(128) };
    let chip = Chip::new(&part(geometry), content).expect("a possible part");
    let ftl = Ftl::format(chip, &config, ram.lend(), KEY, Counters::default());
    let mut ftl = ftl.expect("formatted");
    let mut dice = Dice::new(7);
    let data = vec![0; (LARGE * SECTOR) as usize];
    for _ in 0..300 {
        let (mut first, end) = (dice.below(BLOCKS) * RUN, RUN - END);
        let run = first;
        while first < run + RUN {
            let count = LARGE.min(run + if first < run + end { end } else { RUN } - first);
            let written = ftl.write(Sector::new(first), &data[..(count * SECTOR) as usize]);
            written.expect("written");
            first += count;
        }
    }
    ftl.check().expect("every invariant holds");
    let probe = ftl.probe();
    let programs = Region::ALL.into_iter().map(|region| probe.total(region, Verb::Program)).sum();
    // The log's blocks are erased when the device is formatted.
    Cost { log_writes: probe.fast_writes, programs, erases: probe.total(Region::Mlc, Verb::Erase) }
}

#[test]
fn where_runs_are_followed_their_small_ends_cost_no_more_than_without_a_log() {
    let alone = cost_of_runs(LogRegion::None, RunEnds::BySize);
    let by_size = cost_of_runs(LogRegion::SlcRegion, RunEnds::BySize);
    let follow = cost_of_runs(LogRegion::SlcRegion, RunEnds::Follow);
    assert_eq!((by_size.log_writes, follow.log_writes), (300, 0));
    assert!(by_size.programs * 2 > alone.programs * 3, "{} {}", by_size.programs, alone.programs);
    assert!(by_size.erases * 2 > alone.erases * 3, "{} {}", by_size.erases, alone.erases);
    assert!(follow.programs * 50 <= alone.programs * 51, "{} {}", follow.programs, alone.programs);
    assert!(follow.erases * 50 <= alone.erases * 51, "{} {}", follow.erases, alone.erases);
}
