//! A sketch of each chain: a few bits that say which parts of it its log blocks may hold.
//!
//! A read of a chain whose map is not cached would have to read the tags of all pages of its log blocks, and usually
//! find nothing. The sketch shows that without a read. It may include parts that are not there, but never misses one:
//! each programmed page adds to it, a scan makes it exact, and it is cleared when the first log block is taken.

use core::num::NonZeroU32;

use crate::hybrid::address::{BlockNumber, LogicalBlock};
use crate::table::{Row, word};

/// No chain has more 16-bit halfwords than this: 64 bits are one bit per sector for most SPI NANDs.
const HALVES_MAX: usize = 4;

/// How many halfwords the sketches of that many chains take, with `each` per chain.
pub const fn halves_for(chains: BlockNumber, each: u8) -> usize {
    let each = if each as usize > HALVES_MAX { HALVES_MAX } else { each as usize };
    chains as usize * each
}

/// The sketches of all chains; none, if the configuration omits them.
#[derive(Debug)]
pub struct Sketches<'ram> {
    cells: &'ram mut [u16],
    /// Halfwords per chain.
    each: usize,
    /// The shift from an offset to its bit.
    shift: u32,
}

impl<'ram> Sketches<'ram> {
    /// The sketches of that many chains in that memory, which is divided evenly among them.
    pub fn new(memory: &'ram mut [u16], chains: BlockNumber, sectors: NonZeroU32) -> Self {
        let each = memory.len().checked_div(word(chains) as usize).unwrap_or(0).min(HALVES_MAX);
        let mut shift = 0;
        while each > 0 && (sectors.get() - 1) >> shift >= each as u32 * u16::BITS {
            shift += 1;
        }
        let mut sketches = Self { cells: memory, each, shift };
        sketches.forget();
        sketches
    }

    /// Starts without knowledge: any log block may hold anything.
    pub fn forget(&mut self) {
        self.cells.fill(u16::MAX);
    }

    /// The halfword of a sector, and its bit there.
    #[inline]
    fn bit(&self, logical: LogicalBlock, offset: u32) -> (usize, u16) {
        let bit = offset >> self.shift;
        (logical.index() * self.each + (bit / u16::BITS) as usize, 1 << (bit % u16::BITS))
    }

    /// Whether a log block of the chain may hold the sector with that offset, or a trim of it.
    #[inline]
    pub fn may_hold(&self, logical: LogicalBlock, offset: u32) -> bool {
        let (cell, bit) = self.bit(logical, offset);
        self.cells.get(cell).is_none_or(|cell| cell & bit != 0)
    }

    /// Notes that a log block of the chain holds the sector with that offset, or a trim of it.
    #[inline]
    pub fn add(&mut self, logical: LogicalBlock, offset: u32) {
        let (cell, bit) = self.bit(logical, offset);
        if let Some(cell) = self.cells.get_mut(cell) {
            *cell |= bit;
        }
    }

    /// Of how many parts of the chain its log blocks may hold something; 0 where there are no sketches.
    pub fn parts(&self, logical: LogicalBlock) -> u32 {
        let start = logical.index() * self.each;
        let cells = self.cells.get(start..start + self.each).unwrap_or_default();
        cells.iter().map(|cell| cell.count_ones()).sum()
    }

    /// Notes that the chain's log blocks hold nothing.
    pub fn blank(&mut self, logical: LogicalBlock) {
        self.set(logical, 0);
    }

    /// Notes that the chain's log blocks may hold anything.
    #[cold]
    pub fn fill(&mut self, logical: LogicalBlock) {
        self.set(logical, u16::MAX);
    }

    fn set(&mut self, logical: LogicalBlock, bits: u16) {
        let start = logical.index() * self.each;
        self.cells.get_mut(start..start + self.each).unwrap_or_default().fill(bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sectors(count: u32) -> NonZeroU32 {
        NonZeroU32::new(count).unwrap()
    }

    #[test]
    fn a_chain_may_hold_anything_until_it_is_known() {
        let mut memory = [0; 2];
        let mut sketches = Sketches::new(&mut memory, 2, sectors(64));
        let chain = LogicalBlock::new(1);
        assert!((0..64).all(|offset| sketches.may_hold(chain, offset)));
        sketches.blank(chain);
        assert!((0..64).all(|offset| !sketches.may_hold(chain, offset)));
        assert!(sketches.may_hold(LogicalBlock::new(0), 5), "the other chain is not known");
        sketches.fill(chain);
        assert!((0..64).all(|offset| sketches.may_hold(chain, offset)));
        sketches.blank(chain);
        sketches.add(chain, 3);
        sketches.add(chain, 60);
        assert_eq!((sketches.parts(chain), sketches.parts(LogicalBlock::new(0))), (2, 16));
        sketches.forget();
        assert!(sketches.may_hold(chain, 63));
    }

    #[test]
    fn what_was_met_may_be_there_and_little_else_in_chains_of_every_length() {
        for each in 1..=4 {
            for count in [1, 2, 15, 16, 17, 64, 96, 192, 768, 1 << 16] {
                for at in [0, 1, count / 3, count / 2, count - 1] {
                    let at = at.min(count - 1);
                    let mut memory = vec![0; halves_for(3, each)];
                    let mut sketches = Sketches::new(&mut memory, 3, sectors(count));
                    let chain = LogicalBlock::new(1);
                    sketches.blank(chain);
                    sketches.add(chain, at);
                    assert!(sketches.may_hold(chain, at), "{at} of {count}");
                    let held = (0..count).filter(|offset| sketches.may_hold(chain, *offset));
                    let most = count.div_ceil(8 * u32::from(each)).max(1) as usize;
                    assert!(held.count() <= most, "{at} of {count} with {each}");
                    let neighbours = [0, 2].map(LogicalBlock::new);
                    assert!(neighbours.iter().all(|other| sketches.may_hold(*other, at)));
                }
            }
        }
    }

    #[test]
    fn without_memory_every_chain_may_hold_everything() {
        let mut sketches = Sketches::new(&mut [], 9, sectors(64));
        let chain = LogicalBlock::new(3);
        sketches.blank(chain);
        sketches.add(chain, 1);
        assert!((0..64).all(|offset| sketches.may_hold(chain, offset)));
        assert_eq!((halves_for(9, 0), halves_for(9, 200)), (0, 36));
    }
}
