//! Traces: a host's requests to a disk, read from files in common formats.
//!
//! ```text
//!   name ──▶ names: files ──▶ input: unpacked, merged, line by line ──▶ a format's parser ──▶ requests
//!                                      │ first bytes                       ▲
//!                                      └──────────▶ formats: whose are they?
//! ```
//!
//! # Modules
//!
//! - `names`: files by name, folder and pattern. `queues`: names of Open-CAS's files. `unpack`: compression and tar;
//!   `library`: compressions by libraries of their own. `merge`: blktrace's files of each processor as one. `input`:
//!   bytes of a file in counted lines. `fields`: numbers in them.
//! - [`formats`]: one file per format, and the table of all of them. [`reader`]: a file's requests, one by one.
//! - [`lifetime`]: how files tell how long data is expected to live. `output`: files of our own format.
//! - `volumes`: which of a trace's disks begins at 0. `fit`: addresses beyond the device. `touched`: how many bytes
//!   requests touch.

use std::fmt;
use std::path::PathBuf;

use ftl_iface::Lifetime;
use nand_model::part::Nanos;

use crate::base::Failure;

pub(crate) mod fields;
pub mod fit;
pub mod formats;
pub(crate) mod input;
pub mod lifetime;
#[cfg(feature = "files")]
pub mod names;
pub mod output;
pub mod reader;
pub(crate) mod touched;
pub(crate) mod volumes;

mod library;
mod merge;
mod queues;
mod unpack;
mod zip;

/// The longest that a workload may last, a hundred years: clocks count no more than a few of them.
pub(crate) const LASTS_MOST: Nanos = Nanos::new(100 * 31_557_600 * 1_000_000_000);

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Bytes are read.
    Read,
    /// Bytes are written.
    Write,
    /// Bytes are trimmed.
    Trim,
    /// Written data becomes durable.
    Flush,
}

impl Op {
    /// All operations, in the order of tables.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Flush];

    /// Its letter in our own format.
    pub const fn letter(self) -> char {
        match self {
            Self::Read => 'R',
            Self::Write => 'W',
            Self::Trim => 'T',
            Self::Flush => 'F',
        }
    }
}

/// One request of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it arrives, counted from the trace's own beginning.
    pub time: Nanos,
    /// The operation.
    pub op: Op,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
    /// Of a write: how long the host expects its data to live.
    pub lifetime: Lifetime,
}

impl Request {
    /// A request without an expected lifetime.
    pub const fn new(time: Nanos, op: Op, offset: u64, length: u64) -> Self {
        Self { time, op, offset, length, lifetime: Lifetime::Unknown }
    }

    /// The same with that lifetime, if it is a write.
    #[must_use]
    pub const fn living(self, lifetime: Lifetime) -> Self {
        match self.op {
            Op::Write => Self { lifetime, ..self },
            Op::Read | Op::Trim | Op::Flush => self,
        }
    }

    /// The byte after the last. Readers refuse requests for which it would overflow.
    pub const fn end(&self) -> u64 {
        self.offset + self.length
    }
}

/// A device's room for a host's addresses, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressSpace {
    /// As it is.
    pub capacity: u64,
    /// The largest capacity that can be requested.
    pub largest: u64,
}

impl AddressSpace {
    /// The advice to use a larger device, if that many bytes are possible.
    fn advice(self, needed: u64) -> &'static str {
        if needed <= self.largest { ", --capacity makes the device larger" } else { "" }
    }
}

/// Why a request may lie so far beyond a device.
const fn volumes(end: u64) -> &'static str {
    let is_other = end > formats::SPAN;
    if is_other {
        " (it is of another volume than the first request; volumes lie 64 TiB apart)"
    } else {
        ""
    }
}

/// A position in a file or a synthetic workload, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// In that line of a text.
    Line(u64),
    /// In that record of a binary file.
    Record(u64),
    /// In that request of a synthetic workload.
    Request(u64),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(f, "line {number}"),
            Self::Record(number) => write!(f, "record {number}"),
            Self::Request(number) => write!(f, "request {number}"),
        }
    }
}

/// Why a trace cannot be replayed. Each message says where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened or read.
    #[error("{name} cannot be read: {reason}")]
    Unreadable {
        /// The file, as it was named.
        name: String,
        /// The system's error.
        reason: std::io::Error,
    },
    /// None of the formats is recognised in the first bytes.
    #[error(
        "{name} is in no format that is known here ({}), as {begins} shows: say which with --format, or where its \
         columns are with --columns{}{}",
        formats::names(), if hint.is_some() { "; " } else { "" }, hint.as_deref().unwrap_or_default()
    )]
    UnknownFormat {
        /// The file.
        name: String,
        /// How it begins.
        begins: String,
        /// A hint.
        hint: Option<String>,
    },
    /// More than one format fits the first bytes.
    #[error("{name} can be read in more than one way: {why}")]
    InDoubt {
        /// The file.
        name: String,
        /// The reason, and what to specify.
        why: String,
    },
    /// The description of columns does not fit the file.
    #[error("{name}: {reason}")]
    Columns {
        /// The file.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A line, or a record, does not match its format.
    #[error("{name}, {place}: expected {expected}, found `{found}`; --lenient skips such lines")]
    Line {
        /// The file.
        name: String,
        /// Where in it.
        place: Position,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// What several traces, or several passes, add up to is more than a clock counts.
    #[error(
        "{name}, {place}: the request arrives more than 100 years after the first: replay fewer traces, or make fewer \
         passes"
    )]
    TooLate {
        /// The file.
        name: String,
        /// Where in it.
        place: Position,
    },
    /// A request is beyond the device's end.
    #[error(
        "{name}, {place}: the request ends at byte {end}, beyond the {} bytes of the device{}: \
         --fit pack moves what the trace touches together, --fit wrap begins again at 0{}",
        space.capacity,
        volumes(*end),
        space.advice(*end)
    )]
    Beyond {
        /// The file.
        name: String,
        /// Where in it.
        place: Position,
        /// Where the request ends.
        end: u64,
        /// The device's room.
        space: AddressSpace,
    },
    /// The trace touches more bytes than the device exports, even when packed.
    #[error(
        "the trace touches {touched} bytes, and the device exports {}: \
         --fit wrap lets addresses begin again at 0{}", space.capacity, space.advice(*touched)
    )]
    TooMuchTouched {
        /// Bytes of the extents that the trace touches.
        touched: u64,
        /// The device's room.
        space: AddressSpace,
    },
    /// There are no requests.
    #[error("{0} holds no request: there is nothing to replay")]
    Empty(String),
    /// Standard input could not be copied for a second pass.
    #[error("standard input cannot be kept in {}: {reason}", folder.display())]
    NotKept {
        /// The folder of temporary files.
        folder: PathBuf,
        /// The system's error.
        reason: std::io::Error,
    },
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Self::Trace(error.into())
    }
}
