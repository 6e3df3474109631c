//! What is exported, what is asked of the disk behind it, and numbers in the order of the network.

use super::reply::Errno;

/// Bytes of one request that are told to clients as the most, and are the most of a write.
pub const PAYLOAD_MOST: u32 = 32 << 20;

/// Bytes that are handed to the disk at once: larger requests reach it in such pieces, as a drive's controller cuts
/// what is longer than it transfers at once.
pub const PIECE: u32 = 1 << 20;

/// The smallest block that clients are told of. Requests for other bytes are served, too.
pub const SMALLEST_BLOCK: u32 = 512;

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Export {
    /// How many bytes.
    pub bytes: u64,
    /// The size of a request that costs the disk no more than its own bytes.
    pub preferred_block: u32,
}

/// Why the disk does not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The answer is an error.
    Error(Errno),
    /// There is no answer: power is off.
    Off,
}

/// What is asked of a disk. Ranges lie within the export and are no longer than [`PIECE`].
pub trait Disk {
    /// Reads the bytes from `offset` on.
    fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Refusal>;

    /// Writes the bytes from `offset` on.
    fn write(&mut self, offset: u64, data: &[u8], kept: Kept) -> Result<(), Refusal>;

    /// Forgets bytes: what they read as afterwards is the disk's affair.
    fn trim(&mut self, offset: u64, bytes: u32, kept: Kept) -> Result<(), Refusal>;

    /// Makes bytes read as zeros.
    fn zero(&mut self, offset: u64, bytes: u32, how: Zeroing, kept: Kept) -> Result<(), Refusal>;

    /// Makes durable what was answered.
    fn flush(&mut self) -> Result<(), Refusal>;
}

/// When what a request changed must be durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// With the next flush.
    Flushed,
    /// Before the request is answered (`FUA`).
    AtOnce,
}

/// How zeros may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zeroing {
    /// Forgetting will do, where what is forgotten reads as zeros.
    MayForget,
    /// Room for the bytes must be there (`NO_HOLE`): zeros are written.
    MustWrite,
}

/// Numbers in the order of the network.
pub(super) fn be16(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u16::from_be_bytes(*word))
}

pub(super) fn be32(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u32::from_be_bytes(*word))
}

pub(super) fn be64(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u64::from_be_bytes(*word))
}
