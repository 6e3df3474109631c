//! The flash access layer (the *door*): every operation on the device goes through it. It adds stamp and tag, and
//! reports the operation with its cause to the probe.

mod buffer;
mod change;
mod failed;
mod gather;
mod header;
mod headers;
mod image;
mod memory;
mod outcome;
mod retire;
mod seals;
mod seen;
mod spot;
mod weak;

pub use buffer::{Fetched, SlotRun};
pub use failed::{AGAIN_MAX, Failed, listed_max};
pub use gather::Gathered;
pub use image::{ImageReader, ImageWriter, Written};
pub use memory::FlashMemory;
pub use outcome::{Erasure, Programmed};
pub use seals::Seals;
pub use seen::{PageTag, Seen};
pub use spot::{Purpose, Spot};
pub use weak::Weak;

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, NandDevice, Page, PageCount, PageIndex, Pairing,
    ProgramError, ReadError,
};

use crate::bugs::{Bug, planted};
use crate::config::Refresh;
use crate::error::Fault;
use crate::holder::{self, Holder, Magic};
use crate::hybrid::shape::{Area, Shape};
use crate::layout::{self, FormatKey, Label, Slot, Stamp, Tag};
use crate::probe::{Cause, Event, Probe, Verb};
use crate::table::word;
use memory::Spares;

/// The source of a page to program.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// The host's own buffer, which holds the whole page.
    Host(&'a [u8]),
    /// The page buffer.
    Buffer,
}

/// The door.
#[derive(Debug)]
pub struct Flash<'ram, D, P> {
    device: D,
    probe: P,
    meta: Area,
    log: Area,
    chain: Area,
    /// Whether meta and log use only the first page of each word line.
    spreads: bool,
    sector_bytes: Bytes,
    key: FormatKey,
    stamp: Stamp,
    /// The last stamp of before this mount.
    before: Stamp,
    /// No page has a larger stamp.
    last_stamp: Stamp,
    spares: Spares<'ram>,
    /// As long as the longest page.
    buffer: &'ram mut [u8],
    /// Whether the list of bad blocks has overwritten the buffer since it was filled, so that the page must be made
    /// again.
    spoiled: bool,
    dead: bool,
    seals: Seals,
    /// Blocks that have failed, and the consequences.
    pub failed: Failed,
    /// Weak pages that must be refreshed.
    pub weak: Weak,
}

impl<'ram, D: NandDevice, P: Probe> Flash<'ram, D, P> {
    /// The door to that device. The spare area beyond the tag stays erased.
    pub fn new(
        device: D,
        probe: P,
        shape: &Shape,
        refresh: Refresh,
        memory: FlashMemory<'ram>,
    ) -> Self {
        let FlashMemory { buffer, spares } = memory;
        spares.log.fill(0xFF);
        spares.chain.fill(0xFF);
        Self {
            device,
            probe,
            meta: shape.meta,
            // Without a log this part is a placeholder, because no spot of the log exists.
            log: match shape.log {
                Some(log) => log,
                None => shape.meta,
            },
            chain: shape.chain,
            spreads: shape.word_lines != Pairing::None,
            sector_bytes: shape.sector_bytes,
            key: FormatKey::HEADER,
            stamp: Stamp::ZERO,
            // Until all stamps are known, every page may be of before.
            before: Stamp::last_of(shape.page_count()),
            last_stamp: Stamp::last_of(shape.page_count()),
            spares,
            buffer,
            spoiled: false,
            dead: false,
            seals: Seals::Broken,
            failed: Failed::NONE,
            weak: Weak::new(refresh, shape.log.as_ref()),
        }
    }

    /// Gives the device back.
    pub fn into_parts(self) -> (D, P) {
        (self.device, self.probe)
    }

    /// The device's shape.
    pub fn geometry(&self) -> &Geometry {
        self.device.geometry()
    }

    /// Shared access to the device.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Exclusive access to the device, for operations beside the FTL. They must not change its content.
    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// The probe.
    pub fn probe(&self) -> &P {
        &self.probe
    }

    /// Reports a decision to the probe.
    #[inline]
    pub fn tell(&mut self, event: Event) {
        self.probe.event(event);
    }

    /// Sets the key of the device's tags.
    pub fn set_key(&mut self, key: FormatKey) {
        self.key = key;
    }

    /// The key of the device's tags.
    pub fn key(&self) -> FormatKey {
        self.key
    }

    /// Raises the last stamp given to at least this one; a mount calls it with each stamp that it reads.
    pub fn raise_stamp(&mut self, stamp: Stamp) {
        self.stamp = self.stamp.max(stamp);
    }

    /// Notes that all stamps on flash are known: what is programmed from now on has later ones.
    pub fn know_all_stamps(&mut self) {
        self.before = self.stamp;
    }

    /// Whether a page with that stamp was programmed since the mount, so that its program was certainly completed.
    pub fn is_of_this_mount(&self, stamp: Stamp) -> bool {
        stamp > self.before
    }

