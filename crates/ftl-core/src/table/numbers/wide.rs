//! Block numbers of 16 bits or of 32, as the device needs.

use super::SHORT_LAST;
use crate::image::{Sink, Source};
use crate::table::{Row, Table};

/// The number of a block in its area, and how many blocks an area has: 32 bits, because the feature `wide` is on.
/// Tables and images hold 16 of them where the device has no more blocks than those can name ([`Width`]).
pub type BlockNumber = u32;

/// The number as one of 32 bits.
#[inline]
pub(crate) const fn word(number: BlockNumber) -> u32 {
    number
}

/// The number of a block that is known to have 16 bits: one of the log or the meta area.
#[inline]
pub(crate) const fn short(number: BlockNumber) -> u16 {
    number as u16
}

/// A number of 16 bits as that of any block.
#[inline]
pub(crate) const fn number(short: u16) -> BlockNumber {
    short as u32
}

/// How long the block numbers of a device are in tables and images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 16 bits.
    Short,
    /// 32 bits.
    Wide,
}

impl Width {
    /// That of a device with so many blocks for its chains.
    pub const fn of(blocks: BlockNumber) -> Self {
        if blocks > SHORT_LAST as u32 { Self::Wide } else { Self::Short }
    }

    /// Whether numbers take more than 16 bits.
    #[inline]
    pub const fn is_wide(self) -> bool {
        matches!(self, Self::Wide)
    }

    /// Elements of 16 bits that a number takes in memory.
    #[inline]
    pub const fn halves(self) -> usize {
        match self {
            Self::Short => 1,
            Self::Wide => 2,
        }
    }

    /// Bytes that a number takes in an image.
    pub const fn bytes(self) -> u64 {
        2 * self.halves() as u64
    }

    /// Writes a number down.
    pub fn put(self, sink: &mut impl Sink, number: BlockNumber) {
        match self {
            Self::Short => sink.half(number as u16),
            Self::Wide => sink.word(number),
        }
    }

    /// Takes a number back.
    pub fn take(self, source: &mut impl Source) -> Option<BlockNumber> {
        match self {
            Self::Short => source.half().map(lengthen),
            Self::Wide => source.word(),
        }
    }
}

/// A number of a table of 16 bits, whose largest value means none.
#[inline]
const fn lengthen(stored: u16) -> BlockNumber {
    if stored == u16::MAX { BlockNumber::MAX } else { stored as u32 }
}

/// A table of block numbers.
#[derive(Debug)]
pub struct Numbers<'ram, R> {
    /// A number takes one or two of its cells, the lower half first.
    halves: Table<'ram, R, u16>,
    width: Width,
}

impl<'ram, R: Row> Numbers<'ram, R> {
    /// The table over that memory, every row none.
    pub fn of_width(cells: &'ram mut [u16], width: Width) -> Self {
        Self { halves: Table::new(cells), width }
    }

    /// How many rows there are.
    #[inline]
    pub fn len(&self) -> usize {
        match self.width {
            Width::Short => self.halves.len(),
            Width::Wide => self.halves.len() / 2,
        }
    }

    /// Whether there are no rows at all.
    #[cfg(feature = "internals")]
    pub fn is_empty(&self) -> bool {
        self.halves.is_empty()
    }

    /// The number of a row.
    #[inline]
    pub fn get(&self, row: R) -> BlockNumber {
        debug_assert!(row.index() < self.len(), "row {} of {}", row.index(), self.len());
        match self.width {
            Width::Short => {
                self.halves.cells.get(row.index()).map_or(BlockNumber::MAX, |low| lengthen(*low))
            }
            Width::Wide => match self.halves.cells.as_chunks().0.get(row.index()) {
                Some([low, high]) => u32::from(*low) | u32::from(*high) << 16,
                None => BlockNumber::MAX,
            },
        }
    }

    /// Sets the number of a row.
    #[inline]
    pub fn set(&mut self, row: R, number: BlockNumber) {
        debug_assert!(row.index() < self.len(), "row {} of {}", row.index(), self.len());
        match self.width {
            Width::Short => {
                if let Some(cell) = self.halves.cells.get_mut(row.index()) {
                    *cell = number as u16;
                }
            }
            Width::Wide => {
                if let Some(cell) = self.halves.cells.as_chunks_mut().0.get_mut(row.index()) {
                    *cell = [number as u16, (number >> 16) as u16];
                }
            }
        }
    }

    /// The first of so many rows that holds that number.
    #[inline]
    pub fn find(&self, rows: usize, number: BlockNumber) -> Option<usize> {
        match self.width {
            Width::Short => {
                let wanted = number as u16;
                self.halves.cells.get(..rows)?.iter().position(|cell| *cell == wanted)
            }
            Width::Wide => {
                let wanted = [number as u16, (number >> 16) as u16];
                self.halves.cells.as_chunks().0.get(..rows)?.iter().position(|cell| *cell == wanted)
            }
        }
    }

    /// Makes those of the first rows none that hold that number.
    pub fn forget(&mut self, rows: usize, number: BlockNumber) {
        while let Some(at) = self.find(rows, number) {
            let halves = self.width.halves();
            self.halves
                .cells
                .iter_mut()
                .skip(at * halves)
                .take(halves)
                .for_each(|cell| *cell = u16::MAX);
        }
    }

    /// Makes the first rows none.
    pub fn clear_first(&mut self, rows: usize) {
        let halves = rows * self.width.halves();
        self.halves.cells.iter_mut().take(halves).for_each(|cell| *cell = u16::MAX);
    }

    /// Makes every row none.
    pub fn clear(&mut self) {
        self.halves.clear();
    }

    /// Writes every row down: its halves, which are what [`Width::put`] would write.
    pub fn save(&self, sink: &mut impl Sink) {
        self.halves.save(sink);
    }

    /// Takes every row back.
    pub fn load(&mut self, source: &mut impl Source) -> Option<()> {
        self.halves.load(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hybrid::address::ChainBlock;

    #[test]
    fn a_wide_table_holds_numbers_of_32_bits_and_a_short_one_takes_one_element_a_row() {
        let mut memory = [0; 6];
        let mut table: Numbers<'_, ChainBlock> = Numbers::of_width(&mut memory, Width::Wide);
        assert_eq!((table.len(), table.get(ChainBlock::new(2))), (3, BlockNumber::MAX));
        table.set(ChainBlock::new(1), 0x0002_9FFF);
        table.set(ChainBlock::new(2), 0xFFFF);
        assert_eq!(table.get(ChainBlock::new(1)), 0x0002_9FFF);
        assert_eq!(table.get(ChainBlock::new(2)), 0xFFFF, "a number like any other");
        assert_eq!((table.find(3, 0xFFFF), table.find(2, 0xFFFF)), (Some(2), None));

        let mut table: Numbers<'_, ChainBlock> = Numbers::of_width(&mut memory, Width::Short);
        assert_eq!((table.len(), table.get(ChainBlock::new(5))), (6, BlockNumber::MAX));
        table.set(ChainBlock::new(5), 65_533);
        assert_eq!((table.get(ChainBlock::new(5)), table.find(6, 65_533)), (65_533, Some(5)));
        table.set(ChainBlock::new(5), BlockNumber::MAX);
        assert_eq!(table.get(ChainBlock::new(5)), BlockNumber::MAX);
    }

    #[test]
    fn numbers_are_wide_from_the_first_device_on_that_16_bits_do_not_number() {
        assert_eq!([65_534, 65_535].map(Width::of), [Width::Short, Width::Wide]);
    }
}
