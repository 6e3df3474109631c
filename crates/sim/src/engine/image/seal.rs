//! Records, sealed: each is bound to its disk, to its journal and to its place.
//!
//! ```text
//!   sealed  record | CRC-32 of identity, generation in which the journal began, place, record | 0x5A
//! ```
//!
//! The last byte is no zero: a record whose end is missing was being written when the server ended, and was never
//! acknowledged.

use crc32fast::Hasher;

use super::record::Event;
use super::slot::Header;

/// The last byte of a sealed record.
pub(super) const END: u8 = 0x5A;

/// A sealed record's bytes besides the record.
pub(super) const SEAL_BYTES: usize = 5;

/// What the checks of a journal's records have in common.
#[derive(Clone, Debug)]
pub(super) struct Seal(Hasher);

impl Seal {
    pub(super) fn of(header: &Header) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(&header.identity.0);
        hasher.update(&header.begun.to_le_bytes());
        Self(hasher)
    }

    pub(super) fn check(&self, at: u64, record: &[u8]) -> [u8; 4] {
        let mut hasher = self.0.clone();
        hasher.update(&at.to_le_bytes());
        hasher.update(record);
        hasher.finalize().to_le_bytes()
    }

    /// Whether that is a sealed record at that place.
    pub(super) fn holds(&self, at: u64, sealed: &[u8]) -> bool {
        let Some((record, [check @ .., end])) = sealed.split_last_chunk::<SEAL_BYTES>() else {
            return false;
        };
        *end == END && self.check(at, record) == *check
    }
}

/// Records that are not in the file yet.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    seal: Seal,
    /// Where they will be.
    pub(super) at: u64,
    pub(super) bytes: Vec<u8>,
}

/// Room for records that is kept between two writes.
const KEPT: usize = 1 << 20;

impl Pending {
    pub(super) const fn new(seal: Seal, at: u64) -> Self {
        Self { seal, at, bytes: Vec::new() }
    }

    /// Adds a record.
    pub(super) fn add(&mut self, event: &Event<'_>) {
        let (start, at) = (self.bytes.len(), self.end());
        event.put(&mut self.bytes);
        let check = self.seal.check(at, &self.bytes[start..]);
        self.bytes.extend_from_slice(&check);
        self.bytes.push(END);
    }

    /// Where the next record will be.
    pub(super) fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }

    /// They are in the file now.
    pub(super) fn written(&mut self) {
        self.at = self.end();
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
    }
}
