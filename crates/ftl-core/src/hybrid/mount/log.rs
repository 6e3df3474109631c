//! The log after a mount, from the summaries of its blocks, each read once.
//!
//! The log is a ring. In the order of their numbers, its blocks get newer up to the head; those after the head are
//! older than all before it. So a later entry overrides an earlier one, except that entries of blocks after the head
//! override only each other.

use ftl_iface::{NandDevice, Sector};

use crate::error::Fault;
use crate::hybrid::address::{LogBlock, LogicalBlock};
use crate::hybrid::flash::{Gathered, Seen, Spot};
use crate::hybrid::path::prove::Newest;
use crate::hybrid::rules;
use crate::hybrid::slc::Mapped;
use crate::hybrid::slc::index::LogSlot;
use crate::hybrid::slc::ring::RingState;
use crate::hybrid::state::{Ftl, Held};
use crate::layout::{Stamp, Tag};
use crate::probe::{Cause, Probe};

/// What is known of the ring so far.
#[derive(Clone, Copy, Debug, Default)]
struct RingScan {
    /// The first block in use.
    first: Option<LogBlock>,
    /// The latest block in use so far, and its stamp.
    last: Option<(LogBlock, Stamp)>,
    /// The head and the tail, once a block is older than the one before.
    turned: Option<(LogBlock, LogBlock)>,
    /// The filled pages and the erase count of the latest block.
    filled: (u16, u32),
    /// The same of the head.
    head_filled: (u16, u32),
    /// The last page of the youngest block without summary.
    held: Option<Held>,
    /// Whether entries can be proved if the hash table is full.
    chains: ChainOrder,
    /// Whether the hash table had room so far.
    mapped: Mapped,
}

/// What became of the blocks that were skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
enum Passed {
    /// None was in use.
    None,
    /// Some were, and are mapped.
    Mapped,
}

