//! The flash access layer (the *door*): every operation on the device goes through it. It adds stamp and tag, and
//! reports the operation with its cause to the probe.

mod buffer;
mod change;
mod failed;
mod gather;
mod headers;
mod image;
mod memory;
mod seals;
mod spot;
mod weak;

pub use failed::{AGAIN_MAX, Failed, listed_max};
pub use gather::Gathered;
pub use image::{ImageReader, ImageWriter, Written};
pub use memory::FlashMemory;
pub use seals::Seals;
pub use spot::{Purpose, Spot};
pub use weak::Weak;

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, NandDevice, Page, PageCount, PageIndex, Pairing,
    ProgramError, ReadError, Sector,
};

use crate::bugs::{Bug, planted};
use crate::config::Refresh;
use crate::error::Fault;
use crate::hybrid::shape::{Area, Shape};
use crate::layout::{self, FormatKey, Label, Slot, Stamp, Tag};
use crate::probe::{Cause, Event, Probe, Verb};
use crate::table::word;
use memory::Spares;

/// The content of a page, by its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A page of this format.
    Page(Tag),
    /// It reads as erased.
    Erased,
    /// It is unreadable, or its tag is not of this format.
    Unreadable,
}

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
    /// No page has a larger stamp.
    last_stamp: Stamp,
    spares: Spares<'ram>,
    /// As long as the longest page.
    buffer: &'ram mut [u8],
    /// Whether the list of bad blocks has overwritten the buffer since it was filled, so that the page must be made
    /// again.
    spoiled: bool,
    /// Bytes of the tag read last.
    read_bytes: u16,
    /// The page that was read last.
    #[cfg(debug_assertions)]
    read_last: Option<Spot>,
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
            last_stamp: Stamp::last_of(shape.page_count()),
            spares,
            buffer,
            spoiled: false,
            read_bytes: 0,
            #[cfg(debug_assertions)]
            read_last: None,
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
    /// or not of this format.
    #[inline(never)]
    pub fn read(
        &mut self,
        spot: Spot,
        slot: u16,
        data: &mut [u8],
        cause: Cause,
    ) -> Result<Option<Tag>, Fault<D::Error>> {
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
        self.read_bytes = tag_bytes as u16;
        #[cfg(debug_assertions)]
        {
            self.read_last = Some(spot);
        }
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

    /// Reads a page's tag alone.
    #[inline]
    pub fn read_tag(&mut self, spot: Spot, cause: Cause) -> Result<Option<Tag>, Fault<D::Error>> {
        self.read(spot, 0, &mut [], cause)
    }

    /// Reads a page's tag, whatever state the page is in.
    #[inline(never)]
    pub fn look(&mut self, spot: Spot, cause: Cause) -> Result<Seen, Fault<D::Error>> {
        let seen = self.look_here(spot, cause)?;
        Ok(if self.is_plausible(spot, &seen) { seen } else { Seen::Unreadable })
    }

    /// Whether such a page may be there. The remains of an interrupted erase may read as anything, and one in millions
    /// of such pages passes the check of a tag; a kind that does not belong there or a stamp that no device of this
    /// size reaches exposes nearly all of those.
    fn is_plausible(&self, spot: Spot, seen: &Seen) -> bool {
        let Seen::Page(tag) = seen else { return true };
        spot.purpose.takes(tag.kind) && tag.stamp <= self.last_stamp
    }

    /// [`look`](Self::look), inlined.
    #[inline(always)]
    pub fn look_here(&mut self, spot: Spot, cause: Cause) -> Result<Seen, Fault<D::Error>> {
        let read = self.read_here(spot, 0, &mut [], cause);
        self.seen(read)
    }

    /// Classifies the page read last.
    #[inline(always)]
    fn seen(&self, read: Result<Option<Tag>, Fault<D::Error>>) -> Result<Seen, Fault<D::Error>> {
        match read {
            Ok(Some(tag)) => Ok(Seen::Page(tag)),
            Ok(None) if self.was_erased() => Ok(Seen::Erased),
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

    /// What a slot of a page holds. The page must be the one that was read last, because only its tag is kept.
    #[inline]
    pub fn slot(&self, spot: Spot, slot: u16) -> Slot {
        #[cfg(debug_assertions)]
        assert_eq!(self.read_last, Some(spot), "the tag that is kept is of another page");
        let _ = spot;
        layout::slot(self.spares.read, usize::from(slot))
    }

    /// A sector whose home is in a page, whatever the page holds; it shows the logical block. The page must be the one
    /// that was read last.
    pub fn any_place(&self, spot: Spot) -> Option<Sector> {
        let slots = self.spares.read.len() / 4;
        (0..slots)
            .take_while(|slot| layout::tag_bytes(*slot as u16 + 1) <= self.read_bytes.into())
            .find_map(|slot| self.slot(spot, slot as u16).place_of())
    }

    /// Whether the page read last is erased.
    pub fn was_erased(&self) -> bool {
        self.spares.read.get(..usize::from(self.read_bytes)).is_some_and(layout::is_erased)
    }

    /// Sets what a slot will hold of the next page of the chains to be programmed with [`HELD`](layout::Slots::HELD).
    /// Only programs to chains reset it.
    #[inline]
    pub fn hold(&mut self, slot: u16, holds: Slot) {
        layout::put_slot(self.spares.chain, usize::from(slot), holds);
    }

    /// Sets slots of that page to what slots of the page read last hold, which must be that sector and the following
    /// ones. `false`: they hold something else.
    #[inline]
    pub fn hold_as_read(&mut self, from: u16, to: u16, count: u16, first: Sector) -> bool {
        let slots = |at| layout::tag_bytes(at)..layout::tag_bytes(at + count);
        let read = self.spares.read.get(slots(from));
        let held = self.spares.chain.get_mut(slots(to));
        read.zip(held).is_some_and(|(read, held)| layout::copy_slots(held, read, first))
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

    /// Erases a block that no checkpoint covers. `false`: the erase failed.
    #[inline]
    fn erase_block(&mut self, spot: Spot, cause: Cause) -> Result<bool, Fault<D::Error>> {
        self.alive()?;
        let block = self.block(spot);
        self.probe.operation(block.region(), Verb::Erase, cause);
        match self.device.erase(block) {
            Ok(()) => {
                if self.weak.waits() {
                    self.weak.forget_block(spot);
                }
                Ok(true)
            }
            Err(EraseError::Failed) => Ok(false),
            Err(EraseError::Driver(error)) => Err(self.driver_failed(error)),
        }
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
