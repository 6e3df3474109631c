//! The page buffer. Pages that do not come complete from the host are assembled in it, and the FTL's own pages are
//! written and read through it.

use ftl_iface::{NandDevice, Sector};

use super::{Content, Flash, Spot};
use crate::error::Fault;
use crate::hybrid::address::LogBlock;
use crate::layout::{self, Header, HeaderError, Kind, Label, Slot, Slots, Tag, Trim};
use crate::probe::{Cause, Probe};

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
    pub fn fetch(
        &mut self,
        spot: Spot,
        slot: u16,
        to: u16,
        count: u16,
        cause: Cause,
    ) -> Result<Option<Tag>, Fault<D::Error>> {
        self.spoiled = false;
        let range = self.slots_range(to, count);
        let mut buffer = core::mem::take(&mut self.buffer);
        let outcome = match buffer.get_mut(range) {
            Some(target) => self.read(spot, slot, target, cause),
            None => Err(Fault::Corrupt),
        };
        self.buffer = core::mem::take(&mut buffer);
        outcome
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
            Ok(Some(_)) => {
                let held = self.slot(spot, slot);
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
            let tag = self.fetch(Spot::log(block, page), 0, 0, slots, cause)?;
            let key = self.key;
            let bytes = self.log.page_bytes.as_usize();
            let page = self.buffer.get(..bytes).unwrap_or(&[]);
            let tag = tag.filter(|tag| tag.kind == Kind::Summary).ok_or(Fault::Corrupt)?;
            layout::summary(page, listed, key).ok_or(Fault::Corrupt)?;
            last = Some(tag);
        }
        last.ok_or(Fault::Corrupt)
    }

    /// Puts a trim into the buffer.
    pub fn put_trim(&mut self, trim: Trim) {
        self.spoiled = false;
        let key = self.key;
        let page = self.chain.page_bytes.as_usize();
        if let Some(target) = self.buffer.get_mut(..page) {
            target.fill(0xFF);
            trim.put(target, key);
        }
    }

    /// Reads the device's header. Its payload has its own checksum, so its tag need not have our key.
    pub fn read_header(
        &mut self,
        spot: Spot,
    ) -> Result<Result<Header, HeaderError>, Fault<D::Error>> {
        let slots = self.meta.slots;
        self.fetch(spot, 0, 0, slots, Cause::Mount)?;
        Ok(Header::parse(self.buffer))
    }
}
