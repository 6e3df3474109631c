//! Refresh. Error counts rise with time, wear and reads. A weak block becomes the next victim of its area, however full
//! it is, while it can still be read; a header is rewritten while the other one stays. Anchors are not refreshed: new
//! ones are written all the time, and without them a mount reads every block.
//!
//! The flash access layer notes weak pages whenever they are read. A *scrub* reads the pages that no request reads.

use ftl_iface::{NandDevice, PageCount};

use crate::error::Fault;
use crate::paged::flash::{Seen, Weak};
use crate::paged::plan::address::{BlockNumber, Spot};
use crate::paged::plan::feature::Feature;
use crate::paged::plan::shape::HEADERS;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{IdleStep, Open, Scrubbed, Stream};
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Starts a scrub: every page in use is read once, to find weak pages that no request reads.
    /// [`maintain`](ftl_iface::BlockStore::maintain) does it, one page per step, when nothing is more urgent. Call this
    /// as often as the chip's data retention suggests, every few weeks, say. A mount forgets it. It does nothing in a
    /// build without [refresh](crate::paged::Feature::Refresh).
    pub fn scrub(&mut self) {
        if Feature::Refresh.is_built() {
            self.scrub.get_or_insert(Scrubbed::Header(0));
        }
    }

    /// Returns the most pages that the running scrub still has to read.
    pub fn scrub_left(&self) -> PageCount {
        let (fast, main) = (self.shape.map_area(), &self.shape.main);
        let pages_from = |block: u32| {
            let left = |first: u32, blocks: u32| blocks - block.saturating_sub(first).min(blocks);
            let main_left = left(main.first_block, main.blocks) * u32::from(main.pages);
            let fast_left = left(fast.first_block, fast.blocks) * u32::from(fast.pages);
            if self.shape.has_fast() { main_left + fast_left } else { main_left }
        };
        PageCount::new(match self.scrub {
            None => 0,
            Some(Scrubbed::Header(number)) => u32::from(HEADERS - number) + pages_from(0),
            Some(Scrubbed::Page(spot)) => pages_from(spot.block.get()) - u32::from(spot.page),
        })
    }

    /// Reads the next page of the running scrub, if one is running.
    pub(crate) fn scrub_step(&mut self) -> Result<IdleStep, Fault<D::Error>> {
        let Some(next) = self.scrub.filter(|_| Feature::Refresh.is_built()) else {
            return Ok(IdleStep::NothingToDo);
        };
        self.scrub = match next {
            Scrubbed::Header(number) => {
                let header = self.own_header();
                if self.header_state(number, &header)?.lacks_a_copy() {
                    self.flash.weak.note(Weak::Headers);
                }
                let is_last = number + 1 == HEADERS;
                let first = self.in_use_from(BlockNumber::new(0)).filter(|_| is_last);
                if is_last { first } else { Some(Scrubbed::Header(number + 1)) }
            }
            Scrubbed::Page(spot) => self.scrub_page(spot)?,
        };
        Ok(IdleStep::Done)
    }

    /// Reads a page if it is in use. Returns the next one.
    fn scrub_page(&mut self, spot: Spot) -> Result<Option<Scrubbed>, Fault<D::Error>> {
        let Some(Scrubbed::Page(spot)) = self.in_use_from(spot.block).map(|next| match next {
            Scrubbed::Page(next) if next.block == spot.block => Scrubbed::Page(spot),
            next => next,
        }) else {
            return Ok(None);
        };
        let area = *self.shape.area_at(spot.block);
        let bytes = usize::from(area.slots) * self.shape.sector_bytes.as_usize();
        let page = self.buffer.get_mut(..bytes).unwrap_or(&mut []);
        let seen = self.flash.read(spot, 0, page, Cause::Scrub)?;
        let next = Spot { page: spot.page + 1, ..spot };
        // In an open block an erased page is the end, unless it was skipped.
        let ends = next.page == area.pages
            || seen == Seen::Erased
                && self
                    .opens
                    .iter()
                    .flatten()
                    .any(|open| open.block == spot.block && open.next <= spot.page);
        let after = BlockNumber::new(spot.block.get() + 1);
        Ok(if ends { self.in_use_from(after) } else { Some(Scrubbed::Page(next)) })
    }

    /// Returns the first page of the next block in use, beginning with this block.
    fn in_use_from(&self, first: BlockNumber) -> Option<Scrubbed> {
        let mut blocks = (first.get()..self.shape.blocks()).map(BlockNumber::new);
        let block = blocks.find(|block| self.blocks.references(*block) > 0)?;
        Some(Scrubbed::Page(Spot { block, page: 0 }))
    }

    /// Does what each host page pays for weak blocks: one step.
    #[inline]
    pub(crate) fn refresh_some(&mut self) -> Result<(), Fault<D::Error>> {
        if self.may_refresh() { self.refresh_step() } else { Ok(()) }
    }

    /// Does one step for the entry that has waited longest.
    #[cold]
    #[inline(never)]
    pub(crate) fn refresh_step(&mut self) -> Result<(), Fault<D::Error>> {
        match self.flash.weak.noted.next() {
            None => Ok(()),
            Some(Weak::Headers) => {
                self.flash.weak.noted.count_refreshed();
                self.refresh_headers()?;
                // Reading one header while the other is written may note them again, and so on without end.
                self.flash.weak.forget(Weak::Headers);
                Ok(())
            }
            Some(Weak::Block(block)) => self.refresh_block(block),
        }
    }

    /// Makes a weak block the next victim of its area, or continues with the current one.
    fn refresh_block(&mut self, block: BlockNumber) -> Result<(), Fault<D::Error>> {
        let area = self.shape.area_of(block);
        let is_this = |open: &Option<Open>| open.is_some_and(|open| open.block == block);
        if self.blocks.references(block) > 0
            && let Some(stream) =
                Stream::ALL.into_iter().find(|at| is_this(&self.opens[*at as usize]))
        {
            self.close(stream);
        }
        // It is no longer in use, or is excluded until the next mount.
        if !self.blocks.may_be_victim(block) {
            self.flash.weak.forget(Weak::Block(block));
            return Ok(());
        }
        if self.victims[area as usize].is_none() {
            self.victims[area as usize] = Some(self.victim_of(area, block));
            self.flash.weak.noted.count_refreshed();
        }
        self.reclaim_step(area).map(|_| ())
    }
}