    #[inline]
    fn area(&self, purpose: Purpose) -> &Area {
        match purpose {
            Purpose::Meta => &self.meta,
            Purpose::Log => &self.log,
            Purpose::Chain => &self.chain,
        }
    }

    #[inline]
    fn block(&self, spot: Spot) -> Block {
        let area = self.area(spot.purpose);
        Block::new(area.region, area.first + word(spot.block))
    }

    #[inline]
    fn page(&self, spot: Spot) -> Page {
        let spread =
            self.spreads && spot.purpose != Purpose::Chain && !planted(Bug::ForgetFirstPages);
        let index = if spread { self.spread(spot.page) } else { PageIndex::new(spot.page) };
        self.block(spot).page(index)
    }

    /// The physical page for that number, if only the first of each word line is used.
    #[cold]
    fn spread(&self, page: u16) -> PageIndex {
        let shape = self.geometry().region(self.meta.region);
        shape.map_or(Pairing::None, |shape| shape.pairing).first_page(page)
    }

    /// Whether the device may still be used: nothing has failed that ends this mount.
    #[inline]
    pub fn alive(&self) -> Result<(), Fault<D::Error>> {
        if self.dead && !planted(Bug::AskDeadDevice) { Err(Fault::Device(None)) } else { Ok(()) }
    }

    fn driver_failed(&mut self, error: D::Error) -> Fault<D::Error> {
        self.dead = true;
        Fault::Device(Some(error))
    }

