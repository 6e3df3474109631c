//! Folding: the newest copies of a chain's sectors, from its blocks and from the log, are gathered page by page into a
//! fresh data block, whereupon the old blocks are free. Moving cold data onto a worn block is a fold, too.

use ftl_iface::NandDevice;

use super::Ftl;
use crate::address::{ChainBlock, LogicalBlock};
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::flash::{Content, Spot};
use crate::layout::{Kind, Slot, Slots};
use crate::mlc::fold::Job;
use crate::mlc::maps::Place;
use crate::probe::{Cause, Event, Probe};
use crate::shape::SLOTS_MAX;

/// Where a slot of the new data block comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// Nowhere: the sector was never written, or was trimmed.
    Hole,
    /// It is not copied: its newest copy stays in the log, or stands in a younger log block.
    Elsewhere,
    /// From a page.
    Page {
        spot: Spot,
        slot: u16,
        /// The page is of the old data block, whose tag knows holes.
        in_place: bool,
    },
}

impl Source {
    /// Whether `next` follows in the same page, so that both are read at once.
    fn is_followed_by(self, next: Self, distance: u16) -> bool {
        match (self, next) {
            (
                Self::Page { spot, slot, in_place },
                Self::Page { spot: next_spot, slot: next_slot, in_place: next_in_place },
            ) => spot == next_spot && slot + distance == next_slot && in_place == next_in_place,
            _ => false,
        }
    }
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Folds until a block is won: the fold under way is ended; if there was none, that chain is folded, or
    /// the one whose turn it is.
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

    /// One step towards a block: the fold under way goes on; if there was none, that chain's is begun, or the
    /// one's whose turn it is.
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

    /// Begins to fold a chain, onto that block or a free one, and programs the first page at once: the new
    /// data block must be born before any log block that the chain takes from now on, because a mount tells
    /// by their age which of the two overrides the other.
    pub(crate) fn start_fold(
        &mut self,
        logical: LogicalBlock,
        target: Option<ChainBlock>,
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        self.begin_fold(logical, target, cause)?;
        if planted(Bug::BeginFoldLate) {
            return Ok(());
        }
        self.fold_step()
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
            // From now on the last log block is as good as full.
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
        let job = Job { logical, target, cause, frozen, frozen_logs, page: 0 };
        self.mlc.fold.start(job);
        Ok(())
    }

    /// One step of the fold under way: a page is programmed; after the last one the old blocks are freed. Where the
    /// page does not program, the chain is folded anew.
    #[inline]
    pub(crate) fn fold_step(&mut self) -> Result<(), Fault<D::Error>> {
        match (self.fold_page(), self.mlc.fold.job()) {
            (Err(Fault::BlockFailed), Some(job)) => self.fold_anew(job),
            (outcome, _) => outcome,
        }
    }

    /// One step of the fold under way.
    pub(super) fn fold_page(&mut self) -> Result<(), Fault<D::Error>> {
        let job = self.mlc.fold.job().ok_or(Fault::Corrupt)?;
        let slots = self.shape.chain.slots;
        let start = u32::from(job.page) * u32::from(slots);
        let mut sources = [Source::Hole; SLOTS_MAX];
        for (slot, source) in sources.iter_mut().enumerate().take(usize::from(slots)) {
            *source = self.source(&job, start + slot as u32)?;
        }
        let sources = sources.get(..usize::from(slots)).unwrap_or(&[]);
        let mut holds = [Slot::Empty; SLOTS_MAX];
        let holds = holds.get_mut(..usize::from(slots)).unwrap_or(&mut []);
        let mut slot = 0;
        while slot < slots {
            slot += self.gather(&job, sources, holds, slot)?;
        }
        let wear = self.wear.erase_count(job.target);
        let spot = Spot::chain(job.target, job.page);
        let slots = Slots::Listed(holds);
        if planted(Bug::EraseFrozenEarly)
            && job.page + 1 == self.shape.chain.pages
            && let Some(frozen) = self.mlc.chains.first(job.logical)
        {
            self.flash.erase(Spot::chain(frozen, 0), job.cause)?;
        }
        self.flash.program(spot, Kind::Data, wear, Content::Buffer, slots, job.cause)?;
        self.mlc.fold.advance();
        if job.page + 1 == self.shape.chain.pages { self.end_fold() } else { Ok(()) }
    }

