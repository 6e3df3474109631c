//! Headers: what must be known before anything else can be read. Two blocks have one each.
//!
//! ```text
//!  0       8         10        12    16             20         24            28           32      36
//!  ├───────┼─────────┼─────────┼─────┼──────────────┼──────────┼─────────────┼────────────┼───────┤
//!  │ magic │ version │ anchors │ key │ sector bytes │ capacity │ main blocks │ fast blocks│ check │
//!  └───────┴─────────┴─────────┴─────┴──────────────┴──────────┴─────────────┴────────────┴───────┘
//! ```
//!
//! Of the two the one that a cut may have damaged is rewritten first, while the other one stands: the younger, unless
//! the same header is in the next word line of its block as well. That is programmed when the first page was
//! acknowledged, and only then the other one is erased: so where it is there, the older one may be half erased.

use ftl_iface::{Block, Bytes, Corrected, NandDevice, Page, PageIndex};

use super::door::Seen;
use super::numbers;
use super::shape::{HEADERS, PagedShape};
use super::store::PageFtl;
use super::under_way::Stream;
use super::weak::Weak;
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::layout::{FormatKey, Kind, Stamp};
use crate::probe::{Cause, Probe};

/// Bytes of a header.
const BYTES: usize = 36;
const MAGIC: [u8; 8] = *b"TANDEMPG";
/// The version of the format: it changes when an older reader would go wrong.
const VERSION: u16 = 3;

/// A header's bytes.
pub(super) type Header = [u8; BYTES];

/// What a header block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderBlock {
    /// A header of ours, whole.
    Header(Header),
    /// A header of ours, damaged, or of another version.
    Damaged,
    /// Something else, or nothing.
    Foreign,
}

fn check(bytes: &[u8]) -> u32 {
    let words = bytes.as_chunks().0;
    words.iter().fold(FormatKey::HEADER.get(), |hash, word| {
        let mixed = (hash ^ u32::from_le_bytes(*word)).wrapping_mul(0x85EB_CA6B);
        mixed ^ mixed >> 13
    })
}

/// The header of a device of that shape.
pub(super) fn header(shape: &PagedShape, key: FormatKey) -> Header {
    let mut bytes = [0; BYTES];
    let fields: [(usize, &[u8]); 8] = [
        (0, &MAGIC),
        (8, &VERSION.to_le_bytes()),
        (10, &shape.anchors.to_le_bytes()),
        (12, &key.get().to_le_bytes()),
        (16, &shape.sector_bytes.get().to_le_bytes()),
        (20, &shape.capacity.get().to_le_bytes()),
        (24, &shape.main.blocks.to_le_bytes()),
        (28, &shape.fast.map_or(0, |fast| fast.blocks).to_le_bytes()),
    ];
    for (at, field) in fields {
        if let Some(target) = bytes.get_mut(at..at + field.len()) {
            numbers::copy(target, field);
        }
    }
    let check = check(bytes.get(..BYTES - 4).unwrap_or(&[]));
    if let Some(target) = bytes.get_mut(BYTES - 4..) {
        numbers::copy(target, &check.to_le_bytes());
    }
    bytes
}

/// The key that a header names.
pub(super) fn key_of(header: &Header) -> FormatKey {
    let field = header.get(12..16).and_then(<[u8]>::first_chunk);
    FormatKey::new(field.map_or(0, |bytes| u32::from_le_bytes(*bytes)))
}

