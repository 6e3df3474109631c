//! The two tables of the paper: the first block of each logical block's chain (L2P), and the next block of each block
//! (LB). Free blocks form a queue through the same table, so they cost no memory and are used in turn.

mod image;

use crate::hybrid::address::{ChainBlock, LogicalBlock};
use crate::hybrid::rules;
use crate::table::{Bits, BlockNumber, Numbers, Width};

/// Block chains and free blocks.
///
/// A chain is a data block, if the logical block has one, and then its log blocks, oldest first.
#[derive(Debug)]
pub struct Chains<'ram> {
    first: Numbers<'ram, LogicalBlock>,
    next: Numbers<'ram, ChainBlock>,
    has_data: Bits<'ram, LogicalBlock>,
    free: Queue,
    /// This many blocks at the front of the free queue may be badly erased, because a power cut may have touched them.
    suspects: BlockNumber,
    stale: Queue,
}

/// A queue of blocks, linked through the table of next blocks.
#[derive(Clone, Copy, Debug)]
struct Queue {
    front: Option<ChainBlock>,
    back: Option<ChainBlock>,
    count: BlockNumber,
}

impl<'ram> Chains<'ram> {
    /// No chains, and no free blocks yet.
    pub fn new(
        first: &'ram mut [u16],
        next: &'ram mut [u16],
        has_data: &'ram mut [u8],
        width: Width,
    ) -> Self {
        Self {
            first: Numbers::of_width(first, width),
            next: Numbers::of_width(next, width),
            has_data: Bits::new(has_data),
            free: Queue::EMPTY,
            suspects: 0,
            stale: Queue::EMPTY,
        }
    }

    /// The chain's first block.
    #[inline]
    pub fn first(&self, logical: LogicalBlock) -> Option<ChainBlock> {
        ChainBlock::load(self.first.get(logical))
    }

    /// The next block in the same chain or queue.
    #[inline]
    pub fn next(&self, block: ChainBlock) -> Option<ChainBlock> {
        ChainBlock::load(self.next.get(block))
    }

    /// The chain's data block, if it has one.
    #[inline]
    pub fn data(&self, logical: LogicalBlock) -> Option<ChainBlock> {
        if self.has_data.get(logical) { self.first(logical) } else { None }
    }

    /// The chain's oldest log block.
    #[inline]
    pub fn first_log(&self, logical: LogicalBlock) -> Option<ChainBlock> {
        let first = self.first(logical)?;
        if self.has_data.get(logical) { self.next(first) } else { Some(first) }
    }

