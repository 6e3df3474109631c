//! Wear in a checkpoint: every count and pool, and the position of the hand. Pending advice is dropped first.

use super::sweep::Sweep;
use super::{DualPool, HOT, MOST_STEPS, RETIRED, WearMemory};
use crate::hybrid::address::{BlockNumber, ChainBlock};
use crate::image::{Sink, Source, holds};
use crate::table::Width;

impl DualPool<'_> {
    /// Bytes in an image, for that number of blocks.
    pub const fn image_bytes(blocks: BlockNumber) -> u64 {
        let [counts, pools] = WearMemory::lengths(blocks);
        let width = Width::of(blocks);
        let sweep = Sweep::image_bytes(width);
        2 * counts as u64 + pools as u64 + 4 + 8 + width.bytes() + sweep
    }

    /// Saves counts, pools, and the hand's findings.
    pub fn save(&self, sink: &mut impl Sink) {
        self.counts.save(sink);
        self.pools.save(sink);
        sink.word(self.base);
        sink.long(self.total);
        let width = Width::of(self.blocks);
        width.put(sink, ChainBlock::store(self.coldest));
        self.sweep.save(sink, width);
    }

    /// Loads them.
    pub fn load(&mut self, source: &mut impl Source) -> Option<()> {
        self.counts.load(source)?;
        self.pools.load(source)?;
        let no_pool = MOST_STEPS + 1;
        holds(self.all().all(|block| self.pools.get(block) != no_pool))?;
        self.base = source.word()?;
        self.total = source.long()?;
        self.coldest = ChainBlock::load(Width::of(self.blocks).take(source)?);
        holds(self.coldest.is_none_or(|block| block.get() < self.blocks))?;
        self.pending = None;
        self.sweep.load(source, self.blocks)
    }

    /// All blocks in the hot pool and never erased, as [`new`](Self::new) leaves them.
    pub fn clear(&mut self) {
        for block in self.all() {
            self.counts.set(block, 0);
            self.pools.set(block, HOT);
        }
        (self.base, self.total, self.pending, self.coldest) = (0, 0, None, None);
        self.sweep = Sweep::new(self.blocks);
    }

    /// The blocks in use: those that were not retired.
    pub fn in_use(&self) -> impl Iterator<Item = ChainBlock> + '_ {
        self.all().filter(|block| self.pools.get(*block) != RETIRED)
    }
}
