//! The two headers. Each is repaired or refreshed while the other one stays.
//!
//! A header block begins with one copy of the header, and another ends the list of bad blocks after it, so that no single
//! page that becomes unreadable costs the header while the other block is rewritten.

use ftl_iface::{Block, Bytes, EraseError, MarkError, NandDevice, ReadError, Region};

use super::failed::{LISTED_MAX, List, listed_max};
use super::{Content, Erasure, Flash, Programmed, Seals, Spot};
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::hybrid::shape::HEADER_BLOCKS;
use crate::layout::{Header, HeaderError, Kind, Label, Slots, Stamp};
use crate::probe::{Cause, Probe, Verb};

/// Copies of the header in a header block.
const COPIES: u16 = 2;

/// What can be read in a header block.
#[derive(Clone, Copy, Debug)]
struct HeaderState {
    /// Copies of the header.
    copies: u16,
    list: List,
    /// Of the younger copy.
    stamp: Stamp,
}

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// Rewrites a header of which a copy is missing or whose list is too short: the one in doubt first, and each only
    /// while the other one stands, if it can.
    pub fn mend_headers(&mut self, header: &Header) -> Result<(), Fault<D::Error>> {
        let mut states = self.header_states()?;
        for block in Self::by_doubt(&states) {
            let spot = Spot::meta(block, 0);
            if self.is_bad(spot)? {
                continue;
            }
            let [first, second] = states;
            let (found, other) = if block == 0 { (first, second) } else { (second, first) };
            let named = found.list.ended && found.list.count >= self.failed.unmarked_count();
            // A read-only device is left alone if it can be.
            let whole = named && (found.copies == COPIES || self.failed.read_only);
            if found.copies > 0 && (whole || other.copies == 0) {
                continue;
            }
            if self.rewrite_header(block, header)? == Programmed::BlockFailed {
                self.retire_meta(spot)?;
            }
            states = self.header_states()?;
        }
        Ok(())
    }

    /// Rewrites the headers, because one of them is weak: first the one in doubt, and each only while the other is
    /// intact. If that is missing it is repaired first, and this one when it is read again.
    pub fn refresh_headers(&mut self, header: &Header) -> Result<(), Fault<D::Error>> {
        if self.seals != Seals::Broken {
            self.break_seals()?;
        }
        for block in self.headers_by_doubt()? {
            let other = HEADER_BLOCKS - 1 - block;
            if self.is_bad(Spot::meta(block, 0))? || self.is_bad(Spot::meta(other, 0))? {
                break;
            }
            let found = self.header_state(other)?;
            if found.copies < COPIES || found.list.count < self.failed.unmarked_count() {
                self.mend_headers(header)?;
                break;
            }
            if self.rewrite_header(block, header)? == Programmed::BlockFailed {
                self.retire_meta(Spot::meta(block, 0))?;
            }
        }
        // Rewriting one reads the other and may note it as weak again, endlessly.
        for block in 0..HEADER_BLOCKS {
            self.weak.forget_block(Spot::meta(block, 0));
        }
        Ok(())
    }

    /// What can be read in a header block; nothing if it is bad.
    fn header_state(&mut self, block: u16) -> Result<HeaderState, Fault<D::Error>> {
        let spot = Spot::meta(block, 0);
        if self.is_bad(spot)? {
            return Ok(HeaderState { copies: 0, list: List::NONE, stamp: Stamp::ZERO });
        }
        let first = self.look(spot, Cause::Mount)?.tag();
        let first = first.filter(|tag| tag.kind == Kind::Header).map(|tag| tag.stamp);
        let list = self.read_list(block)?;
        let copies = u16::from(first.is_some()) + u16::from(list.copy.is_some());
        Ok(HeaderState { copies, list, stamp: first.max(list.copy).unwrap_or(Stamp::ZERO) })
    }

    /// The header blocks in the order in which they are rewritten: first the one that a power cut may have touched,
    /// because during its rewrite only the other one exists. That is the one that cannot be read, whose list has no
    /// end, or which names fewer blocks than the other, because its program may have been torn; or else the one of
    /// which less can be read, or the older one, whose erase may have been begun already.
    pub(super) fn headers_by_doubt(&mut self) -> Result<[u16; 2], Fault<D::Error>> {
        Ok(Self::by_doubt(&self.header_states()?))
    }

    fn by_doubt([first, second]: &[HeaderState; 2]) -> [u16; 2] {
        let rank = |found: &HeaderState, other: &HeaderState| {
            let named = found.list.ended && found.list.count >= other.list.count;
            (named, found.copies, found.stamp)
        };
        if rank(second, first) < rank(first, second) { [1, 0] } else { [0, 1] }
    }

    fn header_states(&mut self) -> Result<[HeaderState; 2], Fault<D::Error>> {
        Ok([self.header_state(0)?, self.header_state(1)?])
    }

    /// The device's header, if a header block has it.
    pub(super) fn header_in(&mut self, block: u16) -> Result<Option<Header>, Fault<D::Error>> {
        if self.is_bad(Spot::meta(block, 0))? {
            return Ok(None);
        }
        match self.read_header(block) {
            Ok(header) => Ok(header.ok().filter(|header| header.key == self.key)),
            Err(Fault::Uncorrectable) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Reads a header block. If its first copy cannot be read, or is none, the second counts.
    pub fn read_header(
        &mut self,
        block: u16,
    ) -> Result<Result<Header, HeaderError>, Fault<D::Error>> {
        let first = self.read_header_at(Spot::meta(block, 0));
        match first {
            Ok(Err(HeaderError::Damaged | HeaderError::Foreign)) | Err(Fault::Uncorrectable) => {}
            decided => return decided,
        }
        // The second copy is after as many pages as the list has.
        for page in 1..self.meta.pages.min(listed_max(&self.meta) + 2) {
            match self.read_header_at(Spot::meta(block, page)) {
                Ok(Err(_)) | Err(Fault::Uncorrectable) => {}
                second => return second,
            }
        }
        first
    }

    /// Rewrites a header block, with the list of bad blocks. Its content must be in the other one.
    pub(super) fn rewrite_header(
        &mut self,
        block: u16,
        header: &Header,
    ) -> Result<Programmed, Fault<D::Error>> {
        let spot = Spot::meta(block, 0);
        if self.is_bad(spot)? || self.failed.is_failing(spot) {
            return Ok(Programmed::BlockFailed);
        }
        match self.erase_block(spot, Cause::Meta)? {
            Erasure::Done => self.program_header(spot, header),
            Erasure::Failed => {
                self.failed.note_failing(spot);
                Ok(Programmed::BlockFailed)
            }
        }
    }

    /// Writes the device's header into an erased block: its first copy, the list of bad blocks that could not be marked,
    /// and its second copy. If they do not fit, that counts as a failed block.
    pub fn program_header(
        &mut self,
        spot: Spot,
        header: &Header,
    ) -> Result<Programmed, Fault<D::Error>> {
        if self.program_copy(spot, Kind::Header, header)? == Programmed::BlockFailed {
            return Ok(Programmed::BlockFailed);
        }
        let kind = if planted(Bug::OneHeaderCopy) { Kind::Bad } else { Kind::Header };
        match self.program_list(spot)? {
            Some(end) => self.program_copy(end, kind, header),
            None => Ok(Programmed::BlockFailed),
        }
    }

    fn program_copy(
        &mut self,
        spot: Spot,
        kind: Kind,
        header: &Header,
    ) -> Result<Programmed, Fault<D::Error>> {
        let page = self.meta.page_bytes.as_usize();
        if let Some(target) = self.buffer.get_mut(..page) {
            target.fill(0xFF);
            header.put(target);
        }
        let label = Label { kind, note: 1, slots: Slots::Listed(&[]) };
        match self.program_page(spot, label, Content::Buffer, Cause::Meta) {
            Ok(()) => Ok(Programmed::Done),
            Err(Fault::BlockFailed) => Ok(Programmed::BlockFailed),
            Err(fault) => Err(fault),
        }
    }

    /// Erases headers that earlier formats left in a region that this one does not use: a mount with another
    /// configuration would find them. Nothing else there is touched.
    pub fn erase_other_headers(&mut self) -> Result<(), Fault<D::Error>> {
        for region in Region::ALL {
            let is_used = region == self.meta.region || region == self.chain.region;
            for block in 0..u32::from(HEADER_BLOCKS) {
                let block = Block::new(region, block);
                if is_used || !self.geometry().contains_block(block) {
                    continue;
                }
                if self.holds_header(block)? {
                    self.erase_beside(block)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a block that is not ours begins with a header of either FTL.
    fn holds_header(&mut self, block: Block) -> Result<bool, Fault<D::Error>> {
        self.alive()?;
        if self.device.is_bad(block).map_err(|error| self.driver_failed(error))? {
            return Ok(false);
        }
        let Some(shape) = self.geometry().region(block.region()).copied() else {
            return Ok(false);
        };
        let lines = shape.pairing.word_lines(shape.pages_per_block).get() as u16;
        // Of the hybrid FTL, the second copy is after the list; of the page store, on the second word line.
        for line in 0..lines.min(LISTED_MAX as u16 + 2) {
            let page = block.page(shape.pairing.first_page(line));
            let mut magic = [0; Header::MAGIC.len()];
            self.probe.operation(block.region(), Verb::Read, Cause::Mount);
            match self.device.read(page, Bytes::ZERO, &mut magic, &mut []) {
                Ok(_) if magic == Header::MAGIC || magic == Header::PAGE_STORE => return Ok(true),
                Ok(_) | Err(ReadError::Uncorrectable) => {}
                Err(ReadError::Driver(error)) => return Err(self.driver_failed(error)),
            }
        }
        Ok(false)
    }

    /// Erases a block that is not ours, or marks it bad.
    fn erase_beside(&mut self, block: Block) -> Result<(), Fault<D::Error>> {
        self.probe.operation(block.region(), Verb::Erase, Cause::Meta);
        match self.device.erase(block) {
            Ok(()) => return Ok(()),
            Err(EraseError::Failed) => {}
            Err(EraseError::Driver(error)) => return Err(self.driver_failed(error)),
        }
        match self.device.mark_bad(block) {
            Ok(()) => Ok(()),
            Err(MarkError::Failed) => Err(Fault::BlockFailed),
            Err(MarkError::Driver(error)) => Err(self.driver_failed(error)),
        }
    }
}
