//! Replies: simple ones, or structured ones for clients that asked for them.

/// The magic number of a simple reply.
const SIMPLE: u32 = 0x6744_6698;
/// The magic number of a chunk of a structured reply.
const STRUCTURED: u32 = 0x668E_33EF;

/// The chunk is the last of its reply.
const DONE: u16 = 1;

const NOTHING: u16 = 0;
const DATA: u16 = 1;
const ERROR: u16 = (1 << 15) + 1;

/// Errors for clients, with the protocol's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Errno {
    /// The disk is read-only.
    Permission = 1,
    /// The data is lost, or the disk failed.
    Io = 5,
    /// The request is invalid.
    Invalid = 22,
    /// It is beyond the export.
    NoSpace = 28,
    /// It is too long.
    Overflow = 75,
}

/// How a client wants its replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Replies {
    /// A header, then data.
    #[default]
    Simple,
    /// Chunks, any of which may report an error.
    Structured,
}

fn put_simple(errno: u32, cookie: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&SIMPLE.to_be_bytes());
    out.extend_from_slice(&errno.to_be_bytes());
    out.extend_from_slice(&cookie.to_be_bytes());
}

fn put_chunk(flags: u16, kind: u16, cookie: u64, length: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&STRUCTURED.to_be_bytes());
    out.extend_from_slice(&flags.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&cookie.to_be_bytes());
    out.extend_from_slice(&length.to_be_bytes());
}

impl Replies {
    /// A reply of success.
    pub(super) fn done(self, cookie: u64, out: &mut Vec<u8>) {
        match self {
            Self::Simple => put_simple(0, cookie, out),
            Self::Structured => put_chunk(DONE, NOTHING, cookie, 0, out),
        }
    }

    /// A reply of failure.
    pub(super) fn error(self, cookie: u64, errno: Errno, out: &mut Vec<u8>) {
        /// The error's number, and the length of a message, which is zero.
        const PAYLOAD: u32 = 4 + 2;
        match self {
            Self::Simple => put_simple(errno as u32, cookie, out),
            Self::Structured => {
                put_chunk(DONE, ERROR, cookie, PAYLOAD, out);
                out.extend_from_slice(&(errno as u32).to_be_bytes());
                out.extend_from_slice(&0_u16.to_be_bytes());
            }
        }
    }

    /// The header before data that was read. A simple reply has only one, before all data.
    pub(super) fn data(self, cookie: u64, piece: &Chunk, out: &mut Vec<u8>) {
        match self {
            Self::Simple if piece.is_first => put_simple(0, cookie, out),
            Self::Simple => {}
            Self::Structured => {
                let flags = if piece.is_last { DONE } else { 0 };
                put_chunk(flags, DATA, cookie, piece.bytes + 8, out);
                out.extend_from_slice(&piece.offset.to_be_bytes());
            }
        }
    }
}

/// A piece of a read's data.
pub(super) struct Chunk {
    pub(super) offset: u64,
    pub(super) bytes: u32,
    pub(super) is_first: bool,
    pub(super) is_last: bool,
}
