//! Numbers of the file's format.

/// The version, raised with every change.
pub(super) const VERSION: u16 = 4;

/// The bytes of a header.
pub(super) const SLOT: usize = 4096;

/// Where the second header is, and where all else begins.
pub(super) const SECOND_AT: u64 = SLOT as u64;
pub(super) const BEHIND: u64 = 2 * SECOND_AT;

/// Extents begin at multiples of this, so that dead ones can be given back to the file system.
pub(super) const GRAIN: u64 = 4096;

/// The bytes of the mark of flushes, before a journal's records.
pub(super) const MARK_BYTES: usize = 16;
