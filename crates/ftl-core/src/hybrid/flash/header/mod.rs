//! A header block: one copy of the header, the list of bad blocks that could not be marked, and a second copy, which
//! ends the list. So no single page that becomes unreadable costs the header while the other block is rewritten.

use ftl_iface::NandDevice;

use super::failed::{List, listed_max};
use super::{Content, Erasure, Flash, Programmed, Spot};
use crate::error::Fault;
use crate::hybrid::rules;
use crate::layout::{Header, HeaderError, Kind, Label, Slots, Stamp};
use crate::probe::{Cause, Probe};

mod mend;

pub(super) use mend::{Mended, older_of_whole, to_mend};

/// Copies of the header in a header block.
pub(super) const COPIES: u16 = 2;

/// What can be read in a header block.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeaderState {
    /// The stamp of the first copy of the header.
    first: Option<Stamp>,
    /// The list after it, and the second copy.
    pub(super) list: List,
}

impl HeaderState {
    /// Copies of the header.
    pub(super) fn copies(&self) -> u16 {
        u16::from(self.first.is_some()) + u16::from(self.list.copy.is_some())
    }

    /// Whether the list has an end, and that many blocks.
    pub(super) fn names(&self, listed: u16) -> bool {
        self.list.ended && self.list.count >= listed
    }

    /// Whether all that a header block should have can be read, of a list of that many blocks.
    pub(super) fn is_whole(&self, listed: u16) -> bool {
        self.copies() == COPIES && self.names(listed)
    }

    /// The stamp of the younger copy.
    fn stamp(&self) -> Stamp {
        self.first.max(self.list.copy).unwrap_or(Stamp::ZERO)
    }
}

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// What can be read in a header block; nothing if it is bad, or failed to be rewritten.
    fn header_state(&mut self, block: u16) -> Result<Option<HeaderState>, Fault<D::Error>> {
        let spot = Spot::meta(block, 0);
        if self.is_lost_header(spot)? {
            return Ok(None);
        }
        let first = self.look(spot, Cause::Mount)?.tag();
        let first = first.filter(|tag| tag.kind == Kind::Header).map(|tag| tag.stamp);
        let found = HeaderState { first, list: self.read_list(block)? };
        // Headers may have been the last that was programmed before the mount.
        self.raise_stamp(found.stamp());
        Ok(Some(found))
    }

    pub(super) fn header_states(&mut self) -> Result<[Option<HeaderState>; 2], Fault<D::Error>> {
        Ok([self.header_state(0)?, self.header_state(1)?])
    }

    /// Whether a header block is bad, or failed to be rewritten.
    fn is_lost_header(&mut self, spot: Spot) -> Result<bool, Fault<D::Error>> {
        Ok(self.failed.is_failing(spot) || self.is_bad(spot)?)
    }

    /// The device's header, if a header block has it.
    pub(super) fn header_in(&mut self, block: u16) -> Result<Option<Header>, Fault<D::Error>> {
        if self.is_lost_header(Spot::meta(block, 0))? {
            return Ok(None);
        }
        match self.read_header(block) {
            Ok(header) => Ok(header.ok().filter(|header| header.key == self.key())),
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

    /// Rewrites a good header block, with the list of bad blocks. Its content must be in the other one.
    pub(super) fn rewrite_header(
        &mut self,
        block: u16,
        header: &Header,
    ) -> Result<Programmed, Fault<D::Error>> {
        let spot = Spot::meta(block, 0);
        match self.erase_block(spot, Cause::Meta)? {
            Erasure::Done => self.program_header(spot, header),
            Erasure::Failed => {
                self.failed.note_failing(spot);
                Ok(Programmed::BlockFailed)
            }
        }
    }

    /// Writes the device's header into an erased block: its first copy, the list of bad blocks, and its second copy. If
    /// they do not fit, that counts as a failed block.
    pub fn program_header(
        &mut self,
        spot: Spot,
        header: &Header,
    ) -> Result<Programmed, Fault<D::Error>> {
        if self.program_copy(spot, Kind::Header, header)? == Programmed::BlockFailed {
            return Ok(Programmed::BlockFailed);
        }
        match self.program_list(spot)? {
            Some(end) => self.program_copy(end, rules::kind_of_second_copy(), header),
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
}

#[cfg(test)]
mod tests;
