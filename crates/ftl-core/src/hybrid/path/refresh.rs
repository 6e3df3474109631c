//! Refresh. Error counts rise with time, wear and reads. A weak page is rewritten while it can still be read: a chain
//! by a fold, a page of the log by a copy at the head, a header while the other one stays. Checkpoints are not
//! refreshed: each stop writes a new one, and nothing depends on them.
//!
//! The flash access layer notes weak pages whenever they are read. A *scrub* reads the pages that no request reads.

use ftl_iface::{NandDevice, PageCount, Sector};

use crate::error::Fault;
use crate::hybrid::address::{LogBlock, LogicalBlock};
use crate::hybrid::flash::{Content, Gathered, Programmed, Purpose, Seen, Spot};
use crate::hybrid::rules;
use crate::hybrid::scrub::extent;
use crate::hybrid::shape::{HEADER_BLOCKS, SLOTS_MAX};
use crate::hybrid::slc::Demotion;
use crate::hybrid::state::Ftl;
use crate::probe::{Cause, Probe};
use crate::table::{BlockNumber, number, word};

/// A step of work that the host has not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Step {
    /// It was done.
    Done,
    /// There is no such work.
    NothingLeft,
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Starts a scrub: every page in use is read once, to find weak pages that no request reads.
    /// [`maintain`](ftl_iface::BlockStore::maintain) does it, one page per step, when there is nothing more urgent.
    /// Call this as often as the chip's data retention requires, for example every few weeks. A clean stop saves its
    /// position.
    pub fn scrub(&mut self) {
        self.scrub.next.get_or_insert(Spot::meta(0, 0));
        self.scrub.moved = true;
    }

    /// The most pages that the running scrub still has to read.
    pub fn scrub_left(&self) -> PageCount {
        let Some(next) = self.scrub.next else {
            return PageCount::ZERO;
        };
        let left = |purpose: Purpose| {
            let (blocks, pages) = extent(&self.shape, purpose);
            word(blocks) * u32::from(pages)
        };
        let later = Purpose::ALL
            .into_iter()
            .filter(|purpose| *purpose > next.purpose())
            .map(left)
            .sum::<u32>();
        let (_, pages) = extent(&self.shape, next.purpose());
        let passed = word(next.block()) * u32::from(pages) + u32::from(next.page());
        PageCount::new(later + left(next.purpose()).saturating_sub(passed))
    }

    /// Reads the next page of the scrub under way.
    pub(crate) fn scrub_step(&mut self) -> Result<Step, Fault<D::Error>> {
        let Some(spot) = self.scrub.next else {
            return Ok(Step::NothingLeft);
        };
        let passed_over = spot.page() == 0 && self.flash.is_bad(spot)?;
        let ends = passed_over
            || self.flash.examine(spot)?.is_erased() && !self.flash.may_be_left_out(spot);
        let (_, pages) = extent(&self.shape, spot.purpose());
        let page = if ends { pages } else { spot.page() + 1 };
        self.scrub.next = self.page_or_next(spot.purpose(), spot.block(), page);
        self.scrub.moved = true;
        Ok(Step::Done)
    }

    /// That page or, past the end of the block, the first of the next block.
    fn page_or_next(&self, purpose: Purpose, block: BlockNumber, page: u16) -> Option<Spot> {
        let (blocks, pages) = extent(&self.shape, purpose);
        let (block, page) = if page < pages { (block, page) } else { (block + 1, 0) };
        if block < blocks {
            return Some(Spot::of_purpose(purpose, block, page));
        }
        let mut later = Purpose::ALL.into_iter().filter(|later| *later > purpose);
        later
            .find(|later| extent(&self.shape, *later).0 > 0)
            .map(|later| Spot::of_purpose(later, 0, 0))
    }

    /// Whether a weak page waits and a block is available to fold its chain onto. The blocks in hand for failures are
    /// not, because such a fold frees none.
    #[inline]
    pub(crate) fn may_refresh(&self) -> bool {
        self.flash.weak.waits() && self.mlc.chains.free_count() > self.mlc.in_hand
    }

    /// One step for the weak page that has waited longest.
    #[cold]
    #[inline(never)]
    pub(crate) fn refresh_step(&mut self) -> Result<(), Fault<D::Error>> {
        let Some(spot) = self.flash.weak.next() else {
            return Ok(());
        };
        match spot.purpose() {
            Purpose::Meta => self.refresh_meta(spot),
            Purpose::Log => self.refresh_log(spot),
            Purpose::Chain => self.refresh_chain(spot),
        }
    }

    fn refresh_meta(&mut self, spot: Spot) -> Result<(), Fault<D::Error>> {
        self.flash.weak.forget(spot);
        if spot.short_block() >= HEADER_BLOCKS {
            return Ok(());
        }
        self.flash.weak.noted.count_refreshed();
        let header = self.header();
        self.flash.refresh_headers(&header)?;
        // Both have been rewritten, so a scrub can skip the rest of them.
        if let Some(next) = self.scrub.next.filter(|next| next.purpose() == Purpose::Meta) {
            self.scrub.next = self.page_or_next(next.purpose(), number(HEADER_BLOCKS), 0);
        }
        Ok(())
    }

    /// Begins to fold the chain of a weak page.
    fn refresh_chain(&mut self, spot: Spot) -> Result<(), Fault<D::Error>> {
        self.flash.weak.forget(spot);
        let Some(logical) = self.owning_chain(spot, Cause::Gc)? else {
            // The search for the owner read the block, and may have noted it again.
            self.flash.weak.forget_block(spot);
            return Ok(());
        };
        self.flash.weak.noted.count_refreshed();
        self.start_fold(logical, None, Cause::Gc)
    }

    /// The chain that the block of a page belongs to, by that page's tag or, if it cannot be read, another's. `None`:
    /// the block is in no chain.
    pub(crate) fn owning_chain(
        &mut self,
        spot: Spot,
        cause: Cause,
    ) -> Result<Option<LogicalBlock>, Fault<D::Error>> {
        let block = spot.chain_block();
        let pages = core::iter::once(spot.page()).chain(0..self.shape.chain.pages);
        for page in pages {
            let spot = Spot::chain(block, page);
            match self.flash.look(spot, cause)? {
                Seen::Page(found) => {
                    let chains = &self.mlc.chains;
                    return Ok(self.mlc.owner(&found).filter(|logical| {
                        core::iter::successors(chains.first(*logical), |at| chains.next(*at))
                            .any(|at| at == block)
                    }));
                }
                Seen::Erased => {
                    if !self.flash.may_be_left_out(spot) {
                        return Ok(None);
                    }
                }
                Seen::Unreadable => {}
            }
        }
        Ok(None)
    }

    /// Copies what is still valid on a weak page of the log to its head; if the log is closed, begins to fold the
    /// chain, which collects it.
    fn refresh_log(&mut self, spot: Spot) -> Result<(), Fault<D::Error>> {
        let mut sectors = [None; SLOTS_MAX];
        // A page that cannot be read any more is recorded as lost when the block is reclaimed.
        let Some(first) = self.newest_of_page(spot, &mut sectors)? else {
            self.flash.weak.forget(spot);
            return Ok(());
        };
        for sector in sectors.iter().flatten() {
            let (logical, _) = self.mlc.locate(*sector);
            if rules::must_prove_before_refresh(self.unproved.get(logical)) {
                return self.prove(logical);
            }
        }
        let log = self.the_log()?;
        if !log.ring().turns() {
            return self.refresh_closed(spot, first);
        }
        if log.free_pages() == 0 {
            if log.has_tail() {
                return self.reclaim_step();
            }
            self.flash.weak.forget(spot);
            return Ok(());
        }
        while self.the_log()?.has_room() {
            if self.copy_to_head(spot, &sectors)? == Programmed::Done {
                self.flash.weak.noted.count_refreshed();
                break;
            }
        }
        self.flash.weak.forget(spot);
        // If the log had no room left, the copy's content goes to its chains.
        if self.failed_page.is_some() { self.write_failed() } else { Ok(()) }
    }

    /// Moves what is valid on a weak page of a closed log to its chain: by a fold or, if there is no chain yet, as its
    /// first page.
    fn refresh_closed(&mut self, spot: Spot, first: Sector) -> Result<(), Fault<D::Error>> {
        let (logical, _) = self.mlc.locate(first);
        if self.mlc.chains.first(logical).is_none() {
            let slot = self.the_log()?.index.find(first).ok_or(Fault::Corrupt)?;
            return self.move_again(Demotion { sector: first, slot }, logical);
        }
        self.flash.weak.forget(spot);
        self.start_fold(logical, None, Cause::Gc)
    }

    /// Which sectors have their newest copies on that page of the log, by slot, as far as known. Returns the first.
    fn newest_of_page(
        &mut self,
        spot: Spot,
        sectors: &mut [Option<Sector>; SLOTS_MAX],
    ) -> Result<Option<Sector>, Fault<D::Error>> {
        let Seen::Page(page) = self.flash.look(spot, Cause::Gc)? else {
            return Ok(None);
        };
        let log = self.log.as_ref().ok_or(Fault::Corrupt)?;
        let block = LogBlock::new(spot.short_block());
        for (slot, cell) in (0..log.area().slots).zip(sectors.iter_mut()) {
            let held = page.slot(slot).copy_of();
            *cell = held.filter(|sector| {
                log.index.covers(*sector)
                    && log.index.find(*sector) == Some(log.place(block, spot.page(), slot))
            });
        }
        Ok(sectors.iter().flatten().next().copied())
    }

    /// Copies those sectors of a page of the log to its head.
    fn copy_to_head(
        &mut self,
        spot: Spot,
        sectors: &[Option<Sector>; SLOTS_MAX],
    ) -> Result<Programmed, Fault<D::Error>> {
        let log = self.log.as_mut().ok_or(Fault::Corrupt)?;
        let slots = log.area().slots;
        let mut page = Gathered::new();
        for (slot, sector) in (0..slots).zip(sectors) {
            if let Some(sector) = *sector {
                self.flash.gather(&mut page, (spot, slot), sector, Cause::Gc)?;
            }
        }
        self.flash.leave_empty(&mut page, slots);
        match log.append(&mut self.flash, Content::Buffer, page.slots(), Cause::Gc) {
            Err(Fault::BlockFailed) => {
                self.secure_failed(Content::Buffer, page.slots(), slots)?;
                Ok(Programmed::BlockFailed)
            }
            outcome => {
                outcome?;
                self.uncollect_copies(page.list());
                self.release_failed().map(|()| Programmed::Done)
            }
        }
    }
}
