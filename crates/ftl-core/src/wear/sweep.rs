//! The clock hand: what it gathers, and what it does to the blocks that it visits.

use crate::address::ChainBlock;
use crate::image::{Sink, Source, holds};

use super::{DualPool, HOT, MOST_STEPS, RETIRED};

/// A sweep over all blocks ends within so many erases. A swap absorbs some TH erases, so that about one in sixteen
/// erases asks for a cold block: by then the hand has looked at a hundred blocks or more.
pub const ERASES_A_SWEEP: u16 = 1024;

/// The hand visits no fewer blocks an erase, that the choice may be wide on small devices too.
const FEWEST_VISITS: u16 = 8;

/// The base is raised when every block is this far above it: at most once in so many erases of the least worn block.
const BASE_STEP: u16 = 1 << 14;

/// Where the hand stands, and what it has gathered.
#[derive(Debug)]
pub(super) struct Sweep {
    /// The block visited next.
    pub(super) hand: u16,
    /// Blocks visited at each erase.
    pub(super) stride: u16,
    /// By how much this sweep lowers effective counts, in steps.
    lower: u8,
    /// The least effective count of the hot blocks visited in this sweep, in steps.
    least_steps: u8,
    /// The least erase count of the blocks visited in this sweep.
    least_count: u16,
    /// The largest erase count of the hot blocks erased in the sweep before.
    frontier: u16,
    /// The same of this sweep, so far.
    rising: u16,
}

impl Sweep {
    pub(super) fn new(blocks: u16) -> Self {
        Self {
            hand: 0,
            stride: blocks.div_ceil(ERASES_A_SWEEP).max(FEWEST_VISITS),
            lower: 0,
            least_steps: u8::MAX,
            least_count: u16::MAX,
            frontier: 0,
            rising: 0,
        }
    }

    /// The largest erase count of the hot blocks erased lately.
    pub(super) fn frontier(&self) -> u16 {
        self.frontier.max(self.rising)
    }

    /// Notes that a hot block was erased, with its count.
    pub(super) fn erased_hot(&mut self, count: u16) {
        self.rising = self.rising.max(count);
    }

    /// Notes that a block came to the hot pool with an effective count of zero.
    pub(super) fn joined_hot(&mut self) {
        self.least_steps = 0;
    }

    /// Notes that a worn block left the hot pool: the frontier may have been its own.
    pub(super) fn left_hot(&mut self) {
        (self.frontier, self.rising) = (0, 0);
    }

    /// A block's effective count in steps, lowered as this sweep has done or will do.
    pub(super) fn lowered(&self, block: ChainBlock, nibble: u8) -> u8 {
        let ahead_of_hand = block.get() >= self.hand;
        (nibble & !HOT).saturating_sub(if ahead_of_hand { self.lower } else { 0 })
    }

    /// Notes that all erase counts fall by so much.
    pub(super) fn lower_counts(&mut self, by: u16) {
        self.frontier = self.frontier.saturating_sub(by);
        self.rising = self.rising.saturating_sub(by);
        self.least_count = self.least_count.saturating_sub(by);
    }

    /// Writes down all but the stride.
    pub(super) fn save(&self, sink: &mut impl Sink) {
        sink.half(self.hand);
        sink.byte(self.lower);
        sink.byte(self.least_steps);
        sink.half(self.least_count);
        sink.half(self.frontier);
        sink.half(self.rising);
    }

    /// Takes it back.
    pub(super) fn load(&mut self, source: &mut impl Source, blocks: u16) -> Option<()> {
        self.hand = source.half()?;
        self.lower = source.byte()?;
        self.least_steps = source.byte()?;
        self.least_count = source.half()?;
        self.frontier = source.half()?;
        self.rising = source.half()?;
        holds(self.hand < blocks && self.lower <= MOST_STEPS)
    }
}

impl DualPool<'_> {
    /// Moves the hand on by the visits of one erase.
    pub(super) fn advance(&mut self) {
        for _ in 0..self.sweep.stride.min(self.blocks) {
            self.visit(ChainBlock::new(self.sweep.hand));
            // The hand is below the number of blocks, so that one more fits.
            self.sweep.hand += 1;
            if self.sweep.hand >= self.blocks {
                self.end_sweep();
            }
        }
    }

    /// Lowers a block's effective count, applies rule (c), and gathers what the block says.
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

    /// Starts the next sweep with what this one found.
    fn end_sweep(&mut self) {
        let least_count = self.sweep.least_count;
        self.sweep.hand = 0;
        // Without a hot block there is nothing to compare with, and nothing to lower.
        self.sweep.lower =
            if self.sweep.least_steps > MOST_STEPS { 0 } else { self.sweep.least_steps };
        self.sweep.least_steps = u8::MAX;
        self.sweep.least_count = u16::MAX;
        self.sweep.frontier = core::mem::take(&mut self.sweep.rising);
        // Counts only rise, and retired blocks do not matter: what was the least is still below every count in use.
        if (BASE_STEP..u16::MAX).contains(&least_count) {
            self.raise_base(u32::from(least_count));
        }
    }
}

#[cfg(test)]
mod tests {
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
        // All at 2, and one that joins behind the hand.
        for number in 0..16 {
            pool.pools.set(ChainBlock::new(number), HOT | 2);
        }
        pool.advance();
        pool.swapped(ChainBlock::new(0), ChainBlock::new(1));
        pool.advance();
        assert_eq!(pool.sweep.lower, 0);
    }
}
