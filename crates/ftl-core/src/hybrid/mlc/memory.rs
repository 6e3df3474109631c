//! The lent memory of this module: its tables, and how it takes them.

use super::maps::{MapMemory, maps_for};
use super::sketch::halves_for;
use crate::config::Config;
use crate::hybrid::address::{ChainBlock, LogicalBlock};
use crate::hybrid::shape::Shape;
use crate::memory::{Declared, Lent, Plan};
use crate::table::{Bits, word};

/// The memory of this module.
#[derive(Debug)]
pub struct MlcMemory<'ram> {
    /// First block of each chain.
    pub(super) first: &'ram mut [u16],
    /// The block after each block.
    pub(super) next: &'ram mut [u16],
    /// Which chains have a data block: one bit per logical block.
    pub(super) has_data: &'ram mut [u8],
    /// Which chains were written lately: one bit per logical block.
    pub(super) recent: &'ram mut [u8],
    /// Which chains have a last log block that takes no more pages: one bit per logical block.
    pub(super) sealed: &'ram mut [u8],
    /// The mapping cache: which logical block each map belongs to.
    pub(super) owners: &'ram mut [u16],
    /// The mapping cache itself.
    pub(super) maps: MapMemory<'ram>,
    /// What each chain's log blocks may hold: equally long for each logical block, or empty.
    pub(super) sketches: &'ram mut [u16],
    /// Sectors of the fold's chain written to it since the fold began: one bit per sector.
    pub(super) touched: &'ram mut [u8],
    /// Sectors that the fold took from the log: one bit per sector.
    pub(super) collected: &'ram mut [u8],
}

impl<'ram> MlcMemory<'ram> {
    /// Its tables, in the order in which they are taken.
    pub const TABLES: [Declared; 13] = [
        Declared::halves("L2P: first block of each chain"),
        Declared::halves("LB: the block after each block"),
        Declared::bytes("chains with a data block"),
        Declared::bytes("chains written lately"),
        Declared::bytes("chains whose last block is sealed"),
        Declared::halves("mapping cache: owners"),
        Declared::halves("mapping cache: next pages"),
        Declared::words("mapping cache: last pages"),
        Declared::bytes("mapping cache: flags"),
        Declared::halves("mapping cache: maps"),
        Declared::halves("sketches of chains"),
        Declared::bytes("fold: sectors written since"),
        Declared::bytes("fold: sectors from the log"),
    ];

    /// How many elements each has.
    pub const fn lengths(shape: &Shape, config: &Config) -> [usize; 13] {
        let sectors = shape.sectors_per_block.get();
        let logical_bits = Bits::<LogicalBlock>::bytes_for(word(shape.logical_blocks));
        let sector_bits = Bits::<ChainBlock>::bytes_for(sectors);
        let maps = maps_for(config.mapping_cache_entries) as usize;
        let halves = shape.width().halves();
        [
            shape.logical_blocks as usize * halves,
            shape.chain.blocks as usize * halves,
            logical_bits,
            logical_bits,
            logical_bits,
            maps * halves,
            maps,
            maps,
            maps,
            maps * sectors as usize,
            halves_for(shape.logical_blocks, config.chain_sketch_halves),
            sector_bits,
            sector_bits,
        ]
    }

    /// Takes it.
    pub fn take<P: Plan>(ram: &mut Lent<'ram, P>) -> Self {
        Self {
            first: ram.next_halves(),
            next: ram.next_halves(),
            has_data: ram.next_bytes(),
            recent: ram.next_bytes(),
            sealed: ram.next_bytes(),
            owners: ram.next_halves(),
            maps: MapMemory {
                next_pages: ram.next_halves(),
                last_notes: ram.next_words(),
                flags: ram.next_bytes(),
                cells: ram.next_halves(),
            },
            sketches: ram.next_halves(),
            touched: ram.next_bytes(),
            collected: ram.next_bytes(),
        }
    }
}
