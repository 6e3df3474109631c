//! Why a device could not be formatted or mounted.

use core::fmt;

use ftl_iface::{Bytes, SectorCount};

use crate::error::Fault;
use crate::hybrid::address::BlockNumber;
use crate::hybrid::mechanisms::Missing;
use crate::layout::Header;

/// Why a device could not be formatted or mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MountError<E> {
    /// The memory was planned for another device or configuration.
    WrongPlan,
    /// Too many blocks are bad for the capacity.
    TooFewBlocks {
        /// Good blocks for chains.
        good: BlockNumber,
        /// Blocks that the capacity and the reserve need.
        needed: BlockNumber,
    },
    /// The configuration needs a mechanism that the FTL is not built with.
    Missing(Missing),
    /// The device has no header of this FTL. Format it, if nothing else of value is on it.
    NotFormatted,
    /// The device was formatted by another version of this FTL.
    Version(u16),
    /// Both headers are damaged.
    DamagedHeader,
    /// The device was formatted with a different configuration.
    OtherFigures {
        /// The sector size on the device.
        sector_bytes: Bytes,
        /// The capacity on the device.
        capacity: SectorCount,
        /// Blocks of its log.
        log_blocks: u16,
    },
    /// The data on flash is inconsistent.
    Corrupt,
    /// A block that the FTL needs has failed: the device cannot be used.
    BlockFailed,
    /// The driver failed.
    Device(Option<E>),
}

impl<E> From<Fault<E>> for MountError<E> {
    fn from(fault: Fault<E>) -> Self {
        match fault {
            Fault::Uncorrectable | Fault::Corrupt => Self::Corrupt,
            Fault::BlockFailed | Fault::ReadOnly => Self::BlockFailed,
            Fault::Device(error) => Self::Device(error),
        }
    }
}

impl<E: fmt::Debug> fmt::Display for MountError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongPlan => f.write_str(
                "the memory was planned for another device or configuration: plan it for this one",
            ),
            Self::TooFewBlocks { good, needed } => write!(
                f,
                "{good} good blocks are too few for the capacity, which needs {needed}: format with a smaller one"
            ),
            Self::Missing(missing) => write!(f, "this FTL is built without {missing}"),
            Self::NotFormatted => {
                f.write_str("the device has no header of this FTL: format it first")
            }
            Self::Version(Header::WIDE_VERSION) if !cfg!(feature = "wide") => f.write_str(
                "the device has more blocks than 16 bits number: build ftl-core with its feature `wide`",
            ),
            Self::Version(version) => write!(
                f,
                "the device has format version {version}, which this FTL cannot read: use the FTL that formatted it"
            ),
            Self::DamagedHeader => f.write_str("both headers of the device are damaged"),
            Self::OtherFigures { sector_bytes, capacity, log_blocks } => write!(
                f,
                "the device was formatted with sectors of {sector_bytes}, {capacity} and a log of {log_blocks} \
                 blocks: use the same configuration"
            ),
            Self::Corrupt => f.write_str("the data on flash is inconsistent"),
            Self::BlockFailed => f.write_str("a block failed that the FTL cannot do without"),
            Self::Device(Some(error)) => write!(f, "the driver failed ({error:?})"),
            Self::Device(None) => f.write_str("the driver failed earlier"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for MountError<E> {}
