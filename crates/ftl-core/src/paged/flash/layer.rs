//! The flash access layer (the *door*): every operation on the device goes through it. It adds stamp and tag, and
//! reports the operation with its cause to the probe.

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, ProgramError,
    ReadError,
};

use super::weak::{Weak, WeakOnes};
use crate::error::Fault;
use crate::holder::{self, Holder, Magic};
use crate::layout::{self, FormatKey, Kind, Slot, Stamp, Tag};
use crate::paged::plan::address::{BlockNumber, Spot};
use crate::paged::plan::config::RefreshLimits;
use crate::paged::plan::numbers;
use crate::paged::plan::shape::PagedShape;
use crate::probe::{Cause, Event, Probe, Verb};

/// What a read found. It borrows the layer, so that nothing can be asked about a page that was read before.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen<'tag> {
    /// A page of this format.
    Page(TaggedPage<'tag>),
    /// The page reads as erased.
    Erased,
    /// The page is unreadable, or its tag is not of this format. The buffers of the read hold anything.
    Unreadable,
}

/// A page of this format, as its tag describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaggedPage<'tag> {
    /// Its kind.
    pub kind: Kind,
    /// The most bits corrected in a codeword of the read.
    pub corrected: Corrected,
    bytes: &'tag [u8],
}

impl TaggedPage<'_> {
    /// Returns its kind, its stamp and its note.
    #[inline(never)]
    pub fn tag(&self) -> Tag {
        layout::tag_of(self.kind, self.bytes)
    }

    /// Returns the content of a slot.
    #[inline]
    pub fn slot(&self, slot: u16) -> Slot {
        layout::slot(self.bytes, usize::from(slot))
    }
}

/// The slots of a page, kept while other pages are read.
#[derive(Debug)]
pub struct KeptSlots<'ram> {
    bytes: &'ram mut [u8],
    len: usize,
}

impl<'ram> KeptSlots<'ram> {
    /// Keeps slots in this memory: none yet.
    pub const fn new(bytes: &'ram mut [u8]) -> Self {
        Self { bytes, len: 0 }
    }

    /// Keeps the slots of a page, and no others.
    #[inline]
    pub fn keep(&mut self, page: &TaggedPage<'_>) {
        self.len = page.bytes.len();
        if let Some(bytes) = self.bytes.get_mut(..self.len) {
            numbers::copy(bytes, page.bytes);
        }
    }

    /// Returns the content of a slot of the page kept last.
    #[inline]
    pub fn slot(&self, slot: u16) -> Slot {
        layout::slot(self.bytes.get(..self.len).unwrap_or(&[]), usize::from(slot))
    }
}

/// What a read found, without the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Page(Kind),
    Erased,
    Unreadable,
}

/// Whether the page holds sectors, or is a proof, which may be in a block of sectors.
pub const fn is_sectors(kind: Kind) -> bool {
    matches!(kind, Kind::Sectors | Kind::Rescue | Kind::Backup)
}

/// Whether the page is a proof: it holds nothing, and shows that the repetition before it is on flash.
pub const fn is_proof(kind: Kind) -> bool {
    matches!(kind, Kind::Backup)
}

/// Whether the page is a map page.
pub const fn is_map(kind: Kind) -> bool {
    matches!(kind, Kind::Map | Kind::Commit)
}

/// Whether the page repeats the page programmed last before a mount. Its note gives the distance in stamps to the first
/// attempt.
pub const fn is_redone(kind: Kind) -> bool {
    matches!(kind, Kind::Rescue | Kind::Commit)
}

/// Whether map pages may follow in a block whose first page is of that kind: behind a repetition or its proof, too, if
/// a single area had no other block.
pub const fn may_begin_map(kind: Kind) -> bool {
    is_map(kind) || is_redone(kind) || is_proof(kind)
}

/// Set in the note of a repetition that holds a part of the page: it did not fit in one page of the fast area.
const PART: u32 = 1 << (layout::NOTE_BITS - 1);

/// How much of a page its repetition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All.
    Whole,
    /// Some of its sectors. Parts count only with a proof behind them: until then the page itself does.
    Part,
}

/// Returns the note of a repetition, so many stamps after the first attempt: zero if they are too many.
pub const fn note_redone(extent: Extent, distance: u32) -> u32 {
    let distance = if distance < PART { distance } else { 0 };
    match extent {
        Extent::Whole => distance,
        Extent::Part => PART | distance,
    }
}

/// Returns the stamp of the first attempt, and what of the page this attempt holds.
pub const fn first_attempt(tag: Tag) -> (Stamp, Extent) {
    if !is_redone(tag.kind) {
        return (tag.stamp, Extent::Whole);
    }
    let extent = if tag.note & PART == 0 { Extent::Whole } else { Extent::Part };
    (tag.stamp.before(tag.note & !PART), extent)
}

