//! What the clock hand does with the blocks that it visits at each erase.

use super::sweep::{HOT, MOST_STEPS};
use super::{DualPool, RETIRED};
use crate::hybrid::address::ChainBlock;

/// The base is raised when every block is this far above it: at most once in this many erases of the least worn block.
const BASE_STEP: u16 = 1 << 14;

impl DualPool<'_> {
    /// Moves the hand by the visits of one erase.
    pub(super) fn advance(&mut self) {
        for _ in 0..self.sweep.stride.min(self.blocks) {
            self.visit(ChainBlock::new(self.sweep.hand));
            // The hand is below the number of blocks, so one more fits.
            self.sweep.hand += 1;
            if self.sweep.hand >= self.blocks {
                self.end_sweep();
            }
        }
    }

    /// Lowers a block's effective count, applies rule (c), and adds the block to the sweep's findings.
    fn visit(&mut self, block: ChainBlock) {
        let nibble = self.pools.get(block);
        if nibble == RETIRED {
            return;
        }
        let count = self.counts.get(block);
        self.sweep.least_count = self.sweep.least_count.min(count);
        let steps = self.sweep.lowered(block, nibble);
        let behind = u32::from(self.sweep.frontier().saturating_sub(count));
        let hot = nibble & HOT != 0 && !(self.enabled && behind > 2 * self.threshold);
        let nibble_now = if hot { HOT | steps } else { steps };
        if nibble_now != nibble {
            self.pools.set(block, nibble_now);
        }
        if hot {
            self.sweep.least_steps = self.sweep.least_steps.min(steps);
        } else if self.pending != Some(block) && self.is_less_worn_than_coldest(block, count) {
            self.coldest = Some(block);
        }
    }

    fn is_less_worn_than_coldest(&self, block: ChainBlock, count: u16) -> bool {
        match self.coldest {
            Some(coldest) if self.is_cold(coldest) => {
                coldest != block && count < self.counts.get(coldest)
            }
            _ => true,
        }
    }

    /// Starts the next sweep with the findings of this one.
    fn end_sweep(&mut self) {
        let least_count = self.sweep.least_count;
        self.sweep.hand = 0;
        // Without a hot block there is nothing to compare with or to lower.
        self.sweep.lower =
            if self.sweep.least_steps > MOST_STEPS { 0 } else { self.sweep.least_steps };
        self.sweep.least_steps = u8::MAX;
        self.sweep.least_count = u16::MAX;
        self.sweep.frontier = core::mem::take(&mut self.sweep.rising);
        // Counts only rise, and retired blocks do not matter, so the old minimum is still below every count in use.
        if (BASE_STEP..u16::MAX).contains(&least_count) {
            self.raise_base(u32::from(least_count));
        }
    }

    /// Notes that a block was erased. Some(cold) is advice: the data of that cold block should move onto the block just
    /// erased, which has over TH more erases. No more advice follows until [`swapped`](Self::swapped) or
    /// [`declined`](Self::declined).
    ///
    /// The work is the same at each erase, except for the one that raises the base, once in tens of thousands of erases
    /// of every block.
    pub fn note_erase(&mut self, block: ChainBlock) -> Option<ChainBlock> {
        self.total = self.total.saturating_add(1);
        self.count_up(block);
        if self.enabled {
            self.join_hot_if_awake(block);
            if self.is_hot(block) {
                self.sweep.erased_hot(self.counts.get(block));
            }
        }
        self.advance();
        if !self.enabled || self.pending.is_some() || !self.is_hot(block) {
            return None;
        }
        if self.ahead_of_coldest(block)? <= self.threshold {
            return None;
        }
        self.pending = self.coldest.take();
        self.pending
    }
}

#[cfg(test)]
mod tests {
    use super::super::sweep::Sweep;
    use super::*;
    use ftl_iface::BlockCount;

    #[test]
    fn blocks_that_the_hand_has_passed_are_lowered_already() {
        let mut sweep = Sweep::new(100);
        (sweep.hand, sweep.lower) = (40, 2);
        assert_eq!(sweep.lowered(ChainBlock::new(39), HOT | 5), 5);
        assert_eq!(sweep.lowered(ChainBlock::new(40), HOT | 5), 3);
        assert_eq!(sweep.lowered(ChainBlock::new(99), 1), 0);
    }

    #[test]
    fn the_frontier_lasts_to_the_end_of_the_next_sweep_and_no_longer_than_the_next_swap() {
        let (mut counts, mut pools) = ([0; 8], [0; 4]);
        let blocks = BlockCount::new(8);
        let mut pool = DualPool::new(&mut counts, &mut pools, blocks, 16, true);
        pool.sweep.erased_hot(7);
        assert_eq!(pool.sweep.frontier(), 7);
        pool.end_sweep();
        assert_eq!(pool.sweep.frontier(), 7);
        pool.end_sweep();
        assert_eq!(pool.sweep.frontier(), 0);
        pool.sweep.erased_hot(7);
        pool.sweep.left_hot();
        assert_eq!(pool.sweep.frontier(), 0);
    }

    #[test]
    fn a_sweep_lowers_by_the_least_that_the_one_before_met_or_was_told_of() {
        let (mut counts, mut pools) = ([0; 16], [0; 8]);
        let mut pool = DualPool::new(&mut counts, &mut pools, BlockCount::new(16), 16, true);
        for number in 0..16 {
            pool.pools.set(ChainBlock::new(number), HOT | 3);
        }
        pool.advance();
        pool.advance();
        assert_eq!((pool.sweep.hand, pool.sweep.lower), (0, 3));
        pool.pools.set(ChainBlock::new(15), HOT | 6);
        pool.advance();
        assert_eq!(pool.pools.get(ChainBlock::new(0)), HOT);
        assert_eq!(pool.pools.get(ChainBlock::new(15)), HOT | 6);
        pool.advance();
        assert_eq!((pool.pools.get(ChainBlock::new(15)), pool.sweep.lower), (HOT | 3, 0));
        // All at 2, and one that joins after the hand has passed it.
        for number in 0..16 {
            pool.pools.set(ChainBlock::new(number), HOT | 2);
        }
        pool.advance();
        pool.swapped(ChainBlock::new(0), ChainBlock::new(1));
        pool.advance();
        assert_eq!(pool.sweep.lower, 0);
    }
}
