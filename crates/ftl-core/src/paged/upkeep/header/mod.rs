//! Headers: what must be known before anything else can be read. Two blocks hold one each, in its first page and once
//! more in the first page of the next word line.
//!
//! ```text
//!  0       8         10        12    16       20         24         28         32
//!  ├───────┼─────────┼─────────┼─────┼────────┼──────────┼──────────┼──────────┼─ …
//!  │ magic │ version │ anchors │ key │ sector │ capacity │ features │ optional │
//!  └───────┴─────────┴─────────┴─────┴────────┴──────────┴──────────┴──────────┴─ …
//!     32      36      40          56          72         92      96
//!  … ─┼───────┼───────┼───────────┼───────────┼──────────┼───────┤
//!     │ table │ pairs │ main area │ fast area │ reserved │ check │
//!  … ─┴───────┴───────┴───────────┴───────────┴──────────┴───────┘
//!                       an area: blocks, page bytes, pages per block, pairing
//! ```
//!
//! A power cut can damage a header that is being rewritten so that it reads well for a while, and a page may die by
//! itself. So one header stays while the other one is rewritten, and [`to_mend`] says which.

use ftl_iface::{Block, NandDevice, Page, PageIndex};

use super::identity::{self, Header, HeaderBlock};
use crate::error::Fault;
use crate::flash::Erasure;
use crate::layout::{FormatKey, Stamp};
use crate::paged::flash::{PagedKind, Seen};
use crate::paged::plan::shape::HEADERS;
use crate::paged::rules;
use crate::paged::tables::store::PageFtl;
use crate::probe::Probe;

/// What is known of a header block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HeaderState {
    /// Neither copy can be read, or they are not this device's header.
    Missing,
    /// The first copy can be read, and the second is erased.
    Unfinished,
    /// At least one copy can be read, and the second is not erased.
    Finished { stamp: Stamp, copies: Copies },
    /// The block is marked bad.
    Bad,
}

/// How many copies of a header can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Copies {
    One,
    Both,
}

/// What a page for a copy of the header reads as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CopyRead {
    /// The header of this device.
    Own(Stamp),
    Erased,
    /// It cannot be read, or is something else.
    Other,
}

impl HeaderState {
    /// What both copies of a header tell.
    fn of(first: CopyRead, second: CopyRead) -> Self {
        use CopyRead::{Erased, Other, Own};
        let finished = |stamp, copies| Self::Finished { stamp, copies };
        match (first, second) {
            (Own(stamp), Own(_)) => finished(stamp, Copies::Both),
            (Own(_), Erased) => Self::Unfinished,
            (Own(stamp), Other) if rules::does_unread_copy_complete() => {
                finished(stamp, Copies::Both)
            }
            (Own(stamp), Other) => finished(stamp, Copies::One),
            (_, Own(stamp)) if rules::does_second_copy_count() => finished(stamp, Copies::One),
            (Erased | Other, _) => Self::Missing,
        }
    }

    /// Whether a copy of it cannot be read.
    pub(crate) const fn lacks_a_copy(self) -> bool {
        !matches!(self, Self::Finished { copies: Copies::Both, .. } | Self::Bad)
    }
}

/// Which of both headers is to be rewritten while the other one stays, if one lacks a copy.
fn to_mend([zeroth, first]: [HeaderState; 2]) -> Option<u16> {
    use HeaderState::{Finished, Missing, Unfinished};
    let (doubtful, other) = (zeroth.min(first), zeroth.max(first));
    let is_mended = match (doubtful, other) {
        // The first copy of an unfinished one may be torn.
        (Missing, _) | (Unfinished, Finished { .. }) => true,
        // A cut in an erase was in that of the older one, or of one that was unfinished.
        (Finished { copies, .. }, Finished { copies: Copies::Both, .. }) => copies == Copies::One,
        // Either may be torn. Whichever is will be missing sooner or later, and then the other one is sure.
        (Finished { .. }, Finished { copies: Copies::One, .. }) => !rules::must_wait_in_doubt(),
        // The only good header is not erased.
        _ => doubtful.lacks_a_copy() && !rules::must_keep_last_header(),
    };
    is_mended.then_some(u16::from(first < zeroth))
}

