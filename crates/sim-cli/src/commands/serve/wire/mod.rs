//! The NBD protocol, without sockets: bytes in, bytes out, and a [`Disk`] between them.
//!
//! Written from the protocol's own text (`doc/proto.md` of the project NetworkBlockDevice/nbd): the fixed newstyle
//! handshake, then requests with simple or structured replies. Unsupported features (encryption, metadata, extended
//! headers) are refused as the protocol requires, so that clients continue without them.
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
//! No input is trusted. A length is checked before memory is used for it: a message of the handshake may have
//! [`OPTION_MOST`] bytes, a request [`PAYLOAD_MOST`]; either is processed and answered in pieces of [`PIECE`] at most,
//! so a connection never holds more than one piece in each direction. Requests beyond the export get an error and do
//! not reach the disk. An error after which the stream cannot be parsed (a wrong magic number, a payload beyond the
//! limit) ends the connection.

mod conversation;
mod export;
mod handshake;
mod reply;
mod request;

pub use self::conversation::{Conversation, Next};
pub use self::export::{
    Access, Disk, Durability, Export, PAYLOAD_MOST, PIECE, Refusal, SMALLEST_BLOCK, Zeroing,
};
pub use self::handshake::OPTION_MOST;
pub use self::reply::Errno;
