//! What a device looks like: its regions and the shape of their blocks and pages.

use core::fmt;

use crate::address::{Block, Page, Region};
use crate::pairing::Pairing;
use crate::units::{BlockCount, Bytes, PageCount};

/// The number of bits in a cell of a region. It decides how the cell ages and what a torn program can corrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Cell {
    /// One bit.
    Slc,
    /// Two bits.
    Mlc,
    /// Three bits.
    Tlc,
}

impl Cell {
    /// How many pages share a word line.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Slc => 1,
            Self::Mlc => 2,
            Self::Tlc => 3,
        }
    }

    /// The name in tables and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slc => "SLC",
            Self::Mlc => "MLC",
            Self::Tlc => "TLC",
        }
    }
}

/// No NAND page is larger; the bound keeps a damaged description from asking for any amount of memory.
const PAGE_BYTES_MAX: u32 = 64 << 10;

/// The shape of one region. All of its blocks are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RegionGeometry {
    /// Bits per cell.
    pub cell: Cell,
    /// Erase blocks, bad ones included.
    pub blocks: BlockCount,
    /// Pages of a block.
    pub pages_per_block: PageCount,
    /// Data bytes of a page.
    pub page_bytes: Bytes,
    /// Spare bytes of a page that the user may use and the same error correction protects. Bytes that the device uses
    /// for its own ECC or bad-block marks are not counted.
    pub spare_bytes: Bytes,
    /// Which pages share cells.
    pub pairing: Pairing,
}

impl RegionGeometry {
    /// Pages of the whole region.
    pub const fn pages(&self) -> u64 {
        self.blocks.get() as u64 * self.pages_per_block.get() as u64
    }

    /// Data bytes of a block.
    pub const fn block_bytes(&self) -> u64 {
        self.pages_per_block.get() as u64 * self.page_bytes.get() as u64
    }

    /// Data bytes of the whole region.
    pub const fn capacity_bytes(&self) -> u64 {
        self.blocks.get() as u64 * self.block_bytes()
    }

    const fn check(&self, region: Region) -> Result<(), GeometryError> {
        if self.blocks.is_zero() {
            return Err(GeometryError::NoBlocks(region));
        }
        let pages = self.pages_per_block.get();
        if pages == 0 || pages > u16::MAX as u32 {
            return Err(GeometryError::PagesPerBlock(region, self.pages_per_block));
        }
        let bytes = self.page_bytes.get();
        if bytes < 512 || bytes > PAGE_BYTES_MAX || !bytes.is_power_of_two() {
            return Err(GeometryError::PageBytes(region, self.page_bytes));
        }
        if self.spare_bytes.get() > bytes {
            return Err(GeometryError::SpareBytes(region, self.spare_bytes));
        }
        if self.blocks.get().checked_mul(pages).is_none() {
            return Err(GeometryError::TooManyPages(region));
        }
        let one_bit = matches!(self.cell, Cell::Slc);
        if one_bit != matches!(self.pairing, Pairing::None) {
            return Err(GeometryError::Pairing(region, self.cell));
        }
        Ok(())
    }
}

/// The shape of a device: an SLC region, an MLC region, or both.
///
/// ```
/// use ftl_iface::{BlockCount, Bytes, Cell, Geometry, PageCount, Pairing, RegionGeometry};
/// // A 1-Gbit SPI NAND: one plain SLC chip.
/// const CHIP: RegionGeometry = RegionGeometry {
///     cell: Cell::Slc,
///     blocks: BlockCount::new(1024),
///     pages_per_block: PageCount::new(64),
///     page_bytes: Bytes::new(2048),
///     spare_bytes: Bytes::new(64),
///     pairing: Pairing::None,
/// };
/// let geometry = Geometry::new(Some(CHIP), None)?;
/// assert_eq!(geometry.slc().unwrap().capacity_bytes(), 128 << 20);
/// # Ok::<(), ftl_iface::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Geometry {
    slc: Option<RegionGeometry>,
    mlc: Option<RegionGeometry>,
}

