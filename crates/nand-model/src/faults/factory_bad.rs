//! Blocks that were bad when the part left the factory.

use std::collections::BTreeSet;

use ftl_iface::{Block, BlockCount, NandDevice, Region};

use super::FaultInjector;
use super::dice::{Subject, dice};

/// The factory's bad blocks. They may be read; programs and erases are breaches, as of any bad block.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct FactoryBad(BTreeSet<Block>);

impl FactoryBad {
    pub(super) fn contains(&self, block: Block) -> bool {
        !self.0.is_empty() && self.0.contains(&block)
    }
}

impl<D: NandDevice> FaultInjector<D> {
    /// Makes that block bad from the factory.
    pub fn factory_bad(&mut self, block: Block) {
        self.faults.factory_bad.0.insert(block);
    }

    /// Makes that many blocks of a region bad, or all that it has, as the seed picks them. Parts promise that block 0
    /// is good; it is never picked.
    pub fn factory_bad_by_seed(&mut self, region: Region, count: BlockCount) {
        let blocks = self.geometry_blocks(region);
        let wanted = count.get().min(blocks.saturating_sub(1));
        let mut picks = dice(self.faults.seed, Subject::FactoryBad, Block::new(region, 0), 0, 0);
        let mut left = wanted;
        // Walks all blocks once and picks each with the chance that leaves the right number (Knuth's Algorithm S).
        for index in 1..blocks {
            if picks.u32(0..blocks - index) < left {
                self.faults.factory_bad.0.insert(Block::new(region, index));
                left -= 1;
            }
        }
    }

    /// Makes a factory-bad block good again.
    pub fn lift_factory_bad(&mut self, block: Block) {
        self.faults.factory_bad.0.remove(&block);
    }

    fn geometry_blocks(&self, region: Region) -> u32 {
        self.inner.geometry().region(region).map_or(0, |shape| shape.blocks.get())
    }
}
