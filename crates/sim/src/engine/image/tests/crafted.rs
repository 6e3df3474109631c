//! Files that no server wrote, whose checks fit all the same.

use ftl_iface::{Block, NandDevice, Region};
use nand_model::faults::FaultInjector;
use nand_model::{Chip, Content, datasheet};

use super::super::disk::Disk;
use super::super::forge;
use super::super::refusal::Refusal;
use super::super::unit::About;
use super::{Journaled, about};

/// The bytes of a block without pages, in the image of a chip that has an SLC mode. The last block is the last of all.
const BLOCK_BYTES: usize = 4 + 1 + 4 + 2;
const FLAGS_AT: usize = 4;

#[test]
fn a_chip_whose_blocks_have_flags_that_no_server_sets_is_refused() {
    let part = datasheet::builtin("tlc-pslc").unwrap();
    let blocks = part.geometry.region(Region::Mlc).unwrap().blocks.get();
    let chip = Chip::new(&part, Content::Bytes).unwrap();
    let mut device = Journaled::new(FaultInjector::new(chip, 1));
    let about = About { device: part.name.clone(), ..about() };
    let file = forge::new(&about, &mut device).unwrap();
    for block in [blocks - 1, blocks / 2, 0] {
        for flags in 0..=255 {
            let crafted = forge::with_chip(&file, |chip| {
                let end = chip.len() - (blocks - 1 - block) as usize * BLOCK_BYTES;
                chip[end - BLOCK_BYTES + FLAGS_AT] = flags;
            });
            let outcome = Disk::open(crafted.unwrap()).map(|opened| opened.unwrap().1);
            match (flags, outcome) {
                (0 | 1, Ok(mut found)) => {
                    let is_bad = found.device.is_bad(Block::new(Region::Mlc, block));
                    assert_eq!(is_bad, Ok(flags == 1), "block {block}");
                }
                (2 | 3, Err(Refusal::NoServers { reason, .. })) => {
                    assert_eq!(reason, "it has blocks in SLC mode");
                }
                (4.., Err(Refusal::Chip { .. })) => {}
                (_, outcome) => panic!("block {block}, flags {flags}: {outcome:?}"),
            }
        }
    }
}