impl Seen<'_> {
    /// Returns the tag, if there is one.
    #[inline]
    pub fn tag(self) -> Option<Tag> {
        match self {
            Self::Page(page) => Some(page.tag()),
            Self::Erased | Self::Unreadable => None,
        }
    }
}

/// The flash access layer.
#[derive(Debug)]
pub struct Door<'ram, D, P> {
    device: D,
    probe: P,
    shape: PagedShape,
    key: FormatKey,
    stamp: Stamp,
    /// The tag that a read delivers.
    read: &'ram mut [u8],
    /// The spare area to program from.
    write: &'ram mut [u8],
    /// Weak pages found while reading.
    pub weak: WeakOnes,
    believed: Option<Believed<'ram>>,
    dead: bool,
}

/// The content of a page that may become unreadable at any time and cannot be repeated.
#[derive(Debug)]
struct Believed<'ram> {
    page: Page,
    bytes: &'ram [u8],
}

impl<'ram, D: NandDevice, P: Probe> Door<'ram, D, P> {
    /// Creates the door to a device.
    pub fn new(
        device: D,
        probe: P,
        (shape, limits): (&PagedShape, RefreshLimits),
        read: &'ram mut [u8],
        write: &'ram mut [u8],
    ) -> Self {
        write.fill(0xFF);
        Self {
            device,
            probe,
            shape: *shape,
            key: FormatKey::HEADER,
            stamp: Stamp::ZERO,
            read,
            write,
            weak: WeakOnes::new(limits),
            believed: None,
            dead: false,
        }
    }

    /// Returns the device and the probe.
    pub fn into_parts(self) -> (D, P) {
        (self.device, self.probe)
    }

    /// Returns the device's geometry.
    pub fn geometry(&self) -> &Geometry {
        self.device.geometry()
    }

    /// Returns shared access to the device.
    pub const fn device(&self) -> &D {
        &self.device
    }

    /// Returns the device, for operations of the host beside the FTL.
    pub const fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// Returns the probe.
    pub const fn probe(&self) -> &P {
        &self.probe
    }

    /// Reports a decision to the probe.
    #[inline]
    pub fn tell(&mut self, event: Event) {
        self.probe.event(event);
    }

    /// Returns the key of the device's tags.
    pub const fn key(&self) -> FormatKey {
        self.key
    }

    /// Sets the key of the device's tags.
    pub const fn set_key(&mut self, key: FormatKey) {
        self.key = key;
    }

    /// Returns the last stamp used.
    pub const fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Raises the last stamp used to at least this one.
    pub fn raise_stamp(&mut self, stamp: Stamp) {
        self.stamp = self.stamp.max(stamp);
    }

    /// Fails if an error of the driver has ended this mount.
    #[inline]
    pub fn alive(&self) -> Result<(), Fault<D::Error>> {
        if self.dead { Err(Fault::Device(None)) } else { Ok(()) }
    }

    fn driver_failed(&mut self, error: D::Error) -> Fault<D::Error> {
        self.dead = true;
        Fault::Device(Some(error))
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
        Ok(self.seen(told, corrected, slots))
    }