/// What became of a header block that was to be changed.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderChange {
    /// It was changed.
    Done,
    /// The block is bad, now or before.
    Bad,
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Returns the header of this device.
    pub(crate) fn own_header(&self) -> Header {
        identity::header(&self.shape, self.flash.key(), self.formatted_entries, self.flash.optional)
    }

    fn header_block(&self, number: u16) -> Block {
        Block::new(self.shape.map_area().region, number.into())
    }

    fn header_page(&self, number: u16) -> Page {
        self.header_block(number).page(PageIndex::new(0))
    }

    /// Returns the page of a header's second copy, which shares no cells with the first. Pages between are skipped.
    fn second_page(&self, number: u16) -> Page {
        self.header_block(number).page(self.shape.map_area().pairing.nth_first_page(1))
    }

    /// Returns the content of a header block, and the stamp of its program. If the first copy cannot be read, the
    /// second one is.
    pub(crate) fn header_and_stamp(
        &mut self,
        number: u16,
    ) -> Result<(HeaderBlock, Stamp), Fault<D::Error>> {
        let first = self.header_in(self.header_page(number))?;
        if matches!(first.0, HeaderBlock::Header(_) | HeaderBlock::OtherVersion(_)) {
            return Ok(first);
        }
        let second = self.header_in(self.second_page(number))?;
        Ok(match (first.0, second.0) {
            (HeaderBlock::OfHybrid, _) | (_, HeaderBlock::Foreign) => first,
            _ => second,
        })
    }

    fn header_in(&mut self, page: Page) -> Result<(HeaderBlock, Stamp), Fault<D::Error>> {
        let mut bytes = [0; identity::BYTES];
        Ok(match self.flash.read_header(page, &mut bytes) {
            Ok(Seen::Page(page)) if page.kind == PagedKind::Header => {
                (identity::parse(&bytes), page.tag().stamp)
            }
            Ok(Seen::Erased) => (HeaderBlock::Erased, Stamp::ZERO),
            Ok(Seen::Page(_) | Seen::Unreadable) => (HeaderBlock::Foreign, Stamp::ZERO),
            Err(Fault::Uncorrectable) => (HeaderBlock::Damaged, Stamp::ZERO),
            Err(fault) => return Err(fault),
        })
    }

    /// Returns the state of a header block.
    pub(crate) fn header_state(
        &mut self,
        number: u16,
        header: &Header,
    ) -> Result<HeaderState, Fault<D::Error>> {
        if self.header_is_bad(number)? {
            return Ok(HeaderState::Bad);
        }
        let first = self.copy_in(self.header_page(number), header)?;
        let second = self.copy_in(self.second_page(number), header)?;
        Ok(HeaderState::of(first, second))
    }

    fn copy_in(&mut self, page: Page, header: &Header) -> Result<CopyRead, Fault<D::Error>> {
        Ok(match self.header_in(page)? {
            (HeaderBlock::Header(found), stamp) if found == *header => CopyRead::Own(stamp),
            (HeaderBlock::Erased, _) => CopyRead::Erased,
            _ => CopyRead::Other,
        })
    }

    /// Whether a copy of the header can be read in a block.
    fn has_header(&mut self, number: u16, header: &Header) -> Result<bool, Fault<D::Error>> {
        use HeaderState::{Finished, Unfinished};
        Ok(matches!(self.header_state(number, header)?, Unfinished | Finished { .. }))
    }

    fn header_states(&mut self, header: &Header) -> Result<[HeaderState; 2], Fault<D::Error>> {
        Ok([self.header_state(0, header)?, self.header_state(1, header)?])
    }

    /// Whether a header block is marked bad.
    pub(crate) fn header_is_bad(&mut self, number: u16) -> Result<bool, Fault<D::Error>> {
        self.flash.door.is_bad(self.header_block(number))
    }

    /// Erases a header block.
    pub(crate) fn erase_header(&mut self, number: u16) -> Result<HeaderChange, Fault<D::Error>> {
        let block = self.header_block(number);
        if self.flash.door.is_bad(block)? {
            return Ok(HeaderChange::Bad);
        }
        Ok(match self.flash.erase_or_mark(block)? {
            Erasure::Done => HeaderChange::Done,
            Erasure::Failed => HeaderChange::Bad,
        })
    }

    /// Writes both copies of a header to an erased block.
    pub(crate) fn put_header(
        &mut self,
        number: u16,
        header: &Header,
    ) -> Result<HeaderChange, Fault<D::Error>> {
        match self.put_header_in(self.header_page(number), header)? {
            HeaderChange::Done => self.put_header_in(self.second_page(number), header),
            HeaderChange::Bad => Ok(HeaderChange::Bad),
        }
    }

    fn put_header_in(
        &mut self,
        page: Page,
        header: &Header,
    ) -> Result<HeaderChange, Fault<D::Error>> {
        let map = *self.shape.map_area();
        // The page buffer keeps the content of a suspect page, so a header is composed in a map page's buffer.
        let cached = self.map.vacate(None);
        let key = self.flash.key();
        self.flash.set_key(FormatKey::HEADER);
        let bytes = self.map.bytes_mut(cached);
        bytes.fill(0xFF);
        if let Some(start) = bytes.first_chunk_mut() {
            *start = *header;
        }
        let bytes = self.map.bytes(cached).get(..map.page_bytes.as_usize()).unwrap_or(&[]);
        let done = self.flash.program_aside(page, PagedKind::Header, bytes);
        self.flash.set_key(key);
        match done {
            Ok(()) => Ok(HeaderChange::Done),
            Err(Fault::BlockFailed) => self.flash.mark(page.block()).map(|()| HeaderChange::Bad),
            Err(fault) => Err(fault),
        }
    }

    /// Rewrites headers that lack a copy, with the content that the mount has read: the header that it was read from
    /// may be torn, too, and unreadable by now.
    pub(crate) fn mend_headers(&mut self) -> Result<(), Fault<D::Error>> {
        let header = self.own_header();
        for _ in 0..HEADERS {
            let Some(number) = to_mend(self.header_states(&header)?) else { break };
            if self.rewrite_header(number, &header)? == Some(HeaderChange::Bad) {
                break;
            }
        }
        Ok(())
    }

    /// Rewrites both headers, each while the other one stays.
    pub(crate) fn refresh_headers(&mut self) -> Result<(), Fault<D::Error>> {
        self.mend_headers()?;
        let header = self.own_header();
        let [
            HeaderState::Finished { stamp: zeroth, copies: Copies::Both },
            HeaderState::Finished { stamp: first, copies: Copies::Both },
        ] = self.header_states(&header)?
        else {
            // The only good header is not erased.
            return Ok(());
        };
        let older = u16::from(first < zeroth);
        if !rules::must_keep_one_header() {
            let _ = self.erase_header(HEADERS - 1 - older)?;
        }
        if self.rewrite_header(older, &header)? == Some(HeaderChange::Done) {
            let _ = self.rewrite_header(HEADERS - 1 - older, &header)?;
        }
        Ok(())
    }

    /// Rewrites a header, as the younger one. It stays if the other one turns out to be gone: a torn copy may have died
    /// since it was last read.
    fn rewrite_header(
        &mut self,
        number: u16,
        header: &Header,
    ) -> Result<Option<HeaderChange>, Fault<D::Error>> {
        let (other, stamp) = self.header_and_stamp(HEADERS - 1 - number)?;
        // Its second copy has the next one.
        self.flash.raise_stamp(stamp.next());
        let is_gone = !matches!(other, HeaderBlock::Header(_));
        if is_gone && rules::must_keep_last_header() && self.has_header(number, header)? {
            return Ok(None);
        }
        Ok(Some(match self.erase_header(number)? {
            HeaderChange::Done => self.put_header(number, header)?,
            HeaderChange::Bad => HeaderChange::Bad,
        }))
    }
}

#[cfg(test)]
mod tests;
