//! Anchors: small incremental checkpoints, so that a mount need not read every block. They are written in sequence into
//! a ring of blocks of their own. Each lists the open blocks, the blocks that may be opened before the next anchor, and
//! *records*: what was programmed since the previous anchor, and, in the remaining space, the next part of a walk over
//! all tables that a mount needs: the address of each map page, the dirty entries, the wear of each block.
//!
//! ```text
//!  … ─▶ anchor ─▶ anchor ─▶ … ─▶ anchor ─▶ tags of what came since, in blocks that this one lists
//!       └ base: the last completed walk began here ┘
//! ```
//!
//! A mount applies the records from the base on, in order, and then the tags of what came later: this rebuilds the
//! tables. Anchors are never required: if none is intact, or the ring was too short for a walk, the mount reads every
//! block.
//!
//! An anchor records only pages that are relied upon. An anchor that may be torn is written again before anything else
//! is programmed. A page that must be repeated after a mount, or whose program failed, cannot be recorded, so an anchor
//! is *void* until that page is programmed again.

use ftl_iface::{NandDevice, PageIndex, Sector};

use super::ring::RingUse;
use crate::error::Fault;
use crate::flash::Erasure;
use crate::layout::Stamp;
use crate::paged::flash::PagedKind;
use crate::paged::plan::address::{BlockNumber, Leaf, Spot};
use crate::paged::plan::anchor_page::{LISTED, programs_between};
use crate::paged::plan::shape::Area;
use crate::paged::rules;
use crate::paged::tables::blocks::Worn;
use crate::paged::tables::dirty::Dirty;
use crate::paged::tables::map;
use crate::paged::tables::records::{Head, Record, Run, Site, Trace, Walk};
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{Open, Stream};
use crate::probe::{Cause, Probe};

/// The free blocks of each area that may be opened before the next anchor.
type Listed = [[Option<BlockNumber>; LISTED]; 2];

/// What became of an anchor.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnchorPut {
    /// It is on flash.
    Stands,
    /// Its block failed.
    BlockFailed,
}

