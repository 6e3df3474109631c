//! The lent memory of this module: its tables, and how it takes them.

use ftl_iface::BlockCount;

use super::DualPool;
use crate::hybrid::address::BlockNumber;
use crate::memory::{Declared, Lent, Plan};
use crate::table::word;

/// The memory of this module.
#[derive(Debug)]
pub struct WearMemory<'ram> {
    /// Erase counts.
    pub counts: &'ram mut [u16],
    /// Pools and effective erase counts.
    pub pools: &'ram mut [u8],
}

impl<'ram> WearMemory<'ram> {
    /// Its tables, in the order in which they are taken.
    pub const TABLES: [Declared; 2] =
        [Declared::halves("erase counts"), Declared::bytes("wear pools")];

    /// How many elements each has.
    pub const fn lengths(chain_blocks: BlockNumber) -> [usize; 2] {
        let blocks = BlockCount::new(word(chain_blocks));
        [DualPool::counts_for(blocks), DualPool::bytes_for(blocks)]
    }

    /// Takes it.
    pub fn take<P: Plan>(ram: &mut Lent<'ram, P>) -> Self {
        Self { counts: ram.next_halves(), pools: ram.next_bytes() }
    }
}
