//! How much an anchor holds, and so how often one is written.

use super::address::BlockNumber;
use crate::quotient::floor;

/// Blocks of each area that an anchor lists for opening.
pub(crate) const LISTED: usize = 8;

/// Free blocks of each area that may be opened before the next anchor.
pub(crate) type Listed = [[Option<BlockNumber>; LISTED]; 2];

/// Takes a block off a list, if it is there.
pub(crate) fn take_off(listed: &mut Listed, block: BlockNumber) {
    let cells = listed.iter_mut().flatten();
    cells.filter(|cell| **cell == Some(block)).for_each(|cell| *cell = None);
}

/// Bytes of a record.
pub(crate) const RECORD: usize = 8;

/// Returns the offset of a record, with block numbers of this many bytes: records begin behind the last listed block,
/// at a multiple of eight.
pub(crate) const fn record_at(block_bytes: u8, number: u16) -> usize {
    48 + 24 * block_bytes as usize + number as usize * RECORD
}

/// Returns the number of records of an anchor of this many bytes.
pub(crate) const fn in_page(bytes: usize, block_bytes: u8) -> usize {
    bytes.saturating_sub(record_at(block_bytes, 0)) / RECORD
}

/// Returns the number of programs between two anchors of this many bytes.
pub(crate) const fn programs_between(bytes: usize) -> u64 {
    (bytes / 32) as u64
}

/// Returns the records of further programs for which an anchor keeps room, with pages of this many slots.
pub(crate) const fn ahead(slots: u16) -> u16 {
    4 * slots + 8
}

/// Returns the most pages of copies that are programmed between two anchors of this many bytes, if each slot of them
/// takes a record.
pub(crate) const fn pages_between(bytes: usize, block_bytes: u8, slots: u16) -> u16 {
    let room = in_page(bytes, block_bytes).saturating_sub(ahead(slots) as usize);
    let (full, due) =
        (floor(room as u32, slots as u32) as usize + 1, programs_between(bytes) as usize);
    (if full < due { full } else { due }) as u16
}