impl Geometry {
    /// The device with these regions, once their figures are found possible.
    pub const fn new(
        slc: Option<RegionGeometry>,
        mlc: Option<RegionGeometry>,
    ) -> Result<Self, GeometryError> {
        if slc.is_none() && mlc.is_none() {
            return Err(GeometryError::NoRegion);
        }
        if let Some(region) = &slc {
            if !matches!(region.cell, Cell::Slc) {
                return Err(GeometryError::SlcRegionStoresMoreBits(region.cell));
            }
            if let Err(error) = region.check(Region::Slc) {
                return Err(error);
            }
        }
        if let Some(region) = &mlc {
            if matches!(region.cell, Cell::Slc) {
                return Err(GeometryError::MlcRegionStoresOneBit);
            }
            if let Err(error) = region.check(Region::Mlc) {
                return Err(error);
            }
        }
        Ok(Self { slc, mlc })
    }

    /// The SLC region, where there is one.
    #[inline]
    pub const fn slc(&self) -> Option<&RegionGeometry> {
        self.slc.as_ref()
    }

    /// The MLC (or TLC) region, where there is one.
    #[inline]
    pub const fn mlc(&self) -> Option<&RegionGeometry> {
        self.mlc.as_ref()
    }

    /// That region, where there is one.
    #[inline]
    pub const fn region(&self, region: Region) -> Option<&RegionGeometry> {
        match region {
            Region::Slc => self.slc.as_ref(),
            Region::Mlc => self.mlc.as_ref(),
        }
    }

    /// Whether the device has that block.
    #[inline]
    pub const fn contains_block(&self, block: Block) -> bool {
        match self.region(block.region()) {
            Some(region) => block.index() < region.blocks.get(),
            None => false,
        }
    }

    /// Whether the device has that page.
    #[inline]
    pub const fn contains(&self, page: Page) -> bool {
        match self.region(page.region()) {
            Some(region) => {
                page.block().index() < region.blocks.get()
                    && (page.index().get() as u32) < region.pages_per_block.get()
            }
            None => false,
        }
    }
}

/// Why a geometry is impossible. Each sentence names the figure to correct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum GeometryError {
    /// Neither an SLC nor an MLC region was given.
    NoRegion,
    /// The region has no blocks.
    NoBlocks(Region),
    /// A block has no pages, or more than 65,535.
    PagesPerBlock(Region, PageCount),
    /// The page size is not a power of two from 512 bytes to 64 KiB.
    PageBytes(Region, Bytes),
    /// The spare area is larger than the page.
    SpareBytes(Region, Bytes),
    /// Blocks times pages per block exceeds 32 bits.
    TooManyPages(Region),
    /// A one-bit cell with a pairing scheme, or a cell of several bits without one.
    Pairing(Region, Cell),
    /// The SLC region was given a cell of several bits.
    SlcRegionStoresMoreBits(Cell),
    /// The MLC region was given a one-bit cell: a plain SLC chip is an SLC region alone.
    MlcRegionStoresOneBit,
}

impl fmt::Display for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRegion => {
                write!(f, "the device has no region: give it an SLC or an MLC region")
            }
            Self::NoBlocks(region) => {
                write!(f, "the {region} region has no blocks: give it at least 1")
            }
            Self::PagesPerBlock(region, pages) => {
                write!(f, "the {region} region has {pages} per block: give it 1 to 65535")
            }
            Self::PageBytes(region, bytes) => {
                write!(
                    f,
                    "the {region} region has pages of {bytes}: give a power of two from 512 up"
                )
            }
            Self::SpareBytes(region, bytes) => {
                write!(
                    f,
                    "the {region} region has spare areas of {bytes}: give no more than a page"
                )
            }
            Self::TooManyPages(region) => {
                write!(
                    f,
                    "the {region} region has more than 4294967295 pages: give it fewer blocks"
                )
            }
            Self::Pairing(region, Cell::Slc) => {
                write!(
                    f,
                    "the {region} region stores one bit per cell: its pairing must be \"none\""
                )
            }
            Self::Pairing(region, cell) => write!(
                f,
                "the {region} region stores {} bits per cell: name the scheme by which its pages are paired",
                cell.bits()
            ),
            Self::SlcRegionStoresMoreBits(cell) => {
                write!(f, "the SLC region has {} cells: describe it as the MLC region", cell.name())
            }
            Self::MlcRegionStoresOneBit => {
                write!(f, "the MLC region has SLC cells: describe it as the SLC region")
            }
        }
    }
}

impl core::error::Error for GeometryError {}
