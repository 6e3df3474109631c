//! Making rescue copies: of the last programmed page and of the pages its program may have corrupted, or of a fold's
//! last page beside copies that are already valid. A commit makes the pages valid, and a second page proves it.

use ftl_iface::{NandDevice, Sector};

use crate::error::Fault;
use crate::hybrid::address::ChainBlock;
use crate::hybrid::flash::{Content, Gathered, Seen, Spot};
use crate::hybrid::rescued::{BESIDE, Copy, Rescued};
use crate::hybrid::shape::RESCUE;
use crate::hybrid::state::Ftl;
use crate::layout::{Kind, Label, Slot, Slots};
use crate::probe::{Cause, Probe};
use crate::table::word;

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Copies a page's sectors, or its trim, to the pages of a rescue block from `page` on. Returns the next page;
    /// `None` if the source cannot be read any more.
    pub(crate) fn copy_page(
        &mut self,
        source: Spot,
        target: u16,
        page: u16,
    ) -> Result<Option<u16>, Fault<D::Error>> {
        let Seen::Page(found) = self.flash.look(source, Cause::Mount)? else {
            return Ok(None);
        };
        let (tag, sources) = (found.tag(), Gathered::of(&found, 0, u16::MAX));
        let sources = sources.list();
        match sources.first().copied() {
            Some(Slot::Hole(first)) if tag.kind == Kind::Trim => {
                self.copy_trim(source, target, page, first)
            }
            Some(Slot::Elsewhere(first)) if tag.kind == Kind::Rescue => {
                self.copy_trim(source, target, page, first)
            }
            _ => self.copy_slots(source, tag.kind, sources, target, page),
        }
    }

    fn copy_trim(
        &mut self,
        source: Spot,
        target: u16,
        page: u16,
        first: Sector,
    ) -> Result<Option<u16>, Fault<D::Error>> {
        match self.mlc.read_trim(&mut self.flash, source, Cause::Mount) {
            Ok(trim) => self.flash.put_trim(trim),
            Err(Fault::Uncorrectable | Fault::Corrupt) => return Ok(None),
            Err(fault) => return Err(fault),
        }
        self.put_rescued(target, page, &[Slot::Elsewhere(first)]).map(Some)
    }

    fn copy_slots(
        &mut self,
        source: Spot,
        kind: Kind,
        sources: &[Slot],
        target: u16,
        page: u16,
    ) -> Result<Option<u16>, Fault<D::Error>> {
        let slots = self.shape.meta.slots;
        let mut next = page;
        let mut gathered = Gathered::new();
        for (slot, held) in (0..).zip(sources.iter().copied()) {
            let filled = gathered.count();
            self.flash.blank(filled, 1);
            match held {
                Slot::Holds(sector) => {
                    let cause = Cause::Mount;
                    if self.flash.fetch_copy(source, slot, filled, sector, cause)? != held {
                        return Ok(None);
                    }
                }
                // An unreadable page of a data block is reported as lost anyway, and an older copy may still hold the
                // sector.
                Slot::Lost(_) if kind == Kind::Data => continue,
                Slot::Lost(_) | Slot::Hole(_) => {}
                // Its newest copy is elsewhere.
                Slot::Elsewhere(_) | Slot::Empty => continue,
            }
            gathered.push(held);
            if gathered.count() == slots {
                next = self.put_rescued(target, next, gathered.list())?;
                gathered.clear();
            }
        }
        if gathered.count() > 0 {
            self.flash.leave_empty(&mut gathered, slots);
            next = self.put_rescued(target, next, gathered.list())?;
        }
        Ok(Some(next))
    }

    /// Programs the buffer to a page of a rescue block. Returns the next page. The checked shape of the device
    /// guarantees room.
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
        let label = Label { kind: Kind::Rescue, note: 0, slots: Slots::Listed(holds) };
        self.flash.program(spot, label, Content::Buffer, Cause::Meta)?;
        Ok(page + 1)
    }

    /// Makes the pages of a rescue block valid, beside an older valid copy, if there is one. If the second page was
    /// begun, the first is known to be complete.
    pub(crate) fn commit(
        &mut self,
        block: u16,
        pages: u16,
        ended: Option<ChainBlock>,
        older: Option<Copy>,
    ) -> Result<Copy, Fault<D::Error>> {
        let spot = self.commit_spot(block);
        let named =
            ended.map_or(Slot::Empty, |block| Slot::Elsewhere(Sector::new(word(block.get()))));
        let note = u32::from(pages) | older.map_or(0, |_| BESIDE);
        let named = [named];
        let label = Label { kind: Kind::Commit, note, slots: Slots::Listed(&named) };
        self.flash.program(spot, label, Content::Buffer, Cause::Meta)?;
        let (stamp, proof) = (self.flash.stamp(), self.proof_spot(block));
        let label = Label { slots: Slots::Listed(&[]), ..label };
        self.flash.program(proof, label, Content::Buffer, Cause::Meta)?;
        Ok(Copy { block, pages, stamp, ended })
    }

    /// The commit of a rescue block: its last page but one. The last page proves it.
    pub(crate) fn commit_spot(&self, block: u16) -> Spot {
        Spot::meta(block, self.shape.meta.pages.saturating_sub(2))
    }

    pub(crate) fn proof_spot(&self, block: u16) -> Spot {
        Spot::meta(block, self.shape.meta.pages - 1)
    }

    /// The blocks that may hold copies: the rescue blocks, and those of checkpoints, which are void when copies are
    /// made.
    pub(crate) fn rescue_blocks(&self) -> core::ops::Range<u16> {
        RESCUE.start..self.shape.meta.short_blocks()
    }

    /// A rescue block that is not bad and holds no valid copy.
    pub(crate) fn rescue_block(
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
}
