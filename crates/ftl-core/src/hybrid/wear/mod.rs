//! Even wear among the blocks of the chain region: dual-pool wear leveling.
//!
//! Blocks with hot data wear, blocks with cold data do not. To even that out, cold data moves onto a worn block, and
//! the little-worn block that it leaves takes hot data. There are two pools of blocks: the *hot* pool has those that
//! are being erased, the *cold* pool those whose data stays. Chang's rules, with TH the threshold:
//!
//! - (a) *Swap*: when the largest erase count of the hot pool exceeds the smallest of the cold pool by more than TH,
//!   the cold block's data moves onto that hot block and the two exchange pools. The *effective* counts of both, the
//!   erases since they joined their pools, restart from 0.
//! - (b) *To the hot pool*: a cold block whose effective count exceeds the hot pool's smallest by more than TH.
//! - (c) *To the cold pool*: a hot block whose erase count stays below the hot pool's largest by more than 2·TH.
//!
//! At first every block is hot. Nothing is known of the data then, and (c) finds the cold data as soon as the other
//! blocks have been erased 2·TH times. A pool filled by guess would cause useless swaps until (b) had emptied it. For
//! the same reason a mount restores only the erase counts: pools follow from them.
//!
//! # Without lists
//!
//! Lists sorted by count take at least four bytes per block. Here a block has its erase count in 16 bits, relative to a
//! base that rises with the least worn block, and four bits for pool and effective count. At each erase a clock hand
//! visits enough blocks that a sweep over all ends within [`ERASES_A_SWEEP`] erases; what the rules need is
//! collected on the way:
//!
//! - The cold block for (a) is the least worn of those visited since the last advice, compared by their present counts:
//!   the pool's minimum, or one that a few more erases would find. The hot block is the one that was just erased: no
//!   other can have become the largest, and it is free to take the data.
//! - Effective counts are kept in steps of TH / 4, from 0 to 6. Only differences matter, so each sweep lowers all
//!   of them by the minimum that the sweep before found in the hot pool. That minimum counts as 0, and (b) compares
//!   the block just erased with TH / step. It is exact to one step on either side. Counts do not go below
//!   0, so a cold block that becomes hot is judged by its erases since then.
//! - The hot pool's largest count is the *frontier*: the largest among the hot blocks erased since the last swap, in
//!   this sweep or the one before. A worn block that is not erased any more does not reflect the present hot data; it
//!   would send all others to the cold pool, first of all the fresh ones that swaps bring. (c) then holds for each
//!   block that the hand visits, which has the same result as applying it to the smallest again and again.
//! - A cold block that is erased and is more than 2·TH above the cold pool's least worn is hot, whatever its
//!   effective count says: the counterpart of (c). If wear is random among many blocks, (c) sends rewritten
//!   ones to the cold pool, too, and with (b) alone a small hot pool would have to level all. This way no block
//!   gets much further than 2·TH above the cold pool without a swap being due.
//!
//! The spread of wear follows: at most 4·TH if part of the data is cold, mostly less than 3·TH, as the tests
//! show on devices of 64 to 4,096 blocks, at about one move in TH erases. The rules taken literally, with exact counts
//! and every block checked every time, leave a larger spread.

mod hand;
mod image;
mod memory;
mod sweep;

use core::num::NonZeroU32;

use ftl_iface::BlockCount;

use crate::hybrid::address::{BlockNumber, ChainBlock};
use crate::quotient;
use crate::table::{Nibbles, Table};
pub use memory::WearMemory;
#[cfg(any(test, feature = "internals"))]
pub use sweep::ERASES_A_SWEEP;
use sweep::{HOT, MOST_STEPS, Sweep};

/// The steps in which effective counts are kept: this many make a threshold.
const STEPS_A_THRESHOLD: u16 = 4;

/// A block that is in neither pool.
const RETIRED: u8 = HOT | (MOST_STEPS + 1);

// Effective counts that differ by a threshold and a step must both fit.
const _: () = assert!(STEPS_A_THRESHOLD < MOST_STEPS as u16);

