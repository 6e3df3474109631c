//! The chains in a checkpoint: both tables, and the queues that run through them.

use super::{Chains, Queue};
use crate::hybrid::address::{ChainBlock, LogicalBlock};
use crate::image::{Sink, Source, holds};
use crate::table::{Bits, BlockNumber, Row, Width, word};

impl Chains<'_> {
    /// Bytes in an image with this many blocks and logical blocks.
    pub const fn image_bytes(blocks: BlockNumber, logical: BlockNumber) -> u64 {
        let bits = Bits::<LogicalBlock>::bytes_for(word(logical)) as u64;
        // Both tables, both queues, and how many free blocks are suspect.
        let numbers = logical as u64 + blocks as u64 + 2 * Queue::NUMBERS + 1;
        numbers * Width::of(blocks).bytes() + bits
    }

    /// Saves both tables and both queues.
    pub fn save(&self, sink: &mut impl Sink) {
        self.first.save(sink);
        self.next.save(sink);
        self.has_data.save(sink);
        let width = self.width();
        self.free.save(sink, width);
        width.put(sink, self.suspects);
        self.stale.save(sink, width);
    }

    /// Loads them. Every block `in_use` must be in one chain or queue, once.
    pub fn load(
        &mut self,
        source: &mut impl Source,
        in_use: impl Iterator<Item = ChainBlock>,
    ) -> Option<()> {
        self.first.load(source)?;
        self.next.load(source)?;
        self.has_data.load(source)?;
        let width = self.width();
        self.free.load(source, width)?;
        self.suspects = width.take(source)?;
        holds(self.suspects <= self.free.count)?;
        self.stale.load(source, width)?;
        let mut found = Census::default();
        for logical in (0..self.first.len() as BlockNumber).map(LogicalBlock::new) {
            let first = self.first(logical);
            let length = self.count_in(first, &mut found)?;
            holds(length > 0 || !self.has_data.get(logical))?;
        }
        for queue in [self.free, self.stale] {
            let length = self.count_in(queue.front, &mut found)?;
            let last = core::iter::successors(queue.front, |block| self.next(*block)).last();
            holds(length == queue.count && queue.back == last)?;
        }
        let mut wanted = Census::default();
        in_use.for_each(|block| wanted.count(block));
        holds(found == wanted)
    }

    /// Counts the linked blocks from `first` on; `None` if one is outside the region, or if there are more than the
    /// region has.
    fn count_in(&self, first: Option<ChainBlock>, census: &mut Census) -> Option<BlockNumber> {
        let mut length = 0;
        let mut next = first;
        while let Some(block) = next {
            census.count(block);
            holds(block.index() < self.next.len())?;
            holds(census.blocks as usize <= self.next.len())?;
            length += 1;
            next = self.next(block);
        }
        Some(length)
    }

    fn width(&self) -> Width {
        Width::of(self.next.len() as BlockNumber)
    }

    /// No chains and no free blocks, as [`new`](Self::new) leaves them.
    pub fn clear(&mut self) {
        self.first.clear();
        self.next.clear();
        self.has_data.clear();
        (self.free, self.stale, self.suspects) = (Queue::EMPTY, Queue::EMPTY, 0);
    }
}

impl Queue {
    const NUMBERS: u64 = 3;

    fn save(&self, sink: &mut impl Sink, width: Width) {
        width.put(sink, ChainBlock::store(self.front));
        width.put(sink, ChainBlock::store(self.back));
        width.put(sink, self.count);
    }

    fn load(&mut self, source: &mut impl Source, width: Width) -> Option<()> {
        self.front = ChainBlock::load(width.take(source)?);
        self.back = ChainBlock::load(width.take(source)?);
        self.count = width.take(source)?;
        Some(())
    }
}

/// A set of blocks, without a bit for each: their number, and a sum of their hashes, which two different sets share
/// with a chance of one in 2^64. So a block that is met twice, and thus a loop, is detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Census {
    blocks: u32,
    sum: u64,
}

impl Census {
    fn count(&mut self, block: ChainBlock) {
        self.blocks += 1;
        // The mixer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
        let mixed = u64::from(block.get()).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        self.sum = self.sum.wrapping_add(mixed ^ (mixed >> 31));
    }
}
