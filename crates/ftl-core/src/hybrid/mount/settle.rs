//! The work that a mount without a checkpoint leaves to the first request: repairing what a power cut may have damaged.
//!
//! At most one operation was in flight, and which one is unknown: a page may read as before, as intended, as erased, as
//! uncorrectable, or well now and badly later. So nothing relies on a guess:
//!
//! - *The newest page.* Its content is copied to a rescue block before anything else is programmed, and written
//!   again from there. If it cannot be read, it was never acknowledged.
//! - *Pages that read as erased.* A partly filled block takes no more pages: the log's head is closed, the
//!   last log block of each chain is sealed.
//! - *Blocks that read as erased* are erased again before they are programmed.
//! - *The last page of a fold* makes its block valid, so it is copied too. With the copy the new block is valid,
//!   whatever happens to the page. If the page cannot be read, the fold was not finished, and the frozen blocks are
//!   intact.
//!
//! Everything older was acknowledged by the device before the next operation began, and is safe.

use ftl_iface::{NandDevice, StoreWriteError};

use crate::error::Fault;
use crate::hybrid::address::LogBlock;
use crate::hybrid::flash::Spot;
use crate::hybrid::mount::log::ChainOrder;
use crate::hybrid::rescued::Rescued;
use crate::hybrid::rules;
use crate::hybrid::slc::Mapped;
use crate::hybrid::state::{Ftl, Progress};
use crate::probe::{Cause, Probe};

