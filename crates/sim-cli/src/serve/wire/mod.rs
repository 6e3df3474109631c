//! The NBD protocol, without any socket: bytes in, bytes out, and a [`Disk`] between.
//!
//! Written from the protocol's own text (`doc/proto.md` of the project NetworkBlockDevice/nbd): the fixed newstyle
//! handshake, then requests with simple or structured replies. What is left out (encryption, metadata, extended
//! headers) is refused as the protocol asks, so that clients go on without.
//!
//! ```text
//!   input ──▶ handshake: options ──▶ conversation: a job at a time ──▶ Disk
//!                 │                        │  request: 28 bytes, checked against the export
//!                 ▼                        ▼  reply: simple or structured
//!               output                   output
//! ```
//!
//! # What a client can cost
//!
//! Nothing is believed. A length moves no memory before it is checked: a message of the handshake may have
//! [`OPTION_MOST`] bytes, a request [`PAYLOAD_MOST`]; either is taken and answered in pieces of [`PIECE`] at most, so
//! that a connection never holds more than a piece each way. Requests that leave the export are answered with an error
//! and reach no disk. What makes the stream unreadable (a wrong magic number, a payload beyond the limit) ends the
//! connection.

mod conversation;
mod handshake;
mod reply;
mod request;

pub use self::conversation::{Conversation, Next};
pub use self::handshake::OPTION_MOST;
pub use self::reply::Errno;

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
fn be16(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u16::from_be_bytes(*word))
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u32::from_be_bytes(*word))
}

fn be64(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u64::from_be_bytes(*word))
}