    /// Reads sectors of a page, from a slot on, together with the page's tag. `None` for the tag: the page is erased
    /// or not of this format. If the page cannot be read, `data` holds anything.
    #[inline(never)]
    pub fn read(
        &mut self,
        spot: Spot,
        slot: u16,
        data: &mut [u8],
        cause: Cause,
    ) -> Result<Option<PageTag<'_>>, Fault<D::Error>> {
        self.read_here(spot, slot, data, cause)
    }

    /// [`read`](Self::read), inlined, so that fields of the tag that the caller does not use are not extracted. For the
    /// host's reads and for scans.
    #[inline(always)]
    pub fn read_here(
        &mut self,
        spot: Spot,
        slot: u16,
        data: &mut [u8],
        cause: Cause,
    ) -> Result<Option<PageTag<'_>>, Fault<D::Error>> {
        let tag = self.read_unguarded(spot, slot, data, cause)?;
        Ok(tag.map(|tag| self.guard(spot, tag)))
    }

    /// Reads a page, and leaves its tag's bytes in the spare area for reading. Only for the functions of this layer,
    /// which return a [`PageTag`].
    #[inline(always)]
    fn read_unguarded(
        &mut self,
        spot: Spot,
        slot: u16,
        data: &mut [u8],
        cause: Cause,
    ) -> Result<Option<Tag>, Fault<D::Error>> {
        self.alive()?;
        if self.failed.distrusts(spot) {
            return Err(Fault::Uncorrectable);
        }
        let page = self.page(spot);
        let area = *self.area(spot.purpose);
        let tag_bytes = layout::tag_bytes(area.slots);
        let at = Bytes::new(u32::from(slot) * self.sector_bytes.get());
        self.probe.operation(area.region, Verb::Read, cause);
        let spare = self.spares.read.get_mut(..tag_bytes).unwrap_or(&mut []);
        match self.device.read(page, at, data, spare) {
            Ok(corrected) => {
                if corrected != Corrected::NONE {
                    self.weak.note_corrected(spot, corrected);
                }
                Ok(layout::tag(spare, self.key))
            }
            Err(ReadError::Uncorrectable) => {
                // A mount expects and handles pages that a power cut has left.
                if cause != Cause::Mount {
                    self.weak.note(spot);
                }
                Err(Fault::Uncorrectable)
            }
            Err(ReadError::Driver(error)) => Err(self.driver_failed(error)),
        }
    }

    /// The tag of the page that was read just now, with its slots.
    #[inline(always)]
    fn guard(&self, spot: Spot, tag: Tag) -> PageTag<'_> {
        PageTag::new(tag, self.tag_bytes(spot))
    }

    /// The bytes of the tag that was read just now, from that page.
    #[inline(always)]
    fn tag_bytes(&self, spot: Spot) -> &[u8] {
        let bytes = layout::tag_bytes(self.area(spot.purpose).slots);
        self.spares.read.get(..bytes).unwrap_or(&[])
    }

    /// Reads a page's tag, whatever state the page is in.
    #[inline(never)]
    pub fn look(&mut self, spot: Spot, cause: Cause) -> Result<Seen<'_>, Fault<D::Error>> {
        let last_stamp = self.last_stamp;
        let seen = self.look_here(spot, cause)?;
        Ok(if seen.is_plausible(spot, last_stamp) { seen } else { Seen::Unreadable })
    }

    /// [`look`](Self::look), inlined.
    #[inline(always)]
    pub fn look_here(&mut self, spot: Spot, cause: Cause) -> Result<Seen<'_>, Fault<D::Error>> {
        let read = self.read_unguarded(spot, 0, &mut [], cause);
        self.seen(spot, read)
    }

    /// Classifies the page that was read just now.
    #[inline(always)]
    fn seen(
        &self,
        spot: Spot,
        read: Result<Option<Tag>, Fault<D::Error>>,
    ) -> Result<Seen<'_>, Fault<D::Error>> {
        match read {
            Ok(Some(tag)) => Ok(Seen::Page(self.guard(spot, tag))),
            Ok(None) if layout::is_erased(self.tag_bytes(spot)) => Ok(Seen::Erased),
            Ok(None) | Err(Fault::Uncorrectable) => Ok(Seen::Unreadable),
            Err(fault) => Err(fault),
        }
    }

    /// How pages of the chains share word lines.
    pub fn chain_pairing(&self) -> Pairing {
        self.geometry().region(self.chain.region).map_or(Pairing::None, |shape| shape.pairing)
    }

    /// Whether a page may be erased though later ones of its block are programmed: pages of the chains that endanger
    /// others are skipped if those could not be backed up.
    pub fn may_be_left_out(&self, spot: Spot) -> bool {
        let pages = PageCount::new(u32::from(self.chain.pages));
        spot.purpose == Purpose::Chain
            && !self.chain_pairing().is_first(PageIndex::new(spot.page), pages)
    }

    /// Slots per page there.
    pub fn slots_of(&self, spot: Spot) -> u16 {
        self.area(spot.purpose).slots
    }

    /// The last stamp given.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Sets what a slot will hold of the next page of the chains to be programmed with [`HELD`](layout::Slots::HELD).
    /// Only programs to chains reset it.
    #[inline]
    pub fn hold(&mut self, slot: u16, holds: Slot) {
        layout::put_slot(self.spares.chain, usize::from(slot), holds);
    }

    /// Programs a page that no checkpoint covers.
    #[inline]
    fn program_page(
        &mut self,
        spot: Spot,
        label: Label<'_>,
        content: Content<'_>,
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        self.alive()?;
        let Label { kind, note, slots } = label;
        let page = self.page(spot);
        let area = *self.area(spot.purpose);
        self.stamp = self.stamp.next();
        let spare = match spot.purpose {
            Purpose::Meta | Purpose::Log => &mut *self.spares.log,
            Purpose::Chain => &mut *self.spares.chain,
        };
        let tagged = spare.get_mut(..layout::tag_bytes(area.slots)).unwrap_or(&mut []);
        layout::put_slots(tagged, slots);
        layout::put_tag(tagged, &Tag { kind, stamp: self.stamp, note }, self.key);
        self.probe.operation(area.region, Verb::Program, cause);
        let data = match content {
            Content::Host(data) => data,
            Content::Buffer => self.buffer.get(..area.page_bytes.as_usize()).unwrap_or(&[]),
        };
        let forgotten = cause == Cause::Host && self.stamp.get().is_multiple_of(16);
        if planted(Bug::AcknowledgeBeforeProgram) && forgotten {
            return Ok(());
        }
        match self.device.program(page, data, spare) {
            Ok(()) => Ok(()),
            Err(ProgramError::Failed) => {
                self.failed.note_failing(spot);
                self.failed.page |= kind.is_content();
                Err(Fault::BlockFailed)
            }
            Err(ProgramError::Driver(error)) => Err(self.driver_failed(error)),
        }
    }

    /// Erases a block that no checkpoint covers. If that fails, the block is still in use.
    #[inline]
    fn erase_block(&mut self, spot: Spot, cause: Cause) -> Result<Erasure, Fault<D::Error>> {
        self.alive()?;
        let block = self.block(spot);
        self.probe.operation(block.region(), Verb::Erase, cause);
        match self.device.erase(block) {
            Ok(()) => {
                if self.weak.waits() {
                    self.weak.forget_block(spot);
                }
                Ok(Erasure::Done)
            }
            Err(EraseError::Failed) => Ok(Erasure::Failed),
            Err(EraseError::Driver(error)) => Err(self.driver_failed(error)),
        }
    }

    /// Looks for another FTL's headers.
    pub(crate) fn look_for(&mut self, magic: Magic) -> Result<Holder, Fault<D::Error>> {
        self.alive()?;
        holder::look_for(&mut self.device, magic).map_err(|error| self.driver_failed(error))
    }

    /// Whether the block of a spot is marked bad, or listed as such.
    pub fn is_bad(&mut self, spot: Spot) -> Result<bool, Fault<D::Error>> {
        self.alive()?;
        if self.failed.is_unmarked(spot) {
            return Ok(true);
        }
        let block = self.block(spot);
        self.device.is_bad(block).map_err(|error| self.driver_failed(error))
    }
}
