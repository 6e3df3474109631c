//! What follows when a block fails: the page is written elsewhere, the fold starts again, the reserve shrinks.
//!
//! A request without a failure runs none of this. The flash access layer has noted the block, and marks it bad when
//! it would be erased (`flash::failed`); the code here continues without it.

use ftl_iface::NandDevice;

use crate::error::Fault;
use crate::hybrid::address::{ChainBlock, LogicalBlock};
use crate::hybrid::flash::{Erasure, Spot};
use crate::hybrid::rules;
use crate::hybrid::shape::{SPARE_BLOCKS_MIN, kept_in_hand};
use crate::hybrid::state::{Ftl, WearMove};
use crate::probe::{Cause, Probe};
use crate::table::{BlockNumber, number};

/// What became of the block that was kept for cold data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WearBlock {
    /// It is free.
    Freed,
    /// None was kept, or the move is under way.
    NoneKept,
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Sets the number of good blocks of the chains, and from it when folding begins and ends, and whether the reserve
    /// is used up.
    pub(crate) fn set_good_blocks(&mut self, good: BlockNumber) {
        self.good_blocks = good;
        let spare = good.saturating_sub(self.shape.logical_blocks);
        let Some(reserve) = spare.checked_sub(number(SPARE_BLOCKS_MIN)) else {
            self.flash.failed.read_only = true;
            self.mlc.in_hand = 0;
            return;
        };
        self.mlc.in_hand = kept_in_hand(reserve);
        // A small reserve is not spent on keeping blocks free.
        let low = number(self.config.free_blocks_low).min(spare / 4).max(1);
        // The blocks in hand are added where they would take most of it.
        self.free_blocks_low = low.max(low.min(1 + self.mlc.in_hand) + self.mlc.in_hand);
        self.free_blocks_idle = (spare / 2).max(self.free_blocks_low);
    }

    /// How many blocks of the chains may fail in the next request at most.
    ///
    /// Each failure takes one of the free blocks. Log blocks leave those in hand, and one more for the next fold; a
    /// completed fold frees one block more than it took, or the same number if it moves cold data. So each failure
    /// within a request reduces the free blocks by one, and a fold always finds a target. Blocks that failed in earlier
    /// requests and are still in use will be missing when their data is folded.
    pub(crate) fn may_fail_at_once(&self) -> BlockNumber {
        if self.flash.failed.read_only {
            return 0;
        }
        let aside = self.wear_move.is_some_and(|moved| !moved.under_way);
        let free = self.mlc.chains.free_count() + BlockNumber::from(aside);
        let to_fold = BlockNumber::from(!self.mlc.fold.is_active());
        let left = free.saturating_sub(to_fold).min(self.mlc.in_hand);
        left.saturating_sub(self.flash.failed.failing_chain_blocks())
    }

    /// Erases a block, or marks it bad.
    pub(crate) fn erase_or_lose(&mut self, spot: Spot) -> Result<Erasure, Fault<D::Error>> {
        if self.flash.is_bad(spot)? {
            return Ok(Erasure::Failed);
        }
        match self.flash.erase(spot, Cause::Meta) {
            Ok(()) => Ok(Erasure::Done),
            Err(Fault::BlockFailed) => Ok(Erasure::Failed),
            Err(fault) => Err(fault),
        }
    }

    /// Erases a block, or marks it bad: in either case nothing in it counts any more.
    pub(crate) fn discard(&mut self, spot: Spot) -> Result<(), Fault<D::Error>> {
        self.erase_or_lose(spot).map(|_| ())
    }

    /// Takes a block of the chains out of use for good.
    #[cold]
    pub(crate) fn lose_chain_block(&mut self, block: ChainBlock) {
        self.wear.retire(block);
        self.set_good_blocks(self.good_blocks.saturating_sub(1));
    }

    /// Makes the device read-only, because a free block is needed and there is none.
    #[cold]
    pub(crate) fn no_block_left(&mut self) -> Fault<D::Error> {
        self.flash.failed.read_only = true;
        Fault::ReadOnly
    }

    /// A chain with a log block that failed to program, if it must be folded now.
    #[cold]
    pub(crate) fn failing_chain(&self) -> Option<LogicalBlock> {
        if !rules::must_fold_failing_chain(self.mlc.chains.free_count() > 0) {
            return None;
        }
        let failed = &self.flash.failed;
        (0..self.shape.logical_blocks).map(LogicalBlock::new).find(|logical| {
            self.mlc.chains.logs(*logical).any(|block| failed.is_failing(Spot::chain(block, 0)))
        })
    }

    /// Takes a free block, and erases it first if a power cut may have touched it. If its erase fails, it is retired
    /// and the next is taken.
    pub(crate) fn take_free_block(&mut self, cause: Cause) -> Result<ChainBlock, Fault<D::Error>> {
        loop {
            let Some((block, suspect)) = self.mlc.chains.take_free() else {
                match self.give_up_wear_move() {
                    WearBlock::Freed => continue,
                    WearBlock::NoneKept => return Err(self.no_block_left()),
                }
            };
            if !rules::must_erase_chain_block(suspect) {
                return Ok(block);
            }
            if self.erase_chain_block(block, cause)? == Erasure::Done {
                if self.wear.note_erase(block).is_some() {
                    self.wear.declined();
                }
                return Ok(block);
            }
        }
    }

    /// Erases a block and queues it as free, unless the erase fails or the block is so worn that cold data should move
    /// onto it.
    pub(crate) fn free_block(
        &mut self,
        block: ChainBlock,
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        if self.erase_chain_block(block, cause)? == Erasure::Failed {
            return Ok(());
        }
        if let Some(cold) = self.wear.note_erase(block) {
            // The move's own fold needs no other block, but the next write may.
            if self.wear_move.is_none() && self.mlc.chains.free_count() >= 2 {
                self.wear_move = Some(WearMove { cold, worn: block, under_way: false });
                return Ok(());
            }
            self.wear.declined();
        }
        self.mlc.chains.give_free(block);
        Ok(())
    }

    /// Erases and frees `count` blocks from `first` on, as they are linked.
    pub(crate) fn free_blocks(
        &mut self,
        first: Option<ChainBlock>,
        count: u16,
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        let mut next = first;
        for _ in 0..count {
            let Some(block) = next else {
                break;
            };
            next = self.mlc.chains.next(block);
            self.free_block(block, cause)?;
        }
        Ok(())
    }

    /// Erases a block of the chains, or retires it.
    pub(crate) fn erase_chain_block(
        &mut self,
        block: ChainBlock,
        cause: Cause,
    ) -> Result<Erasure, Fault<D::Error>> {
        let spot = Spot::chain(block, 0);
        let last = self.mlc.chains.free_count() == 0;
        // Its seal is broken already, because a block taken out of a chain or a queue was in use.
        let erased =
            if last { self.flash.erase_last(spot, cause) } else { self.flash.erase(spot, cause) };
        match erased {
            Ok(()) => {
                self.throttle.note_main_erase();
                Ok(Erasure::Done)
            }
            // Any data that a mount finds in it is stale.
            Err(Fault::BlockFailed | Fault::ReadOnly) => {
                self.lose_chain_block(block);
                Ok(Erasure::Failed)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Frees the worn block that waits for cold data, when a block is needed more urgently.
    pub(crate) fn give_up_wear_move(&mut self) -> WearBlock {
        match self.wear_move.take_if(|moved| !moved.under_way) {
            Some(moved) => {
                self.wear.declined();
                self.mlc.chains.give_free(moved.worn);
                WearBlock::Freed
            }
            None => WearBlock::NoneKept,
        }
    }
}
