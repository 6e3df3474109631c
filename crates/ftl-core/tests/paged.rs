//! The page store: random requests over small devices, compared with the expected content, every invariant checked
//! after each step, with mounts in between.

use ftl_core::config::FilterChoice;
use ftl_core::paged::{History, OwnedPagedRam, PageFtl, PagedConfig, PagedPlan, Streams, Victims};
use ftl_core::probe::Counters;
use ftl_iface::{BlockStore, Bytes, NandDevice, PageCount, Sector, SectorCount};
use nand_model::{Chip, Content, datasheet};
use proptest::prelude::*;

/// A request to the device, or a mount.
#[derive(Clone, Debug)]
enum Step {
    Write { first: u32, count: u32 },
    Trim { first: u32, count: u32 },
    Maintain { budget: u32 },
    Stop,
    Mount,
}

fn config(capacity: u32) -> PagedConfig {
    PagedConfig {
        sector_bytes: Bytes::new(1024),
        capacity: Some(SectorCount::new(capacity)),
        dirty_entries: 100,
        cached_leaves: 2,
        anchor_blocks: 2,
        ..PagedConfig::SMALL
    }
}

fn steps(capacity: u32) -> impl Strategy<Value = Vec<Step>> {
    let run = (0..capacity, prop_oneof![1..3_u32, 1..9_u32, 1..60_u32])
        .prop_map(move |(first, count)| (first, count.min(capacity - first)));
    let hot = (0..12_u32, 1..3_u32);
    let step = prop_oneof![
        6 => run.clone().prop_map(|(first, count)| Step::Write { first, count }),
        6 => hot.prop_map(|(first, count)| Step::Write { first, count }),
        1 => run.prop_map(|(first, count)| Step::Trim { first, count }),
        1 => (1..20_u32).prop_map(|budget| Step::Maintain { budget }),
        1 => Just(Step::Stop),
        1 => Just(Step::Mount),
    ];
    prop::collection::vec(step, 1..250)
}

fn content(sector: u32, version: u32) -> Vec<u8> {
    (0..1024_u32).map(|at| (sector * 31 + version * 7 + at / 4) as u8 | 1).collect()
}

fn compare(ftl: &mut PageFtl<'_, Chip, Counters>, truth: &[u32]) {
    for (sector, version) in (0..).zip(truth) {
        let mut data = vec![0xA5; 1024];
        ftl.read(Sector::new(sector), &mut data).expect("it reads");
        let expected = if *version == 0 { vec![0; 1024] } else { content(sector, *version) };
        assert_eq!(data, expected, "sector {sector}");
    }
}

/// Runs the steps on a device. Returns the number of its lives.
fn live(device: &str, config: &PagedConfig, steps: &[Step]) {
    let chip = Chip::new(&datasheet::builtin(device).unwrap(), Content::Bytes).unwrap();
    let plan = PagedPlan::new(chip.geometry(), config).unwrap();
    let capacity = plan.shape().capacity.get();
    let mut truth = vec![0; capacity as usize];
    let mut memory = OwnedPagedRam::for_plan(&plan);
    let ftl = PageFtl::format(chip, config, memory.lend(), 7, Counters::default()).unwrap();
    let (mut chip, _) = ftl.into_parts();
    let mut version = 0;
    for life in steps.split(|step| matches!(step, Step::Mount)) {
        let mut memory = OwnedPagedRam::for_plan(&plan);
        let mut ftl = PageFtl::mount(chip, config, memory.lend(), Counters::default()).unwrap();
        compare(&mut ftl, &truth);
        ftl.check().unwrap();
        for step in life {
            version += 1;
            match *step {
                Step::Write { first, count } => {
                    let count = count.min(capacity - first);
                    let data: Vec<u8> =
                        (first..first + count).flat_map(|at| content(at, version)).collect();
                    ftl.write(Sector::new(first), &data).unwrap();
                    truth[first as usize..][..count as usize].fill(version);
                }
                Step::Trim { first, count } => {
                    ftl.trim(Sector::new(first), SectorCount::new(count)).unwrap();
                    truth[first as usize..][..count as usize].fill(0);
                }
                Step::Maintain { budget } => drop(ftl.maintain(PageCount::new(budget)).unwrap()),
                Step::Stop => ftl.stop().unwrap(),
                Step::Mount => {}
            }
            ftl.check().unwrap_or_else(|error| panic!("after {step:?}: {error}"));
        }
        compare(&mut ftl, &truth);
        (chip, _) = ftl.into_parts();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_was_written_is_read_on_two_regions(steps in steps(300), dice in 0..8_u8) {
        let filter = if dice % 2 == 0 { FilterChoice::AcceptAll } else { config(300).filter };
        let victims = [Victims::Greedy, Victims::CostBenefit][usize::from(dice / 2 % 2)];
        let streams = [Streams::One, Streams::Two][usize::from(dice / 4)];
        live("tiny", &PagedConfig { filter, streams, victims, ..config(300) }, &steps);
    }

    #[test]
    fn what_was_written_is_read_in_streams_by_lifetime(steps in steps(112), dice in 0..4_u8) {
        let filter = if dice % 2 == 0 { FilterChoice::AcceptAll } else { config(112).filter };
        let victims = [Victims::Greedy, Victims::CostBenefit][usize::from(dice / 2)];
        let streams = Streams::ByLifetime;
        live("tiny", &PagedConfig { filter, streams, victims, ..config(112) }, &steps);
    }

    #[test]
    fn what_was_written_is_read_where_history_is_heeded(steps in steps(300), dice in 0..2_usize) {
        let config = PagedConfig { history: History::Heeded, ..config(300) };
        live("tiny", &PagedConfig { streams: [Streams::One, Streams::Two][dice], ..config }, &steps);
    }

    #[test]
    fn what_was_written_is_read_on_three_bits_a_cell(steps in steps(400)) {
        live("tiny-tlc", &config(400), &steps);
    }

    #[test]
    fn what_was_written_is_read_on_one_region(steps in steps(72), dice in 0..6_u8) {
        let streams = [Streams::One, Streams::Two][usize::from(dice % 2)];
        live("tiny-slc", &PagedConfig { streams, anchor_blocks: 0, ..config(72) }, &steps);
        for anchor_blocks in [0, 2] {
            let config = PagedConfig { streams, anchor_blocks, ..config(120) };
            live("tiny-mlc", &config, &steps);
        }
    }
}
