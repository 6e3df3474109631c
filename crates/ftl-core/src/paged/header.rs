//! Headers: what must be known before anything else can be read. Two blocks hold one each.
//!
//! ```text
//!  0       8         10        12    16             20         24            28           32      36
//!  ├───────┼─────────┼─────────┼─────┼──────────────┼──────────┼─────────────┼────────────┼───────┤
//!  │ magic │ version │ anchors │ key │ sector bytes │ capacity │ main blocks │ fast blocks│ check │
//!  └───────┴─────────┴─────────┴─────┴──────────────┴──────────┴─────────────┴────────────┴───────┘
//! ```
//!
//! The header that a power cut may have damaged is rewritten first, while the other one stays. That is the younger one,
//! unless its block has a second copy in the next word line: the copy is programmed after the first page is
//! acknowledged, and only then is the other block erased. So if there is a copy, the older header may be half erased.

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

/// The length of a header.
const BYTES: usize = 36;
const MAGIC: [u8; 8] = *b"TANDEMPG";
/// The version of the format. It changes when an older reader would misread the format.
const VERSION: u16 = 3;

/// The bytes of a header.
pub(super) type Header = [u8; BYTES];

/// The content of a header block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderBlock {
    /// An intact header of this format.
    Header(Header),
    /// A damaged header of this format, or one of another version.
    Damaged,
    /// Other data, or none.
    Foreign,
}

fn check(bytes: &[u8]) -> u32 {
    let words = bytes.as_chunks().0;
    words.iter().fold(FormatKey::HEADER.get(), |hash, word| {
        let mixed = (hash ^ u32::from_le_bytes(*word)).wrapping_mul(0x85EB_CA6B);
        mixed ^ mixed >> 13
    })
}

/// Returns the header of a device of this shape.
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

/// Returns the key in a header.
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

    /// Returns the content of a header block.
    pub(super) fn header_at(&mut self, number: u16) -> Result<HeaderBlock, Fault<D::Error>> {
        Ok(self.header_and_stamp(number)?.0)
    }

    /// Returns the content of a header block, and the stamp of its program.
    pub(super) fn header_and_stamp(
        &mut self,
        number: u16,
    ) -> Result<(HeaderBlock, Stamp), Fault<D::Error>> {
        self.header_in(self.header_block(number).page(PageIndex::new(0)))
    }

    /// Returns the page of a header's second copy, which shares no cells with the first. Pages between are skipped.
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

    /// Erases a header block. Returns `false` if it is bad, now or before.
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

    /// Writes a header to an erased block. Returns `false` if the block has become bad.
    pub(super) fn put_header(
        &mut self,
        number: u16,
        header: &Header,
    ) -> Result<bool, Fault<D::Error>> {
        self.put_header_in(self.header_block(number).page(PageIndex::new(0)), header)
    }

    /// Writes a header to a page. Returns `false` if its block has become bad.
    fn put_header_in(&mut self, page: Page, header: &Header) -> Result<bool, Fault<D::Error>> {
        let map = *self.shape.map_area();
        // The page buffer keeps the content of a suspect page, so a header is composed in a map page's buffer.
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

    /// Rewrites headers that are missing or torn, with the content that the mount has read: the header that it was read
    /// from may be torn, too, and unreadable by now.
    pub(super) fn mend_headers(&mut self) -> Result<(), Fault<D::Error>> {
        let header = header(&self.shape, self.door.key());
        for number in 0..HEADERS {
            let missing = !self.header_is_bad(number)?
                && self.header_at(number)? != HeaderBlock::Header(header);
            if missing {
                // A power cut may tear the new header, so it must count as the younger one whatever the other is.
                let other = self.header_and_stamp(HEADERS - 1 - number)?.1;
                self.door.raise_stamp(other);
                if self.erase_header(number)? {
                    self.put_header(number, &header)?;
                }
            }
        }
        Ok(())
    }

    /// Rewrites both headers, each while the other one stays.
    pub(super) fn refresh_headers(&mut self) -> Result<(), Fault<D::Error>> {
        self.mend_headers()?;
        let header = header(&self.shape, self.door.key());
        let first = self.doubtful_header()?;
        let second = HEADERS - 1 - first;
        // If one fails, only the other counts, whatever can still be read of the first.
        let goes_on = self.rewrite_header(first, &header)?
            && self.put_header_in(self.twin_page(first), &header)?;
        if goes_on {
            self.rewrite_header(second, &header)?;
        }
        Ok(())
    }

    /// Returns the header that a power cut may have damaged even if it can be read now.
    fn doubtful_header(&mut self) -> Result<u16, Fault<D::Error>> {
        let stamps = [self.header_and_stamp(0)?.1, self.header_and_stamp(1)?.1];
        // The new header must be the younger one.
        self.door.raise_stamp(stamps[0].max(stamps[1]));
        let younger = u16::from(stamps[1] > stamps[0]);
        let twin = self.header_in(self.twin_page(younger))?.0;
        Ok(if matches!(twin, HeaderBlock::Header(_)) { HEADERS - 1 - younger } else { younger })
    }

    /// Rewrites a header if the other one is intact. Returns `false` if it is not, or if this block has become bad.
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
