//! The export, the operations of the disk behind it, and numbers in network byte order.

use ftl_iface::Lifetime;

use super::reply::Errno;

/// The maximum request size announced to clients, and the limit of a write.
pub const PAYLOAD_MOST: u32 = 32 << 20;

/// Bytes passed to the disk at once: larger requests are split into such pieces, like a drive's controller splits them.
pub const PIECE: u32 = 1 << 20;

/// The smallest block announced to clients: any range of bytes is served.
pub const SMALLEST_BLOCK: u32 = 1;

/// The export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Export {
    /// Its size in bytes.
    pub bytes: u64,
    /// The preferred request size, at which the disk transfers only the request's own bytes.
    pub preferred_block: u32,
    /// What clients may do.
    pub access: Access,
}

/// What clients may do with the export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read and change it.
    ReadWrite,
    /// Read it.
    ReadOnly,
}

/// Why the disk does not complete a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The answer is an error.
    Error(Errno),
    /// There is no answer: power is off.
    Off,
}

/// The operations of a disk. Ranges are within the export and no longer than [`PIECE`].
pub trait Disk {
    /// Reads the bytes from `offset` on.
    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Refusal>;

    /// Writes the bytes from `offset` on, which the client expects to live so long.
    fn write(
        &mut self,
        offset: u64,
        data: &[u8],
        kept: Durability,
        lifetime: Lifetime,
    ) -> Result<(), Refusal>;

    /// Trims bytes: what they read as afterwards is up to the disk.
    fn trim(&mut self, offset: u64, bytes: u32, kept: Durability) -> Result<(), Refusal>;

    /// Makes bytes read as zeros.
    fn zero(
        &mut self,
        offset: u64,
        bytes: u32,
        how: Zeroing,
        kept: Durability,
    ) -> Result<(), Refusal>;

    /// Makes all acknowledged writes durable.
    fn flush(&mut self) -> Result<(), Refusal>;
}

/// When the changes of a request must be durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// With the next flush.
    Flushed,
    /// Before the request is answered (`FUA`).
    AtOnce,
}

/// How zeros may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zeroing {
    /// A trim suffices, if trimmed bytes read as zeros.
    MayForget,
    /// Space must be allocated (`NO_HOLE`): zeros are written.
    MustWrite,
}

/// Reads numbers in network byte order.
pub(super) fn be16(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u16::from_be_bytes(*word))
}

pub(super) fn be32(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u32::from_be_bytes(*word))
}

pub(super) fn be64(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u64::from_be_bytes(*word))
}
