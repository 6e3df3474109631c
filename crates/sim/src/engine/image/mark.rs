//! The flush mark of a disk file's journal, in its first 16 bytes: up to which byte the records are on the machine's
//! disk, as the flush of an NBD client demanded.
//!
//! ```text
//!   mark  end u64 | CRC-32 as of a first record, of its place and the end | 0x5A | zeros
//! ```
//!
//! It is written when the records up to that end have reached the machine's disk, so it never says too much. Without
//! it, records that became zeros would look as if they had never been written.

use std::io;

use super::format::MARK_BYTES;
use super::seal::{Check, END, Seal};
use super::slot::Header;
use super::store::{Amount, FileStore, StoreBytes, fill};

/// What the mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// There was none.
    Absent,
    /// Records up to that byte were on the machine's disk.
    Flushed(u64),
    /// It does not match its check.
    Damaged,
}

fn put(seal: &Seal, at: u64, end: u64) -> [u8; MARK_BYTES] {
    let mut bytes = [0; MARK_BYTES];
    bytes[..8].copy_from_slice(&end.to_le_bytes());
    bytes[8..12].copy_from_slice(&seal.check(Check::NONE, at, &end.to_le_bytes()).0);
    bytes[12] = END;
    bytes
}

/// Says that records up to there are on the machine's disk.
pub(super) fn write(store: &impl FileStore, header: &Header, end: u64) -> io::Result<()> {
    let at = header.journal.at;
    store.write_at(at, &put(&Seal::of(header), at, end))
}

/// Reads what was said.
pub(super) fn read(store: &impl FileStore, header: &Header) -> io::Result<Mark> {
    let mut bytes = [0; MARK_BYTES];
    if fill(&mut StoreBytes::over(store, header.journal), &mut bytes)? == Amount::Short
        || bytes == [0; MARK_BYTES]
    {
        return Ok(Mark::Absent);
    }
    let (end, _) = bytes.split_first_chunk().unwrap_or((&[0; 8], &[]));
    let end = u64::from_le_bytes(*end);
    let is_whole = bytes == put(&Seal::of(header), header.journal.at, end);
    Ok(if is_whole { Mark::Flushed(end) } else { Mark::Damaged })
}
