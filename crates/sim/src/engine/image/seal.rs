//! Records, sealed: each is bound to its disk, to its chip, to its journal, to its place, and to the record before it.
//!
//! ```text
//!   sealed  record | CRC-32 of identity, generation in which the journal began, the chip's check,
//!                             check of the record before, place, record | 0x5A
//! ```
//!
//! Two copies of one disk that live on have the same identity and the same generations. Their records differ, and so do
//! the checks of all that follow: the end of one journal does not fit the beginning of the other.
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

/// The check of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Check(pub(super) [u8; 4]);

impl Check {
    /// What stands for the check before the first record.
    pub(super) const NONE: Self = Self([0; 4]);
}

/// What the checks of a journal's records have in common.
#[derive(Clone, Debug)]
pub(super) struct Seal(Hasher);

impl Seal {
    pub(super) fn of(header: &Header) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(&header.identity.0);
        hasher.update(&header.begun.to_le_bytes());
        hasher.update(&header.check.to_le_bytes());
        Self(hasher)
    }

    /// The check of a record at that place, after one with that check.
    pub(super) fn check(&self, before: Check, at: u64, record: &[u8]) -> Check {
        let mut hasher = self.0.clone();
        hasher.update(&before.0);
        hasher.update(&at.to_le_bytes());
        hasher.update(record);
        Check(hasher.finalize().to_le_bytes())
    }

    /// The check of what is sealed there, if it is a record that belongs there.
    pub(super) fn matching(&self, before: Check, at: u64, sealed: &[u8]) -> Option<Check> {
        let (record, [check @ .., END]) = sealed.split_last_chunk::<SEAL_BYTES>()? else {
            return None;
        };
        let found = Check(*check);
        (self.check(before, at, record) == found).then_some(found)
    }
}

/// Seals a record whose bytes begin there.
pub(super) fn close(check: Check, sealed: &mut Vec<u8>) {
    sealed.extend_from_slice(&check.0);
    sealed.push(END);
}

/// Records that are not in the file yet.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    seal: Seal,
    /// The check of the last one, here or in the file.
    last: Check,
    /// Where they will be.
    pub(super) at: u64,
    pub(super) bytes: Vec<u8>,
}

/// Room for records that is kept between two writes.
const KEPT: usize = 1 << 20;

impl Pending {
    /// None yet. The first will be there, after one with that check.
    pub(super) const fn new(seal: Seal, last: Check, at: u64) -> Self {
        Self { seal, last, at, bytes: Vec::new() }
    }

    /// Adds a record.
    pub(super) fn add(&mut self, event: &Event<'_>) {
        let (start, at) = (self.bytes.len(), self.end());
        event.put(&mut self.bytes);
        self.last = self.seal.check(self.last, at, &self.bytes[start..]);
        close(self.last, &mut self.bytes);
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
