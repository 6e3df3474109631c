//! A copy of the page that a power cut may have touched, before anything relies on it.
//!
//! The page that was programmed last may have been in flight. It may read well now and badly later, so that it cannot
//! be what the host is told. Its sectors are copied to a rescue block, and a commit after them makes the copy count;
//! from there they are written to their chains again, as any write. Only then is the copy erased. A cut anywhere in
//! this finds the page or a copy that counts. A second page proves the commit, for the commit may be torn itself: where
//! the proof was not begun, nothing has relied on the copy yet, and what it was made of still stands.
//!
//! A copy is erased once all of it is written again, and nothing else is programmed in between. A cut in that erase may
//! leave pages that read well for a while, and so may one in the erase of a copy that was not proved, which can even
//! look proved then. So a copy counts only while all of it can be read, and what counts is copied to a fresh block
//! before anything else. Where a page of it is gone, all of it was written before, or nothing has relied on it.
//!
//! A page that *failed* to program is treated as one that was torn: it may read well for a while, too. Before anything
//! else is programmed its content goes to a rescue block, and the copy is erased when the page stands elsewhere.

mod copying;
mod writing;

use ftl_iface::NandDevice;

use super::Ftl;
use super::settle::Youngest;
use crate::address::ChainBlock;
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::flash::{Seen, Spot};
use crate::layout::{Kind, Slot, Stamp};
use crate::probe::{Cause, Probe};
use crate::shape::{PLACES, RESCUE, RESCUE_BLOCKS};

/// A copy in one block, with a commit that is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copy {
    /// The block that it stands in.
    pub(crate) block: u16,
    /// Its pages.
    pages: u16,
    /// When it was made to count.
    pub(crate) stamp: Stamp,
    /// The data block of whose last page it is a copy.
    pub(crate) ended: Option<ChainBlock>,
}

/// The copies that count, the newest first. Those before it count where the newer ones had no room for what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rescued {
    copies: [Option<Copy>; COPIES_MAX],
}

impl Rescued {
    const NONE: Self = Self { copies: [None; COPIES_MAX] };

    /// That one alone.
    pub(crate) const fn one(copy: Copy) -> Self {
        let mut copies = Self::NONE.copies;
        copies[0] = Some(copy);
        Self { copies }
    }

    /// The copies before the one that was made last.
    fn without_newest(self) -> Self {
        let mut copies = self.copies;
        copies.rotate_left(1);
        copies[COPIES_MAX - 1] = None;
        Self { copies }
    }

    /// The one that was made last.
    pub(crate) fn newest(self) -> Option<Copy> {
        self.copies[0]
    }

    fn copies(self) -> impl Iterator<Item = Copy> {
        self.copies.into_iter().flatten()
    }

    /// These, and a newer one. `None`: there is no room for as many.
    fn after(self, newest: Copy) -> Option<Self> {
        let mut copies = [None; COPIES_MAX];
        let [first, rest @ ..] = &mut copies;
        *first = Some(newest);
        for (cell, copy) in rest.iter_mut().zip(self.copies()) {
            *cell = Some(copy);
        }
        (self.copies().count() < COPIES_MAX).then_some(Self { copies })
    }
}

/// Blocks that carry copies at a time: the rescue blocks, and one of each place of checkpoints.
const COPIES_MAX: usize = (RESCUE_BLOCKS + PLACES) as usize;

