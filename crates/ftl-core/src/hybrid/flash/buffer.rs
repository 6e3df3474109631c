//! The page buffer. Pages that do not come complete from the host are assembled in it, and the FTL's own pages are
//! written and read through it.

use ftl_iface::{NandDevice, Sector};

use super::{Content, Flash, PageTag, Spot};
use crate::error::Fault;
use crate::hybrid::address::LogBlock;
use crate::layout::{self, Header, HeaderError, Kind, Label, Slot, Slots, Tag, Trim};
use crate::probe::{Cause, Probe};

/// What was read into slots of the buffer.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub enum Fetched<'a> {
    /// The run of sectors that was wanted; the next page of the chains will hold it.
    Run,
    /// Something else, by the page's tag.
    Other(PageTag<'a>),
    /// The page cannot be read, and the slots hold anything.
    Unreadable,
}

/// Slots of a page on flash, and the slots of the buffer that they are for.
#[derive(Clone, Copy, Debug)]
pub struct SlotRun {
    /// The page on flash.
    pub spot: Spot,
    /// The first on flash.
    pub from: u16,
    /// The first of the buffer.
    pub to: u16,
    /// How many.
    pub count: u16,
}

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    fn slots_range(&self, slot: u16, count: u16) -> core::ops::Range<usize> {
        let sector = self.sector_bytes.as_usize();
        usize::from(slot) * sector..(usize::from(slot) + usize::from(count)) * sector
    }

    /// Copies sectors into the buffer, from a slot on.
    pub fn put(&mut self, slot: u16, data: &[u8]) {
        self.spoiled = false;
        let start = usize::from(slot) * self.sector_bytes.as_usize();
        let target = self.buffer.get_mut(start..).and_then(|rest| rest.get_mut(..data.len()));
        if let Some(target) = target {
            target.copy_from_slice(data);
        }
    }

    /// Blanks slots of the buffer that will hold nothing.
    pub fn blank(&mut self, slot: u16, count: u16) {
        self.spoiled = false;
        let range = self.slots_range(slot, count);
        if let Some(target) = self.buffer.get_mut(range) {
            target.fill(0xFF);
        }
    }

    /// Whether the list of bad blocks has overwritten the buffer since it was filled.
    pub fn is_spoiled(&self) -> bool {
        self.spoiled
    }

    /// Programs a page of the meta area from the buffer, starting at a slot. The seals must be broken.
    pub fn program_part(
        &mut self,
        spot: Spot,
        kind: Kind,
        from: u16,
        slots: Slots<'_>,
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        let start = usize::from(from) * self.sector_bytes.as_usize();
        let buffer = core::mem::take(&mut self.buffer);
        let data = buffer.get(start..).and_then(|rest| rest.get(..self.meta.page_bytes.as_usize()));
        let outcome = match data {
            Some(data) => {
                let label = Label { kind, note: 0, slots };
                self.program_page(spot, label, Content::Host(data), cause)
            }
            None => Err(Fault::Corrupt),
        };
        self.buffer = buffer;
        outcome
    }

    /// Reads slots of a page into the buffer, to the slots from `to` on. Returns the tag as [`read`](Self::read) does.
    /// If the page cannot be read, those slots of the buffer hold anything.
    pub fn fetch(
        &mut self,
        spot: Spot,
        slot: u16,
        to: u16,
        count: u16,
        cause: Cause,
    ) -> Result<Option<PageTag<'_>>, Fault<D::Error>> {
        let kind = self.fetch_unguarded(spot, slot, (to, count), cause)?;
        Ok(kind.map(|kind| self.guard(spot, kind)))
    }

    #[inline(never)]
    pub(super) fn fetch_unguarded(
        &mut self,
        spot: Spot,
        slot: u16,
        (to, count): (u16, u16),
        cause: Cause,
    ) -> Result<Option<Kind>, Fault<D::Error>> {
        self.spoiled = false;
        let range = self.slots_range(to, count);
        let mut buffer = core::mem::take(&mut self.buffer);
        let outcome = match buffer.get_mut(range) {
            Some(target) => self.read_unguarded(spot, slot, target, cause),
            None => Err(Fault::Corrupt),
        };
        self.buffer = core::mem::take(&mut buffer);
        outcome
    }

    /// Reads slots of a page into the slots of the buffer from `to` on, for the next page of the chains to be
    /// programmed, which holds what they do: usually that sector and the following ones.
    pub fn fetch_run(
        &mut self,
        run: SlotRun,
        first: Sector,
        cause: Cause,
    ) -> Result<Fetched<'_>, Fault<D::Error>> {
        let SlotRun { spot, from, to, count } = run;
        let kind = match self.fetch_unguarded(spot, from, (to, count), cause) {
            Ok(Some(kind)) => kind,
            Ok(None) | Err(Fault::Uncorrectable) => return Ok(Fetched::Unreadable),
            Err(fault) => return Err(fault),
        };
        let slots = |at| layout::tag_bytes(at)..layout::tag_bytes(at + count);
        let bytes = layout::tag_bytes(self.area(spot.purpose).slots);
        let read = self.spares.read.get(..bytes).unwrap_or(&[]);
        let held = self.spares.chain.get_mut(slots(to));
        let run = read.get(slots(from)).zip(held);
        if run.is_some_and(|(run, held)| layout::copy_slots(held, run, first)) {
            return Ok(Fetched::Run);
        }
        Ok(Fetched::Other(PageTag::new(kind, read)))
    }

    /// Reads a sector's copy into a slot of the buffer. If it cannot be read, the slot is blank, and marked as lost.
    pub fn fetch_copy(
        &mut self,
        spot: Spot,
        slot: u16,
        to: u16,
        sector: Sector,
        cause: Cause,
    ) -> Result<Slot, Fault<D::Error>> {
        match self.fetch(spot, slot, to, 1, cause) {
            Ok(Some(page)) => {
                let held = page.slot(slot);
                if held == Slot::Holds(sector) {
                    return Ok(held);
                }
            }
            Ok(None) | Err(Fault::Uncorrectable) => {}
            Err(fault) => return Err(fault),
        }
        self.blank(to, 1);
        Ok(Slot::Lost(sector))
    }

    /// Reads the summary of a log block. Returns the tag of its last page.
    pub fn read_summary(
        &mut self,
        block: LogBlock,
        data_pages: u16,
        cause: Cause,
        codes: &mut [u32],
    ) -> Result<Tag, Fault<D::Error>> {
        let slots = self.log.slots;
        let mut last = None;
        let chunk = layout::summary_sectors(self.log.page_bytes).max(1) as usize;
        for (page, listed) in (data_pages..self.log.pages).zip(codes.chunks_mut(chunk)) {
            let found = self.fetch(Spot::log(block, page), 0, 0, slots, cause)?;
            let found = found.filter(|found| found.kind == Kind::Summary).ok_or(Fault::Corrupt)?;
            let tag = found.tag();
            let key = self.key();
            let bytes = self.log.page_bytes.as_usize();
            let page = self.buffer.get(..bytes).unwrap_or(&[]);
            layout::summary(page, listed, key).ok_or(Fault::Corrupt)?;
            last = Some(tag);
        }
        last.ok_or(Fault::Corrupt)
    }

    /// Puts a trim into the buffer.
    pub fn put_trim(&mut self, trim: Trim) {
        self.spoiled = false;
        let key = self.key();
        let page = self.chain.page_bytes.as_usize();
        if let Some(target) = self.buffer.get_mut(..page) {
            target.fill(0xFF);
            trim.put(target, key);
        }
    }

    /// Reads the device's header. Its payload has a check of its own, and tells the key of its tag, without which host
    /// data that looks like a header is one.
    pub(super) fn read_header_at(
        &mut self,
        spot: Spot,
    ) -> Result<Result<Header, HeaderError>, Fault<D::Error>> {
        let slots = self.meta.slots;
        let _ = self.fetch_unguarded(spot, 0, (0, slots), Cause::Mount)?;
        let header = Header::parse(self.buffer);
        Ok(header.and_then(|header| {
            let tag = layout::tag(self.tag_bytes(spot), header.key);
            // With another sector size the tag has another length; such a header is refused for that.
            let other = header.sector_bytes != self.sector_bytes;
            let is_tagged = tag.is_some_and(|tag| tag.kind == Kind::Header);
            if is_tagged || other { Ok(header) } else { Err(HeaderError::Foreign) }
        }))
    }
}
