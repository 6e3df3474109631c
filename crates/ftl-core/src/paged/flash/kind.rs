//! What a page of the page store is.

use crate::flash;
use crate::layout::TagKind;

/// What a read found.
pub(crate) type Seen<'tag> = flash::Seen<'tag, PagedKind>;

/// A page that was read.
pub(crate) type PageTag<'tag> = flash::TaggedPage<'tag, PagedKind>;

/// What a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PagedKind {
    /// The header.
    Header = 0x0F,
    /// An anchor.
    Anchor = 0x96,
    /// A page of the map.
    Map = 0x99,
    /// Sectors that were the last page before a mount, programmed again.
    RepeatedSectors = 0xA5,
    /// A page of the map that was the last page before a mount, programmed again.
    RepeatedMap = 0xAA,
    /// Nothing: it shows that the repetition before it is on flash.
    Proof = 0xC3,
    /// Sectors.
    Sectors = 0xF0,
}

impl TagKind for PagedKind {
    #[inline]
    fn code(self) -> u8 {
        self as u8
    }

    #[inline]
    fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0x0F => Self::Header,
            0x96 => Self::Anchor,
            0x99 => Self::Map,
            0xA5 => Self::RepeatedSectors,
            0xAA => Self::RepeatedMap,
            0xC3 => Self::Proof,
            0xF0 => Self::Sectors,
            _ => return None,
        })
    }
}

impl PagedKind {
    /// Whether the page is in blocks of sectors: it holds some, or is a proof.
    pub const fn is_sectors(self) -> bool {
        matches!(self, Self::Sectors | Self::RepeatedSectors | Self::Proof)
    }

    /// Whether the page is a proof.
    pub const fn is_proof(self) -> bool {
        matches!(self, Self::Proof)
    }

    /// Whether the page is a map page.
    pub const fn is_map(self) -> bool {
        matches!(self, Self::Map | Self::RepeatedMap)
    }

    /// Whether the page repeats the page programmed last before a mount. Its note gives the distance in stamps to the
    /// first attempt.
    pub const fn is_repeated(self) -> bool {
        matches!(self, Self::RepeatedSectors | Self::RepeatedMap)
    }

    /// Whether map pages may follow in a block whose first page is this one: behind a repetition or its proof, too, if
    /// a single area had few blocks.
    pub const fn may_begin_map(self) -> bool {
        self.is_map() || self.is_repeated() || self.is_proof()
    }
}
