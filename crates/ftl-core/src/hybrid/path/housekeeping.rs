//! Garbage collection in small steps: some with each request, the rest while the host is idle.

use ftl_iface::{NandDevice, PageCount, Work};

use crate::error::Fault;
use crate::hybrid::flash::Spot;
use crate::hybrid::path::refresh::Step;
use crate::hybrid::state::Ftl;
use crate::probe::{Cause, Probe};
use crate::table::BlockNumber;

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// The steps that a request of that many pages must do.
    #[inline]
    pub(crate) fn collect_some(&mut self, pages: u32) -> Result<(), Fault<D::Error>> {
        let budget = pages * u32::from(self.config.copies_per_page);
        for _ in 0..budget {
            match self.collection_step(self.free_blocks_low) {
                Ok(Step::Done) => {}
                // The request itself is complete.
                Ok(Step::NothingLeft) | Err(Fault::ReadOnly) => break,
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    /// At most `budget` steps for an idle host: first those that free space, then the scrub, if one is running.
    pub(crate) fn work_while_idle(&mut self, budget: PageCount) -> Result<Work, Fault<D::Error>> {
        for _ in 0..budget.get() {
            if self.collection_step(self.free_blocks_idle)? == Step::NothingLeft
                && self.scrub_step()? == Step::NothingLeft
            {
                return Ok(Work::Done);
            }
        }
        Ok(Work::Left)
    }

    /// One step of the most urgent work: a page copied, or a block erased.
    #[inline]
    fn collection_step(&mut self, free_blocks: BlockNumber) -> Result<Step, Fault<D::Error>> {
        if let Some(log) = self.log.as_ref()
            && log.has_tail()
            && (log.is_over(self.throttle.window()) || log.is_reclaiming())
        {
            self.reclaim_step()?;
            return Ok(Step::Done);
        }
        if self.mlc.fold.is_active() {
            self.fold_step()?;
            return Ok(Step::Done);
        }
        if self.flash.failed.has_failing()
            && let Some(logical) = self.failing_chain()
        {
            self.start_fold(logical, None, Cause::Gc)?;
            return Ok(Step::Done);
        }
        if self.may_refresh() {
            self.refresh_step()?;
            return Ok(Step::Done);
        }
        if self.wear_move.is_some() {
            self.start_wear_move()?;
            return Ok(Step::Done);
        }
        if self.mlc.chains.free_count() <= free_blocks
            && self.mlc.chains.free_count() > 0
            && let Some(victim) = self.mlc.victim()
        {
            self.start_fold(victim, None, Cause::Gc)?;
            return Ok(Step::Done);
        }
        Ok(Step::NothingLeft)
    }

    /// Begins to move cold data onto a worn block: folds the chain that the cold block belongs to.
    fn start_wear_move(&mut self) -> Result<(), Fault<D::Error>> {
        let Some(mut moved) = self.wear_move else {
            return Ok(());
        };
        let cold = Spot::chain(moved.cold, 0);
        if let Some(logical) = self.owning_chain(cold, Cause::WearLeveling)? {
            moved.under_way = true;
            self.wear_move = Some(moved);
            self.start_fold(logical, Some(moved.worn), Cause::WearLeveling)
        } else {
            // If the cold block is free, it will be used soon anyway.
            self.give_up_wear_move();
            Ok(())
        }
    }
}
