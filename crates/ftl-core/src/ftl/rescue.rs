//! A copy of the page that a power cut may have touched, before anything relies on it.
//!
//! The page that was programmed last may have been in flight. It may read well now and badly later, so that it cannot
//! be what the host is told. Its sectors are copied to a rescue block, and a commit after them makes the copy count;
//! from there they are written to their chains again, as any write. Only then is the copy erased. A cut anywhere in
//! this finds the page or a copy that counts. A second page proves the commit, for the commit may be torn itself: where
//! the proof was not begun, nothing has relied on the copy yet, and it is copied to the other rescue block.

use ftl_iface::{NandDevice, Sector, SectorCount};

use super::Ftl;
use super::pairs::Backups;
use super::settle::Youngest;
use crate::address::{ChainBlock, LogicalBlock};
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::flash::{Content, Seen, Spot};
use crate::layout::{Kind, Slot, Slots, Stamp, Trim};
use crate::probe::{Cause, Probe};
use crate::shape::{RESCUE, SLOTS_MAX};

/// A copy that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rescued {
    /// The block that it stands in.
    block: u16,
    /// Its pages.
    pages: u16,
    /// When it was made to count.
    pub(crate) stamp: Stamp,
    /// The data block of whose last page it is a copy.
    pub(crate) ended: Option<ChainBlock>,
    /// Whether it is certain that the commit was programmed well.
    proved: bool,
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// The commit of a rescue block: its last page but one. The last page proves it.
    fn commit_spot(&self, block: u16) -> Spot {
        Spot::meta(block, self.shape.meta.pages.saturating_sub(2))
    }

    fn proof_spot(&self, block: u16) -> Spot {
        Spot::meta(block, self.shape.meta.pages - 1)
    }

    /// The copy that counts: the newest of those whose proof was begun, or one that may be torn, where there is no
    /// other.
    pub(crate) fn find_rescued(&mut self) -> Result<Option<Rescued>, Fault<D::Error>> {
        let mut best: Option<Rescued> = None;
        for block in self.rescue_blocks()? {
            let spot = self.commit_spot(block);
            if self.flash.is_bad(spot)? {
                continue;
            }
            let proof = self.flash.look(self.proof_spot(block), Cause::Mount)?;
            let proved = proof != Seen::Erased || planted(Bug::TrustCommit);
            if let Seen::Page(tag) = self.flash.look(spot, Cause::Mount)?
                && tag.kind == Kind::Commit
            {
                self.flash.raise_stamp(tag.stamp);
                let ended = match self.flash.slot(0) {
                    Slot::Elsewhere(number) if !planted(Bug::ForgetEndedFold) => {
                        Some(ChainBlock::new(number.get() as u16))
                    }
                    _ => None,
                };
                let pages = tag.note.min(u32::from(self.shape.meta.pages)) as u16;
                let stamp = tag.stamp;
                let found = Rescued { block, pages, stamp, ended, proved };
                let rank = |copy: &Rescued| (copy.proved, copy.stamp);
                if best.is_none_or(|best| rank(&best) < rank(&found)) {
                    best = Some(found);
                }
            }
        }
        Ok(best)
    }

    /// Makes the copy, if there is anything to copy: of the page programmed last, or of a copy that may be torn. Says
    /// where the copy is.
    pub(crate) fn secure_youngest(
        &mut self,
        rescued: Option<Rescued>,
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
        let mut kept = rescued;
        if let Some(torn) = rescued.filter(|rescued| !rescued.proved) {
            kept = self.copy_again(torn, None)?;
            if kept.is_some() {
                return Ok(kept);
            }
        }
        let Some(youngest) = self.unsettled.and_then(|state| state.youngest) else {
            return Ok(kept);
        };
        if let Some(before) = kept {
            let ends = youngest.stamp > before.stamp && self.ends_fold(&youngest)?;
            let copy = if ends { self.copy_again(before, Some(youngest))? } else { None };
            // A page that cannot be read never counted; and what was written from the copy is still covered by it.
            return Ok(copy.or(kept));
        }
        let backups = self.find_backups(&youngest)?;
        let content =
            matches!(youngest.kind, Kind::Log | Kind::Chain | Kind::ChainInPlace | Kind::Trim);
        let content = content && !planted(Bug::ForgetYoungest);
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

    /// Copies what the program of a page may have ruined, and then the page itself.
    fn copy_youngest(
        &mut self,
        youngest: Option<Youngest>,
        backups: Option<Backups>,
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
        while let Some(target) = self.rescue_block(None)? {
            match self.copy_youngest_to(target, youngest, backups) {
                // There may be another block. Nothing was relied on yet, and what this one says must not count later.
                Err(Fault::BlockFailed) => self.erase_or_lose(Spot::meta(target, 0))?,
                outcome => return outcome,
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
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
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
        self.commit(target, pages, ended).map(Some)
    }

    /// The blocks in which copies may stand: the rescue blocks; and where one of these is bad, those of checkpoints
    /// too, which say nothing any more when copies are made.
    fn rescue_blocks(&mut self) -> Result<core::ops::Range<u16>, Fault<D::Error>> {
        let lacks_one = self.flash.lacks_rescue_block()?;
        Ok(if lacks_one { RESCUE.start..self.shape.meta.blocks } else { RESCUE })
    }

    /// A rescue block that is not bad, and another than that one if there is one.
    fn rescue_block(&mut self, other_than: Option<u16>) -> Result<Option<u16>, Fault<D::Error>> {
        for block in self.rescue_blocks()? {
            let spot = Spot::meta(block, 0);
            if other_than != Some(block)
                && !self.flash.failed.is_failing(spot)
                && !self.flash.is_bad(spot)?
            {
                return Ok(Some(block));
            }
        }
        Ok(None)
    }

    /// Copies a copy to the other rescue block, and before it a fold's last page. `None`: one of them cannot be read
    /// any more, and so never counted.
    fn copy_again(
        &mut self,
        rescued: Rescued,
        page: Option<Youngest>,
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
        while let Some(target) = self.rescue_block(Some(rescued.block))? {
            match self.copy_again_to(target, rescued, page) {
                Err(Fault::BlockFailed) => self.erase_or_lose(Spot::meta(target, 0))?,
                outcome => return outcome,
            };
        }
        // It stays where it is.
        Ok(Some(rescued))
    }

    fn copy_again_to(
        &mut self,
        target: u16,
        rescued: Rescued,
        page: Option<Youngest>,
    ) -> Result<Option<Rescued>, Fault<D::Error>> {
        self.flash.erase(Spot::meta(target, 0), Cause::Meta)?;
        let copies = (0..rescued.pages).map(|page| Spot::meta(rescued.block, page));
        let mut pages = 0;
        // What a copy holds is newer than what a fold found.
        for spot in page.map(|page| page.spot).into_iter().chain(copies) {
            match self.copy_page(spot, target, pages)? {
                Some(next) => pages = next,
                None => return Ok(None),
            }
        }
        let ended = page.map_or(rescued.ended, |page| Some(page.spot.chain_block()));
        self.commit(target, pages, ended).map(Some)
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
            return self.put_rescued(target, page, &[Slot::Elsewhere(first)]);
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
                match self.put_rescued(target, next, &holds)? {
                    Some(page) => next = page,
                    None => return Ok(None),
                }
                filled = 0;
                holds = [Slot::Empty; SLOTS_MAX];
            }
        }
        if filled > 0 {
            self.flash.blank(filled, slots - filled);
            return self.put_rescued(target, next, &holds);
        }
        Ok(Some(next))
    }

    /// Programs the buffer to a page of a rescue block. Says which page is next; `None` where the block has no room.
    fn put_rescued(
        &mut self,
        block: u16,
        page: u16,
        holds: &[Slot],
    ) -> Result<Option<u16>, Fault<D::Error>> {
        if page + 2 >= self.shape.meta.pages {
            return Ok(None);
        }
        let spot = Spot::meta(block, page);
        let slots = Slots::Listed(holds);
        self.flash.program(spot, Kind::Rescue, 0, Content::Buffer, slots, Cause::Meta)?;
        Ok(Some(page + 1))
    }

    /// Makes the pages of a rescue block count. Whoever finds the second page begun knows that the first is well.
    fn commit(
        &mut self,
        block: u16,
        pages: u16,
        ended: Option<ChainBlock>,
    ) -> Result<Rescued, Fault<D::Error>> {
        let spot = self.commit_spot(block);
        let named =
            ended.map_or(Slot::Empty, |block| Slot::Elsewhere(Sector::new(u32::from(block.get()))));
        let (listed, note) = ([named], u32::from(pages));
        let slots = Slots::Listed(&listed);
        self.flash.program(spot, Kind::Commit, note, Content::Buffer, slots, Cause::Meta)?;
        let stamp = self.flash.stamp();
        let (proof, empty) = (self.proof_spot(block), Slots::Listed(&[]));
        self.flash.program(proof, Kind::Commit, note, Content::Buffer, empty, Cause::Meta)?;
        Ok(Rescued { block, pages, stamp, ended, proved: true })
    }

    /// Writes the sectors of a copy to their chains.
    pub(crate) fn write_rescued(&mut self, rescued: Rescued) -> Result<(), Fault<D::Error>> {
        for page in 0..rescued.pages {
            let spot = Spot::meta(rescued.block, page);
            for slot in 0..self.shape.meta.slots {
                // Writing one reads other tags in between.
                if !matches!(self.flash.look(spot, Cause::Mount)?, Seen::Page(_)) {
                    break;
                }
                match self.flash.slot(usize::from(slot)) {
                    Slot::Elsewhere(_) => {
                        let trim = self.mlc.read_trim(&mut self.flash, spot, Cause::Mount)?;
                        self.trim_again(trim)?;
                    }
                    Slot::Hole(first) => {
                        self.trim_again(Trim { first, count: SectorCount::new(1) })?;
                    }
                    held => self.write_copy(spot, slot, held)?,
                }
            }
        }
        Ok(())
    }

    /// Trims what a copy says was trimmed.
    fn trim_again(&mut self, trim: Trim) -> Result<(), Fault<D::Error>> {
        let (logical, offset) = self.in_device(trim.first)?;
        if trim.count.get() > self.mlc.sectors_per_block().get() - offset {
            return Err(Fault::Corrupt);
        }
        self.trim_run(logical, trim)
    }

    /// Logical block and offset of a sector that flash names. The last logical block may go on beyond the capacity.
    fn in_device(&self, sector: Sector) -> Result<(LogicalBlock, u32), Fault<D::Error>> {
        let places = u32::from(self.shape.logical_blocks) * self.mlc.sectors_per_block().get();
        if sector.get() < places { Ok(self.mlc.locate(sector)) } else { Err(Fault::Corrupt) }
    }

    /// Writes one sector of a copy to its chain.
    fn write_copy(&mut self, spot: Spot, slot: u16, held: Slot) -> Result<(), Fault<D::Error>> {
        let Some(sector) = held.copy_of() else {
            return Ok(());
        };
        let (logical, offset) = self.in_device(sector)?;
        while !self.write_copy_to(logical, offset, spot, slot)? {}
        Ok(())
    }

    /// See [`write_copy`](Self::write_copy). `false`: the block failed.
    fn write_copy_to(
        &mut self,
        logical: LogicalBlock,
        offset: u32,
        spot: Spot,
        slot: u16,
    ) -> Result<bool, Fault<D::Error>> {
        let map = self.chain_with_room(logical)?;
        let (_, home) = self.mlc.home(offset);
        let slots = self.shape.chain.slots;
        let sector = self.mlc.sector(logical, offset);
        self.flash.blank(0, slots);
        // What it says to be lost is lost to its reader, too.
        let held = self.flash.fetch_copy(spot, slot, home, sector, Cause::Mount)?;
        if planted(Bug::EraseRescuedEarly) {
            self.flash.erase(spot, Cause::Meta)?;
        }
        let mut holds = [Slot::Empty; SLOTS_MAX];
        if let Some(cell) = holds.get_mut(usize::from(home)) {
            *cell = held;
        }
        let holds = holds.get(..usize::from(slots)).unwrap_or(&[]);
        let slots = Slots::Listed(holds);
        self.append_to_chain(logical, map, Content::Buffer, slots, Cause::Mount)
    }

    /// Takes sectors of which there is a copy out of the log: what it holds of them is older, and they will be written
    /// again. Says whether that sector is one of them.
    pub(crate) fn unmap_rescued(&mut self, sector: Sector) -> Result<bool, Fault<D::Error>> {
        let Some(rescued) = self.unsettled.and_then(|state| state.rescued) else {
            return Ok(false);
        };
        let mut is_one = false;
        for page in 0..rescued.pages {
            if !matches!(
                self.flash.look(Spot::meta(rescued.block, page), Cause::Mount)?,
                Seen::Page(_)
            ) {
                continue;
            }
            for slot in 0..self.shape.meta.slots {
                if let Some(held) = self.flash.slot(usize::from(slot)).copy_of() {
                    self.in_device(held)?;
                    is_one |= held == sector;
                    self.the_log()?.index.remove_real(held);
                }
            }
        }
        Ok(is_one)
    }

    /// Erases the copies, once what they held is written.
    pub(crate) fn clear_rescue_blocks(
        &mut self,
        rescued: Option<Rescued>,
    ) -> Result<(), Fault<D::Error>> {
        let Some(rescued) = rescued else {
            return Ok(());
        };
        // The one that counts goes last: an older one alone would say too little.
        for block in self.rescue_blocks()? {
            if block != rescued.block
                && self.flash.look(self.commit_spot(block), Cause::Mount)? != Seen::Erased
            {
                self.erase_or_lose(Spot::meta(block, 0))?;
            }
        }
        self.erase_or_lose(Spot::meta(rescued.block, 0)).map(|_| ())
    }
}
