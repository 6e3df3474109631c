//! Why a configuration does not fit a device.

use core::fmt;

use ftl_iface::{Bytes, Region, SectorCount};

use super::index::IndexShapeError;
use crate::config::LogRegion;
use crate::hybrid::address::{LogBlock, LogicalBlock};
use crate::layout::{self, SLOTS_MAX};

/// Why a configuration does not fit a device. Each sentence says what to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeError {
    /// The sector size is not a power of two, or is below 512 bytes, or above a page.
    SectorBytes(Bytes),
    /// A page would hold more sectors than a tag can name.
    SlotsPerPage {
        /// The number of sectors.
        slots: u32,
    },
    /// The tag does not fit into the spare area.
    SpareBytes {
        /// The region of the page.
        region: Region,
        /// The bytes of the tag.
        needed: usize,
        /// The bytes of the spare area.
        given: Bytes,
    },
    /// There are more blocks for chains than can be numbered: without the feature `wide`, in 16 bits.
    TooManyBlocks {
        /// The number of blocks.
        blocks: u32,
    },
    /// The log, or the area of headers and checkpoints, has more blocks than 16 bits can number.
    TooManyLogBlocks {
        /// The number of blocks.
        blocks: u32,
    },
    /// There are more sectors than a tag can name.
    TooManySectors {
        /// The number of sectors.
        sectors: u64,
    },
    /// The configuration puts the log in a region that the device does not have.
    LogRegion(LogRegion),
    /// A log needs two blocks.
    LogBlocks {
        /// Its number of blocks.
        blocks: u32,
    },
    /// A log block is too short for data beside its summary.
    LogPages {
        /// Its number of pages.
        pages: u16,
    },
    /// A block of the first region is too short for a copy of two pages of the chains.
    MetaPages {
        /// Its number of pages.
        pages: u16,
        /// The number of pages that it needs.
        needed: u32,
    },
    /// The log has more slots than 32 bits can number.
    LogPlaces,
    /// The limit of log blocks per chain is zero, or too large for 16-bit positions.
    ChainLogBlocks {
        /// The largest limit that fits.
        most: u32,
    },
    /// The capacity is zero or leaves too few spare blocks.
    Capacity {
        /// The requested capacity.
        asked: SectorCount,
        /// The largest possible capacity.
        most: SectorCount,
    },
    /// The hash table cannot be laid out.
    Index(IndexShapeError),
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SectorBytes(bytes) => write!(
                f,
                "a sector cannot have {bytes}: choose a power of two from 512 to the smaller page size"
            ),
            Self::SlotsPerPage { slots } => {
                write!(f, "{slots} sectors per page are more than {SLOTS_MAX}: choose larger sectors")
            }
            Self::SpareBytes { region, needed, given } => write!(
                f,
                "the tag of {needed} bytes does not fit into the {given} of spare area of the {region} region: \
                 choose larger sectors"
            ),
            Self::TooManyBlocks { blocks } => {
                let most = LogicalBlock::LAST;
                write!(f, "{blocks} blocks for chains are more than {most}: use larger blocks")?;
                if cfg!(feature = "wide") {
                    return Ok(());
                }
                f.write_str(", or build ftl-core with its feature `wide`")
            }
            Self::TooManyLogBlocks { blocks } => {
                let most = LogBlock::LAST;
                write!(f, "a log or checkpoints of {blocks} blocks are more than {most}: make the log smaller")
            }
            Self::TooManySectors { sectors } => {
                write!(f, "{sectors} sectors are more than {}: choose larger sectors", layout::SECTORS_MAX)
            }
            Self::LogRegion(LogRegion::SlcRegion) => f.write_str(
                "the log is configured as the SLC region, but the device has one region: use its first blocks",
            ),
            Self::LogRegion(_) => f.write_str(
                "the log is configured as the first blocks, but the device has two regions: use the SLC region",
            ),
            Self::LogBlocks { blocks } => {
                write!(f, "a log of {blocks} blocks is too small: give it at least 2, or none at all")
            }
            Self::LogPages { pages } => write!(
                f,
                "a log block of {pages} pages has no space for data beside its summary: configure no log"
            ),
            Self::MetaPages { pages, needed } => write!(
                f,
                "a block of {pages} pages is too short for the recovery after a power cut: it needs {needed} pages, or \
                 fewer with larger sectors"
            ),
            Self::LogPlaces => f.write_str(
                "the log has slots for more than 4294967295 sectors: choose larger sectors, or a smaller log",
            ),
            Self::ChainLogBlocks { most } => {
                write!(f, "a chain of this device may have 1 to {most} log blocks: choose a number in this range")
            }
            Self::Capacity { asked, most } => write!(
                f,
                "beside the spare blocks there is room for {most}, not for {asked}: ask for less, or add blocks"
            ),
            Self::Index(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ShapeError {}
