//! No request to a page store costs more than its formula says, except those that wait for blocks, which are counted.

use crate::world;

use ftl_core::Operations;
use ftl_core::config::PairedPages;
use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan, PagedWorstCase, Streams};
use ftl_core::probe::{Counters, Verb};
use ftl_iface::{BlockStore, Bytes, NandDevice, PageCount, Region, Sector, SectorCount};
use nand_model::{Chip, Content, datasheet};

use world::{Dice, KEY, content};

const BYTES: usize = 1024;

fn done(counters: &Counters) -> Operations {
    let total = |verb| Region::ALL.iter().map(|region| counters.total(*region, verb)).sum();
    Operations {
        reads: total(Verb::Read),
        programs: total(Verb::Program),
        erases: total(Verb::Erase),
    }
}

/// Requests to a device: how many stayed within their bounds, and how many had to wait.
#[derive(Debug, Default)]
struct Requests {
    bounded: u32,
    waited: u32,
    /// The most programs of a one-sector write, and its bound.
    costliest: (u64, u64),
}

fn ask(name: &str, config: &PagedConfig, seed: u64) -> Requests {
    let chip = Chip::new(&datasheet::builtin(name).expect("known"), Content::Bytes);
    let chip = chip.expect("a possible part");
    let plan = PagedPlan::new(chip.geometry(), config).expect("it fits");
    let bound = PagedWorstCase::new(plan.shape());
    let mut ram = OwnedPagedRam::for_plan(&plan);
    let mut ftl =
        PageFtl::format(chip, config, ram.lend(), KEY, Counters::default()).expect("formatted");
    let capacity = plan.shape().capacity.get();
    let mut dice = Dice::new(seed);
    let mut asked = Requests::default();
    for request in 0..6_000 {
        let (before, waited) = (done(ftl.probe()), ftl.waited());
        let longest = [1, 1, 1, 2, 8, 40][dice.below(6) as usize].min(capacity);
        let count = 1 + dice.below(longest);
        let first = dice.below(capacity - count + 1);
        let (first_sector, sectors) = (Sector::new(first), SectorCount::new(count));
        let most = match dice.below(20) {
            0 => {
                ftl.trim(first_sector, sectors).expect("trimmed");
                bound.trim(sectors)
            }
            1..4 => {
                let mut data = vec![0; count as usize * BYTES];
                ftl.read(first_sector, &mut data).expect("read");
                bound.read(sectors)
            }
            4 => {
                let _ = ftl.maintain(PageCount::new(count)).expect("idle");
                bound.maintain(count)
            }
            _ => {
                let data: Vec<u8> =
                    (first..first + count).flat_map(|at| content(at, request, BYTES)).collect();
                ftl.write(first_sector, &data).expect("written");
                bound.write(sectors)
            }
        };
        let spent = done(ftl.probe()).less(before);
        if ftl.waited() > waited {
            asked.waited += 1;
            continue;
        }
        assert!(spent.within(most), "{name}, {seed}, request {request}: {spent:?} of {most:?}");
        asked.bounded += 1;
        if most == bound.write(SectorCount::new(1)) {
            asked.costliest = asked.costliest.max((spent.programs, most.programs));
        }
    }
    asked
}

#[test]
fn requests_that_need_not_wait_cost_no_more_than_their_formula_says() {
    let config = |capacity: u32| PagedConfig {
        sector_bytes: Bytes::new(BYTES as u32),
        capacity: Some(SectorCount::new(capacity)),
        dirty_entries: 100,
        cached_leaves: 2,
        anchor_blocks: 2,
        ..PagedConfig::SMALL
    };
    let accept = PairedPages::Accept;
    for (name, config) in [
        ("tiny", config(300)),
        ("tiny", PagedConfig { streams: Streams::ByLifetime, ..config(112) }),
        ("tiny", PagedConfig { paired_pages: accept, ..config(200) }),
        ("tiny-tlc", PagedConfig { streams: Streams::One, ..config(400) }),
        ("tiny-slc", PagedConfig { streams: Streams::One, anchor_blocks: 0, ..config(72) }),
        ("tiny-mlc", PagedConfig { anchor_blocks: 0, ..config(120) }),
    ] {
        for seed in 0..2 {
            let asked = ask(name, &config, seed);
            let (most, bound) = asked.costliest;
            // The formula is not far off: some request takes more than a 40th of it.
            assert!(most * 40 > bound, "{name}, {seed}: {asked:?}");
            assert!(asked.bounded > 1_000, "{name}, {seed}: {asked:?}");
        }
    }
}

/// Returns the most programs that a write of one sector to a part may take.
fn programs_of_a_sector(name: &str, config: &PagedConfig) -> u64 {
    let part = datasheet::builtin(name).expect("known");
    let plan = PagedPlan::new(&part.geometry, config).expect("it fits");
    PagedWorstCase::new(plan.shape()).write(SectorCount::new(1)).programs
}

#[test]
fn a_sector_takes_few_programs_at_most() {
    let accept = PagedConfig { paired_pages: PairedPages::Accept, ..PagedConfig::LARGE };
    assert_eq!(programs_of_a_sector("c3", &accept), 30);
    assert_eq!(programs_of_a_sector("c3", &PagedConfig::LARGE), 30);
    assert_eq!(programs_of_a_sector("spi-nand-1g", &PagedConfig::SMALL), 27);
}