/// A bit in the note of a commit: the copy before it counts, too.
const BESIDE: u32 = 1 << 23;

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// The commit of a rescue block: its last page but one. The last page proves it.
    fn commit_spot(&self, block: u16) -> Spot {
        Spot::meta(block, self.shape.meta.pages.saturating_sub(2))
    }

    fn proof_spot(&self, block: u16) -> Spot {
        Spot::meta(block, self.shape.meta.pages - 1)
    }

    /// What counts of the copies: the newest whose proof was begun, and those before it as far as each says so.
    pub(crate) fn find_rescued(&mut self) -> Result<Option<Rescued>, Fault<D::Error>> {
        let mut found = [None; COPIES_MAX];
        for block in self.rescue_blocks() {
            let mut next = self.copy_in(block)?;
            for cell in &mut found {
                let stamp = |copy: &Option<(Copy, bool)>| copy.map(|(copy, _)| copy.stamp);
                if stamp(&next) > stamp(cell) {
                    core::mem::swap(cell, &mut next);
                }
            }
        }
        let (mut rescued, mut count) = (Rescued::NONE, 0);
        for (copy, beside) in found.into_iter().flatten() {
            // Where a page is gone an erase was begun: of a copy that was written from, and says nothing new; or of
            // one on which nothing relied yet, so that the one before it counts.
            if !self.stands(copy)? && !planted(Bug::BelieveOldCopy) {
                continue;
            }
            if let Some(cell) = rescued.copies.get_mut(count) {
                *cell = Some(copy);
                count += 1;
            }
            if !beside {
                break;
            }
        }
        Ok(rescued.newest().map(|_| rescued))
    }

    /// Whether every page of a copy can be read.
    fn stands(&mut self, copy: Copy) -> Result<bool, Fault<D::Error>> {
        for page in 0..copy.pages {
            let seen = self.flash.look(Spot::meta(copy.block, page), Cause::Mount)?;
            if !matches!(seen, Seen::Page(_)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The copy in a rescue block, if its proof was begun, and whether the one before it counts, too.
    fn copy_in(&mut self, block: u16) -> Result<Option<(Copy, bool)>, Fault<D::Error>> {
        let spot = self.commit_spot(block);
        if self.flash.is_bad(spot)? {
            return Ok(None);
        }
        let proof = self.flash.look(self.proof_spot(block), Cause::Mount)?;
        let proved = proof != Seen::Erased || planted(Bug::TrustCommit);
        let Seen::Page(tag) = self.flash.look(spot, Cause::Mount)? else {
            return Ok(None);
        };
        self.flash.raise_stamp(tag.stamp);
        if !proved || tag.kind != Kind::Commit {
            return Ok(None);
        }
        let ended = match self.flash.slot(0) {
            Slot::Elsewhere(number) if !planted(Bug::ForgetEndedFold) => {
                Some(ChainBlock::new(number.get() as u16))
            }
            _ => None,
        };
        let pages = (tag.note & !BESIDE).min(u32::from(self.shape.meta.pages)) as u16;
        let copy = Copy { block, pages, stamp: tag.stamp, ended };
        Ok(Some((copy, tag.note & BESIDE != 0)))
    }

    /// Makes the copy, if there is anything to copy: of the page programmed last. Says where the copy is.
    pub(crate) fn secure_youngest(
        &mut self,
        before: Option<Rescued>,
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
        let Some(youngest) = self.unsettled.and_then(|state| state.youngest) else {
            return Ok(before);
        };
        if let Some(before) = before {
            if planted(Bug::BelieveOldCopy) {
                return Ok(Some(before));
            }
            // What was written from the copy is still covered by it. A fold may have ended meanwhile.
            let newer = before.newest().is_none_or(|copy| youngest.stamp > copy.stamp);
            if newer
                && self.ends_fold(&youngest)?
                && let Some(rescued) = self.copy_fold_end(before, &youngest)?
            {
                return Ok(Some(rescued));
            }
            if let Some(rescued) = self.copy_anew(before)? {
                return Ok(Some(rescued));
            }
            // It has gone bad since it was found, and so was being erased.
        }
        let backups = self.find_backups(&youngest)?;
        let content = youngest.kind.is_content() && !planted(Bug::ForgetYoungest);
        let own = (content || self.ends_fold(&youngest)?).then_some(youngest);
        if own.is_some() || backups.is_some() {
            self.copy_youngest(own, backups)
        } else {
            // It holds nothing that does not stand elsewhere.
            Ok(None)
        }
    }

    /// Whether a page is the last of a data block, which makes the block count; unless it was torn and ruined others of
    /// the block.
    fn ends_fold(&mut self, page: &Youngest) -> Result<bool, Fault<D::Error>> {
        let last = page.kind == Kind::Data && page.spot.page() + 1 == self.shape.chain.pages;
        Ok(last && self.partners_stand(page.spot.chain_block())?)
    }

    /// The blocks in which copies may stand: the rescue blocks; and those of checkpoints, which say nothing any more
    /// when copies are made.
    fn rescue_blocks(&self) -> core::ops::Range<u16> {
        RESCUE.start..self.shape.meta.blocks
    }

    /// A rescue block that is not bad, and carries nothing that counts.
    pub(super) fn rescue_block(
        &mut self,
        counts: Option<Rescued>,
    ) -> Result<Option<u16>, Fault<D::Error>> {
        for block in self.rescue_blocks() {
            let spot = Spot::meta(block, 0);
            let carries = |rescued: Rescued| rescued.copies().any(|copy| copy.block == block);
            if !counts.is_some_and(carries)
                && !self.flash.failed.is_failing(spot)
                && !self.flash.is_bad(spot)?
            {
                return Ok(Some(block));
            }
        }
        Ok(None)
    }

    /// Erases the copies, once what they held is written, and what else stands in rescue blocks.
    pub(crate) fn clear_rescue_blocks(
        &mut self,
        rescued: Option<Rescued>,
    ) -> Result<(), Fault<D::Error>> {
        let newest = rescued.and_then(Rescued::newest).map(|copy| copy.block);
        // The one that was made last goes last: an older one alone would say too little.
        for block in self.rescue_blocks() {
            if newest != Some(block) && self.is_begun(block)? {
                self.erase_or_lose(Spot::meta(block, 0))?;
            }
        }
        match newest {
            Some(block) => self.erase_or_lose(Spot::meta(block, 0)).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Whether the commit of a copy was begun in a block, well or not. The blocks of checkpoints have pages of their
    /// own.
    fn is_begun(&mut self, block: u16) -> Result<bool, Fault<D::Error>> {
        Ok(match self.flash.look(self.commit_spot(block), Cause::Mount)? {
            Seen::Erased => false,
            Seen::Page(tag) => tag.kind == Kind::Commit || RESCUE.contains(&block),
            Seen::Unreadable => true,
        })
    }
}