/// What a request finds after the recovery from a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Settled {
    /// The log and the chains hold everything.
    Fully,
    /// The device is read-only, and what the copies hold is nowhere else.
    ButForCopies,
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Repairs what a power cut may have touched. Otherwise the first request after a mount does it; call this to
    /// choose the time of its reads and of the few programs and erases that follow. After a mount from a checkpoint
    /// there is nothing to do.
    ///
    /// [`ReadOnly`](StoreWriteError::ReadOnly): the reserve of blocks is used up, before or by this. Everything can be
    /// read.
    pub fn settle(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        match self.ensure_settled()? {
            Settled::Fully => Ok(self.flash.writable()?),
            Settled::ButForCopies => Err(StoreWriteError::ReadOnly),
        }
    }

    /// Like [`settle`](Self::settle), for a device on which power certainly failed in no operation, such as one filled
    /// by a simulator: nothing is copied, and blocks that read as erased are trusted.
    pub fn settle_at_rest(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        if let Some(state) = &mut self.unsettled {
            state.at_rest = true;
        }
        self.settle()
    }

    /// See [`settle`](Self::settle). A device that has become read-only is no error here, because it can be read.
    #[inline]
    pub(crate) fn ensure_settled(&mut self) -> Result<Settled, Fault<D::Error>> {
        if self.unsettled.is_none() {
            self.flash.alive().map(|()| Settled::Fully)
        } else {
            self.settle_first()
        }
    }

    #[cold]
    #[inline(never)]
    fn settle_first(&mut self) -> Result<Settled, Fault<D::Error>> {
        self.flash.alive()?;
        if self.unsettled.is_some_and(|state| state.progress == Progress::Halted) {
            return Ok(Settled::ButForCopies);
        }
        let outcome = match self.settle_now() {
            Err(Fault::ReadOnly) => Ok(self.halt_settling()),
            outcome => outcome.map(|()| Settled::Fully),
        };
        self.mlc.maps.end_request();
        if self.flash.failed.read_only && matches!(outcome, Ok(Settled::Fully)) {
            self.come_to_rest()?;
        }
        outcome
    }

    /// The rest needs free blocks, and there are none. Everything can be read in the present state, some of it from
    /// the copies that could not be written again.
    fn halt_settling(&mut self) -> Settled {
        match &mut self.unsettled {
            Some(state) if rules::must_read_copies(state.rescued.is_some()) => {
                state.progress = Progress::Halted;
                Settled::ButForCopies
            }
            _ => {
                self.unsettled = None;
                Settled::Fully
            }
        }
    }

    fn settle_now(&mut self) -> Result<(), Fault<D::Error>> {
        self.look_into_open_blocks()?;
        self.flash.know_all_stamps();
        let before = self.find_rescued()?;
        if rules::must_mend_headers_first() {
            self.mend_headers()?;
        }
        let at_rest = self.unsettled.is_some_and(|state| state.at_rest);
        let copied = match self.flash.failed.noted() {
            Ok(()) if at_rest => Ok(before),
            Ok(()) => self.secure_youngest(before),
            Err(fault) => Err(fault),
        };
        let (rescued, secured) = match copied {
            // If no block is left for the copy, or none may be used, nothing is erased that the page may replace.
            Err(Fault::ReadOnly) => (before, false),
            outcome => (outcome?, true),
        };
        if let Some(state) = &mut self.unsettled {
            let newest = rescued.and_then(Rescued::newest);
            state.ended = newest.and_then(|copy| Some((copy.ended?, copy.stamp)));
            state.rescued = rescued;
            state.copied_before = before.and_then(Rescued::newest).map(|copy| copy.stamp);
        }
        self.order_chains()?;
        self.mlc.sketches.forget();
        if secured {
            self.clear_stale()?;
        }
        self.settle_log(rescued.filter(|_| before.is_none()))?;
        let rescued = self.unsettled.and_then(|state| state.rescued);
        if let Some(rescued) = rescued.filter(|_| rules::must_write_again(secured)) {
            self.write_rescued(rescued)?;
        }
        if let Some(state) = &mut self.unsettled {
            state.rescued = None;
        }
        if secured {
            self.clear_rescue_blocks(rescued)?;
        }
        if !rules::must_mend_headers_first() {
            self.mend_headers()?;
        }
        if at_rest {
            self.mlc.chains.trust_free();
            if let Some(log) = self.log.as_mut() {
                log.ring_mut().suspect(0);
            }
        }
        self.weigh_wear();
        self.unsettled = None;
        Ok(())
    }

    fn mend_headers(&mut self) -> Result<(), Fault<D::Error>> {
        if !rules::must_mend_headers() {
            return Ok(());
        }
        let header = self.header();
        self.flash.mend_headers(&header)
    }

    /// Erases the blocks that belong to no chain: last of all a fold that was begun because another had failed.
    fn clear_stale(&mut self) -> Result<(), Fault<D::Error>> {
        let again = self.unsettled.and_then(|state| state.again).map(|again| again.target);
        let again = rules::erased_last(again);
        let mut last = None;
        while let Some(block) = self.mlc.chains.take_stale() {
            if again == Some(block) {
                last = again;
                continue;
            }
            self.free_block(block, Cause::Mount)?;
        }
        if let Some(block) = last {
            self.flash.failed.noted()?;
            self.free_block(block, Cause::Mount)?;
        }
        // A mount could trust a stale block that is neither marked nor listed, once the copy is erased, or that fold.
        self.flash.failed.noted()
    }

    /// Erases the head of an empty log, or the next block whose erase succeeds.
    fn erase_first_head(&mut self, first: LogBlock) -> Result<(), Fault<D::Error>> {
        let log = self.log.as_mut().ok_or(Fault::Corrupt)?;
        let mut head = first;
        while log.ring().good() > 0 {
            match self.flash.erase(Spot::log(head, 0), Cause::Mount) {
                Ok(()) => {
                    let suspects = log.ring().good() - log.ring().used();
                    log.ring_mut().suspect(suspects);
                    break;
                }
                Err(Fault::BlockFailed) => log.ring_mut().retire_only(),
                Err(fault) => return Err(fault),
            }
            head = log.ring().head();
        }
        Ok(())
    }

    /// Maps the part of the log that is not mapped yet, and closes its head.
    ///
    /// The head gets a summary if the page programmed last is its own, and was `copied` just now. If an earlier
    /// recovery had been interrupted while it programmed the summary, there would be a copy already, or a younger page.
    /// If that page has become unreadable since, the summary shows that it was begun.
    fn settle_log(&mut self, copied: Option<Rescued>) -> Result<(), Fault<D::Error>> {
        if self.log.as_ref().is_none() {
            return Ok(());
        }
        if let Some(state) = self.unsettled.as_mut().filter(|state| state.log == Mapped::TableFull)
        {
            state.log = Mapped::Fully;
            let _ = self.mount_log(ChainOrder::Restored)?;
        }
        let held = self.unsettled.and_then(|state| state.held);
        let own = held.is_some_and(|held| self.is_youngest(Spot::log(held.block, held.page)));
        if let Some(held) = held {
            let _ = self.mount_held(held, ChainOrder::Restored)?;
        }
        if self.unsettled.is_some_and(|state| state.log == Mapped::TableFull) {
            self.rescue_unmapped()?;
        }
        let log = self.log.as_mut().ok_or(Fault::Corrupt)?;
        let (head, head_page) = (log.ring().head(), log.ring().head_page());
        if head_page == 0 {
            // Nothing in it is readable: its first program was torn, or there was none.
            return self.erase_first_head(head);
        }
        if head_page < log.data_pages() {
            log.read_tags(&mut self.flash, head)?;
            if rules::must_close_head() {
                log.close_early();
                let may_write = rules::may_write_summary(copied.is_some());
                if own && may_write && self.is_summary_missing(head)? {
                    let log = self.log.as_mut().ok_or(Fault::Corrupt)?;
                    log.close(&mut self.flash)?;
                }
            }
        }
        Ok(())
    }
}
