//! Copying the valid data of a victim: finding, reading and programming it elsewhere.

use ftl_iface::{NandDevice, Sector};

use crate::error::Fault;
use crate::layout::Slot;
use crate::paged::flash::{KeptSlots, PagedKind, Seen};
use crate::paged::plan::address::{BlockNumber, Leaf, Mapped, Spot};
use crate::paged::plan::numbers;
use crate::paged::plan::shape::{Area, PagedShape};
use crate::paged::program::page::{Before, Content, Written};
use crate::paged::rules;
use crate::paged::tables::dirty::{Dirty, Old};
use crate::paged::tables::map::leaf_named;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{Neighbour, Stream, Victim};
use crate::probe::{Cause, Probe};

/// How the search of a victim's page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// All slots were examined.
    Finished,
    /// The page to program is full.
    Full,
    /// The page is the newest map page of its leaf.
    Leaf(Leaf),
}

/// A page of copies, whose stream is decided before the first one is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopiesPage {
    pub(crate) stream: Stream,
    /// The slots that it takes.
    pub(crate) slots: u16,
    /// Those that are filled.
    pub(crate) filled: u16,
}

impl CopiesPage {
    pub(crate) const fn is_full(&self) -> bool {
        self.filled >= self.slots
    }
}

/// What a page of a victim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InVictim {
    /// Nothing that could be valid.
    Nothing,
    /// A page of the map.
    Leaf(Leaf),
    /// Sectors. Their slots are kept.
    Sectors(VictimRead),
}

/// How much of a victim's page was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VictimRead {
    /// All of it, into the page buffer.
    Whole,
    /// Its tag.
    Tag,
}

