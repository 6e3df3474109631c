//! The hybrid's flash access layer, on the door (`flash::Door`) that both FTLs have: which page of the device a spot
//! is, the page buffer, checkpoints' seals, and blocks that have failed.

mod buffer;
mod change;
mod failed;
mod gather;
mod header;
mod headers;
mod image;
mod memory;
mod retire;
mod seals;
mod spot;
mod weak;

pub use buffer::{Fetched, SlotRun};
pub use failed::{AGAIN_MAX, Failed, listed_max};
pub use gather::Gathered;
pub use headers::Listing;
pub use image::{ImageReader, ImageWriter};
pub use memory::FlashMemory;
pub use seals::Seals;
pub use spot::{Purpose, Spot};
pub use weak::Weak;

use core::ops::{Deref, DerefMut};

use ftl_iface::{Block, Bytes, Corrected, NandDevice, Page, PageCount, PageIndex, Pairing};

use crate::config::Refresh;
use crate::error::Fault;
use crate::flash::{self, Door};
pub(crate) use crate::flash::{Erasure, Programmed};
use crate::hybrid::rules;
use crate::hybrid::shape::{Area, Shape};
use crate::layout::{self, Kind, Label, Slot, Stamp};
use crate::probe::{Cause, Probe};
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

/// What a read found.
pub type Seen<'tag> = flash::Seen<'tag, Kind>;

/// A page that was read.
pub type PageTag<'tag> = flash::TaggedPage<'tag, Kind>;

/// The layer.
#[derive(Debug)]
pub struct Flash<'ram, D, P> {
    door: Door<D, P>,
    meta: Area,
    log: Area,
    chain: Area,
    /// Whether meta and log use only the first page of each word line.
    spreads: bool,
    sector_bytes: Bytes,
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
            door: Door::new(device, probe),
            meta: shape.meta,
            // Without a log this part is a placeholder, because no spot of the log exists.
            log: match shape.log {
                Some(log) => log,
                None => shape.meta,
            },
            chain: shape.chain,
            spreads: shape.word_lines != Pairing::None,
            sector_bytes: shape.sector_bytes,
            // Until all stamps are known, every page may be of before.
            before: Stamp::last_of(shape.page_count()),
            last_stamp: Stamp::last_of(shape.page_count()),
            spares,
            buffer,
            spoiled: false,
            seals: Seals::Broken,
            failed: Failed::NONE,
            weak: Weak::new(refresh, shape.log.as_ref()),
        }
    }

    /// Gives the device back.
    pub fn into_parts(self) -> (D, P) {
        self.door.into_parts()
    }

    /// Notes that all stamps on flash are known: what is programmed from now on has later ones.
    pub fn know_all_stamps(&mut self) {
        self.before = self.stamp();
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
        let spread = self.spreads && rules::must_use_first_pages(spot.purpose == Purpose::Chain);
        let index = if spread { self.spread(spot.page) } else { PageIndex::new(spot.page) };
        self.block(spot).page(index)
    }

    /// The physical page for that number, if only the first of each word line is used.
    #[cold]
    fn spread(&self, page: u16) -> PageIndex {
        let shape = self.geometry().region(self.meta.region);
        shape.map_or(Pairing::None, |shape| shape.pairing).nth_first_page(page)
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
        let kind = self.read_unguarded(spot, slot, data, cause)?;
        Ok(kind.map(|kind| self.guard(spot, kind)))
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
    ) -> Result<Option<Kind>, Fault<D::Error>> {
        if self.failed.distrusts(spot) {
            return self.alive().and(Err(Fault::Uncorrectable));
        }
        let page = self.page(spot);
        let tag_bytes = layout::tag_bytes(self.area(spot.purpose).slots);
        let at = Bytes::new(u32::from(slot) * self.sector_bytes.get());
        let spare = self.spares.read.get_mut(..tag_bytes).unwrap_or(&mut []);
        match self.door.read(page, at, data, spare, cause) {
            Ok(corrected) => {
                if corrected != Corrected::NONE {
                    self.weak.note_corrected(spot, corrected);
                }
                Ok(layout::kind(spare, self.door.key()))
            }
            Err(fault) => {
                // A mount expects and handles pages that a power cut has left.
                if matches!(fault, Fault::Uncorrectable) && cause != Cause::Mount {
                    self.weak.note(spot);
                }
                Err(fault)
            }
        }
    }

    /// The page that was read just now, by its tag.
    #[inline(always)]
    fn guard(&self, spot: Spot, kind: Kind) -> PageTag<'_> {
        PageTag::new(kind, self.tag_bytes(spot))
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
        Ok(if is_plausible(&seen, spot, last_stamp) { seen } else { Seen::Unreadable })
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
        read: Result<Option<Kind>, Fault<D::Error>>,
    ) -> Result<Seen<'_>, Fault<D::Error>> {
        match read {
            Ok(Some(kind)) => Ok(Seen::Page(self.guard(spot, kind))),
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
        let Label { kind, note, slots } = label;
        let page = self.page(spot);
        let area = *self.area(spot.purpose);
        let spare = match spot.purpose {
            Purpose::Meta | Purpose::Log => &mut *self.spares.log,
            Purpose::Chain => &mut *self.spares.chain,
        };
        let tagged = spare.get_mut(..layout::tag_bytes(area.slots)).unwrap_or(&mut []);
        layout::put_slots(tagged, slots);
        self.door.sign(tagged, kind, note)?;
        let data = match content {
            Content::Host(data) => data,
            Content::Buffer => self.buffer.get(..area.page_bytes.as_usize()).unwrap_or(&[]),
        };
        if !rules::must_program(cause, self.door.stamp()) {
            return Ok(());
        }
        let programmed = self.door.program(page, data, spare, cause);
        if matches!(programmed, Err(Fault::BlockFailed)) {
            self.failed.note_failing(spot);
            self.failed.page |= kind.is_content();
        }
        programmed
    }

    /// Erases a block that no checkpoint covers. If that fails, the block is still in use.
    #[inline]
    fn erase_block(&mut self, spot: Spot, cause: Cause) -> Result<Erasure, Fault<D::Error>> {
        let erased = self.door.erase(self.block(spot), cause)?;
        if erased == Erasure::Done && self.weak.waits() {
            self.weak.forget_block(spot);
        }
        Ok(erased)
    }

    /// Whether the block of a spot is marked bad, or listed as such.
    pub fn is_bad(&mut self, spot: Spot) -> Result<bool, Fault<D::Error>> {
        self.alive()?;
        if self.failed.is_unmarked(spot) {
            return Ok(true);
        }
        self.door.is_bad(self.block(spot))
    }
}

impl<D, P> Deref for Flash<'_, D, P> {
    type Target = Door<D, P>;

    fn deref(&self) -> &Door<D, P> {
        &self.door
    }
}

impl<D, P> DerefMut for Flash<'_, D, P> {
    fn deref_mut(&mut self) -> &mut Door<D, P> {
        &mut self.door
    }
}

/// Whether such a page may be there. The remains of an interrupted erase may read as anything, and one in millions of
/// such pages passes the check of a tag; a kind that does not belong there or a stamp that no device of this size
/// reaches exposes nearly all of those.
fn is_plausible(seen: &Seen<'_>, spot: Spot, last_stamp: Stamp) -> bool {
    let Seen::Page(page) = seen else { return true };
    spot.purpose().takes(page.kind) && page.tag().stamp <= last_stamp
}