/// The spread of wear.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The smallest erase count of a block in use.
    pub least: u32,
    /// The largest.
    pub most: u32,
}

/// Erase counts and the two pools.
#[derive(Debug)]
pub struct DualPool<'ram> {
    counts: Table<'ram, ChainBlock, u16>,
    pools: Nibbles<'ram, ChainBlock>,
    blocks: BlockNumber,
    /// What every count in the table is relative to.
    base: u32,
    total: u64,
    threshold: u32,
    /// Erases per step of the effective count.
    step: NonZeroU32,
    /// A cold block becomes hot this many steps above the hot pool's minimum.
    steps: u8,
    enabled: bool,
    /// The cold block of the pending advice, neither followed nor declined.
    pending: Option<ChainBlock>,
    /// The least worn cold block met since the last advice.
    coldest: Option<ChainBlock>,
    sweep: Sweep,
}

impl<'ram> DualPool<'ram> {
    /// Counts to lend for that number of blocks.
    pub const fn counts_for(blocks: BlockCount) -> usize {
        blocks.as_usize()
    }

    /// Bytes to lend for the pools of that number of blocks.
    pub const fn bytes_for(blocks: BlockCount) -> usize {
        Nibbles::<ChainBlock>::bytes_for(blocks.get())
    }

    /// All blocks in the hot pool and never erased. A threshold of 0 counts as 1. A pool that is not enabled counts
    /// erases and never advises.
    pub fn new(
        counts: &'ram mut [u16],
        pools: &'ram mut [u8],
        blocks: BlockCount,
        threshold: u16,
        enabled: bool,
    ) -> Self {
        debug_assert!(counts.len() >= Self::counts_for(blocks), "too few counts were lent");
        debug_assert!(pools.len() >= Self::bytes_for(blocks), "too few bytes were lent");
        debug_assert!(
            blocks.get() as BlockNumber as usize == blocks.as_usize(),
            "{blocks}: too many to be numbered"
        );
        let blocks = blocks.get() as BlockNumber;
        let threshold = threshold.max(1);
        let step = NonZeroU32::new(quotient::ceil(threshold.into(), STEPS_A_THRESHOLD.into()))
            .unwrap_or(NonZeroU32::MIN);
        let mut pool = Self {
            counts: Table::new(counts),
            pools: Nibbles::new(pools),
            blocks,
            base: 0,
            total: 0,
            threshold: u32::from(threshold),
            step,
            // At most STEPS_A_THRESHOLD, because a step is a fourth of the threshold, rounded up.
            steps: (u32::from(threshold) / step) as u8,
            enabled,
            pending: None,
            coldest: None,
            sweep: Sweep::new(blocks),
        };
        for block in (0..blocks).map(ChainBlock::new) {
            pool.counts.set(block, 0);
            pool.pools.set(block, HOT);
        }
        pool
    }

    /// Notes that the advice was followed: the data of `cold` is now on `hot`. The two exchange pools, whether `cold`
    /// has been erased yet or not.
    pub fn swapped(&mut self, cold: ChainBlock, hot: ChainBlock) {
        self.pending = None;
        for (block, pool) in [(cold, HOT), (hot, 0)] {
            if !self.is_retired(block) {
                self.pools.set(block, pool);
            }
        }
        self.sweep.joined_hot();
        self.sweep.left_hot();
    }

    /// Notes that the advice was not followed, because the cold block holds nothing, or is about to be erased anyway.
    /// Such a block is not cold: it joins the hot pool, and another will be proposed. If its data stays unchanged after
    /// all, (c) soon moves it back.
    pub fn declined(&mut self) {
        if let Some(block) = self.pending.take()
            && !self.is_retired(block)
        {
            self.pools.set(block, HOT);
            self.sweep.joined_hot();
        }
    }

    /// A block's erase count.
    pub fn erase_count(&self, block: ChainBlock) -> u32 {
        self.base.saturating_add(u32::from(self.counts.get(block)))
    }

