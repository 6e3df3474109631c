//! What can go wrong below the host's face, and how the host is told.

use ftl_iface::{StoreReadError, StoreWriteError};

/// What went wrong on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault<E> {
    /// A page cannot be read any more.
    Uncorrectable,
    /// A block did not program or erase. Where it was an erase, the block is out of use now. What stood in the page
    /// buffer is gone.
    BlockFailed,
    /// The reserve of blocks is used up.
    ReadOnly,
    /// The flash contradicts itself.
    Corrupt,
    /// The driver failed: now, with its error, or before.
    Device(Option<E>),
}

impl<E> From<Fault<E>> for StoreWriteError<E> {
    fn from(fault: Fault<E>) -> Self {
        match fault {
            Fault::Uncorrectable | Fault::Corrupt => Self::Corrupt,
            Fault::BlockFailed => Self::Device(None),
            Fault::ReadOnly => Self::ReadOnly,
            Fault::Device(error) => Self::Device(error),
        }
    }
}

impl<E> From<Fault<E>> for StoreReadError<E> {
    fn from(fault: Fault<E>) -> Self {
        match fault {
            Fault::Uncorrectable | Fault::Corrupt => Self::Corrupt,
            Fault::BlockFailed | Fault::ReadOnly => Self::Device(None),
            Fault::Device(error) => Self::Device(error),
        }
    }
}
