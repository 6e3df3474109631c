//! Every operation on the device, by spots.

use core::ops::{Deref, DerefMut};

use ftl_iface::{Block, Bytes, Corrected, NandDevice, Page};

use super::kept::KeptSlots;
use super::kind::{PageTag, PagedKind, Seen};
use super::weak::{Weak, WeakOnes};
use crate::error::Fault;
use crate::flash::{Door, Erasure, Marked};
use crate::layout::{self, FormatKey, Slot, Stamp, Tag};
use crate::paged::plan::address::{BlockNumber, Spot};
use crate::paged::plan::config::RefreshLimits;
use crate::paged::plan::numbers;
use crate::paged::plan::shape::PagedShape;
use crate::probe::{Cause, Probe};

/// What a read found, without the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Page(PagedKind),
    Erased,
    Unreadable,
}

impl Told {
    /// What these bytes of a spare area tell.
    #[inline(always)]
    fn by(spare: &[u8], key: FormatKey) -> Self {
        match layout::kind(spare, key) {
            Some(kind) => Self::Page(kind),
            None if layout::is_erased(spare) => Self::Erased,
            None => Self::Unreadable,
        }
    }
}

/// The layer.
#[derive(Debug)]
pub struct PagedFlash<'ram, D, P> {
    pub(crate) door: Door<D, P>,
    shape: PagedShape,
    /// The tag that a read delivers.
    read: &'ram mut [u8],
    /// The spare area to program from.
    write: &'ram mut [u8],
    /// Weak pages found while reading.
    pub weak: WeakOnes,
    believed: Option<Believed<'ram>>,
    /// Pages programmed so far; the number wraps.
    programs: u32,
}

/// The lent memory of the layer.
#[derive(Debug)]
pub(crate) struct TagMemory<'ram> {
    /// For the tag that a read delivers.
    pub(crate) read: &'ram mut [u8],
    /// For the spare area to program from.
    pub(crate) write: &'ram mut [u8],
}

/// The content of a page that may become unreadable at any time and cannot be repeated.
#[derive(Debug)]
struct Believed<'ram> {
    page: Page,
    bytes: &'ram [u8],
}

impl<'ram, D: NandDevice, P: Probe> PagedFlash<'ram, D, P> {
    /// Creates the layer over a device.
    pub(crate) fn new(
        device: D,
        probe: P,
        shape: &PagedShape,
        limits: RefreshLimits,
        memory: TagMemory<'ram>,
    ) -> Self {
        let TagMemory { read, write } = memory;
        write.fill(0xFF);
        Self {
            door: Door::new(device, probe),
            shape: *shape,
            read,
            write,
            weak: WeakOnes::new(limits),
            believed: None,
            programs: 0,
        }
    }

    #[inline]
    fn block(&self, block: BlockNumber) -> Block {
        self.shape.area_at(block).block(block)
    }

    #[inline]
    fn page(&self, spot: Spot) -> Page {
        self.shape.area_at(spot.block).page(spot)
    }