    /// Decides where the sector with that offset comes from. What the log holds newer than the chain is taken along if
    /// the write-back rule says so, except where a younger log block has a copy: after the fold that one would win. The
    /// last page takes it along in any case: should it have been torn, a copy of it stands, but nobody would know any
    /// more which of its sectors are elsewhere.
    fn source(&mut self, job: &Job, offset: u32) -> Result<Source, Fault<D::Error>> {
        let sector = self.mlc.sector(job.logical, offset);
        let touched = self.mlc.fold.is_touched(offset);
        if let Some(log) = &self.log
            && let Some(at) = log.index.find(sector)
        {
            let touched = touched && !planted(Bug::CollectTouched);
            let is_last = job.page + 1 == self.shape.chain.pages;
            // A closed log is given up sector by sector.
            let collects = is_last || self.write_back.fold_collects() || !log.ring().turns();
            if touched || !collects {
                return Ok(Source::Elsewhere);
            }
            let (spot, slot) = log.spot(at);
            self.mlc.fold.collect(offset);
            return Ok(Source::Page { spot, slot, in_place: false });
        }
        if touched {
            return Ok(Source::Elsewhere);
        }
        let (page, slot) = self.mlc.home(offset);
        Ok(match self.mlc.maps.get(self.mlc.maps.fold_map(), offset) {
            Place::Trimmed => Source::Hole,
            Place::Log { ordinal, page, slot } => {
                let block = self.mlc.chains.logs(job.logical).nth(usize::from(ordinal));
                let spot = Spot::chain(block.ok_or(Fault::Corrupt)?, page);
                Source::Page { spot, slot, in_place: false }
            }
            Place::InPlace => match self.mlc.chains.data(job.logical) {
                Some(data) => Source::Page { spot: Spot::chain(data, page), slot, in_place: true },
                None => Source::Hole,
            },
        })
    }

    /// Reads into the page buffer what stands together from that slot on. Says how many slots that were.
    fn gather(
        &mut self,
        job: &Job,
        sources: &[Source],
        holds: &mut [Slot],
        slot: u16,
    ) -> Result<u16, Fault<D::Error>> {
        let rest = sources.get(usize::from(slot)..).unwrap_or(&[]);
        let first = rest.first().copied().unwrap_or(Source::Hole);
        let mut run = 1;
        while rest.get(usize::from(run)).is_some_and(|next| first.is_followed_by(*next, run)) {
            run += 1;
        }
        let place = |at: u16| {
            let offset = u32::from(job.page) * u32::from(self.shape.chain.slots) + u32::from(at);
            self.mlc.sector(job.logical, offset)
        };
        let targets = holds.iter_mut().enumerate().skip(usize::from(slot)).take(usize::from(run));
        match first {
            Source::Hole => {
                targets.for_each(|(at, holds)| *holds = Slot::Hole(place(at as u16)));
                self.flash.blank(slot, run);
            }
            Source::Elsewhere => {
                targets.for_each(|(at, holds)| *holds = Slot::Elsewhere(place(at as u16)));
                self.flash.blank(slot, run);
            }
            Source::Page { spot, slot: from, in_place } => {
                let lost = match self.flash.fetch(spot, from, slot, run, job.cause) {
                    Ok(tag) => tag.is_none(),
                    Err(Fault::Uncorrectable) => true,
                    Err(fault) => return Err(fault),
                };
                for (at, target) in targets {
                    let sector = place(at as u16);
                    let found = self.flash.slot(usize::from(from) + at - usize::from(slot));
                    *target = match found {
                        // What cannot be read is passed on as lost, and never as something else.
                        _ if lost => Slot::Lost(sector),
                        Slot::Holds(held) | Slot::Lost(held) if held == sector => found,
                        Slot::Hole(hole) if in_place && hole == sector => found,
                        // Its newest copy stood on a page that was ruined since.
                        Slot::Elsewhere(held) if in_place && held == sector => Slot::Lost(sector),
                        _ => return Err(Fault::Corrupt),
                    };
                }
                for at in slot..slot + run {
                    if !matches!(holds.get(usize::from(at)), Some(Slot::Holds(_))) {
                        self.flash.blank(at, 1);
                    }
                }
            }
        }
        Ok(run)
    }

    /// The last page is programmed: the new data block leads the chain, and the frozen blocks are free.
    fn end_fold(&mut self) -> Result<(), Fault<D::Error>> {
        let job = self.mlc.fold.finish().ok_or(Fault::Corrupt)?;
        let old = self.mlc.chains.lead_with(job.logical, job.target, job.frozen);
        self.mlc.maps.forget(job.logical);
        if let Some(log) = &mut self.log {
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

    /// The fold under way is not worth ending: its chain has got a whole data block by other means.
    pub(crate) fn give_up_fold(&mut self) -> Result<(), Fault<D::Error>> {
        let Some(job) = self.mlc.fold.finish() else {
            return Ok(());
        };
        if self.wear_move.take_if(|moved| moved.under_way).is_some() {
            self.wear.declined();
        }
        self.free_block(job.target, job.cause)
    }
}
