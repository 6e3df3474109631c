//! The NBD protocol, without any socket: bytes in, bytes out, and a [`Disk`] between.
//!
//! Written from the protocol's own text (`doc/proto.md` of the project NetworkBlockDevice/nbd): the fixed newstyle
//! handshake, then requests with simple or structured replies. What is left out (encryption, metadata, extended
//! headers) is refused as the protocol asks, so that clients continue without.
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
mod export;
mod handshake;
mod reply;
mod request;

pub use self::conversation::{Conversation, Next};
pub use self::export::{Disk, Export, Kept, PAYLOAD_MOST, PIECE, Refusal, SMALLEST_BLOCK, Zeroing};
pub use self::handshake::OPTION_MOST;
pub use self::reply::Errno;
