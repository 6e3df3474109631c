//! Why a device could not be formatted or mounted.

use core::fmt;

use ftl_iface::{Bytes, SectorCount};

use crate::error::Fault;
use crate::hybrid::mechanisms::Missing;

/// Why a device could not be formatted or mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MountError<E> {
    /// The memory was lent for another device or configuration.
    WrongPlan,
    /// So many blocks are bad that the capacity cannot be held.
    TooFewBlocks {
        /// Good blocks for chains.
        good: u16,
        /// What the capacity and the reserve need.
        needed: u16,
    },
    /// The configuration asks for what the FTL is not built with.
    Missing(Missing),
    /// The device carries no header of this FTL. Format it, if nothing else of value is on it.
    NotFormatted,
    /// The device was formatted by another version of this FTL.
    Version(u16),
    /// The header is damaged in both of its places.
    DamagedHeader,
    /// The device was formatted with other figures than the configuration's.
    OtherFigures {
        /// The sector size on the device.
        sector_bytes: Bytes,
        /// The capacity on the device.
        capacity: SectorCount,
        /// Blocks of its log.
        log_blocks: u16,
    },
    /// What is on flash contradicts itself.
    Corrupt,
    /// A block failed that must not: the device cannot be used.
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
                "the memory was lent for another device or configuration: plan it from the ones given here",
            ),
            Self::TooFewBlocks { good, needed } => write!(
                f,
                "{good} good blocks are too few for the capacity, which needs {needed}: format with a smaller one"
            ),
            Self::Missing(missing) => write!(f, "this FTL is built without {missing}"),
            Self::NotFormatted => f.write_str("the device carries no header of this FTL: format it first"),
            Self::Version(version) => write!(
                f,
                "the device is of format version {version}, and this FTL reads another: use the FTL that formatted it"
            ),
            Self::DamagedHeader => f.write_str("the device's header is damaged in both of its places"),
            Self::OtherFigures { sector_bytes, capacity, log_blocks } => write!(
                f,
                "the device was formatted with sectors of {sector_bytes}, {capacity} and a log of {log_blocks} \
                 blocks: configure the same"
            ),
            Self::Corrupt => f.write_str("what is on flash contradicts itself"),
            Self::BlockFailed => f.write_str("a block failed that the device cannot do without"),
            Self::Device(Some(error)) => write!(f, "the driver failed ({error:?})"),
            Self::Device(None) => f.write_str("the driver failed before"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for MountError<E> {}
