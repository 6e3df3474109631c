//! Addresses inside the page store. Blocks of both areas have numbers in one sequence, and so have the slots of all
//! pages.

use core::fmt;
use core::num::NonZeroU32;

use crate::table::Row;

/// A block of either area. Blocks of the fast area come first.
///
/// Stores the number plus one, so that an `Option` of it takes no extra space.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockNumber(NonZeroU32);

impl BlockNumber {
    /// Returns the block with this number.
    #[inline]
    pub const fn new(number: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(number))
    }

    /// Returns the number.
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
    /// The number of the page in the block.
    pub page: u16,
}

/// The address of one sector on flash: a slot of a page of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u32);

impl Place {
    /// Bits of a place; tables use the remaining ones.
    pub const BITS: u32 = 30;

    /// Returns the place with this number.
    #[inline]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// A leaf of the map: consecutive sectors whose places are in one map page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leaf(u32);

impl Leaf {
    /// Returns the leaf with this number.
    #[inline]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number.
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

/// The address of a sector according to the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapped {
    /// None: it was never written, or was trimmed.
    Nowhere,
    /// Unknown: its map page is lost.
    Lost,
    /// On flash.
    At(Place),
}