/// Further anchors written directly after one while no walk is complete: they cost less than a mount that reads every
/// block.
pub(crate) const MORE_ANCHORS: u32 = 15;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Returns the number of programs after which an anchor is written.
    pub(crate) fn anchor_programs(&self) -> u64 {
        programs_between(self.anchors.page.len())
    }

    /// Records the content of a programmed page.
    pub(crate) fn record_page(&mut self, spot: Spot, kind: PagedKind) {
        if !self.shape.has_anchors() {
            return;
        }
        if kind.is_map() {
            if let Some(leaf) = map::leaf_named(self.flash.held(0)) {
                self.anchors
                    .record(Record::Written(leaf.get(), self.shape.map_area().page_number(spot)));
            }
            return;
        }
        self.record_slots(spot, |ftl, slot| ftl.flash.held(slot).copy_of().map(Sector::get));
    }

    /// Records the sectors in a page's slots, as runs.
    pub(crate) fn record_slots(&mut self, spot: Spot, held: impl Fn(&Self, u16) -> Option<u32>) {
        let area = self.shape.area_at(spot.block);
        let (slots, first) = (area.slots, area.place(spot, 0).get());
        let capacity = self.shape.capacity.get();
        let mut slot = 0;
        while slot < slots {
            let begun = slot;
            slot += 1;
            let Some(sector) = held(self, begun).filter(|sector| *sector < capacity) else {
                continue;
            };
            let end = slots.min(begun + Record::RUN_MAX);
            while slot < end
                && let Some(next) = held(self, slot)
                && next == sector + u32::from(slot - begun)
                && next < capacity
            {
                slot += 1;
            }
            let (place, count) = (first + u32::from(begun), u32::from(slot - begun));
            self.anchors.record(Record::Sectors(place, sector, count));
        }
    }

    /// Records that a block was erased or is bad.
    pub(crate) fn record_block(&mut self, block: BlockNumber) {
        if self.shape.has_anchors() {
            let known = (!self.blocks.is_bad(block)).then(|| self.blocks.known(block));
            self.anchors.record(Record::Block(block.get(), known));
        }
    }

    /// Writes an anchor if one is due.
    #[inline]
    pub(crate) fn anchor_if_due(&mut self) -> Result<(), Fault<D::Error>> {
        let is_far = self.flash.stamp() < self.anchors.due_at && self.anchors.has_room();
        let settled = !self.anchors.due && !self.anchors.void && !self.is_pending();
        if !self.shape.has_anchors() || is_far && settled {
            return Ok(());
        }
        if self.delays_anchor() { Ok(()) } else { self.write_anchor() }
    }

    /// Whether an anchor that is due should wait for a pending repetition: until then it would be void.
    #[inline(never)]
    fn delays_anchor(&self) -> bool {
        let last = self.anchors.due_at.get() + self.anchor_programs() - 8;
        let slots = usize::from(self.shape.slots_max());
        self.is_pending()
            && !self.anchors.due
            && self.flash.stamp().get() < last
            && self.anchors.room() >= slots + 2
    }

    /// Returns the next block to open: one that the last anchor lists. The block of a map page that was just replaced
    /// is the last choice: a power cut in its erase leaves a mount with neither page, but with one that is older.
    /// Before it is taken an anchor is written, which lists other blocks, if there are any, and knows the new page.
    pub(crate) fn next_listed(
        &mut self,
        area: Area,
        worn: Worn,
    ) -> Result<Option<BlockNumber>, Fault<D::Error>> {
        if !self.shape.has_anchors() {
            let other = self.blocks.next_free(area, &[self.map.replaced]);
            return Ok(other.or_else(|| self.blocks.next_free(area, &[])));
        }
        let free = |ftl: &Self, but: Option<BlockNumber>| {
            let listed = ftl.anchors.listed[area as usize].iter().flatten().copied();
            let others = listed.filter(|block| ftl.blocks.is_free(*block) && Some(*block) != but);
            ftl.blocks.pick(others, worn)
        };
        if let Some(block) = free(self, self.map.replaced) {
            return Ok(Some(block));
        }
        if !rules::must_be_listed() {
            return Ok(self.blocks.next_free(area, &[]));
        }
        if self.blocks.free(area) > 0 && self.anchors.trace != Trace::Missing {
            self.write_anchor()?;
        }
        let none = self.blocks.free(area) > 0 && free(self, None).is_none();
        if none && self.anchors.trace == Trace::Missing {
            match self.show_anchor_is_old() {
                Err(Fault::ReadOnly) => self.erase_last_anchor()?,
                shown => shown?,
            }
            self.list_blocks()?;
        }
        Ok(free(self, self.map.replaced).or_else(|| free(self, None)))
    }

    /// Writes an anchor, and a few more while no walk is complete, so that it completes soon.
    #[inline(never)]
    fn write_anchor(&mut self) -> Result<(), Fault<D::Error>> {
        self.write_one_anchor()?;
        for _ in 0..MORE_ANCHORS {
            let walks = !self.is_pending() && self.anchors.next.is_some();
            if self.anchors.base.is_some() || !walks {
                break;
            }
            self.waited = self.waited.saturating_add(1);
            self.write_one_anchor()?;
        }
        Ok(())
    }

    fn write_one_anchor(&mut self) -> Result<(), Fault<D::Error>> {
        if rules::must_rely_on_records() {
            self.rely();
        }
        self.pass_stamps_after(self.anchors.last());
        let listed = self.anchors.listed;
        let mut ahead = 0;
        while let Some(site) = self.next_site(&mut ahead)? {
            self.list_blocks()?;
            if self.put_anchor(site)? == AnchorPut::Stands {
                return self.clear_doubt();
            }
        }
        self.give_up_ring(listed)
    }

    /// Raises the stamp beyond those that an anchor with this one covers.
    fn pass_stamps_after(&mut self, anchor: Stamp) {
        let newest = Stamp::new(anchor.get() + self.anchor_span());
        self.flash.raise_stamp(newest);
    }

    /// Goes on without anchors. A mount must not take the last one for the newest state: the next page, which is
    /// programmed to a block that this anchor names, has a stamp beyond those that it covers.
    fn give_up_ring(&mut self, listed: Listed) -> Result<(), Fault<D::Error>> {
        (self.anchors.due, self.anchors.void) = (false, false);
        (self.anchors.records, self.anchors.next) = (0, None);
        (self.anchors.base, self.anchors.walk) = (None, Walk::default());
        self.anchors.listed = listed;
        // An anchor whose program failed may be readable.
        self.pass_stamps_after(self.flash.stamp());
        if self.anchors.trace == Trace::NotNeeded && self.anchors.block.is_some() {
            // Where blocks are marked bad, a mount sees that the ring was given up.
            let marked = self.ring_turns()? == RingUse::GivenUp;
            self.anchors.trace = if marked { Trace::Left } else { Trace::Missing };
        }
        self.anchors.set_last(self.flash.stamp());
        if self.anchors.trace == Trace::Missing { Ok(()) } else { self.list_blocks() }
    }

    /// Shows that the last anchor is out of date, before a block is opened that it does not list: programs an empty
    /// page to an open block. The page that is about to be programmed keeps its slots and its data.
    fn show_anchor_is_old(&mut self) -> Result<(), Fault<D::Error>> {
        if self.suspect.is_some() || self.failing.is_some() {
            return Err(Fault::ReadOnly);
        }
        self.flash.keep_held(&mut self.kept);
        self.flash.hold_nothing();
        for stream in Stream::ALL {
            let Some(open) = self.opens[stream as usize] else { continue };
            let Some(page) = self.safe_page(stream, open) else { continue };
            let spot = Spot { block: open.block, page };
            let wear = u32::from(self.blocks.wear(spot.block));
            let bytes = self.shape_of(stream).page_bytes.as_usize();
            // Its data does not count.
            let data = self.buffer.get(..bytes).unwrap_or(&[]);
            match self.flash.program(spot, PagedKind::Proof, wear, data, Cause::Meta) {
                Ok(()) => {
                    self.opens[stream as usize] = Some(Open { next: page + 1, ..open });
                    self.anchors.leave_trace();
                    break;
                }
                Err(Fault::BlockFailed) => self.give_up_block(stream, spot.block),
                Err(fault) => return Err(fault),
            }
        }
        self.flash.hold_kept(&self.kept);
        if self.anchors.trace == Trace::Missing { Err(Fault::ReadOnly) } else { Ok(()) }
    }

    /// Erases the block of the last anchor, where no page can show that it is out of date: right after a mount no block
    /// is open. A power cut in this erase may leave an older anchor; blocks that it names were written since, which
    /// shows it.
    fn erase_last_anchor(&mut self) -> Result<(), Fault<D::Error>> {
        let Some(block) = self.anchors.block.take() else { return Ok(()) };
        self.anchors.next = None;
        match self.erase_ring_block(block)? {
            Erasure::Done => {
                self.anchors.trace = Trace::NotNeeded;
                self.anchors.doubtful = None;
                Ok(())
            }
            Erasure::Failed => Err(Fault::ReadOnly),
        }
    }

    /// Erases a block that may have held a later anchor before the mount: another anchor stands now.
    fn clear_doubt(&mut self) -> Result<(), Fault<D::Error>> {
        let Some(block) = self.anchors.doubtful.take() else { return Ok(()) };
        if self.anchors.block == Some(block) {
            return Ok(());
        }
        self.erase_ring_block(block).map(|_| ())
    }

    /// Returns the most stamps that an anchor may cover.
    pub(crate) fn anchor_span(&self) -> u64 {
        4 * self.anchor_programs() + 64
    }

    /// Returns the page for the next anchor: after the last one, or in a later block of the ring, which is erased.
    /// `ahead` counts the blocks that were tried.
    fn next_site(&mut self, ahead: &mut u16) -> Result<Option<Site>, Fault<D::Error>> {
        let (pages, number) = (self.shape.map_area().pages, self.anchors.number);
        if let (Some(block), Some(next)) = (self.anchors.block, self.anchors.next)
            && let Some(page) = (next..pages).find(|page| self.takes_anchor(*page))
        {
            return Ok(Some(Site { number, block, page }));
        }
        if self.ring_turns()? == RingUse::GivenUp {
            return Ok(None);
        }
        while *ahead < self.shape.anchor_blocks() {
            *ahead += 1;
            let last = self.anchors.block.unwrap_or(self.shape.anchor_blocks() - 1);
            let block = self.ring_number(last + *ahead);
            let must_stand = rules::must_stand(block, self.anchors.block, self.anchors.doubtful);
            if must_stand || self.ring_block_is_bad(block)? {
                continue;
            }
            if self.erase_ring_block(block)? == Erasure::Done {
                return Ok(Some(Site { number, block, page: 0 }));
            }
        }
        Ok(None)
    }

    /// Whether the state in RAM is not complete yet: a page must be repeated, or dirty entries entered.
    fn is_pending(&self) -> bool {
        self.suspect.is_some() || self.has_rest()
    }

    /// Composes an anchor and programs it.
    fn put_anchor(&mut self, site: Site) -> Result<AnchorPut, Fault<D::Error>> {
        let void = rules::pending_voids_anchor(self.is_pending())
            || rules::failure_voids_anchor(self.failing.is_some());
        if void {
            (self.anchors.base, self.anchors.walk) = (None, Walk::default());
        }
        let before = (self.anchors.records, self.anchors.walk, self.anchors.base);
        if !void {
            self.walk_on(site);
        }
        let mut head = Head {
            number: site.number,
            base: self.anchors.base,
            horizon: self.epoch.horizon,
            records: self.anchors.records,
            tick: self.blocks.times.now(),
            opens: [None; Stream::ALL.len()],
            listed: self.anchors.listed,
        };
        for (told, open) in head.opens.iter_mut().zip(self.opens) {
            *told = open.map(|open| Spot { block: open.block, page: open.next });
        }
        self.anchors.put_head(&head);
        map::seal_bytes(self.anchors.page, self.epoch.horizon, self.flash.key());
        let page = self.ring_block(site.block).page(PageIndex::new(site.page));
        match self.flash.program_aside(page, PagedKind::Anchor, self.anchors.page) {
            Ok(()) => {
                self.anchors.set_last(self.flash.stamp());
                (self.anchors.block, self.anchors.next) = (Some(site.block), Some(site.page + 1));
                self.anchors.number = site.number.wrapping_add(1);
                (self.anchors.records, self.anchors.due, self.anchors.void) = (0, false, void);
                self.anchors.trace = Trace::NotNeeded;
                Ok(AnchorPut::Stands)
            }
            Err(Fault::BlockFailed) => {
                (self.anchors.records, self.anchors.walk, self.anchors.base) = before;
                if self.anchors.block == Some(site.block) {
                    // Earlier anchors in the block can still be read, and one may be the base. Only the remaining pages
                    // are given up.
                    self.anchors.next = None;
                } else {
                    self.flash.mark(self.ring_block(site.block))?;
                }
                Ok(AnchorPut::BlockFailed)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Fills the remaining space with the next part of the walk: the address of each map page, then all dirty entries,
    /// then the state of each block.
    fn walk_on(&mut self, site: Site) {
        let mut walk = self.anchors.walk;
        let rests = walk.begun.is_none() && self.anchors.base.is_some();
        if rests && site.number < self.anchors.rests_to {
            return;
        }
        let begun = walk.begun.unwrap_or(site);
        walk.begun = Some(begun);
        let mut room = self.anchors.room();
        while room > 0 {
            if walk.leaf < self.shape.leaves {
                let leaf = Leaf::new(walk.leaf);
                if let Some(page) = self.map.number(leaf) {
                    self.anchors.record(Record::Stands(leaf.get(), page));
                    room -= 1;
                }
                walk.leaf += 1;
            } else if walk.sector < self.shape.end() {
                walk.sector = self.walk_entries(walk.sector);
                room = self.anchors.room();
            } else if walk.block < self.shape.blocks() {
                self.record_block(BlockNumber::new(walk.block));
                room -= 1;
                walk.block += 1;
            } else {
                // After a walk, the next anchors hold only changes: twice as many as the walk took, but at most an
                // eighth of what the ring holds. So few more do not make a mount long.
                let ring =
                    u32::from(self.shape.anchor_blocks()) * u32::from(self.shape.map_area().pages);
                let took = site.number - begun.number + 1;
                self.anchors.rests_to = site.number + (2 * took).min(ring / 8);
                self.anchors.base = Some(begun);
                walk = Walk::default();
                break;
            }
        }
        self.anchors.walk = walk;
    }

    /// Records dirty entries from a sector on, while there is space. Returns the first sector that was not reached.
    ///
    /// What is written meanwhile to sectors before that is recorded when it is written.
    fn walk_entries(&mut self, from: Sector) -> Sector {
        let mut run: Option<Run> = None;
        for Dirty { sector, entry, .. } in self.table.entries_from(from) {
            if let Some(longer) = run.and_then(|run| run.with(sector, entry.place)) {
                run = Some(longer);
                continue;
            }
            if let Some(run) = run {
                self.anchors.record(run.record());
            }
            if self.anchors.room() == 0 {
                return sector;
            }
            run = Some(Run::of(sector, entry.place));
        }
        if let Some(run) = run {
            self.anchors.record(run.record());
        }
        self.shape.end()
    }

    /// Completes the walk, so that the next mount reads as little as possible.
    pub(crate) fn end_walk(&mut self) -> Result<(), Fault<D::Error>> {
        if !self.shape.has_anchors() {
            return Ok(());
        }
        (self.anchors.walk, self.anchors.rests_to) = (Walk::default(), 0);
        let before = self.anchors.base;
        let most = u32::from(self.shape.anchor_blocks()) * u32::from(self.shape.map_area().pages);
        for _ in 0..most {
            self.write_one_anchor()?;
            if self.anchors.base != before || self.anchors.next.is_none() {
                break;
            }
        }
        Ok(())
    }
}
