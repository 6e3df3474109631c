//! The list of pages that the last anchor does not tell, one line each, in a map page's memory.

use super::map::Cached;
use crate::layout::{Stamp, TagKind};
use crate::paged::flash::PagedKind;
use crate::paged::plan::address::{BlockNumber, Spot};
use crate::paged::plan::anchor_page::Listed;
use crate::paged::plan::numbers;

/// Bytes per line.
pub(crate) const LINE: usize = 16;

/// A page that the anchor does not tell: programmed since, or shortly before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Since {
    /// Its stamp, counted from the list's origin.
    pub(crate) age: u32,
    pub(crate) spot: Spot,
    /// The content of its first slot; none if the page must be read again.
    pub(crate) first: Option<u32>,
    pub(crate) kind: PagedKind,
    /// The erase count of its block, if the page stores it.
    pub(crate) wear: Option<u16>,
}

/// The list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) page: Cached,
    pub(crate) len: usize,
    /// All pages on it are younger.
    pub(crate) origin: Stamp,
    /// The blocks that the anchor lists as free, and that were not opened since.
    pub(crate) unopened: Listed,
}

impl List {
    /// Returns the stamp of a page on the list.
    pub(crate) fn stamp(&self, since: &Since) -> Stamp {
        Stamp::new(self.origin.get() + u64::from(since.age))
    }
}

const NO_SECTOR: u32 = u32::MAX;
const NO_WEAR: u16 = u16::MAX;

/// Returns the line of a page.
pub(crate) fn bytes_of(since: &Since) -> [u8; LINE] {
    let mut bytes = [0; LINE];
    let fields: [(usize, &[u8]); 5] = [
        // The stamps that a list spans fit in 24 bits.
        (0, &(since.age | u32::from(since.kind.code()) << 24).to_le_bytes()),
        (4, &since.spot.block.get().to_le_bytes()),
        (8, &since.first.unwrap_or(NO_SECTOR).to_le_bytes()),
        (12, &since.spot.page.to_le_bytes()),
        (14, &since.wear.unwrap_or(NO_WEAR).to_le_bytes()),
    ];
    for (at, field) in fields {
        if let Some(target) = bytes.get_mut(at..at + field.len()) {
            numbers::copy(target, field);
        }
    }
    bytes
}

/// Returns the page of a line.
pub(crate) fn since_of(bytes: &[u8; LINE]) -> Since {
    let [a0, a1, a2, kind, b0, b1, b2, b3, f0, f1, f2, f3, p0, p1, w0, w1] = *bytes;
    let first = u32::from_le_bytes([f0, f1, f2, f3]);
    let wear = u16::from_le_bytes([w0, w1]);
    Since {
        age: u32::from_le_bytes([a0, a1, a2, 0]),
        spot: Spot {
            block: BlockNumber::new(u32::from_le_bytes([b0, b1, b2, b3])),
            page: u16::from_le_bytes([p0, p1]),
        },
        first: (first != NO_SECTOR).then_some(first),
        kind: PagedKind::from_code(kind).unwrap_or(PagedKind::Proof),
        wear: (wear != NO_WEAR).then_some(wear),
    }
}
