//! Devices that keep the contract pass: every kind of simulated chip, with power cut in all ways.

use ftl_conformance::power::InFlight;
use ftl_conformance::{BLOCKS_MIN, Examiner, Stopped, memory_bytes};
use ftl_iface::{Block, NandDevice, Region};
use nand_model::faults::{FaultInjector, When};
use nand_model::power::{Cut, PowerCut};
use nand_model::{Chip, Content, Fork, datasheet};

const MEMORY: usize = memory_bytes(16 << 10, 2 << 10);

fn chip(name: &str) -> Chip {
    Chip::new(&datasheet::builtin(name).unwrap(), Content::Bytes).unwrap()
}

/// Blocks of each region that the device has.
fn blocks(device: &impl NandDevice) -> Vec<Block> {
    let regions =
        Region::ALL.into_iter().filter(|region| device.geometry().region(*region).is_some());
    regions.flat_map(|region| [0, 1, 3].map(|number| Block::new(region, number))).collect()
}

#[test]
fn every_simulated_chip_keeps_the_contract() {
    for name in ["tiny", "tiny-slc", "tiny-mlc", "tiny-tlc", "spi-nand-1g", "k9f2g08u0a"] {
        let mut device = chip(name);
        let (blocks, mut memory) = (blocks(&device), vec![0; MEMORY]);
        let mut examiner = Examiner::new(&mut device, &blocks, &mut memory).unwrap();
        examiner.examine().unwrap_or_else(|why| panic!("{name}: {why}"));
        examiner.examine_marks().unwrap_or_else(|why| panic!("{name}: {why}"));
        let (marked, good) = blocks.split_last().unwrap();
        let mut examiner = Examiner::new(&mut device, good, &mut memory).unwrap();
        examiner.before_power_off().unwrap();
        let mut examiner = Examiner::new(&mut device, good, &mut memory).unwrap();
        examiner.after_power_off(&[*marked]).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}

#[test]
fn every_cut_of_an_honest_chip_is_judged_honest() {
    for name in ["tiny-slc", "tiny-mlc", "tiny-tlc"] {
        for what in [InFlight::Programs, InFlight::Erases] {
            let mut start = FaultInjector::new(chip(name), 7);
            let (blocks, mut memory) = (blocks(&start), vec![0; MEMORY]);
            let mut examiner = Examiner::new(&mut start, &blocks, &mut memory).unwrap();
            examiner.before_power_fails(what).unwrap();
            let mut cuts = 0;
            loop {
                let mut device = PowerCut::new(start.fork(), Cut::seeded(cuts, 11));
                let mut examiner = Examiner::new(&mut device, &blocks, &mut memory).unwrap();
                examiner.until_power_fails(what, 9).unwrap();
                let cut = !device.is_on();
                let mut device = device.into_inner();
                if !cut {
                    break;
                }
                let mut examiner = Examiner::new(&mut device, &blocks, &mut memory).unwrap();
                examiner
                    .after_power_failed(what)
                    .unwrap_or_else(|why| panic!("{name}, {what:?}, cut {cuts}: {why}"));
                cuts += 1;
            }
            assert!(cuts >= 9, "{name}, {what:?}: only {cuts} cuts were judged");
        }
    }
}

#[test]
fn a_block_that_fails_is_no_breach_but_another_must_be_lent() {
    let mut device = FaultInjector::new(chip("tiny-slc"), 1);
    let (blocks, mut memory) = (blocks(&device), vec![0; MEMORY]);
    device.fail_erase(blocks[1], When::Always);
    let outcome = Examiner::new(&mut device, &blocks, &mut memory).unwrap().examine();
    assert_eq!(outcome, Err(Stopped::BlockFailed(blocks[1])));
}

#[test]
fn what_cannot_be_examined_is_refused_with_what_is_needed() {
    let mut device = chip("tiny-slc");
    let (blocks, mut memory) = (blocks(&device), vec![0; MEMORY]);
    let refused = |blocks: &[Block], memory: &mut [u8], device: &mut Chip| {
        Examiner::new(device, blocks, memory).err().unwrap()
    };
    let few = refused(&blocks[..1], &mut memory, &mut device);
    assert_eq!(few, Stopped::TooFewBlocks { needed: BLOCKS_MIN });
    let twice = refused(&[blocks[0], blocks[1], blocks[0]], &mut memory, &mut device);
    assert_eq!(twice, Stopped::LentTwice(blocks[0]));
    let beyond = Block::new(Region::Mlc, 0);
    let outside = refused(&[blocks[0], beyond], &mut memory, &mut device);
    assert_eq!(outside, Stopped::NoSuchBlock(beyond));
    let shape = *device.geometry().slc().unwrap();
    let needed = memory_bytes(shape.page_bytes.as_usize(), shape.spare_bytes.as_usize());
    let little = refused(&blocks, &mut memory[..needed - 1], &mut device);
    assert_eq!(little, Stopped::TooLittleMemory { needed });
}
