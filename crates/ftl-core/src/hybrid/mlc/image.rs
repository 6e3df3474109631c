//! The chain region in a checkpoint: the chains, and the hand that chooses victims. Maps are not saved, because scans
//! rebuild them, and a running fold is finished first.

use super::Mlc;
use super::chains::Chains;
use crate::hybrid::address::{ChainBlock, LogicalBlock};
use crate::image::{Sink, Source, holds};
use crate::table::{Bits, BlockNumber, Width, word};

impl Mlc<'_> {
    /// Bytes in an image, for that number of blocks and logical blocks.
    pub const fn image_bytes(blocks: BlockNumber, logical: BlockNumber) -> u64 {
        let bits = Bits::<LogicalBlock>::bytes_for(word(logical)) as u64;
        Chains::image_bytes(blocks, logical) + 2 * bits + Width::of(blocks).bytes()
    }

    /// Saves the chains, which of them were written lately, and the hand.
    pub fn save(&self, sink: &mut impl Sink) {
        self.chains.save(sink);
        self.recent.save(sink);
        self.sealed.save(sink);
        Width::of(self.area.blocks).put(sink, self.hand);
    }

    /// Loads them; the blocks `in_use` are those that are not bad.
    pub fn load(
        &mut self,
        source: &mut impl Source,
        in_use: impl Iterator<Item = ChainBlock>,
    ) -> Option<()> {
        self.chains.load(source, in_use)?;
        self.recent.load(source)?;
        self.sealed.load(source)?;
        self.hand = Width::of(self.area.blocks).take(source)?;
        holds(self.hand < self.logical_blocks)
    }

    /// The region without chains, as [`new`](Self::new) leaves it.
    pub fn clear(&mut self) {
        self.chains.clear();
        self.maps.clear();
        self.sketches.forget();
        self.fold.finish();
        self.recent.clear();
        self.sealed.clear();
        self.hand = 0;
    }
}