    /// Reads the tag of a page, and sectors beginning at a slot.
    pub fn read(
        &mut self,
        spot: Spot,
        slot: u16,
        data: &mut [u8],
        cause: Cause,
    ) -> Result<Seen<'_>, Fault<D::Error>> {
        let area = self.shape.area_at(spot.block);
        let (page, slots) = (area.page(spot), area.slots);
        let at = Bytes::new(u32::from(slot) * self.shape.sector_bytes.get());
        let (told, corrected) = self.fetch((page, slots), at, data, cause)?;
        if corrected != Corrected::NONE {
            let area = self.shape.area_of(spot.block);
            self.weak.note_corrected(Weak::Block(spot.block), area, corrected);
        }
        Ok(self.seen(told, slots))
    }

    /// Reads a page's tag.
    pub fn look(&mut self, spot: Spot, cause: Cause) -> Result<Seen<'_>, Fault<D::Error>> {
        let (told, stamp) = match self.read(spot, 0, &mut [], cause)? {
            Seen::Page(page) => (Told::Page(page.kind), page.tag().stamp),
            Seen::Erased => (Told::Erased, Stamp::ZERO),
            Seen::Unreadable => (Told::Unreadable, Stamp::ZERO),
        };
        self.raise_stamp(stamp);
        Ok(self.seen(told, self.shape.area_at(spot.block).slots))
    }

    /// Serves a page from these bytes and the held slots from now on, whether or not it can still be read. Nothing is
    /// programmed any more.
    pub fn believe(&mut self, spot: Spot, (kind, stamp): (PagedKind, Stamp), bytes: &'ram [u8]) {
        let tag_bytes = layout::tag_bytes(self.shape.area_at(spot.block).slots);
        let held = self.write.get_mut(..tag_bytes).unwrap_or(&mut []);
        layout::put_tag(held, &Tag { kind, stamp, note: 0 }, self.door.key());
        self.believed = Some(Believed { page: self.page(spot), bytes });
    }

    /// Reads an unreadable page from RAM, if it is the one given to `believe`.
    #[cold]
    #[inline(never)]
    fn read_believed(&mut self, page: Page, at: Bytes, tag_bytes: usize, data: &mut [u8]) -> Told {
        let believed = self.believed.as_ref().filter(|believed| believed.page == page);
        let Some(bytes) = believed.and_then(|believed| believed.bytes.get(at.as_usize()..)) else {
            return Told::Unreadable;
        };
        let (Some(held), Some(tag)) = (self.write.get(..tag_bytes), self.read.get_mut(..tag_bytes))
        else {
            return Told::Unreadable;
        };
        numbers::copy(data, bytes);
        numbers::copy(tag, held);
        layout::kind(tag, self.door.key()).map_or(Told::Unreadable, Told::Page)
    }

    /// Reads a page that no spot names, an anchor.
    pub(crate) fn read_aside(
        &mut self,
        page: Page,
        data: &mut [u8],
    ) -> Result<Seen<'_>, Fault<D::Error>> {
        let (told, _) = self.fetch((page, 1), Bytes::ZERO, data, Cause::Mount)?;
        Ok(self.seen(told, 1))
    }

    /// Reads the page of a header, and notes if both must be refreshed. [`Uncorrectable`](Fault::Uncorrectable): there
    /// may be one.
    pub(crate) fn read_header(
        &mut self,
        page: Page,
        data: &mut [u8],
    ) -> Result<Seen<'_>, Fault<D::Error>> {
        let spare = self.read.get_mut(..layout::tag_bytes(1)).unwrap_or(&mut []);
        let corrected = self.door.read(page, Bytes::ZERO, data, spare, Cause::Mount)?;
        let told = Told::by(spare, FormatKey::HEADER);
        if corrected != Corrected::NONE && told == Told::Page(PagedKind::Header) {
            self.weak.note_corrected(Weak::Headers, self.shape.area_of_map(), corrected);
        }
        Ok(self.seen(told, 1))
    }

    #[inline]
    fn seen(&self, told: Told, slots: u16) -> Seen<'_> {
        match told {
            Told::Page(kind) => {
                let bytes = self.read.get(..layout::tag_bytes(slots)).unwrap_or(&[]);
                Seen::Page(PageTag::new(kind, bytes))
            }
            Told::Erased => Seen::Erased,
            Told::Unreadable => Seen::Unreadable,
        }
    }

    /// Reads part of any page. Its tag is in `read` if there is one.
    #[inline(always)]
    fn fetch(
        &mut self,
        (page, slots): (Page, u16),
        at: Bytes,
        data: &mut [u8],
        cause: Cause,
    ) -> Result<(Told, Corrected), Fault<D::Error>> {
        let tag_bytes = layout::tag_bytes(slots);
        let spare = self.read.get_mut(..tag_bytes).unwrap_or(&mut []);
        match self.door.read(page, at, data, spare, cause) {
            Ok(corrected) => {
                let told = match Told::by(spare, self.door.key()) {
                    Told::Unreadable => self.read_believed(page, at, tag_bytes, data),
                    told => told,
                };
                Ok((told, corrected))
            }
            Err(Fault::Uncorrectable) => {
                Ok((self.read_believed(page, at, tag_bytes, data), Corrected::NONE))
            }
            Err(fault) => Err(fault),
        }
    }

    /// Marks all slots of the next page to program as empty.
    pub fn hold_nothing(&mut self) {
        self.hold_no_more(0);
    }

    /// Marks the slots from this one on as empty.
    #[inline]
    pub fn hold_no_more(&mut self, from: u16) {
        for slot in from..self.shape.slots_max() {
            self.hold(slot, Slot::Empty);
        }
    }

    /// Sets the content of a slot of the next page to program.
    #[inline]
    pub fn hold(&mut self, slot: u16, holds: Slot) {
        layout::put_slot(self.write, usize::from(slot), holds);
    }

    /// Returns the content of a slot of the next page to program.
    #[inline]
    pub fn held(&self, slot: u16) -> Slot {
        layout::slot(self.write, usize::from(slot))
    }

    /// Keeps the held slots, to hold them again.
    pub fn keep_held(&self, kept: &mut KeptSlots<'_>) {
        let bytes = layout::tag_bytes(self.shape.slots_max());
        kept.keep_tag(self.write.get(..bytes).unwrap_or(&[]));
    }

    /// Holds the kept slots.
    pub fn hold_kept(&mut self, kept: &KeptSlots<'_>) {
        for slot in 0..self.shape.slots_max() {
            self.hold(slot, kept.slot(slot));
        }
    }

    /// Holds some of the kept slots, from one on, and no others.
    pub fn hold_part(&mut self, kept: &KeptSlots<'_>, from: u16, count: u16) {
        self.hold_no_more(count);
        for slot in 0..count {
            self.hold(slot, kept.slot(from + slot));
        }
    }

    /// Programs a page with the held slots. Its note is the erase count of its block, except in a repetition.
    pub fn program(
        &mut self,
        spot: Spot,
        kind: PagedKind,
        note: u32,
        data: &[u8],
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        self.sign(self.shape.area_at(spot.block).slots, kind, note)?;
        self.send(self.page(spot), data, cause)
    }

    /// Programs a page that no spot names, a header or an anchor: its tag has the first of the held slots.
    pub(crate) fn program_aside(
        &mut self,
        page: Page,
        kind: PagedKind,
        data: &[u8],
    ) -> Result<(), Fault<D::Error>> {
        self.sign(1, kind, 0)?;
        self.send(page, data, Cause::Meta)
    }

    /// Writes the tag of the next page to program, with as many slots.
    fn sign(&mut self, slots: u16, kind: PagedKind, note: u32) -> Result<(), Fault<D::Error>> {
        let tagged = self.write.get_mut(..layout::tag_bytes(slots)).unwrap_or(&mut []);
        self.door.sign(tagged, kind, note)
    }

    /// Programs a page whose tag is written.
    fn send(&mut self, page: Page, data: &[u8], cause: Cause) -> Result<(), Fault<D::Error>> {
        self.programs = self.programs.wrapping_add(1);
        let area = &self.shape.main;
        let area = if page.region() == area.region { area } else { self.shape.map_area() };
        let spare = self.write.get(..area.spare_bytes.as_usize()).unwrap_or(&[]);
        self.door.program(page, data, spare, cause)
    }

    /// Returns how many pages were programmed so far.
    pub(crate) const fn programs(&self) -> u32 {
        self.programs
    }

    /// Erases a block.
    pub fn erase(&mut self, block: BlockNumber, cause: Cause) -> Result<Erasure, Fault<D::Error>> {
        self.door.erase(self.block(block), cause)
    }

    /// Erases a block that holds headers or anchors. If that fails, it is marked bad.
    pub(crate) fn erase_or_mark(&mut self, block: Block) -> Result<Erasure, Fault<D::Error>> {
        let erased = self.door.erase(block, Cause::Meta)?;
        if erased == Erasure::Failed {
            self.mark(block)?;
        }
        Ok(erased)
    }

    /// Whether a block is marked bad.
    pub fn is_bad(&mut self, block: BlockNumber) -> Result<bool, Fault<D::Error>> {
        self.door.is_bad(self.block(block))
    }

    /// Marks a block bad.
    pub fn mark_bad(&mut self, block: BlockNumber) -> Result<(), Fault<D::Error>> {
        self.mark(self.block(block))
    }

    /// Marks any block bad. If the mark fails, the next mount takes the block for good, and it fails again.
    pub(crate) fn mark(&mut self, block: Block) -> Result<(), Fault<D::Error>> {
        let (Marked::Done | Marked::Failed) = self.door.mark_bad(block)?;
        Ok(())
    }
}

impl<D, P> Deref for PagedFlash<'_, D, P> {
    type Target = Door<D, P>;

    fn deref(&self) -> &Door<D, P> {
        &self.door
    }
}

impl<D, P> DerefMut for PagedFlash<'_, D, P> {
    fn deref_mut(&mut self) -> &mut Door<D, P> {
        &mut self.door
    }
}
