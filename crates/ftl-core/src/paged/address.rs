//! Addresses inside the page store: blocks of both areas numbered in one row, slots of all their pages, map pages.

use core::fmt;
use core::num::NonZeroU32;

use crate::table::Row;

/// A block of either area. Those of the fast area come first.
///
/// One more than its number is kept, so that no block at all takes no more room than a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockNumber(NonZeroU32);

impl BlockNumber {
    /// The block with this number.
    #[inline]
    pub const fn new(number: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(number))
    }

    /// The plain number.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0.get() - 1
    }
}

impl fmt::Debug for BlockNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BlockNumber").field(&self.get()).finish()
    }
}

impl Row for BlockNumber {
    #[inline]
    fn index(self) -> usize {
        self.get() as usize
    }
}

/// A page of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The block.
    pub block: BlockNumber,
    /// The number of the page in it.
    pub page: u16,
}

/// Room for one sector: a slot of a page of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u32);

impl Place {
    /// Places have at most that many bits; tables use the others.
    pub const BITS: u32 = 30;

    /// The place with this number.
    #[inline]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The plain number.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// A leaf of the map: that many sectors in a row, whose places are in one map page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leaf(u32);

impl Leaf {
    /// The leaf with this number.
    #[inline]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The plain number.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Row for Leaf {
    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where the map says that a sector is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapped {
    /// Nowhere: it was never written, or was trimmed.
    Nowhere,
    /// Nobody knows: the map page that told it is lost.
    Lost,
    /// There.
    At(Place),
}
