//! Why a device could not be formatted or mounted.

use core::fmt;

use crate::error::Fault;
use crate::hybrid::address::BlockNumber;
use crate::hybrid::identity::OtherSetting;
use crate::layout::{Header, OtherFormat};

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
    /// The device has no header of this FTL. Format it, if nothing else of value is on it.
    NotFormatted,
    /// The device was formatted by another version of this FTL, whose format this one cannot mount.
    Version(OtherFormat),
    /// Both headers are damaged.
    DamagedHeader,
    /// The device was formatted with another geometry or configuration.
    OtherConfig(OtherSetting),
    /// The device was formatted by the page store.
    OfPageStore,
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
            Self::NotFormatted => {
                f.write_str("the device has no header of this FTL: format it first")
            }
            Self::Version(OtherFormat::Features(Header::WIDE_NUMBERS)) if !cfg!(feature = "wide") => {
                f.write_str(
                    "the device has more blocks than 16 bits number: build ftl-core with its feature `wide`",
                )
            }
            Self::Version(other) => other.fmt(f),
            Self::DamagedHeader => {
                f.write_str(
                    "both headers are damaged or cannot be read: if the driver has the ECC right, only a format helps",
                )
            }
            Self::OtherConfig(other) => write!(f, "{other}: mount it as it was formatted"),
            Self::OfPageStore => {
                f.write_str("the device holds the page store: mount that, or format")
            }
            Self::Corrupt => f.write_str(
                "the data on flash is inconsistent: something else changed it, or the driver breaks its contract",
            ),
            Self::BlockFailed => f.write_str("a block failed that the FTL cannot do without"),
            Self::Device(Some(error)) => {
                write!(f, "the driver failed ({error:?}): mount the device again")
            }
            Self::Device(None) => f.write_str("the driver failed earlier: mount the device again"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for MountError<E> {}