/// Whether the chains can show which entries of the log are stale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ChainOrder {
    /// Not yet: a power cut may have left them out of order.
    #[default]
    Unknown,
    /// They are in order.
    Restored,
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Maps the log, except the page that was programmed last, if a power cut may have touched it.
    pub(crate) fn mount_log(&mut self, chains: ChainOrder) -> Result<Mapped, Fault<D::Error>> {
        self.the_log()?.index.clear();
        self.logged.clear();
        for number in 0..self.shape.logical_blocks {
            self.unproved.set(LogicalBlock::new(number), true);
        }
        let blocks = self.the_log()?.area().short_blocks();
        let mut found = RingScan { chains, mapped: Mapped::Fully, ..RingScan::default() };
        // Blocks without summary from here on were skipped, because they follow a free one.
        let mut gap: Option<u16> = None;
        for number in 0..blocks {
            let block = LogBlock::new(number);
            if self.the_log()?.ring().is_bad(block) {
                continue;
            }
            let summary = self.read_summary(block)?;
            if summary.is_none() && (gap.is_some() || !self.is_used(block)?) {
                gap.get_or_insert(number);
                continue;
            }
            let passed = match gap.take() {
                Some(from) => self.mount_passed(&mut found, from, number)?,
                None => Passed::None,
            };
            let summary = match passed {
                Passed::None => summary,
                // Its codes have taken the place of this block's.
                Passed::Mapped => self.read_summary(block)?,
            };
            self.mount_block(&mut found, block, summary)?;
        }
        if let Some(from) = gap {
            let _ = self.mount_passed(&mut found, from, blocks)?;
        }
        if found.last.is_none() {
            // Even if no block has a summary, one may be in use: the head of an almost empty log.
            for number in 0..blocks {
                let block = LogBlock::new(number);
                if !self.the_log()?.ring().is_bad(block) && self.is_used(block)? {
                    self.mount_block(&mut found, block, None)?;
                }
            }
        }
        self.restore_ring(&found)?;
        if let Some(state) = &mut self.unsettled {
            state.held = found.held;
        }
        Ok(found.mapped)
    }

    /// Maps the skipped blocks that are in use after all: those directly before a block in use, or before the end of
    /// the ring.
    fn mount_passed(
        &mut self,
        found: &mut RingScan,
        from: u16,
        to: u16,
    ) -> Result<Passed, Fault<D::Error>> {
        let mut first = to;
        while first > from {
            let before = LogBlock::new(first - 1);
            if !self.the_log()?.ring().is_bad(before) && !self.is_used(before)? {
                break;
            }
            first -= 1;
        }
        for number in first..to {
            let block = LogBlock::new(number);
            if !self.the_log()?.ring().is_bad(block) {
                self.mount_block(found, block, None)?;
            }
        }
        Ok(if first < to { Passed::Mapped } else { Passed::None })
    }

    /// Reads the summary of a block into the codes. `None`: it has no readable one.
    fn read_summary(&mut self, block: LogBlock) -> Result<Option<Tag>, Fault<D::Error>> {
        let log = self.log.as_mut().ok_or(Fault::Corrupt)?;
        log.read_summary(&mut self.flash, block)
    }

    /// Whether a block without summary was begun, even if only by a torn page.
    fn is_used(&mut self, block: LogBlock) -> Result<bool, Fault<D::Error>> {
        Ok(!self.flash.look(Spot::log(block, 0), Cause::Mount)?.is_erased())
    }

    /// Maps the sectors of a block in use, whose codes were read if it has a summary.
    fn mount_block(
        &mut self,
        found: &mut RingScan,
        block: LogBlock,
        summary: Option<Tag>,
    ) -> Result<(), Fault<D::Error>> {
        let (pages, slots) = (self.the_log()?.data_pages(), self.the_log()?.area().slots);
        let before = found.last;
        let head_filled = found.filled;
        let stamp = match summary {
            Some(tag) => {
                let last = self.the_log()?.area().pages - 1;
                self.meet(Spot::log(block, last), &tag);
                found.filled = (pages, tag.note);
                tag.stamp
            }
            None => match self.mount_tags(found, block)? {
                Some(stamp) => stamp,
                // Nothing in it can be read.
                None => return Ok(()),
            },
        };
        if let Some((last, newest)) = before
            && stamp < newest
        {
            found.turned = Some((last, block));
            found.head_filled = head_filled;
        }
        found.first.get_or_insert(block);
        found.last = Some((block, stamp));
        for page in 0..pages {
            for slot in 0..slots {
                // If the table is full, the rest is only visited, and mapped later.
                if found.mapped == Mapped::Fully
                    && let Some(sector) = self.the_log()?.code(page, slot).copy_of()
                    && !self.is_overridden(found, sector)?
                {
                    let place = self.the_log()?.place(block, page, slot);
                    found.mapped = self.mount_entry(sector, place, found.chains)?;
                }
            }
        }
        Ok(())
    }

    /// Whether the log's entry for a sector was found before the ring's head, so it is newer than those found now.
    fn is_overridden(&mut self, found: &RingScan, sector: Sector) -> Result<bool, Fault<D::Error>> {
        if sector.get() >= self.shape.capacity.get() {
            return Err(Fault::Corrupt);
        }
        let Some((head, _)) = found.turned else {
            return Ok(false);
        };
        let log = self.the_log()?;
        Ok(log.index.find(sector).is_some_and(|at| rules::is_up_to_head(log.block_of(at), head)))
    }

    /// Reads the codes of a block without summary from its tags. Its last page is set aside if no other block without
    /// summary is younger.
    fn mount_tags(
        &mut self,
        found: &mut RingScan,
        block: LogBlock,
    ) -> Result<Option<Stamp>, Fault<D::Error>> {
        let log = self.log.as_mut().ok_or(Fault::Corrupt)?;
        let listed = log.read_tags(&mut self.flash, block)?;
        let Some((page, tag)) = listed.last else {
            return Ok(None);
        };
        // If the page that records its wear cannot be read, the wear of the previous block is assumed.
        found.filled = (listed.pages, listed.wear.unwrap_or(found.filled.1));
        self.meet(Spot::log(block, page), &tag);
        let now = Held { block, page, stamp: tag.stamp };
        if found.held.is_none_or(|held| held.stamp < now.stamp) {
            let earlier = found.held.replace(now);
            if let Some(earlier) = earlier.filter(|_| found.mapped == Mapped::Fully) {
                found.mapped = self.mount_held(earlier, found.chains)?;
            }
            self.the_log()?.blank_codes(page);
        }
        Ok(Some(tag.stamp))
    }

    /// Maps those sectors of a page that was set aside which are newer than the log's copies.
    pub(crate) fn mount_held(
        &mut self,
        held: Held,
        chains: ChainOrder,
    ) -> Result<Mapped, Fault<D::Error>> {
        let slots = self.the_log()?.area().slots;
        let found = match self.flash.look(Spot::log(held.block, held.page), Cause::Mount)? {
            Seen::Page(page) => page,
            Seen::Erased | Seen::Unreadable => return Ok(Mapped::Fully),
        };
        if !rules::may_be_mapped(found.kind) {
            return Ok(Mapped::Fully);
        }
        let found = Gathered::of(&found, 0, slots);
        for (slot, found) in found.into_list() {
            let Some(sector) = found.copy_of() else { continue };
            if sector.get() >= self.shape.capacity.get() {
                return Err(Fault::Corrupt);
            }
            let log = self.the_log()?;
            if let Some(at) = log.index.find(sector) {
                let (spot, _) = log.spot(at);
                if self.is_after(spot, held.stamp)? {
                    continue;
                }
            }
            let place = self.the_log()?.place(held.block, held.page, slot);
            if self.mount_entry(sector, place, chains)? == Mapped::TableFull {
                return Ok(Mapped::TableFull);
            }
        }
        Ok(Mapped::Fully)
    }

    /// Whether a page of the log was programmed after the last page of a block.
    fn is_after(&mut self, spot: Spot, stamp: Stamp) -> Result<bool, Fault<D::Error>> {
        let pages = self.the_log()?.area().pages;
        for at in [spot.page()].into_iter().chain(0..rules::pages_that_tell(pages)) {
            match self.flash.look(spot.beside(at), Cause::Mount)?.tag() {
                Some(tag) if tag.stamp > stamp => return Ok(true),
                Some(_) if at == spot.page() => return Ok(false),
                _ => {}
            }
        }
        Ok(false)
    }

    /// Restores head and tail of the ring.
    fn restore_ring(&mut self, found: &RingScan) -> Result<(), Fault<D::Error>> {
        let Some((last, _)) = found.last else {
            // Nothing was ever written to the log, so no entry can be stale.
            for number in 0..self.shape.logical_blocks {
                self.unproved.set(LogicalBlock::new(number), false);
            }
            return Ok(());
        };
        let first = found.first.ok_or(Fault::Corrupt)?;
        let (head, tail) = found.turned.unwrap_or((last, first));
        let (head_page, lap) =
            if found.turned.is_some() { found.head_filled } else { found.filled };
        let ring = self.the_log()?.ring();
        let mut used = 1;
        let mut block = tail;
        while block != head && used < ring.good() {
            block = ring.after(block);
            used += 1;
        }
        let good = u64::from(ring.good());
        let before = (0..head.get()).filter(|at| !ring.is_bad(LogBlock::new(*at))).count();
        let opened = u64::from(lap.saturating_sub(1)) * good + before as u64 + 1;
        let erases = opened.saturating_sub(u64::from(used));
        self.the_log()?.ring_mut().restore(RingState { head, head_page, tail, used, lap, erases });
        Ok(())
    }

    /// Maps a sector to its place in the log. An earlier entry of it is older.
    fn mount_entry(
        &mut self,
        sector: Sector,
        place: LogSlot,
        chains: ChainOrder,
    ) -> Result<Mapped, Fault<D::Error>> {
        if sector.get() >= self.shape.capacity.get() {
            return Err(Fault::Corrupt);
        }
        self.logged.set(self.mlc.locate(sector).0, true);
        let mapped = self.the_log()?.restore(place, sector);
        if mapped == Mapped::Fully || chains == ChainOrder::Unknown {
            return Ok(mapped);
        }
        // The table holds stale entries, which would have been removed at run time.
        for number in 0..self.shape.logical_blocks {
            let logical = LogicalBlock::new(number);
            self.prove(logical)?;
            // Later entries must be proved again.
            self.unproved.set(logical, true);
        }
        // So are those of sectors whose newer copy was corrupted by a power cut.
        self.unmap_rescued()?;
        if self.is_rescued(sector)? || self.newest_of(sector, place)? == Newest::InChain {
            return Ok(Mapped::Fully);
        }
        let mapped = self.the_log()?.restore(place, sector);
        if let Some(state) = self.unsettled.as_mut().filter(|_| mapped == Mapped::TableFull) {
            // It is copied before anything relies on the log.
            state.log = mapped;
        }
        Ok(Mapped::Fully)
    }
}
