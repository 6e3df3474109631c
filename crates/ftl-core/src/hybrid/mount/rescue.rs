//! A copy of the page that a power cut may have damaged, made before anything relies on that page.
//!
//! The last programmed page may have been in flight. It may be readable now and unreadable later, so the host must not
//! get its data. Its sectors are copied to a rescue block, and a commit page after them makes the copy valid. From
//! there they are written to their chains again like any write. Only then is the copy erased. A power cut at any point
//! finds either the page or a valid copy. A second page proves the commit, because the commit itself may be torn: if
//! the proof was not begun, nothing has relied on the copy yet, and its sources still exist.
//!
//! A copy is erased once all of it is written again, and nothing else is programmed in between. A power cut in that
//! erase may leave pages that read well for a while. The same holds for the erase of a copy that was not proved, which
//! may then even look proved. So a copy is valid only while all of it can be read, and a valid copy is first copied to
//! a fresh block. If a page of it is missing, all of it was written before, or nothing has relied on it.
//!
//! A page that *failed* to program is treated like a torn page, because it may also read well for a while. Before
//! anything else is programmed, its content goes to a rescue block. The copy is erased when the page is stored
//! elsewhere.

use ftl_iface::NandDevice;

use crate::error::Fault;
use crate::hybrid::address::ChainBlock;
use crate::hybrid::flash::{Seen, Spot};
use crate::hybrid::path::pairs::Backups;
use crate::hybrid::rescued::{BESIDE, COPIES_MAX, Copy, Rescued};
use crate::hybrid::rules;
use crate::hybrid::shape::RESCUE;
use crate::hybrid::state::{Ftl, Youngest};
use crate::layout::Kind;
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// The valid copies: the newest whose proof was begun, and the one before it, if the newer one is marked as beside
    /// it, and so on.
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
            // A missing page means that an erase was begun: of a copy whose data was all written again, or of one on
            // which nothing relied yet, so that the one before it is valid.
            if !self.is_copy_readable(copy)? && !rules::may_trust_half_erased() {
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
    fn is_copy_readable(&mut self, copy: Copy) -> Result<bool, Fault<D::Error>> {
        for page in 0..copy.pages {
            if !self.flash.look(Spot::meta(copy.block, page), Cause::Mount)?.is_page() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The copy in a rescue block, if its proof was begun, and whether the one before it is valid, too.
    fn copy_in(&mut self, block: u16) -> Result<Option<(Copy, bool)>, Fault<D::Error>> {
        let spot = self.commit_spot(block);
        if self.flash.is_bad(spot)? {
            return Ok(None);
        }
        let proof = self.proof_spot(block);
        let proved = rules::is_proved(self.flash.look(proof, Cause::Mount)?);
        let Seen::Page(commit) = self.flash.look(spot, Cause::Mount)? else {
            return Ok(None);
        };
        let (tag, named) = (commit.tag(), commit.slot(0));
        self.flash.raise_stamp(tag.stamp);
        if !proved || tag.kind != Kind::Commit {
            return Ok(None);
        }
        let ended = rules::fold_ended_by(named);
        let pages = (tag.note & !BESIDE).min(u32::from(self.shape.meta.pages)) as u16;
        let copy = Copy { block, pages, stamp: tag.stamp, ended };
        Ok(Some((copy, tag.note & BESIDE != 0)))
    }

    /// Makes a copy of the page programmed last, if there is anything to copy. Returns where the copy is.
    pub(crate) fn secure_youngest(
        &mut self,
        before: Option<Rescued>,
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
        let Some(youngest) = self.unsettled.and_then(|state| state.youngest) else {
            return Ok(before);
        };
        if let Some(before) = before {
            if rules::may_trust_half_erased() {
                return Ok(Some(before));
            }
            // Data written from the copy is still covered by it. A fold may have completed meanwhile.
            let newer = before.newest().is_none_or(|copy| youngest.stamp > copy.stamp);
            if newer
                && self.is_end_of_fold(&youngest)?
                && let Some(rescued) = self.copy_fold_end(before, &youngest)?
            {
                return Ok(Some(rescued));
            }
            if let Some(rescued) = self.copy_anew(before)? {
                return Ok(Some(rescued));
            }
            // It has become unreadable since it was found, so it was being erased.
        }
        let backups = self.find_backups(&youngest)?;
        let content = rules::must_copy_youngest(youngest.kind);
        let own = (content || self.is_end_of_fold(&youngest)?).then_some(youngest);
        if own.is_some() || backups.is_some() {
            self.copy_youngest(own, backups)
        } else {
            // All that it holds is also elsewhere.
            Ok(None)
        }
    }

    /// Whether a page is the last of a data block, which makes the block valid, unless it was torn and corrupted others
    /// of the block.
    fn is_end_of_fold(&mut self, page: &Youngest) -> Result<bool, Fault<D::Error>> {
        let last = page.kind == Kind::Data && page.spot.page() + 1 == self.shape.chain.pages;
        Ok(last && self.are_partners_readable(page.spot.chain_block())?)
    }

    /// Erases the copies after their data was written again, and anything else in the rescue blocks.
    pub(crate) fn clear_rescue_blocks(
        &mut self,
        rescued: Option<Rescued>,
    ) -> Result<(), Fault<D::Error>> {
        let newest = rescued.and_then(Rescued::newest).map(|copy| copy.block);
        // The newest copy is erased last, because an older one alone would be incomplete.
        for block in self.rescue_blocks() {
            if newest != Some(block) && self.is_begun(block)? {
                self.discard(Spot::meta(block, 0))?;
            }
        }
        match newest {
            Some(block) => self.discard(Spot::meta(block, 0)),
            None => Ok(()),
        }
    }

    /// Whether the commit of a copy was begun in a block, complete or torn. The blocks of checkpoints have other pages
    /// there.
    fn is_begun(&mut self, block: u16) -> Result<bool, Fault<D::Error>> {
        Ok(match self.flash.look(self.commit_spot(block), Cause::Mount)? {
            Seen::Erased => false,
            Seen::Page(page) => page.kind == Kind::Commit || RESCUE.contains(&block),
            Seen::Unreadable => true,
        })
    }

    /// Copies what the program of a page may have corrupted, and then the page itself.
    pub(crate) fn copy_youngest(
        &mut self,
        youngest: Option<Youngest>,
        backups: Option<Backups>,
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
        while let Some(target) = self.rescue_block(None)? {
            match self.copy_youngest_to(target, youngest, backups) {
                // Another block may work. Nothing relied on this one yet, and its content must not become valid later.
                Err(Fault::BlockFailed) => self.discard(Spot::meta(target, 0))?,
                outcome => {
                    return outcome.map(|copy| copy.map(Rescued::one));
                }
            }
        }
        // Without a copy nothing more may be programmed or erased.
        Err(self.no_block_left())
    }

    pub(crate) fn copy_youngest_to(
        &mut self,
        target: u16,
        youngest: Option<Youngest>,
        backups: Option<Backups>,
    ) -> Result<Option<Copy>, Fault<D::Error>> {
        self.flash.erase(Spot::meta(target, 0), Cause::Meta)?;
        let mut pages = 0;
        let mut ended = None;
        for number in 0..backups.map_or(0, Backups::count) {
            let spot = backups.and_then(|backups| self.backup_spot(backups, number));
            // An unreadable backup was itself the last program: the page that it was made for was not begun.
            pages = self.copy_page(spot.ok_or(Fault::Corrupt)?, target, pages)?.unwrap_or(pages);
        }
        if let Some(youngest) = youngest
            && let Some(next) = self.copy_page(youngest.spot, target, pages)?
        {
            pages = next;
            ended = (youngest.kind == Kind::Data).then(|| youngest.spot.chain_block());
        } else if pages == 0 {
            return Ok(None);
        }
        self.commit(target, pages, ended, None).map(Some)
    }

    /// Copies a fold's last page to another rescue block, and after it the valid copy; or that page alone, if there is
    /// no room for both. `None`: one of them cannot be read any more, so the page was never valid, or the copy was
    /// being erased; or, after power has failed at the ends of several folds in a row, no block is left. Then the fold
    /// is abandoned if the blocks that it froze are known to exist.
    pub(crate) fn copy_fold_end(
        &mut self,
        before: Rescued,
        page: &Youngest,
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
        while let Some(target) = self.rescue_block(Some(before))? {
            match self.copy_fold_end_to(target, before, page) {
                Err(Fault::BlockFailed) => self.discard(Spot::meta(target, 0))?,
                outcome => return outcome,
            }
        }
        Ok(None)
    }

    pub(crate) fn copy_fold_end_to(
        &mut self,
        target: u16,
        before: Rescued,
        page: &Youngest,
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
        self.flash.erase(Spot::meta(target, 0), Cause::Meta)?;
        let Some(mut pages) = self.copy_page(page.spot, target, 0)? else {
            return Ok(None);
        };
        let Some(last) = before.newest() else {
            return Err(Fault::Corrupt);
        };
        // A page of a copy needs at most one page again.
        let fits = pages + last.pages <= self.shape.meta.pages.saturating_sub(2);
        if fits {
            // A copy's data is newer than what a fold collected.
            for number in 0..last.pages {
                match self.copy_page(Spot::meta(last.block, number), target, pages)? {
                    Some(next) => pages = next,
                    None => return Ok(None),
                }
            }
        }
        let rest = if fits { before.without_newest() } else { before };
        if rest.is_full() {
            return Ok(None);
        }
        let ended = Some(page.spot.chain_block());
        let newest = self.commit(target, pages, ended, rest.newest())?;
        if fits {
            // Its content is in the new one.
            self.discard(Spot::meta(last.block, 0))?;
        }
        Ok(Some(rest.after(newest)))
    }

    /// Copies the valid copy to a fresh block: its erase may have been begun, which may leave pages that are readable
    /// for a while. `None`: a page cannot be read any more, so the erase was begun.
    pub(crate) fn copy_anew(
        &mut self,
        before: Rescued,
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
        let Some(last) = before.newest() else { return Ok(None) };
        // Copies beside each other are erased from the oldest on, and all were complete just now.
        if before.without_newest().newest().is_some() {
            return Ok(Some(before));
        }
        while let Some(target) = self.rescue_block(Some(before))? {
            match self.copy_anew_to(target, last) {
                Err(Fault::BlockFailed) => self.discard(Spot::meta(target, 0))?,
                outcome => return outcome,
            }
        }
        Ok(Some(before))
    }

    pub(crate) fn copy_anew_to(
        &mut self,
        target: u16,
        last: Copy,
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
        self.flash.erase(Spot::meta(target, 0), Cause::Meta)?;
        let mut pages = 0;
        for number in 0..last.pages {
            match self.copy_page(Spot::meta(last.block, number), target, pages)? {
                Some(next) => pages = next,
                None => return Ok(None),
            }
        }
        let ended = self.still_ended(last)?;
        let newest = self.commit(target, pages, ended, None)?;
        self.discard(Spot::meta(last.block, 0))?;
        Ok(Some(Rescued::one(newest)))
    }

    /// The data block whose last page it copies, unless the block was reused since.
    pub(crate) fn still_ended(
        &mut self,
        copy: Copy,
    ) -> Result<Option<ChainBlock>, Fault<D::Error>> {
        let Some(block) = copy.ended else { return Ok(None) };
        let first = self.flash.look(Spot::chain(block, 0), Cause::Mount)?.tag();
        let older = first.is_some_and(|tag| tag.stamp < copy.stamp);
        Ok(copy.ended.filter(|_| older))
    }
}
