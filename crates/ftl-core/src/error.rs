//! Faults inside the FTL, and the errors that the host sees for them.

use ftl_iface::{StoreReadError, StoreWriteError};

/// A fault on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(unnameable_types, reason = "hosts meet it in a `From` alone")]
pub enum Fault<E> {
    /// A page is unreadable.
    Uncorrectable,
    /// A block failed to program or to erase. After a failed erase the block is out of use. The content of the page
    /// buffer is lost.
    BlockFailed,
    /// The reserve of blocks is used up.
    ReadOnly,
    /// The data on flash is inconsistent.
    Corrupt,
    /// The driver failed: now, with its error, or earlier.
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