    /// Sets a block's erase count as read from flash, once for each block after `new`.
    ///
    /// Counts are kept within 65,535 of each other. If those on flash differ more, the least worn blocks count as more
    /// worn than they are.
    pub fn restore(&mut self, block: ChainBlock, erases: u32) {
        self.total = self.total.saturating_add(u64::from(erases));
        if erases.saturating_sub(self.base) > u32::from(u16::MAX) {
            // Half of the range is left for more worn blocks, so that not each of them raises the base.
            self.raise_base(
                erases.saturating_sub(self.base).saturating_sub(u32::from(u16::MAX / 2)),
            );
        }
        self.counts.set(block, erases.saturating_sub(self.base).min(u32::from(u16::MAX)) as u16);
    }

    /// Takes a bad block out of both pools for good. Its count stays as it is.
    pub fn retire(&mut self, block: ChainBlock) {
        self.pools.set(block, RETIRED);
    }

    /// Erases of all blocks together, retired ones included.
    pub fn total_erases(&self) -> u64 {
        self.total
    }

    /// The spread of wear among the blocks in use; `None` if all are retired. Visits every block.
    #[cfg(test)]
    pub fn spread(&self) -> Option<Spread> {
        let in_use = self.all().filter(|block| !self.is_retired(*block));
        let counts = in_use.map(|block| self.erase_count(block));
        counts.fold(None, |spread, count| match spread {
            None => Some(Spread { least: count, most: count }),
            Some(Spread { least, most }) => {
                Some(Spread { least: least.min(count), most: most.max(count) })
            }
        })
    }

    fn all(&self) -> impl Iterator<Item = ChainBlock> + use<> {
        (0..self.blocks).map(ChainBlock::new)
    }

    /// Whether the block was taken out of both pools.
    pub fn is_retired(&self, block: ChainBlock) -> bool {
        self.pools.get(block) == RETIRED
    }

    fn is_hot(&self, block: ChainBlock) -> bool {
        let nibble = self.pools.get(block);
        nibble & HOT != 0 && nibble != RETIRED
    }

    fn is_cold(&self, block: ChainBlock) -> bool {
        self.pools.get(block) & HOT == 0
    }

    /// Counts an erase, and a step of the effective count when one is complete. A count at its maximum stays there: the
    /// block is then 65,535 erases ahead of another, and more would change no decision.
    fn count_up(&mut self, block: ChainBlock) {
        let Some(count) = self.counts.get(block).checked_add(1) else { return };
        self.counts.set(block, count);
        let nibble = self.pools.get(block);
        let full = self.erase_count(block) % self.step == 0;
        if full && nibble & !HOT < MOST_STEPS {
            self.pools.set(block, nibble + 1);
        }
    }

    /// Rule (b), and the counterpart of (c).
    fn join_hot_if_awake(&mut self, block: ChainBlock) {
        if !self.is_cold(block) {
            return;
        }
        let nibble = self.pools.get(block);
        let ahead = self.ahead_of_coldest(block).unwrap_or(0);
        if self.sweep.lowered(block, nibble) > self.steps || ahead > 2 * self.threshold {
            self.pools.set(block, nibble | HOT);
        }
    }

    /// How many more erases a block has than the cold block that a swap would take; `None` if there is none.
    fn ahead_of_coldest(&self, block: ChainBlock) -> Option<u32> {
        let coldest = self.coldest.filter(|coldest| self.is_cold(*coldest))?;
        Some(u32::from(self.counts.get(block).saturating_sub(self.counts.get(coldest))))
    }

    /// Raises the base by that amount: each count falls by it, and so does the frontier.
    fn raise_base(&mut self, by: u32) {
        self.base = self.base.saturating_add(by);
        let by = by.min(u32::from(u16::MAX)) as u16;
        for block in self.all() {
            self.counts.set(block, self.counts.get(block).saturating_sub(by));
        }
        self.sweep.lower_counts(by);
    }
}

#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;
