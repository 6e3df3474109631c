//! A copy of the page that a power cut may have touched, before anything relies on it.
//!
//! The page that was programmed last may have been in flight. It may read well now and badly later, so that it cannot
//! be what the host is told. Its sectors are copied to a rescue block, and a commit after them makes the copy count;
//! from there they are written to their chains again, as any write. Only then is the copy erased. A cut anywhere in
//! this finds the page or a copy that counts. A second page proves the commit, for the commit may be torn itself: where
//! the proof was not begun, nothing has relied on the copy yet, and what it was made of still stands.
//!
//! A copy is erased once all of it is written again, and nothing else is programmed in between. A cut in that erase may
//! leave pages that read well for a while. So what can be read of a copy is written once more, and what cannot is passed
//! over: it stands where it was written before.
//!
//! A page that *failed* to program is treated as one that was torn: it may read well for a while, too. Before anything
//! else is programmed its content goes to a rescue block, and the copy is erased when the page stands elsewhere.

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
use crate::shape::{PLACES, RESCUE, RESCUE_BLOCKS, SLOTS_MAX};

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
        let mut rescued = Rescued::NONE;
        for (cell, (copy, beside)) in rescued.copies.iter_mut().zip(found.into_iter().flatten()) {
            *cell = Some(copy);
            if !beside {
                break;
            }
        }
        Ok(rescued.newest().map(|_| rescued))
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
            // What was written from the copy is still covered by it. A fold may have ended meanwhile.
            let newer = before.newest().is_none_or(|copy| youngest.stamp > copy.stamp);
            let ends = newer && self.ends_fold(&youngest)?;
            let copy = if ends { self.copy_fold_end(before, &youngest)? } else { None };
            // A page that cannot be read never counted.
            return Ok(copy.or(Some(before)));
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

    /// The blocks in which copies may stand: the rescue blocks; and those of checkpoints, which say nothing any more when
    /// copies are made.
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

    /// Copies a fold's last page to another rescue block, and after it what counts already; or that page alone, where
    /// there is no room for both. `None`: the page cannot be read any more, and so never counted.
    ///
    /// A copy is erased after the last page that is written from it, and that page is no fold's. So no erase of what
    /// counts was begun, and it stands.
    fn copy_fold_end(
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
                let copy = Spot::meta(last.block, number);
                pages = self.copy_page(copy, target, pages)?.unwrap_or(pages);
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

    /// Programs the buffer to a page of a rescue block. Says which page is next. The shape of the device sees to it that
    /// there is room.
    pub(super) fn put_rescued(
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
    pub(super) fn commit(
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

    /// Writes the sectors of the copies to their chains: what a fold found first, for the rest is newer.
    pub(crate) fn write_rescued(&mut self, rescued: Rescued) -> Result<(), Fault<D::Error>> {
        for copy in rescued.copies() {
            for page in 0..copy.pages {
                self.write_page_again(Spot::meta(copy.block, page))?;
            }
        }
        Ok(())
    }

    /// Writes what a page of a copy holds. What cannot be read of it was written before.
    fn write_page_again(&mut self, spot: Spot) -> Result<(), Fault<D::Error>> {
        for slot in 0..self.shape.meta.slots {
            // Writing one reads other tags in between.
            if !matches!(self.flash.look(spot, Cause::Mount)?, Seen::Page(_)) {
                break;
            }
            match self.flash.slot(usize::from(slot)) {
                Slot::Elsewhere(_) => {
                    match self.mlc.read_trim(&mut self.flash, spot, Cause::Mount) {
                        Ok(trim) => self.trim_again(trim)?,
                        Err(Fault::Uncorrectable | Fault::Corrupt) => {}
                        Err(fault) => return Err(fault),
                    }
                }
                Slot::Hole(first) => {
                    self.trim_again(Trim { first, count: SectorCount::new(1) })?;
                }
                held => self.write_copy(spot, slot, held)?,
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
        let sector = self.mlc.sector(logical, offset);
        while !self.write_copy_to(sector, held, spot, slot)? {}
        Ok(())
    }

    /// See [`write_copy`](Self::write_copy). `false`: the block failed.
    fn write_copy_to(
        &mut self,
        sector: Sector,
        holds: Slot,
        spot: Spot,
        slot: u16,
    ) -> Result<bool, Fault<D::Error>> {
        let (logical, offset) = self.mlc.locate(sector);
        let map = self.chain_with_room(logical)?;
        let (_, home) = self.mlc.home(offset);
        let slots = self.shape.chain.slots;
        self.flash.blank(0, slots);
        // What it says to be lost is lost to its reader, too.
        let held = self.flash.fetch_copy(spot, slot, home, sector, Cause::Mount)?;
        if held != holds {
            // It was half erased, and has gone bad since it was looked at.
            return Ok(true);
        }
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
        for copy in rescued.copies() {
            for page in 0..copy.pages {
                is_one |= self.unmap_page(Spot::meta(copy.block, page), sector)?;
            }
        }
        Ok(is_one)
    }

    /// Takes the sectors of a page of a copy out of the log. Says whether that sector is one of them.
    fn unmap_page(&mut self, spot: Spot, sector: Sector) -> Result<bool, Fault<D::Error>> {
        let mut is_one = false;
        if !matches!(self.flash.look(spot, Cause::Mount)?, Seen::Page(_)) {
            return Ok(is_one);
        }
        for slot in 0..self.shape.meta.slots {
            if let Some(held) = self.flash.slot(usize::from(slot)).copy_of() {
                self.in_device(held)?;
                is_one |= held == sector;
                self.the_log()?.index.remove_real(held);
            }
        }
        Ok(is_one)
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

    /// Whether the commit of a copy was begun in a block, well or not. The blocks of checkpoints have pages of their own.
    fn is_begun(&mut self, block: u16) -> Result<bool, Fault<D::Error>> {
        Ok(match self.flash.look(self.commit_spot(block), Cause::Mount)? {
            Seen::Erased => false,
            Seen::Page(tag) => tag.kind == Kind::Commit || RESCUE.contains(&block),
            Seen::Unreadable => true,
        })
    }
}
