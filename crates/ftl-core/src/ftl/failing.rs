//! What follows when a block fails: the page is written elsewhere, the fold begins anew, the reserve shrinks.
//!
//! Nothing here is on the way of a request that meets no failure. The door has noted the block, and marks it bad when
//! it is to be erased (`flash::failed`); what is left is to go on without it.

use ftl_iface::NandDevice;

use super::Ftl;
use crate::address::{ChainBlock, LogicalBlock};
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::flash::{AGAIN_MAX, Spot};
use crate::mlc::fold::Job;
use crate::mlc::maps::MapId;
use crate::probe::{Cause, Probe};
use crate::shape::SPARE_BLOCKS_MIN;

/// Free blocks that stand in for those that fail in one request: two where the reserve is large, one while there is
/// any. Where more fail in one, none may be left to fold onto, and then the device is read-only before its reserve is
/// gone.
pub(crate) const fn kept_in_hand(reserve: u16) -> u16 {
    match reserve {
        0 => 0,
        1..LARGE_RESERVE => 1,
        _ => 2,
    }
}

/// A quarter of it is kept in hand; more would cost more in speed, for folds have less to play with, than it wins.
const LARGE_RESERVE: u16 = 8;

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Says how many blocks of chains are good, and what follows from it: when folding begins and ends, and whether the
    /// reserve is used up.
    pub(crate) fn set_good_blocks(&mut self, good: u16) {
        self.good_blocks = good;
        let spare = good.saturating_sub(self.shape.logical_blocks);
        let Some(reserve) = spare.checked_sub(SPARE_BLOCKS_MIN) else {
            self.flash.failed.read_only = true;
            self.mlc.in_hand = 0;
            return;
        };
        self.mlc.in_hand = kept_in_hand(reserve);
        // A small reserve is not spent on keeping blocks free.
        let low = self.config.free_blocks_low.min(spare / 4).max(1);
        // Those in hand come on top where they would take most of it.
        self.free_blocks_low = low.max(low.min(1 + self.mlc.in_hand) + self.mlc.in_hand);
        self.free_blocks_idle = (spare / 2).max(self.free_blocks_low);
    }

    /// How many blocks of the chains may fail in the next request, however it goes.
    ///
    /// Each takes one of the free blocks. Log blocks leave those in hand, and one more for a fold to come; a fold that
    /// is ended gives back one more than it took, or as many where it moves cold data. So in a request in which so
    /// many have failed, as many fewer are free, and never none when a fold needs its target. Blocks that failed in
    /// earlier requests and are still in use will be missing when what they hold is folded.
    pub(crate) fn may_fail_at_once(&self) -> u16 {
        if self.flash.failed.read_only {
            return 0;
        }
        let aside = self.wear_move.is_some_and(|moved| !moved.under_way);
        let free = self.mlc.chains.free_count() + u16::from(aside);
        let to_fold = u16::from(!self.mlc.fold.is_active());
        let left = free.saturating_sub(to_fold).min(self.mlc.in_hand);
        left.saturating_sub(self.flash.failed.failing_chain_blocks())
    }

    /// Erases a block, or marks it bad. Says whether it is erased.
    pub(crate) fn erase_or_lose(&mut self, spot: Spot) -> Result<bool, Fault<D::Error>> {
        if self.flash.is_bad(spot)? {
            return Ok(false);
        }
        match self.flash.erase(spot, Cause::Meta) {
            Ok(()) => Ok(true),
            Err(Fault::BlockFailed) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// A block of the chains is out of use for good.
    #[cold]
    pub(crate) fn lose_chain_block(&mut self, block: ChainBlock) {
        self.wear.retire(block);
        self.set_good_blocks(self.good_blocks.saturating_sub(1));
    }

    /// A page did not program to the chain's last log block: the block takes no more, and is folded soon. Where nothing
    /// stands in it, it leaves the chain.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave_last_log(
        &mut self,
        logical: LogicalBlock,
        map: MapId,
    ) -> Result<(), Fault<D::Error>> {
        let empty = self.mlc.maps.next_page(map) == 0;
        // What the page reads as now, a scan is to find out.
        self.mlc.maps.forget(logical);
        self.mlc.sealed.set(logical, true);
        if !empty {
            return Ok(());
        }
        let block = self.mlc.chains.pop_log(logical).ok_or(Fault::Corrupt)?;
        self.mlc.sealed.set(logical, self.mlc.has_log(logical));
        self.free_block(block, Cause::Gc)
    }

    /// The target of the fold under way did not program. The chain is folded anew, and at once: writes that came
    /// meanwhile stand in a log block that is younger than the old target, but older than the new one.
    #[cold]
    #[inline(never)]
    pub(crate) fn fold_anew(&mut self, job: Job) -> Result<(), Fault<D::Error>> {
        let mut again = AGAIN_MAX;
        loop {
            if self.mlc.chains.free_count() == 0 {
                // There may be no other block than the one that failed.
                if again == 0 {
                    return Err(self.no_block_left());
                }
                again -= 1;
            }
            self.give_up_fold()?;
            // Its last page may have failed and read well. While nothing notes that it is bad, a mount may believe it,
            // and would have to know that it was programmed last.
            self.flash.failed.noted()?;
            match self.fold_through(&job) {
                Err(Fault::BlockFailed) => {}
                outcome => return outcome,
            }
        }
    }

    /// Folds the whole chain of a job onto a free block.
    fn fold_through(&mut self, job: &Job) -> Result<(), Fault<D::Error>> {
        self.begin_fold(job.logical, None, job.cause)?;
        while self.mlc.fold.is_active() {
            self.fold_page()?;
        }
        Ok(())
    }

    /// A free block is needed, and there is none: the device can be written no more.
    #[cold]
    pub(crate) fn no_block_left(&mut self) -> Fault<D::Error> {
        self.flash.failed.read_only = true;
        Fault::ReadOnly
    }

    /// A chain with a log block that did not program. While such a block is in use, one block fewer may fail in a
    /// request: so the chain is folded soon, as long as there is a block to fold onto.
    #[cold]
    pub(crate) fn failing_chain(&self) -> Option<LogicalBlock> {
        if self.mlc.chains.free_count() == 0 || planted(Bug::LeaveFailingChain) {
            return None;
        }
        let failed = &self.flash.failed;
        (0..self.shape.logical_blocks).map(LogicalBlock::new).find(|logical| {
            self.mlc.chains.logs(*logical).any(|block| failed.is_failing(Spot::chain(block, 0)))
        })
    }

    /// The reserve is used up: writes down where everything stands, so that the next mounts need not find it out, and
    /// settle nothing. Where that cannot be done they scan.
    #[cold]
    #[inline(never)]
    pub(crate) fn come_to_rest(&mut self) {
        // The host was told what it must know, or will be at its next request.
        let _ = self.write_checkpoint();
        self.mlc.maps.end_request();
    }
}
