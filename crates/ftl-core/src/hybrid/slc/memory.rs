//! The lent memory of this module: its tables, and how it takes them.

use super::index::IndexShape;
use crate::hybrid::address::LogBlock;
use crate::hybrid::shape::Area;
use crate::memory::{Declared, Lent, Plan};
use crate::table::Bits;

/// Lent memory of this room.
#[derive(Debug)]
pub struct LogMemory<'ram> {
    /// Bad blocks of the region: one bit per block.
    pub(super) bad: &'ram mut [u8],
    /// What the slots of the head block hold: one code per slot.
    pub(super) head_codes: &'ram mut [u32],
    /// What the slots of the tail block hold. It may be longer, because a mount uses it to search for moves in the hash
    /// table.
    pub(super) tail_codes: &'ram mut [u32],
    /// Four bytes of each entry of the hash table.
    pub(super) index_low: &'ram mut [u32],
    /// The fifth byte, if four do not suffice.
    pub(super) index_high: &'ram mut [u8],
}

impl<'ram> LogMemory<'ram> {
    /// What it is, in the order in which it is taken.
    pub const TABLES: [Declared; 5] = [
        Declared::bytes("bad blocks of the log"),
        Declared::words("slots of the log's head block"),
        Declared::words("slots of the log's tail block"),
        Declared::words("hash table"),
        Declared::bytes("hash table: fifth bytes"),
    ];

    /// How many elements each has; none without a log.
    pub const fn lengths(log: Option<&Area>, index: Option<&IndexShape>) -> [usize; 5] {
        let (Some(log), Some(index)) = (log, index) else {
            return [0; 5];
        };
        let codes = log.data_pages() as usize * log.slots as usize;
        [
            Bits::<LogBlock>::bytes_for(log.block_count().get()),
            codes,
            tail_codes(codes, index.capacity()),
            index.low_words(),
            index.high_bytes(),
        ]
    }

    /// Takes it.
    pub fn take<P: Plan>(ram: &mut Lent<'ram, P>) -> Self {
        Self {
            bad: ram.next_bytes(),
            head_codes: ram.next_words(),
            tail_codes: ram.next_words(),
            index_low: ram.next_words(),
            index_high: ram.next_bytes(),
        }
    }
}

/// A mount uses the memory of the tail's codes to search for chains of moves in a hash table with quadratic probing:
/// the whole of a small table, but only this many cells of a large one before it continues with random walks.
const fn tail_codes(codes: usize, index_cells: u32) -> usize {
    const CHAIN_CELLS: u32 = 256;
    let cells = if index_cells < CHAIN_CELLS { index_cells } else { CHAIN_CELLS } as usize;
    if cells > codes { cells } else { codes }
}