fn in_victim(
    kept: &mut KeptSlots<'_>,
    shape: &PagedShape,
    seen: Seen<'_>,
    read: VictimRead,
) -> InVictim {
    let Seen::Page(page) = seen else { return InVictim::Nothing };
    if page.kind.is_map() {
        let leaf = leaf_named(page.slot(0)).filter(|leaf| leaf.get() < shape.leaves);
        return leaf.map_or(InVictim::Nothing, InVictim::Leaf);
    }
    kept.keep(&page);
    InVictim::Sectors(read)
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Begins a page of copies of a stream.
    pub(crate) fn begin_copies(&self, stream: Stream) -> CopiesPage {
        let stream = self.stream_for_copies(stream);
        CopiesPage { stream, slots: self.shape_of(stream).slots, filled: 0 }
    }

    /// Copies the valid sectors of a page, beginning at a slot, into the page buffer.
    pub(crate) fn gather(
        &mut self,
        victim: &mut Victim,
        spot: Spot,
        copies: &mut CopiesPage,
    ) -> Result<Page, Fault<D::Error>> {
        let read = match self.read_victim(spot, copies.filled, *victim)? {
            InVictim::Nothing => return Ok(Page::Finished),
            InVictim::Leaf(leaf) => {
                let is_newest = self.map.spot(leaf) == Some(spot);
                return Ok(if is_newest { Page::Leaf(leaf) } else { Page::Finished });
            }
            InVictim::Sectors(read) => read,
        };
        let slots = self.shape.area_at(spot.block).slots;
        let start = copies.filled;
        let mut held = Neighbour::Obsolete;
        let from = &mut victim.slot;
        while *from < slots {
            let slot = self.kept.slot(*from);
            let is_newest = match slot.copy_of() {
                Some(sector) if sector.get() < self.shape.capacity.get() => {
                    self.is_newest(sector, spot, *from)?
                }
                _ => false,
            };
            if rules::must_copy(is_newest, *from, slots) {
                if copies.is_full() {
                    return Ok(Page::Full);
                }
                let to = copies.filled;
                match read {
                    VictimRead::Whole => {
                        self.move_slot(start + *from, to);
                        self.flash.hold(to, slot);
                    }
                    VictimRead::Tag => self.take_slot(spot, *from, (to, victim.cause))?,
                }
                copies.filled += 1;
                held = Neighbour::Valid;
            }
            *from += 1;
        }
        victim.before = held;
        Ok(Page::Finished)
    }

    /// Reads a victim's page: the whole page, behind the data gathered so far, if most of the block is likely to be
    /// copied, or the page before it was; only its tag otherwise, or if the page cannot be read as a whole. The slots
    /// of sectors are kept.
    fn read_victim(
        &mut self,
        spot: Spot,
        filled: u16,
        Victim { before, cause, .. }: Victim,
    ) -> Result<InVictim, Fault<D::Error>> {
        let area = self.shape.area_at(spot.block);
        let left = u32::from(area.pages - spot.page) * u32::from(area.slots);
        let is_half = 2 * u32::from(self.blocks.references(spot.block)) >= left;
        if is_half || before == Neighbour::Valid {
            let bytes = self.shape.sector_bytes.as_usize();
            let start = usize::from(filled) * bytes;
            let page = start..start + usize::from(area.slots) * bytes;
            if let Some(page) = self.buffer.get_mut(page) {
                let seen = self.flash.read(spot, 0, page, cause)?;
                if seen != Seen::Unreadable {
                    return Ok(in_victim(&mut self.kept, &self.shape, seen, VictimRead::Whole));
                }
            }
        }
        let seen = self.flash.read(spot, 0, &mut [], cause)?;
        Ok(in_victim(&mut self.kept, &self.shape, seen, VictimRead::Tag))
    }

    /// Moves a slot of a page that was read as a whole to the end of the gathered data.
    fn move_slot(&mut self, from: u16, to: u16) {
        let bytes = self.shape.sector_bytes.as_usize();
        numbers::copy_piece(self.buffer, bytes, from.into(), to.into());
    }

    /// Whether a slot holds the newest copy of a sector. If not, but its map page still refers to it, that reference is
    /// released.
    fn is_newest(
        &mut self,
        sector: Sector,
        spot: Spot,
        slot: u16,
    ) -> Result<bool, Fault<D::Error>> {
        let place = self.place(spot, slot);
        let dirty = self.dirty(sector);
        if let Some(Dirty { entry, .. }) = dirty
            && (entry.place == place || entry.old == Old::Released)
        {
            return Ok(entry.place == place);
        }
        let mapped = self.mapped(sector, Cause::Gc)? == Mapped::At(place);
        if mapped && let Some(dirty) = dirty {
            self.table.release(dirty.cell);
            self.blocks.release(spot.block, 1);
            return Ok(false);
        }
        Ok(mapped)
    }

    /// Reads a slot into the page buffer. An unreadable sector is lost, and its copy marks it so.
    fn take_slot(
        &mut self,
        spot: Spot,
        slot: u16,
        (to, cause): (u16, Cause),
    ) -> Result<(), Fault<D::Error>> {
        let holds = self.kept.slot(slot);
        let bytes = self.shape.sector_bytes.as_usize();
        let start = usize::from(to) * bytes;
        let data = self.buffer.get_mut(start..start + bytes).unwrap_or(&mut []);
        let holds = match (self.flash.read(spot, slot, data, cause)?, holds) {
            (Seen::Page(_), holds) => holds,
            (_, Slot::Holds(sector)) => Slot::Lost(sector),
            (_, holds) => holds,
        };
        self.flash.hold(to, holds);
        Ok(())
    }

    /// Programs the gathered data and maps it there. Slots from `own` on come from a second block.
    pub(crate) fn put_copies(
        &mut self,
        victim: Victim,
        (own, second): (u16, BlockNumber),
        copies: CopiesPage,
    ) -> Result<(), Fault<D::Error>> {
        let CopiesPage { filled, .. } = copies;
        let decided = rules::is_stream_decided();
        let stream = if decided { copies.stream } else { self.stream_for_copies(copies.stream) };
        self.flash.hold_no_more(filled);
        let bytes = self.shape.sector_bytes.as_usize();
        if let Some(rest) = self.buffer.get_mut(usize::from(filled) * bytes..)
            && !rest.is_empty()
        {
            rest.fill(0xFF);
        }
        let cause = victim.cause;
        let spot =
            self.program(stream, Written::New(PagedKind::Sectors), Content::Buffer, cause)?;
        if spot.page == 0
            && [spot.block, victim.block].map(|block| self.shape.area_of(block)) == [Area::Main; 2]
        {
            // A copy keeps the age of its data.
            self.blocks.times.inherit(spot.block, victim.block);
        }
        for slot in 0..filled {
            let Some(sector) = self.flash.held(slot).copy_of() else { continue };
            let source = if slot < own { victim.block } else { second };
            self.remember(sector, self.place(spot, slot), Before::In(source))?;
        }
        Ok(())
    }
}