fn parse(bytes: &[u8]) -> HeaderBlock {
    let Some(header) = bytes.first_chunk::<BYTES>() else { return HeaderBlock::Foreign };
    if header.get(..8) != Some(&MAGIC[..]) {
        return HeaderBlock::Foreign;
    }
    let stored = header.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let version = header.get(8..10).and_then(<[u8]>::first_chunk);
    let known = version.is_some_and(|bytes| u16::from_le_bytes(*bytes) == VERSION);
    if known && stored == check(header.get(..BYTES - 4).unwrap_or(&[])) {
        HeaderBlock::Header(*header)
    } else {
        HeaderBlock::Damaged
    }
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    fn header_block(&self, number: u16) -> Block {
        Block::new(self.shape.map_area().region, number.into())
    }

    /// What a header block holds.
    pub(super) fn header_at(&mut self, number: u16) -> Result<HeaderBlock, Fault<D::Error>> {
        Ok(self.header_and_stamp(number)?.0)
    }

    /// The same, and when it was programmed.
    pub(super) fn header_and_stamp(
        &mut self,
        number: u16,
    ) -> Result<(HeaderBlock, Stamp), Fault<D::Error>> {
        self.header_in(self.header_block(number).page(PageIndex::new(0)))
    }

    /// Where a header stands once more: a page that shares no cells with it. Those between are left out.
    fn twin_page(&self, number: u16) -> Page {
        self.header_block(number).page(self.shape.map_area().pairing.first_page(1))
    }

    fn header_in(&mut self, page: Page) -> Result<(HeaderBlock, Stamp), Fault<D::Error>> {
        let mut bytes = [0; BYTES];
        let key = self.door.key();
        self.door.set_key(FormatKey::HEADER);
        let seen = self.door.read_page(page, 1, Bytes::ZERO, &mut bytes, Cause::Mount);
        self.door.set_key(key);
        let seen = seen?;
        let corrected = self.door.corrected();
        if corrected != Corrected::NONE {
            let area = self.area_of(Stream::Map);
            self.door.weak.note_corrected(Weak::Headers, area, corrected);
        }
        Ok(match seen {
            Seen::Page(tag) if tag.kind == Kind::Header => (parse(&bytes), tag.stamp),
            _ => (HeaderBlock::Foreign, Stamp::ZERO),
        })
    }

    /// Whether a header block cannot be used.
    pub(super) fn header_is_bad(&mut self, number: u16) -> Result<bool, Fault<D::Error>> {
        self.door.is_bad_block(self.header_block(number))
    }

    /// Erases a header block. `false`: it is bad, now or before.
    pub(super) fn erase_header(&mut self, number: u16) -> Result<bool, Fault<D::Error>> {
        let block = self.header_block(number);
        if self.door.is_bad_block(block)? {
            return Ok(false);
        }
        match self.door.erase_block(block, Cause::Meta) {
            Ok(()) => Ok(true),
            Err(Fault::BlockFailed) => self.door.mark_bad_block(block).map(|()| false),
            Err(fault) => Err(fault),
        }
    }

    /// Writes a header to an erased block. `false`: it is bad now.
    pub(super) fn put_header(
        &mut self,
        number: u16,
        header: &Header,
    ) -> Result<bool, Fault<D::Error>> {
        self.put_header_in(self.header_block(number).page(PageIndex::new(0)), header)
    }

    /// Writes it to a page. `false`: its block is bad now.
    fn put_header_in(&mut self, page: Page, header: &Header) -> Result<bool, Fault<D::Error>> {
        let map = *self.shape.map_area();
        // What a suspect page holds stays in its buffer: a header is made in a map page's.
        let cached = self.map.vacate(None);
        let key = self.door.key();
        self.door.set_key(FormatKey::HEADER);
        let bytes = self.map.bytes_mut(cached);
        bytes.fill(0xFF);
        if let Some(start) = bytes.first_chunk_mut() {
            *start = *header;
        }
        let bytes = self.map.bytes(cached).get(..map.page_bytes.as_usize()).unwrap_or(&[]);
        let kind = (Kind::Header, 0);
        let done = self.door.program_page(page, 1, kind, bytes, Cause::Meta);
        self.door.set_key(key);
        match done {
            Ok(()) => Ok(true),
            Err(Fault::BlockFailed) => self.door.mark_bad_block(page.block()).map(|()| false),
            Err(fault) => Err(fault),
        }
    }

    /// Writes headers anew that are missing or torn. What they say was read once by the mount: the one that told it may
    /// be torn itself, and be gone by now.
    pub(super) fn mend_headers(&mut self) -> Result<(), Fault<D::Error>> {
        let header = header(&self.shape, self.door.key());
        for number in 0..HEADERS {
            let missing = !self.header_is_bad(number)?
                && self.header_at(number)? != HeaderBlock::Header(header);
            if missing {
                // A cut may tear what is written now: it must count as the younger one, whatever is beside it.
                let other = self.header_and_stamp(HEADERS - 1 - number)?.1;
                self.door.raise_stamp(other);
                if self.erase_header(number)? {
                    self.put_header(number, &header)?;
                }
            }
        }
        Ok(())
    }

    /// Writes both headers anew, each while the other stands.
    pub(super) fn refresh_headers(&mut self) -> Result<(), Fault<D::Error>> {
        self.mend_headers()?;
        let header = header(&self.shape, self.door.key());
        let first = self.doubtful_header()?;
        let second = HEADERS - 1 - first;
        // Where one fails, the other is all that there is, whatever can still be read of the first.
        let goes_on = self.rewrite_header(first, &header)?
            && self.put_header_in(self.twin_page(first), &header)?;
        if goes_on {
            self.rewrite_header(second, &header)?;
        }
        Ok(())
    }

    /// The header that a cut may have damaged, though it can be read now.
    fn doubtful_header(&mut self) -> Result<u16, Fault<D::Error>> {
        let stamps = [self.header_and_stamp(0)?.1, self.header_and_stamp(1)?.1];
        // What is written now is to be the younger one.
        self.door.raise_stamp(stamps[0].max(stamps[1]));
        let younger = u16::from(stamps[1] > stamps[0]);
        let twin = self.header_in(self.twin_page(younger))?.0;
        Ok(if matches!(twin, HeaderBlock::Header(_)) { HEADERS - 1 - younger } else { younger })
    }

    /// Writes a header anew, if the other one stands. `false`: it does not, or this one is bad now.
    fn rewrite_header(&mut self, number: u16, header: &Header) -> Result<bool, Fault<D::Error>> {
        let other = HEADERS - 1 - number;
        if self.header_is_bad(other)? || self.header_at(other)? != HeaderBlock::Header(*header) {
            return Ok(false);
        }
        if planted(Bug::HeadersAtOnce) {
            self.erase_header(other)?;
        }
        Ok(self.erase_header(number)? && self.put_header(number, header)?)
    }
}
