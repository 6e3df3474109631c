//! Folding: the newest copies of a chain's sectors, from its blocks and from the log, are collected page by page in a
//! new data block; then the old blocks are free. Moving cold data onto a worn block is a fold, too.

use ftl_iface::{NandDevice, Sector, SectorCount};

use crate::error::Fault;
use crate::hybrid::address::{ChainBlock, LogicalBlock};
use crate::hybrid::flash::{AGAIN_MAX, Content, Fetched, Gathered, SlotRun, Spot};
use crate::hybrid::mlc::fold::{Attempt, Job};
use crate::hybrid::mlc::maps::MapEntry;
use crate::hybrid::path::piece::{PageOf, SourceSlot};
use crate::hybrid::rules;
use crate::hybrid::state::Ftl;
use crate::layout::{Kind, Label, Slot, Slots, Stamp};
use crate::probe::{Cause, Event, Probe};

/// Where a slot of the new data block comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopyFrom {
    /// Nowhere: the sector was never written, or was trimmed.
    Hole,
    /// It is not copied: its newest copy stays in the log, or is in a younger log block.
    Elsewhere,
    /// From a page.
    Page(SourceSlot),
}

impl CopyFrom {
    /// Whether `next` follows in the same page, so both are read at once.
    fn is_followed_by(self, next: Self, distance: u16) -> bool {
        match (self, next) {
            (Self::Page(piece), Self::Page(next)) => piece.is_followed_by(next, distance),
            _ => false,
        }
    }
}

/// The next page of a fold: what is common to all its slots.
struct Making<'a> {
    job: &'a Job,
    slots: u16,
    /// The sector of its first slot.
    first: Sector,
    /// The same page of the old data block.
    data: Option<Spot>,
}

