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
//! An anchor records only pages that are relied upon. Where pairs are guarded, it may leave *untold* what was
//! programmed last to open blocks: the next one tells that, and a mount reads the tags from there on.
//!
//! An anchor that may be torn is written again before anything else is programmed. A page that must be repeated after a
//! mount, or whose program failed, cannot be recorded, so an anchor is *void* until that page is programmed again.

use ftl_iface::{NandDevice, PageIndex};

use super::ring::RingUse;
use crate::error::Fault;
use crate::flash::Erasure;
use crate::paged::flash::PagedKind;
use crate::paged::plan::address::{BlockNumber, Spot};
use crate::paged::plan::shape::Area;
use crate::paged::rules;
use crate::paged::tables::blocks::Worn;
use crate::paged::tables::map;
use crate::paged::tables::records::{Head, Site, Trace, Walk, key_if_untold};
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::Stream;
use crate::probe::Probe;

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

/// An anchor leaves nothing untold that is older than so many times what it can cover.
const UNTOLD_SPANS: u64 = 2;
/// A mount's list begins so many times as far before the anchor: programs of anchors may fail.
pub(crate) const LISTED_SPANS: u64 = 3;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
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
        // What the last anchor left untold takes space in a mount's list, too.
        let untold = if self.shape.skips_pages() { self.anchors.untold_most() } else { 0 };
        let last = self.anchors.due_at.get() + self.anchor_programs() - 8 - untold;
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
        let free = |ftl: &Self, but| ftl.blocks.pick(ftl.listed_but(area, but), worn);
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
                Err(Fault::ReadOnly) => self.mark_last_anchor()?,
                shown => shown?,
            }
            self.list_blocks()?;
        }
        Ok(free(self, self.map.replaced).or_else(|| free(self, None)))
    }

    /// Iterates over the free blocks that the last anchor lists, except one.
    pub(super) fn listed_but(
        &self,
        area: Area,
        but: Option<BlockNumber>,
    ) -> impl Iterator<Item = BlockNumber> + '_ {
        let listed = self.anchors.listed[area as usize].iter().flatten().copied();
        listed.filter(move |block| self.blocks.is_free(*block) && Some(*block) != but)
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
        self.pass_stamps_after(self.anchors.last());
        self.note_news();
        let may_wait = self.shape.skips_pages() && self.anchors.tells() && self.anchors.has_room();
        if !may_wait || self.anchors.due || self.is_void() || self.is_long_untold() {
            self.tell_all();
        }
        self.rely_on_told();
        let listed = self.anchors.listed;
        let (mut ahead, mut has_failed) = (0, false);
        while let Some(site) = self.next_site(&mut ahead)? {
            if site.page == 0 && self.anchors.keeps_back() {
                if rules::must_begin_anew(has_failed) {
                    (self.anchors.base, self.anchors.walk) = (None, Walk::default());
                }
                // Versions that know of no untold pages find this one intact, and distrust those behind it.
                self.tell_all();
                self.rely_on_told();
            }
            self.list_blocks()?;
            if self.put_anchor(site)? == AnchorPut::Stands {
                return self.clear_doubt();
            }
            has_failed = true;
        }
        self.give_up_ring(listed)
    }

    /// Erases a block that may have held a later anchor before the mount: another anchor stands now.
    fn clear_doubt(&mut self) -> Result<(), Fault<D::Error>> {
        let Some(block) = self.anchors.doubtful.take() else { return Ok(()) };
        if self.anchors.block == Some(block) {
            return Ok(());
        }
        self.erase_ring_block(block).map(|_| ())
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
    pub(super) fn is_pending(&self) -> bool {
        self.suspect.is_some() || self.has_rest()
    }

    /// Whether what the next anchor would leave untold is too old for a mount's list: stamps may have been passed over.
    fn is_long_untold(&self) -> bool {
        self.flash.stamp().get() > self.anchors.told_to.get() + UNTOLD_SPANS * self.anchor_span()
    }

    /// Whether the next anchor must be void.
    fn is_void(&self) -> bool {
        rules::pending_voids_anchor(self.is_pending())
            || rules::failure_voids_anchor(self.failing.is_some())
    }

    /// Composes an anchor and programs it.
    fn put_anchor(&mut self, site: Site) -> Result<AnchorPut, Fault<D::Error>> {
        let void = self.is_void();
        if void {
            (self.anchors.base, self.anchors.walk) = (None, Walk::default());
        }
        let before = (self.anchors.walk, self.anchors.base);
        let told = self.anchors.set_aside();
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
            *told = open.map(|open| Spot { block: open.block, page: open.told });
        }
        self.anchors.put_head(&head);
        let key = self.flash.key();
        let leaves_some = self.opens.iter().flatten().any(|open| open.told < open.next);
        let key = if leaves_some { key_if_untold(key) } else { key };
        map::seal_bytes(self.anchors.page, self.epoch.horizon, key);
        let page = self.ring_block(site.block).page(PageIndex::new(site.page));
        match self.flash.program_aside(page, PagedKind::Anchor, self.anchors.page) {
            Ok(()) => {
                self.anchors.set_last(self.flash.stamp());
                (self.anchors.block, self.anchors.next) = (Some(site.block), Some(site.page + 1));
                self.anchors.number = site.number.wrapping_add(1);
                (self.anchors.due, self.anchors.void) = (false, void);
                self.anchors.take_back(0);
                self.anchors.trace = Trace::NotNeeded;
                Ok(AnchorPut::Stands)
            }
            Err(Fault::BlockFailed) => {
                self.anchors.take_back(told);
                (self.anchors.walk, self.anchors.base) = before;
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

    /// Completes the walk, so that the next mount reads as little as possible.
    pub(crate) fn end_walk(&mut self) -> Result<(), Fault<D::Error>> {
        if !self.shape.has_anchors() {
            return Ok(());
        }
        (self.anchors.walk, self.anchors.rests_to) = (Walk::default(), 0);
        self.tell_all();
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
