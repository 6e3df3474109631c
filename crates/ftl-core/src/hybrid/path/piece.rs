//! A slot of a page, from which a fold copies.

use crate::hybrid::flash::Spot;

/// What a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageOf {
    /// A data block: every sector is in place, and its tags mark holes.
    Data,
    /// The log, or a log block of a chain.
    Log,
}

/// The slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourceSlot {
    pub spot: Spot,
    pub slot: u16,
    pub of: PageOf,
}

impl SourceSlot {
    pub(super) fn in_log(spot: Spot, slot: u16) -> Self {
        Self { spot, slot, of: PageOf::Log }
    }

    pub(super) fn in_data(spot: Spot, slot: u16) -> Self {
        Self { spot, slot, of: PageOf::Data }
    }

    /// Whether `next` is that many slots later in the same page, so both are read at once.
    #[inline]
    pub(super) fn is_followed_by(self, next: Self, distance: u16) -> bool {
        self.spot == next.spot && self.slot + distance == next.slot && self.of == next.of
    }
}