    /// Reads a page's tag.
    pub fn look(&mut self, spot: Spot, cause: Cause) -> Result<Seen<'_>, Fault<D::Error>> {
        let (told, corrected, stamp) = match self.read(spot, 0, &mut [], cause)? {
            Seen::Page(page) => (Told::Page(page.kind), page.corrected, page.tag().stamp),
            Seen::Erased => (Told::Erased, Corrected::NONE, Stamp::ZERO),
            Seen::Unreadable => (Told::Unreadable, Corrected::NONE, Stamp::ZERO),
        };
        self.raise_stamp(stamp);
        Ok(self.seen(told, corrected, self.shape.area_at(spot.block).slots))
    }

    /// Serves a page from these bytes and the held slots from now on, whether or not it can still be read. Nothing is
    /// programmed any more.
    pub fn believe(&mut self, spot: Spot, (kind, stamp): (Kind, Stamp), bytes: &'ram [u8]) {
        let tag_bytes = layout::tag_bytes(self.shape.area_at(spot.block).slots);
        let held = self.write.get_mut(..tag_bytes).unwrap_or(&mut []);
        layout::put_tag(held, &Tag { kind, stamp, note: 0 }, self.key);
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
        layout::kind(tag, self.key).map_or(Told::Unreadable, Told::Page)
    }

    /// Reads part of any page, with a tag of this many slots.
    pub(crate) fn read_page(
        &mut self,
        page: Page,
        slots: u16,
        at: Bytes,
        data: &mut [u8],
        cause: Cause,
    ) -> Result<Seen<'_>, Fault<D::Error>> {
        let (told, corrected) = self.fetch((page, slots), at, data, cause)?;
        Ok(self.seen(told, corrected, slots))
    }

    #[inline]
    fn seen(&self, told: Told, corrected: Corrected, slots: u16) -> Seen<'_> {
        match told {
            Told::Page(kind) => {
                let bytes = self.read.get(..layout::tag_bytes(slots)).unwrap_or(&[]);
                Seen::Page(TaggedPage { kind, corrected, bytes })
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
        self.alive()?;
        let tag_bytes = layout::tag_bytes(slots);
        self.probe.operation(page.region(), Verb::Read, cause);
        let spare = self.read.get_mut(..tag_bytes).unwrap_or(&mut []);
        match self.device.read(page, at, data, spare) {
            Ok(corrected) => {
                let told = match layout::kind(spare, self.key) {
                    Some(kind) => Told::Page(kind),
                    None if layout::is_erased(spare) => Told::Erased,
                    None => self.read_believed(page, at, tag_bytes, data),
                };
                Ok((told, corrected))
            }
            Err(ReadError::Uncorrectable) => {
                Ok((self.read_believed(page, at, tag_bytes, data), Corrected::NONE))
            }
            Err(ReadError::Driver(error)) => Err(self.driver_failed(error)),
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
        kept.len = layout::tag_bytes(self.shape.slots_max());
        if let (Some(bytes), Some(held)) =
            (kept.bytes.get_mut(..kept.len), self.write.get(..kept.len))
        {
            numbers::copy(bytes, held);
        }
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
        kind: Kind,
        note: u32,
        data: &[u8],
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        let slots = self.shape.area_at(spot.block).slots;
        self.program_page(self.page(spot), slots, (kind, note), data, cause)
    }

    /// Programs any page, with a tag of this many slots.
    pub(crate) fn program_page(
        &mut self,
        page: Page,
        slots: u16,
        (kind, note): (Kind, u32),
        data: &[u8],
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        self.alive()?;
        self.stamp = self.stamp.next();
        let tag = Tag { kind, stamp: self.stamp, note };
        let area = &self.shape.main;
        let area = if page.region() == area.region { area } else { self.shape.map_area() };
        let spare_bytes = area.spare_bytes.as_usize();
        let spare = self.write.get_mut(..spare_bytes).unwrap_or(&mut []);
        let tagged = spare.get_mut(..layout::tag_bytes(slots)).unwrap_or(&mut []);
        layout::put_tag(tagged, &tag, self.key);
        self.probe.operation(page.region(), Verb::Program, cause);
        match self.device.program(page, data, spare) {
            Ok(()) => Ok(()),
            Err(ProgramError::Failed) => Err(Fault::BlockFailed),
            Err(ProgramError::Driver(error)) => Err(self.driver_failed(error)),
        }
    }

    /// Erases a block.
    pub fn erase(&mut self, block: BlockNumber, cause: Cause) -> Result<(), Fault<D::Error>> {
        self.erase_block(self.block(block), cause)
    }

    /// Erases any block.
    pub(crate) fn erase_block(
        &mut self,
        block: Block,
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        self.alive()?;
        self.probe.operation(block.region(), Verb::Erase, cause);
        match self.device.erase(block) {
            Ok(()) => Ok(()),
            Err(EraseError::Failed) => Err(Fault::BlockFailed),
            Err(EraseError::Driver(error)) => Err(self.driver_failed(error)),
        }
    }

    /// Whether a block is marked bad.
    pub fn is_bad(&mut self, block: BlockNumber) -> Result<bool, Fault<D::Error>> {
        self.is_bad_block(self.block(block))
    }

    /// Whether any block is marked bad.
    pub(crate) fn is_bad_block(&mut self, block: Block) -> Result<bool, Fault<D::Error>> {
        self.alive()?;
        self.device.is_bad(block).map_err(|error| self.driver_failed(error))
    }

    /// Looks for another FTL's headers.
    pub(crate) fn look_for(&mut self, magic: Magic) -> Result<Holder, Fault<D::Error>> {
        self.alive()?;
        holder::look_for(&mut self.device, magic).map_err(|error| self.driver_failed(error))
    }

    /// Marks a block bad. If the mark fails, the next mount takes the block for good, and it fails again.
    pub fn mark_bad(&mut self, block: BlockNumber) -> Result<(), Fault<D::Error>> {
        self.mark_bad_block(self.block(block))
    }

    /// Marks any block bad.
    pub(crate) fn mark_bad_block(&mut self, block: Block) -> Result<(), Fault<D::Error>> {
        self.alive()?;
        match self.device.mark_bad(block) {
            Ok(()) | Err(MarkError::Failed) => Ok(()),
            Err(MarkError::Driver(error)) => Err(self.driver_failed(error)),
        }
    }
}
