//! Addresses: a sector of the host, a block and a page of the device.
//!
//! An address plus a count is an address, and the difference of two addresses is a count. Addresses of different kinds
//! do not mix.

use core::fmt;
use core::ops::{Add, Sub};

use crate::units::SectorCount;

/// Which of the device's regions: the small fast one or the large dense one.
///
/// A region is a range of blocks that share one geometry. A chip in two modes has both, so have two chips
/// behind one controller; a plain chip has one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Region {
    /// One bit per cell: fast, durable, expensive.
    Slc,
    /// Several bits per cell (MLC or TLC): slow, short-lived, cheap.
    Mlc,
}

impl Region {
    /// Both regions, in the order in which tables list them.
    pub const ALL: [Self; 2] = [Self::Slc, Self::Mlc];

    /// The region's name in tables and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slc => "SLC",
            Self::Mlc => "MLC",
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A sector of the host's address space: the unit in which an FTL maps, chosen when the device is formatted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Sector(u32);

impl Sector {
    /// The sector with this number, counted from zero.
    #[inline]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The plain number.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The sector `count` further on, or `None` beyond the last possible number.
    #[inline]
    pub const fn checked_add(self, count: SectorCount) -> Option<Self> {
        match self.0.checked_add(count.get()) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// This sector and the `count - 1` that follow it.
    pub fn run(self, count: SectorCount) -> impl ExactSizeIterator<Item = Self> + Clone {
        let first = self.0;
        (0..count.get()).map(move |offset| Self(first + offset))
    }
}

impl Add<SectorCount> for Sector {
    type Output = Self;
    #[inline]
    fn add(self, count: SectorCount) -> Self {
        Self(self.0 + count.get())
    }
}

impl Sub for Sector {
    type Output = SectorCount;
    #[inline]
    fn sub(self, other: Self) -> SectorCount {
        SectorCount::new(self.0 - other.0)
    }
}

impl fmt::Display for Sector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sector {}", self.0)
    }
}

/// An erase block of one region. Only the geometry knows whether the region is that large:
/// [`Geometry::contains_block`](crate::Geometry::contains_block) checks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Block {
    region: Region,
    index: u32,
}

impl Block {
    /// The block with this number, counted from zero within its region.
    #[inline]
    pub const fn new(region: Region, index: u32) -> Self {
        Self { region, index }
    }

    /// The region that the block lies in.
    #[inline]
    pub const fn region(self) -> Region {
        self.region
    }

    /// The block's number within its region, counted from zero.
    #[inline]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// A page of this block. Only the geometry knows whether the block is that long:
    /// [`Geometry::contains`](crate::Geometry::contains) checks it.
    #[inline]
    pub const fn page(self, index: PageIndex) -> Page {
        Page { region: self.region, block: self.index, index }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} block {}", self.region, self.index)
    }
}

/// A page's number within its block, counted from zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PageIndex(u16);

impl PageIndex {
    /// The page with this number.
    #[inline]
    pub const fn new(number: u16) -> Self {
        Self(number)
    }

    /// The plain number.
    #[inline]
    pub const fn get(self) -> u16 {
        self.0
    }

    /// The plain number, as an index of slices.
    #[inline]
    pub const fn as_usize(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for PageIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "page {}", self.0)
    }
}

/// A page: the unit of reading and programming.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Written", into = "Written")
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Page {
    // Side by side and not as a `Block`, so that an address is eight bytes: it travels in one register.
    region: Region,
    block: u32,
    index: PageIndex,
}

impl Page {
    /// The block that the page lies in.
    #[inline]
    pub const fn block(self) -> Block {
        Block::new(self.region, self.block)
    }

    /// The page's number within its block.
    #[inline]
    pub const fn index(self) -> PageIndex {
        self.index
    }

    /// The region that the page lies in.
    #[inline]
    pub const fn region(self) -> Region {
        self.region
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.block(), self.index)
    }
}

const _: () = assert!(size_of::<Page>() == 8);

/// A page as it is written down.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "Page")]
struct Written {
    block: Block,
    index: PageIndex,
}

#[cfg(feature = "serde")]
impl From<Page> for Written {
    fn from(page: Page) -> Self {
        Self { block: page.block(), index: page.index }
    }
}

#[cfg(feature = "serde")]
impl From<Written> for Page {
    fn from(written: Written) -> Self {
        written.block.page(written.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_moves_by_a_count_and_two_sectors_differ_by_one() {
        let start = Sector::new(10);
        let end = start + SectorCount::new(5);
        assert_eq!(end - start, SectorCount::new(5));
        assert_eq!(Sector::new(u32::MAX).checked_add(SectorCount::new(1)), None);
        let run: Vec<u32> = start.run(SectorCount::new(3)).map(Sector::get).collect();
        assert_eq!(run, [10, 11, 12]);
    }

    #[test]
    fn a_place_prints_as_people_say_it() {
        let page = Block::new(Region::Mlc, 7).page(PageIndex::new(3));
        assert_eq!(page.to_string(), "MLC block 7, page 3");
        assert_eq!(Sector::new(4).to_string(), "sector 4");
    }
}