impl Making<'_> {
    /// The sector of a slot.
    #[inline]
    fn sector(&self, slot: u16) -> Sector {
        self.first + SectorCount::new(u32::from(slot))
    }

    /// Its offset in the chain.
    #[inline]
    fn offset(&self, slot: u16) -> u32 {
        u32::from(self.job.page) * u32::from(self.slots) + u32::from(slot)
    }
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Folds until a block is freed: completes the running fold; if there is none, folds that chain, or the next
    /// victim.
    pub(crate) fn fold_now(
        &mut self,
        logical: Option<LogicalBlock>,
    ) -> Result<(), Fault<D::Error>> {
        self.fold_a_little(logical)?;
        while self.mlc.fold.is_active() {
            self.fold_step()?;
        }
        Ok(())
    }

    /// One step towards a free block: continues the running fold; if there is none, begins to fold that chain, or the
    /// next victim.
    pub(crate) fn fold_a_little(
        &mut self,
        logical: Option<LogicalBlock>,
    ) -> Result<(), Fault<D::Error>> {
        if self.mlc.fold.is_active() {
            return self.fold_step();
        }
        let Some(victim) = logical.or_else(|| self.mlc.victim()) else {
            return Err(self.no_block_left());
        };
        self.start_fold(victim, None, Cause::Gc)
    }

    /// Begins to fold a chain, onto that block or a free one, and programs the first page at once.
    pub(crate) fn start_fold(
        &mut self,
        logical: LogicalBlock,
        target: Option<ChainBlock>,
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        self.begin_fold(logical, target, cause)?;
        if rules::must_program_at_once() { self.fold_step() } else { Ok(()) }
    }

    /// Freezes a chain, and takes a block to fold it onto.
    pub(super) fn begin_fold(
        &mut self,
        logical: LogicalBlock,
        target: Option<ChainBlock>,
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        self.prove(logical)?;
        let frozen_logs = self.mlc.chains.log_count(logical);
        if frozen_logs > 0 {
            let map = self.mlc.map(&mut self.flash, logical)?;
            self.mlc.maps.copy_to_fold(map, logical);
            // From now on the last log block takes no more pages.
            self.mlc.maps.set_next_page(map, self.shape.chain.pages, false);
        } else {
            let map = self.mlc.maps.fold_map();
            self.mlc.maps.start(map, logical);
        }
        let target = match target {
            Some(target) => target,
            None => self.take_free_block(cause)?,
        };
        let data = self.mlc.chains.data(logical).is_some();
        let frozen = frozen_logs + u16::from(data);
        self.mlc.fold.start(Job {
            logical,
            target,
            cause,
            frozen,
            frozen_logs,
            page: 0,
            born: Stamp::ZERO,
            attempt: Attempt::First,
        });
        Ok(())
    }

    /// One step of the running fold: programs a page; after the last one, frees the old blocks. If the program fails,
    /// the chain is folded again.
    #[inline]
    pub(crate) fn fold_step(&mut self) -> Result<(), Fault<D::Error>> {
        match (self.fold_page(), self.mlc.fold.job()) {
            (Err(Fault::BlockFailed), Some(job)) => self.fold_anew(job),
            (outcome, _) => outcome,
        }
    }

    /// One step of the running fold.
    pub(super) fn fold_page(&mut self) -> Result<(), Fault<D::Error>> {
        let job = self.mlc.fold.job().ok_or(Fault::Corrupt)?;
        self.gather_page(&job)?;
        let wear = self.wear.erase_count(job.target);
        let is_last = job.page + 1 == self.shape.chain.pages;
        if !rules::must_keep_frozen(is_last)
            && let Some(frozen) = self.mlc.chains.first(job.logical)
        {
            self.flash.erase(Spot::chain(frozen, 0), job.cause)?;
        }
        let spot = Spot::chain(job.target, job.page);
        let note = job.note(wear, self.shape.chain.pages, self.flash.stamp().next());
        let label = Label { kind: Kind::Data, note, slots: Slots::HELD };
        self.flash.program(spot, label, Content::Buffer, job.cause)?;
        self.mlc.fold.advance(self.flash.stamp());
        if is_last { self.end_fold() } else { Ok(()) }
    }

    /// Gathers the fold's next page in the page buffer. Consecutive slots of one page are read at once.
    fn gather_page(&mut self, job: &Job) -> Result<(), Fault<D::Error>> {
        let slots = self.shape.chain.slots;
        let first = self.mlc.sector(job.logical, u32::from(job.page) * u32::from(slots));
        let data = self.mlc.chains.data(job.logical).map(|data| Spot::chain(data, job.page));
        let making = Making { job, slots, first, data };
        if let Some(spot) = data
            && self.stands_in_place(&making)
        {
            return self.gather_from(&making, SourceSlot::in_data(spot, 0), 0, slots);
        }
        self.gather_pieces(&making)
    }

    /// Whether the page's sectors are all in place in the old data block, as most are. One check of all is much shorter
    /// than one of each.
    #[inline]
    fn stands_in_place(&self, making: &Making<'_>) -> bool {
        let (offset, slots) = (making.offset(0), making.slots);
        let in_log = || {
            self.log.as_ref().is_some_and(|log| {
                self.logged.get(making.job.logical) && log.index.finds(making.first, slots)
            })
        };
        let mlc = &self.mlc;
        !mlc.fold.is_any_touched()
            && mlc.maps.are_in_place(mlc.maps.fold_map(), offset, slots)
            && !in_log()
    }

    /// Gathers a page whose sectors are not all in place. Kept out of line for the usual case.
    #[inline(never)]
    fn gather_pieces(&mut self, making: &Making<'_>) -> Result<(), Fault<D::Error>> {
        let (mut source, mut start) = (CopyFrom::Hole, 0);
        for slot in 0..making.slots {
            let next = self.source(making, slot)?;
            if slot > start && !source.is_followed_by(next, slot - start) {
                self.gather(making, source, start, slot - start)?;
                start = slot;
            }
            if slot == start {
                source = next;
            }
        }
        self.gather(making, source, start, making.slots - start)
    }

    /// Decides where a slot's content comes from. Newer copies in the log are collected if the write-back rule allows,
    /// except where a younger log block has a copy. The last page collects them in any case: if it is torn, a rescue
    /// copy of it exists, but which of its sectors are elsewhere would no longer be known.
    #[inline]
    fn source(&mut self, making: &Making<'_>, slot: u16) -> Result<CopyFrom, Fault<D::Error>> {
        let offset = making.offset(slot);
        let touched = self.mlc.fold.is_touched(offset);
        if let Some(log) = self.log.as_ref()
            && self.logged.get(making.job.logical)
            && let Some(at) = log.index.find(making.sector(slot))
        {
            let is_last = making.job.page + 1 == self.shape.chain.pages;
            // A closed log is emptied sector by sector.
            let collects = is_last || self.write_back.fold_collects() || !log.ring().turns();
            if rules::must_leave_in_log(touched, collects) {
                self.mlc.fold.leave_logged(making.job.logical);
                return Ok(CopyFrom::Elsewhere);
            }
            let (spot, slot) = log.spot(at);
            self.mlc.fold.collect(offset);
            return Ok(CopyFrom::Page(SourceSlot::in_log(spot, slot)));
        }
        if touched {
            return Ok(CopyFrom::Elsewhere);
        }
        Ok(match self.mlc.maps.get(self.mlc.maps.fold_map(), offset) {
            MapEntry::InPlace => match making.data {
                Some(spot) => CopyFrom::Page(SourceSlot::in_data(spot, slot)),
                None => CopyFrom::Hole,
            },
            MapEntry::Trimmed => CopyFrom::Hole,
            MapEntry::Log { ordinal, page, slot } => {
                let block = self.mlc.chains.logs(making.job.logical).nth(usize::from(ordinal));
                let spot = Spot::chain(block.ok_or(Fault::Corrupt)?, page);
                CopyFrom::Page(SourceSlot::in_log(spot, slot))
            }
        })
    }

    /// Gathers a run of slots with one source.
    fn gather(
        &mut self,
        making: &Making<'_>,
        source: CopyFrom,
        slot: u16,
        run: u16,
    ) -> Result<(), Fault<D::Error>> {
        if let CopyFrom::Page(piece) = source {
            return self.gather_from(making, piece, slot, run);
        }
        for at in slot..slot + run {
            let sector = making.sector(at);
            let is_hole = source == CopyFrom::Hole;
            self.flash.hold(at, if is_hole { Slot::Hole(sector) } else { Slot::Elsewhere(sector) });
        }
        self.flash.blank(slot, run);
        Ok(())
    }

    /// Reads slots of a page into the page buffer, and sets what the buffer's slots hold.
    #[inline]
    fn gather_from(
        &mut self,
        making: &Making<'_>,
        piece: SourceSlot,
        to: u16,
        run: u16,
    ) -> Result<(), Fault<D::Error>> {
        let SourceSlot { spot, slot: from, of } = piece;
        let (first, cause) = (making.sector(to), making.job.cause);
        let wanted = SlotRun { spot, from, to, count: run };
        let found = match self.flash.fetch_run(wanted, first, cause)? {
            Fetched::Run => return Ok(()),
            Fetched::Other(page) => Some(Gathered::of(&page, from, run)),
            Fetched::Unreadable => None,
        };
        self.pass_on_run(making, found.as_ref(), of, (to, run))
    }

    /// Sets what slots hold one by one.
    #[cold]
    #[inline(never)]
    fn pass_on_run(
        &mut self,
        making: &Making<'_>,
        found: Option<&Gathered>,
        of: PageOf,
        (to, run): (u16, u16),
    ) -> Result<(), Fault<D::Error>> {
        for at in 0..run {
            let slot = found.map(|found| found.get(at));
            self.pass_on(making.sector(to + at), to + at, slot, of)?;
        }
        Ok(())
    }

    /// Sets what one slot holds: what was found there, if its page could be read.
    fn pass_on(
        &mut self,
        sector: Sector,
        slot: u16,
        found: Option<Slot>,
        of: PageOf,
    ) -> Result<(), Fault<D::Error>> {
        let holds = match found {
            // An unreadable sector is always copied as lost.
            None => Slot::Lost(sector),
            Some(found @ (Slot::Holds(held) | Slot::Lost(held))) if held == sector => found,
            Some(Slot::Hole(hole)) if of == PageOf::Data && hole == sector => Slot::Hole(hole),
            // Its newest copy was on a page that has been corrupted since.
            Some(Slot::Elsewhere(held)) if of == PageOf::Data && held == sector => {
                Slot::Lost(sector)
            }
            Some(_) => return Err(Fault::Corrupt),
        };
        self.flash.hold(slot, holds);
        if !matches!(holds, Slot::Holds(_)) {
            self.flash.blank(slot, 1);
        }
        Ok(())
    }

    /// Ends a fold after its last page: the new data block is now first in the chain, and the frozen blocks are freed.
    fn end_fold(&mut self) -> Result<(), Fault<D::Error>> {
        let job = self.mlc.fold.finish().ok_or(Fault::Corrupt)?;
        let old = self.mlc.chains.lead_with(job.logical, job.target, job.frozen);
        self.mlc.maps.forget(job.logical);
        if let Some(log) = self.log.as_mut() {
            let is_in_log = rules::is_in_log(self.mlc.fold.leaves_logged());
            self.logged.set(job.logical, is_in_log);
            let head = log.window().head;
            for offset in 0..self.mlc.sectors_per_block().get() {
                if self.mlc.fold.is_collected(offset) {
                    log.index.virtualise(self.mlc.sector(job.logical, offset), head);
                }
            }
        }
        if let Some(moved) = self.wear_move.take_if(|moved| moved.under_way) {
            self.wear.swapped(moved.cold, moved.worn);
        }
        self.free_blocks(old, job.frozen, job.cause)?;
        self.flash.tell(Event::Folded { cause: job.cause, erased: u32::from(job.frozen) });
        Ok(())
    }

    /// Abandons the running fold, because its chain has got a complete data block by other means.
    pub(crate) fn give_up_fold(&mut self) -> Result<(), Fault<D::Error>> {
        match self.drop_fold() {
            Some(job) => self.free_block(job.target, job.cause),
            None => Ok(()),
        }
    }

    /// Ends the running fold without a data block. Its target is nobody's.
    fn drop_fold(&mut self) -> Option<Job> {
        let job = self.mlc.fold.finish()?;
        if self.wear_move.take_if(|moved| moved.under_way).is_some() {
            self.wear.declined();
        }
        Some(job)
    }

    /// Folds the chain again, and completely, after a failed program to the fold's target: the writes since are in a
    /// log block that is younger than the old target, but older than the new one. The program that failed may have been
    /// that of the last page, which may be readable.
    #[cold]
    #[inline(never)]
    pub(crate) fn fold_anew(&mut self, job: Job) -> Result<(), Fault<D::Error>> {
        let mut again = AGAIN_MAX;
        loop {
            let last = self.mlc.chains.free_count() == 0;
            if last {
                // The failed block may be the only one.
                if again == 0 {
                    return Err(self.no_block_left());
                }
                again -= 1;
            }
            let failed = self.drop_fold();
            let begun = if rules::must_begin_again_first(last) {
                self.fold_first_page_again(&job)
            } else {
                Ok(())
            };
            let begun = match begun {
                Err(error) if rules::must_be_told(&error) => return Err(error),
                begun => begun,
            };
            if let Some(failed) = failed {
                self.free_block(failed.target, failed.cause)?;
            }
            // While the block is neither marked nor listed, a mount may trust its last page, and would need to know
            // that it was programmed last.
            self.flash.failed.noted()?;
            match begun.and_then(|()| self.fold_through(&job)) {
                Err(Fault::BlockFailed) => {}
                outcome => return outcome,
            }
        }
    }

    /// Begins to fold the chain of a job that failed onto a free block.
    fn fold_first_page_again(&mut self, job: &Job) -> Result<(), Fault<D::Error>> {
        self.begin_fold(job.logical, None, job.cause)?;
        self.mlc.fold.repeat();
        self.fold_page()
    }

    /// Folds the whole chain of a job, onto a free block if that is not begun yet.
    pub(crate) fn fold_through(&mut self, job: &Job) -> Result<(), Fault<D::Error>> {
        if !self.mlc.fold.is_active() {
            self.begin_fold(job.logical, None, job.cause)?;
        }
        while self.mlc.fold.is_active() {
            self.fold_page()?;
        }
        Ok(())
    }
}