    /// The chain's log blocks, oldest first.
    pub fn logs(&self, logical: LogicalBlock) -> impl Iterator<Item = ChainBlock> + '_ {
        core::iter::successors(self.first_log(logical), |block| self.next(*block))
    }

    /// How many log blocks the chain has.
    pub fn log_count(&self, logical: LogicalBlock) -> u16 {
        self.logs(logical).fold(0, |count, _| count + 1)
    }

    /// How many blocks the chain has.
    pub fn count(&self, logical: LogicalBlock) -> u16 {
        core::iter::successors(self.first(logical), |block| self.next(*block))
            .fold(0, |count, _| count + 1)
    }

    /// Whether folding the chain would free a block: it has two or more.
    #[inline]
    pub fn is_long(&self, logical: LogicalBlock) -> bool {
        self.first(logical).is_some_and(|first| self.next(first).is_some())
    }

    /// Appends a log block to the chain.
    pub fn push_log(&mut self, logical: LogicalBlock, block: ChainBlock) {
        self.next.set(block, ChainBlock::store(None));
        let last = core::iter::successors(self.first(logical), |block| self.next(*block)).last();
        match last {
            Some(last) => self.next.set(last, ChainBlock::store(Some(block))),
            None => self.first.set(logical, ChainBlock::store(Some(block))),
        }
    }

    /// Removes the chain's last block, which is a log block.
    pub fn pop_log(&mut self, logical: LogicalBlock) -> Option<ChainBlock> {
        let mut before = None;
        let mut last = self.first(logical)?;
        while let Some(next) = self.next(last) {
            before = Some(last);
            last = next;
        }
        self.unlink(logical, before, last);
        Some(last)
    }

    /// Replaces the chain's first `replaced` blocks by a data block. Returns the first of those; they stay linked, so
    /// that the caller can free them one by one.
    pub fn lead_with(
        &mut self,
        logical: LogicalBlock,
        data: ChainBlock,
        replaced: u16,
    ) -> Option<ChainBlock> {
        let old = self.first(logical);
        let mut rest = old;
        for _ in 0..replaced {
            rest = rest.and_then(|block| self.next(block));
        }
        self.first.set(logical, ChainBlock::store(Some(data)));
        self.next.set(data, ChainBlock::store(rest));
        self.has_data.set(logical, true);
        old
    }

    /// Reduces the chain to its last block, as data block or as log block. Returns the first of the blocks before it,
    /// still linked, and how many there are.
    pub fn keep_last(&mut self, logical: LogicalBlock, as_data: bool) -> (Option<ChainBlock>, u16) {
        let old = self.first(logical);
        let mut before = 0;
        let mut last = old;
        while let Some(next) = last.and_then(|block| self.next(block)) {
            last = Some(next);
            before += 1;
        }
        self.first.set(logical, ChainBlock::store(last));
        self.has_data.set(logical, as_data);
        (old, before)
    }

    /// Takes the block that has been free the longest. Returns also whether it must be erased before it is programmed.
    pub fn take_free(&mut self) -> Option<(ChainBlock, bool)> {
        let block = self.free.take(&self.next)?;
        let suspect = self.suspects > 0;
        self.suspects = self.suspects.saturating_sub(1);
        Some((block, suspect))
    }

    /// Notes that every block that is free now must be erased again before it is programmed.
    pub fn suspect_free(&mut self) {
        self.suspects = self.free.count;
    }

    /// Notes that the free blocks are properly erased.
    pub fn trust_free(&mut self) {
        self.suspects = 0;
    }

    /// How many of the free blocks, from the front, must be erased before they are programmed.
    #[cfg(feature = "check")]
    pub fn suspects(&self) -> BlockNumber {
        self.suspects
    }

    /// Queues an erased block as free.
    pub fn give_free(&mut self, block: ChainBlock) {
        self.free.give(&mut self.next, block);
    }

    /// How many blocks belong to no chain and are not known to be erased.
    pub fn stale_count(&self) -> BlockNumber {
        self.stale.count
    }

    /// The stale blocks.
    #[cfg(feature = "check")]
    pub fn stale(&self) -> impl Iterator<Item = ChainBlock> + '_ {
        core::iter::successors(self.stale.front, |block| self.next(*block))
    }

    /// Removes the next stale block, if there is one.
    pub fn take_stale(&mut self) -> Option<ChainBlock> {
        self.stale.take(&self.next)
    }

    /// Notes a block that belongs to no chain and is not erased.
    pub fn give_stale(&mut self, block: ChainBlock) {
        self.stale.give(&mut self.next, block);
    }

    /// How many blocks are free.
    #[inline]
    pub fn free_count(&self) -> BlockNumber {
        self.free.count
    }

    /// The free blocks, in the order of their use.
    pub fn free(&self) -> impl Iterator<Item = ChainBlock> + '_ {
        core::iter::successors(self.free.front, |block| self.next(*block))
    }

    /// Inserts a block at the front of the chain, for a mount, which finds blocks in no order.
    pub fn push_first(&mut self, logical: LogicalBlock, block: ChainBlock) {
        self.next.set(block, self.first.get(logical));
        self.first.set(logical, ChainBlock::store(Some(block)));
    }

    /// Dissolves the whole chain; its blocks stay linked.
    pub fn take_all(&mut self, logical: LogicalBlock) -> Option<ChainBlock> {
        let first = self.first(logical);
        self.first.set(logical, ChainBlock::store(None));
        first
    }

    /// Inserts a block after another of the chain, or at its front.
    pub fn insert_after(
        &mut self,
        logical: LogicalBlock,
        after: Option<ChainBlock>,
        block: ChainBlock,
    ) {
        match after {
            Some(after) => {
                self.next.set(block, self.next.get(after));
                self.next.set(after, ChainBlock::store(Some(block)));
            }
            None => self.push_first(logical, block),
        }
    }

    /// Removes the block after `after` from the chain, or the first.
    pub fn unlink(&mut self, logical: LogicalBlock, after: Option<ChainBlock>, block: ChainBlock) {
        let next = self.next.get(block);
        if let Some(after) = after {
            self.next.set(after, next);
            return;
        }
        self.first.set(logical, next);
        let is_data = rules::is_data_behind(self.has_data.get(logical));
        self.has_data.set(logical, is_data);
    }

    /// Records whether the chain's first block is a data block.
    pub fn set_has_data(&mut self, logical: LogicalBlock, has_data: bool) {
        self.has_data.set(logical, has_data);
    }
}

impl Queue {
    const EMPTY: Self = Self { front: None, back: None, count: 0 };

    fn take(&mut self, next: &Numbers<'_, ChainBlock>) -> Option<ChainBlock> {
        let block = self.front?;
        self.front = ChainBlock::load(next.get(block));
        if self.front.is_none() {
            self.back = None;
        }
        self.count -= 1;
        Some(block)
    }

    fn give(&mut self, next: &mut Numbers<'_, ChainBlock>, block: ChainBlock) {
        next.set(block, ChainBlock::store(None));
        match self.back {
            Some(back) => next.set(back, ChainBlock::store(Some(block))),
            None => self.front = Some(block),
        }
        self.back = Some(block);
        self.count += 1;
    }
}
