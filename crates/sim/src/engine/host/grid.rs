//! The mapping of requests to the sectors of a store.

use std::ops::Range;

use ftl_iface::Sector;

use crate::input::trace::{Op, Request};

/// The most bytes issued to the store at once. A store judges requests by their size, so all usual requests are issued
/// whole; longer ones would not fit into a host's memory. A trim may be longer, because it has no data.
pub(super) const HANDED_MOST: u64 = 1 << 30;

/// How a store is divided into sectors, both in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    /// A power of two: the store's shape was checked.
    pub(super) sector: u64,
    pub(super) capacity: u64,
}

/// Sectors of a request: those that it touches, and whether it covers the first and the last completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: u64,
    pub(super) count: u64,
    covers_first: bool,
    covers_last: bool,
}

impl Span {
    /// The sectors that a write reads first: those covered in part.
    pub(super) fn partial(self) -> impl Iterator<Item = u64> {
        let last = !self.covers_last && (self.count > 1 || self.covers_first);
        let first = (!self.covers_first).then_some(self.first);
        first.into_iter().chain(last.then_some(self.first + self.count - 1))
    }

    /// The sectors that a trim removes: those covered completely.
    pub(super) fn covered(self) -> Range<u64> {
        let first = self.first + u64::from(!self.covers_first);
        let end = self.first + self.count - u64::from(!self.covers_last);
        first..end.max(first)
    }

    pub(super) const fn range(self) -> Range<u64> {
        self.first..self.first + self.count
    }
}

impl Grid {
    /// The sector of that address.
    pub(super) const fn sector_at(self, offset: u64) -> Sector {
        Sector::new((offset >> self.sector.trailing_zeros()) as u32)
    }

    fn span(self, offset: u64, length: u64) -> Span {
        let shift = self.sector.trailing_zeros();
        let end = offset + length;
        let first = offset >> shift;
        let last = (end - 1) >> shift;
        let covers_first = offset == first << shift && (end >= (first + 1) << shift);
        let covers_last = end == (last + 1) << shift && offset <= last << shift;
        Span { first, count: last - first + 1, covers_first, covers_last }
    }

    /// The parts in which a request is issued. A request that crosses the store's end continues at its beginning.
    #[inline]
    pub(super) fn parts(self, request: &Request) -> impl Iterator<Item = Span> {
        let mut at = request.offset;
        let mut left = if request.op == Op::Flush { 0 } else { request.length };
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            // Parts end at sector boundaries, so that no sector is split.
            let most = if request.op == Op::Trim { left } else { HANDED_MOST - at % self.sector };
            let length = left.min(self.capacity - at).min(most);
            let span = self.span(at, length);
            left -= length;
            at += length;
            if at == self.capacity {
                at = 0;
            }
            Some(span)
        })
    }
}
