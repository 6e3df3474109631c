//! Block numbers of 16 bits.

use crate::image::{Sink, Source};
use crate::table::{Row, Table};

/// The number of a block in its area, and how many blocks an area has: 16 bits, because the feature `wide` is off.
pub type BlockNumber = u16;

/// The number as one of 32 bits.
#[inline]
pub(crate) const fn word(number: BlockNumber) -> u32 {
    number as u32
}

/// The number of a block that is known to have 16 bits: one of the log or the meta area.
#[inline]
pub(crate) const fn short(number: BlockNumber) -> u16 {
    number
}

/// A number of 16 bits as that of any block.
#[inline]
pub(crate) const fn number(short: u16) -> BlockNumber {
    short
}

/// How long the block numbers of a device are: always 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width;

impl Width {
    /// That of a device with so many blocks for its chains.
    #[inline]
    pub const fn of(_: BlockNumber) -> Self {
        Self
    }

    /// Whether numbers take more than 16 bits.
    #[inline]
    pub const fn is_wide(self) -> bool {
        false
    }

    /// Elements of 16 bits that a number takes in memory.
    #[inline]
    pub const fn halves(self) -> usize {
        1
    }

    /// Bytes that a number takes in an image.
    pub const fn bytes(self) -> u64 {
        2
    }

    /// Writes a number down.
    #[inline]
    pub fn put(self, sink: &mut impl Sink, number: BlockNumber) {
        sink.half(number);
    }

    /// Takes a number back.
    #[inline]
    pub fn take(self, source: &mut impl Source) -> Option<BlockNumber> {
        source.half()
    }
}

/// A table of block numbers.
pub type Numbers<'ram, R> = Table<'ram, R, BlockNumber>;

impl<'ram, R: Row> Numbers<'ram, R> {
    /// The table over that memory, every row none.
    #[inline]
    pub fn of_width(cells: &'ram mut [u16], _: Width) -> Self {
        Self::new(cells)
    }

    /// The first of so many rows that holds that number.
    #[inline]
    pub fn find(&self, rows: usize, number: BlockNumber) -> Option<usize> {
        self.cells.get(..rows)?.iter().position(|cell| *cell == number)
    }

    /// Makes those of the first rows none that hold that number.
    #[inline]
    pub fn forget(&mut self, rows: usize, number: BlockNumber) {
        for cell in self.cells.iter_mut().take(rows) {
            if *cell == number {
                *cell = BlockNumber::MAX;
            }
        }
    }

    /// Makes the first rows none.
    #[inline]
    pub fn clear_first(&mut self, rows: usize) {
        for cell in self.cells.iter_mut().take(rows) {
            *cell = BlockNumber::MAX;
        }
    }
}
