//! Making copies: of the page programmed last and of what its program may have ruined, or of a fold's last page beside
//! what counts already. A commit makes the pages count, and a second page proves it.

use ftl_iface::{NandDevice, Sector};

use super::{BESIDE, Copy, Rescued};
use crate::address::ChainBlock;
use crate::error::Fault;
use crate::flash::{Content, Seen, Spot};
use crate::ftl::Ftl;
use crate::ftl::pairs::Backups;
use crate::ftl::settle::Youngest;
use crate::layout::{Kind, Slot, Slots};
use crate::probe::{Cause, Probe};
use crate::shape::SLOTS_MAX;

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Copies what the program of a page may have ruined, and then the page itself.
    pub(super) fn copy_youngest(
        &mut self,
        youngest: Option<Youngest>,
        backups: Option<Backups>,
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
        while let Some(target) = self.rescue_block(None)? {
            match self.copy_youngest_to(target, youngest, backups) {
                // There may be another block. Nothing was relied on yet, and what this one says must not count later.
                Err(Fault::BlockFailed) => self.erase_or_lose(Spot::meta(target, 0))?,
                outcome => {
                    return outcome.map(|copy| copy.map(Rescued::one));
                }
            };
        }
        // Without a copy nothing more may be changed.
        Err(self.no_block_left())
    }

    fn copy_youngest_to(
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
            // One that cannot be read was the last program itself: the page to come was not begun.
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
        self.commit(target, pages, ended, false).map(Some)
    }

    /// Copies a fold's last page to another rescue block, and after it what counts already; or that page alone, where
    /// there is no room for both. `None`: one of them cannot be read any more. The page never counted then, or the
    /// copy was being erased.
    pub(super) fn copy_fold_end(
        &mut self,
        before: Rescued,
        page: &Youngest,
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
        while let Some(target) = self.rescue_block(Some(before))? {
            match self.copy_fold_end_to(target, before, page) {
                Err(Fault::BlockFailed) => self.erase_or_lose(Spot::meta(target, 0))?,
                outcome => return outcome,
            };
        }
        Err(self.no_block_left())
    }

    fn copy_fold_end_to(
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
        // A page of a copy takes one again, at most.
        let fits = pages + last.pages <= self.shape.meta.pages.saturating_sub(2);
        if fits {
            // What a copy holds is newer than what a fold found.
            for number in 0..last.pages {
                match self.copy_page(Spot::meta(last.block, number), target, pages)? {
                    Some(next) => pages = next,
                    None => return Ok(None),
                }
            }
        }
        let rest = if fits { before.without_newest() } else { before };
        let ended = Some(page.spot.chain_block());
        let newest = self.commit(target, pages, ended, rest.newest().is_some())?;
        if fits {
            // What it held stands in the new one.
            self.erase_or_lose(Spot::meta(last.block, 0))?;
        }
        let rescued = rest.after(newest);
        rescued.map_or_else(|| Err(self.no_block_left()), |rescued| Ok(Some(rescued)))
    }

    /// Copies what counts to a fresh block: its erase may have been begun, which may leave pages that read well for a
    /// while. `None`: a page cannot be read any more, so the erase was begun.
    pub(super) fn copy_anew(
        &mut self,
        before: Rescued,
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
        let Some(last) = before.newest() else { return Ok(None) };
        // Copies beside each other are erased from the oldest on: that all stand was seen just now.
        if before.without_newest().newest().is_some() {
            return Ok(Some(before));
        }
        while let Some(target) = self.rescue_block(Some(before))? {
            match self.copy_anew_to(target, last) {
                Err(Fault::BlockFailed) => self.erase_or_lose(Spot::meta(target, 0))?,
                outcome => return outcome,
            };
        }
        Ok(Some(before))
    }

    fn copy_anew_to(
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
        let newest = self.commit(target, pages, ended, false)?;
        self.erase_or_lose(Spot::meta(last.block, 0))?;
        Ok(Some(Rescued::one(newest)))
    }

    /// The data block of whose last page it is a copy, unless the block was put to another use since.
    fn still_ended(&mut self, copy: Copy) -> Result<Option<ChainBlock>, Fault<D::Error>> {
        let Some(block) = copy.ended else { return Ok(None) };
        let first = self.flash.look(Spot::chain(block, 0), Cause::Mount)?;
        let older = matches!(first, Seen::Page(tag) if tag.stamp < copy.stamp);
        Ok(copy.ended.filter(|_| older))
    }

    /// Copies a page's sectors, or the trim that it is, to the pages of a rescue block from `page` on. Says which page
    /// is next; `None` where the page cannot be read any more.
    fn copy_page(
        &mut self,
        source: Spot,
        target: u16,
        page: u16,
    ) -> Result<Option<u16>, Fault<D::Error>> {
        let Seen::Page(tag) = self.flash.look(source, Cause::Mount)? else {
            return Ok(None);
        };
        let mut sources = [Slot::Empty; SLOTS_MAX];
        let source_slots = self.flash.slots_of(source);
        for (slot, held) in sources.iter_mut().enumerate().take(usize::from(source_slots)) {
            *held = self.flash.slot(slot);
        }
        let trims = match sources.first().copied() {
            Some(Slot::Hole(first)) if tag.kind == Kind::Trim => Some(first),
            Some(Slot::Elsewhere(first)) if tag.kind == Kind::Rescue => Some(first),
            _ => None,
        };
        if let Some(first) = trims {
            let trim = match self.mlc.read_trim(&mut self.flash, source, Cause::Mount) {
                Ok(trim) => trim,
                Err(Fault::Uncorrectable | Fault::Corrupt) => return Ok(None),
                Err(fault) => return Err(fault),
            };
            self.flash.put_trim(trim);
            return self.put_rescued(target, page, &[Slot::Elsewhere(first)]).map(Some);
        }
        let slots = self.shape.meta.slots;
        let (mut next, mut filled) = (page, 0);
        let mut holds = [Slot::Empty; SLOTS_MAX];
        for (slot, held) in sources.into_iter().enumerate() {
            self.flash.blank(filled, 1);
            match held {
                Slot::Holds(sector) => {
                    let cause = Cause::Mount;
                    if self.flash.fetch_copy(source, slot as u16, filled, sector, cause)? != held {
                        return Ok(None);
                    }
                }
                // A data block's page that cannot be read says as much; and a copy may know better.
                Slot::Lost(_) if tag.kind == Kind::Data => continue,
                Slot::Lost(_) | Slot::Hole(_) => {}
                // Its newest copy stands elsewhere.
                Slot::Elsewhere(_) | Slot::Empty => continue,
            }
            if let Some(cell) = holds.get_mut(usize::from(filled)) {
                *cell = held;
            }
            filled += 1;
            if filled == slots {
                next = self.put_rescued(target, next, &holds)?;
                filled = 0;
                holds = [Slot::Empty; SLOTS_MAX];
            }
        }
        if filled > 0 {
            self.flash.blank(filled, slots - filled);
            next = self.put_rescued(target, next, &holds)?;
        }
        Ok(Some(next))
    }

    /// Programs the buffer to a page of a rescue block. Says which page is next. The shape of the device sees to it
    /// that there is room.
    pub(crate) fn put_rescued(
        &mut self,
        block: u16,
        page: u16,
        holds: &[Slot],
    ) -> Result<u16, Fault<D::Error>> {
        if page + 2 >= self.shape.meta.pages {
            return Err(Fault::Corrupt);
        }
        let spot = Spot::meta(block, page);
        let slots = Slots::Listed(holds);
        self.flash.program(spot, Kind::Rescue, 0, Content::Buffer, slots, Cause::Meta)?;
        Ok(page + 1)
    }

    /// Makes the pages of a rescue block count. Whoever finds the second page begun knows that the first is well.
    pub(crate) fn commit(
        &mut self,
        block: u16,
        pages: u16,
        ended: Option<ChainBlock>,
        beside: bool,
    ) -> Result<Copy, Fault<D::Error>> {
        let spot = self.commit_spot(block);
        let named =
            ended.map_or(Slot::Empty, |block| Slot::Elsewhere(Sector::new(u32::from(block.get()))));
        let (listed, note) = ([named], u32::from(pages) | if beside { BESIDE } else { 0 });
        let slots = Slots::Listed(&listed);
        self.flash.program(spot, Kind::Commit, note, Content::Buffer, slots, Cause::Meta)?;
        let stamp = self.flash.stamp();
        let (proof, empty) = (self.proof_spot(block), Slots::Listed(&[]));
        self.flash.program(proof, Kind::Commit, note, Content::Buffer, empty, Cause::Meta)?;
        Ok(Copy { block, pages, stamp, ended })
    }
}
