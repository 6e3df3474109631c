//! The seals of checkpoints. A checkpoint is valid until anything else is programmed or erased. So before the first
//! such operation its seal is broken: the block that holds it is erased. After a power cut in this erase the checkpoint
//! is still valid, because nothing else was changed yet.

use ftl_iface::NandDevice;

use super::{Content, Erasure, Flash, Programmed, Spot};
use crate::error::Fault;
use crate::hybrid::rules;
use crate::hybrid::shape::{CHECKPOINT_AREAS, CheckpointArea, HEADER_BLOCKS};
use crate::layout::{Kind, Label, Seal, Slots, Tag};
use crate::probe::{Cause, Probe};

/// Which seals may exist that the next change would invalidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seals {
    /// None: they were broken, or never existed.
    Broken,
    /// Any of them, even one that cannot be read now.
    Unknown,
    /// The one of this place, whose checkpoint matches the RAM.
    One(u16),
}

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// Which seals may exist.
    pub fn seals(&self) -> Seals {
        self.seals
    }

    /// Notes which seals may exist.
    pub fn set_seals(&mut self, seals: Seals) {
        self.seals = seals;
    }

    /// The place with that number.
    pub fn place(&self, number: u16) -> CheckpointArea {
        CheckpointArea::new(&self.meta, number)
    }

    /// Breaks the seals that may exist. If a block's erase fails, a bad mark invalidates its seal.
    #[cold]
    pub fn break_seals(&mut self) -> Result<(), Fault<D::Error>> {
        for number in 0..CHECKPOINT_AREAS {
            if !rules::must_break_seal(self.seals != Seals::One(1 - number)) {
                continue;
            }
            let block = Spot::meta(self.place(number).seal_block(), 0);
            if !self.is_bad(block)? && !self.has_copy(block)? {
                let _ = self.erase_or_retire(block)?;
            }
        }
        self.seals = Seals::Broken;
        Ok(())
    }

    /// Whether a block of a place holds a copy like a rescue block, and so no seal.
    fn has_copy(&mut self, block: Spot) -> Result<bool, Fault<D::Error>> {
        if self.seals != Seals::Unknown {
            return Ok(false);
        }
        for page in [self.meta.pages.saturating_sub(2), self.meta.pages - 1] {
            let tag = self.look(Spot { page, ..block }, Cause::Mount)?.tag();
            if tag.is_some_and(|tag| tag.kind == Kind::Commit) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Breaks the seals before a page is programmed. If that lists a block as bad, the caller must make the page again.
    #[cold]
    pub(super) fn break_seals_before_program(&mut self) -> Result<(), Fault<D::Error>> {
        let listed = self.failed.to_be_named();
        self.break_seals()?;
        if self.failed.to_be_named() > listed { Err(Fault::BlockFailed) } else { Ok(()) }
    }

    /// Erases every place, so that no seal of an earlier format remains.
    pub fn erase_places(&mut self) -> Result<(), Fault<D::Error>> {
        for block in HEADER_BLOCKS..self.meta.short_blocks() {
            let spot = Spot::meta(block, 0);
            if !self.is_bad(spot)? {
                let _ = self.erase_or_retire(spot)?;
            }
        }
        Ok(())
    }

    /// Erases the blocks of a place. If one of them is bad, now or before, the place cannot be used.
    pub fn prepare_place(&mut self, place: CheckpointArea) -> Result<Erasure, Fault<D::Error>> {
        let blocks = place.first..place.first + place.blocks;
        for block in blocks.clone() {
            if self.is_bad(Spot::meta(block, 0))? {
                return Ok(Erasure::Failed);
            }
        }
        for block in blocks {
            if self.erase_or_retire(Spot::meta(block, 0))? == Erasure::Failed {
                return Ok(Erasure::Failed);
            }
        }
        Ok(Erasure::Done)
    }

    /// Erases a block of the meta area, or marks it bad.
    pub(super) fn erase_or_retire(&mut self, spot: Spot) -> Result<Erasure, Fault<D::Error>> {
        if !self.failed.is_failing(spot) && self.erase_block(spot, Cause::Meta)? == Erasure::Done {
            return Ok(Erasure::Done);
        }
        self.retire_meta(spot).map(|()| Erasure::Failed)
    }

    /// Programs a page of a place from the page buffer, or marks its block bad. The seals must be broken, or the page
    /// be of the place whose seal is next.
    pub(super) fn program_in_place(
        &mut self,
        place: CheckpointArea,
        number: u32,
    ) -> Result<Programmed, Fault<D::Error>> {
        let (block, page) = place.page(number);
        let spot = Spot::meta(block, page);
        let label = Label { kind: Kind::Checkpoint, note: number, slots: Slots::Listed(&[]) };
        match self.program_page(spot, label, Content::Buffer, Cause::Meta) {
            Ok(()) => Ok(Programmed::Done),
            Err(Fault::BlockFailed) => self.retire_meta(spot).map(|()| Programmed::BlockFailed),
            Err(fault) => Err(fault),
        }
    }

    /// Marks a block of the meta area bad. If that can be recorded in no way, the block may still hold a seal, and
    /// nothing may be changed.
    pub(super) fn retire_meta(&mut self, spot: Spot) -> Result<(), Fault<D::Error>> {
        match self.retire(spot) {
            Fault::BlockFailed => Ok(()),
            fault => Err(fault),
        }
    }

    /// Seals the image in a place. If the block fails, it is bad now.
    pub fn put_seal(
        &mut self,
        place: CheckpointArea,
        seal: &Seal,
    ) -> Result<Programmed, Fault<D::Error>> {
        let key = self.key();
        if let Some(target) = self.buffer.get_mut(..self.meta.page_bytes.as_usize()) {
            target.fill(0xFF);
            seal.put(target, key);
        }
        self.program_in_place(place, place.seal())
    }

    /// Reads the seal of a place: `None` if there is no valid one. A seal is younger than everything programmed before
    /// it, so its stamp is the last one given.
    pub fn read_seal(
        &mut self,
        place: CheckpointArea,
    ) -> Result<Option<(Seal, Tag)>, Fault<D::Error>> {
        if self.is_bad(Spot::meta(place.seal_block(), 0))? {
            return Ok(None);
        }
        let Some(tag) = self.fetch_in_place(place, place.seal())? else {
            return Ok(None);
        };
        Ok(Seal::parse(self.buffer, self.key()).map(|seal| (seal, tag)))
    }

    /// Reads a page of a place into the page buffer. `None`: it cannot be read, or is no such page.
    pub(super) fn fetch_in_place(
        &mut self,
        place: CheckpointArea,
        number: u32,
    ) -> Result<Option<Tag>, Fault<D::Error>> {
        let (block, page) = place.page(number);
        let slots = self.meta.slots;
        match self.fetch(Spot::meta(block, page), 0, 0, slots, Cause::Mount) {
            Ok(page) => {
                let page = page.filter(|page| page.kind == Kind::Checkpoint);
                Ok(page.map(|page| page.tag()).filter(|tag| tag.note == number))
            }
            Err(Fault::Uncorrectable) => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}
