//! Tables in lent memory, each indexed by one kind of row.
//!
//! A [`Table`] cannot be read with a row of another type, and it cannot panic: a row beyond its end reads as the
//! table's blank value, and a write there is dropped. Neither happens, because rows are made from numbers that were
//! checked on entry; debug builds assert it.

mod numbers;

#[cfg(feature = "internals")]
pub use numbers::SHORT_LAST;
pub use numbers::{BlockNumber, Numbers, Width};
pub(crate) use numbers::{number, short, word};

use core::marker::PhantomData;

use crate::image::{Sink, Source};
use crate::quotient;

/// A row of a table: a typed number that can index.
pub trait Row: Copy {
    /// The row's place in a slice.
    fn index(self) -> usize;
}

/// A slice of lent memory, one value a row.
#[derive(Debug)]
pub struct Table<'ram, R, T> {
    cells: &'ram mut [T],
    row: PhantomData<fn(R)>,
}

impl<'ram, R: Row, T: Copy + Blank> Table<'ram, R, T> {
    /// The table over that memory, every row blank.
    pub fn new(cells: &'ram mut [T]) -> Self {
        cells.fill(T::BLANK);
        Self { cells, row: PhantomData }
    }

    /// How many rows there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are no rows at all.
    #[cfg(feature = "internals")]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The value of a row.
    #[inline]
    pub fn get(&self, row: R) -> T {
        debug_assert!(
            row.index() < self.cells.len(),
            "row {} of {}",
            row.index(),
            self.cells.len()
        );
        match self.cells.get(row.index()) {
            Some(value) => *value,
            None => T::BLANK,
        }
    }

    /// Sets the value of a row.
    #[inline]
    pub fn set(&mut self, row: R, value: T) {
        debug_assert!(
            row.index() < self.cells.len(),
            "row {} of {}",
            row.index(),
            self.cells.len()
        );
        if let Some(cell) = self.cells.get_mut(row.index()) {
            *cell = value;
        }
    }
}

impl<R: Row, T: Copy + Blank> Table<'_, R, T> {
    /// The values of some rows that follow each other.
    #[inline]
    pub fn run(&self, first: R, rows: usize) -> &[T] {
        self.cells.get(first.index()..first.index() + rows).unwrap_or(&[])
    }

    /// The same, to be changed.
    #[inline]
    pub fn run_mut(&mut self, first: R, rows: usize) -> &mut [T] {
        self.cells.get_mut(first.index()..first.index() + rows).unwrap_or(&mut [])
    }

    /// Makes every row blank.
    pub fn clear(&mut self) {
        self.cells.fill(T::BLANK);
    }
}

impl<R> Table<'_, R, u16> {
    /// Writes every row down.
    pub fn save(&self, sink: &mut impl Sink) {
        for cell in &*self.cells {
            sink.half(*cell);
        }
    }

    /// Takes every row back.
    pub fn load(&mut self, source: &mut impl Source) -> Option<()> {
        for cell in &mut *self.cells {
            *cell = source.half()?;
        }
        Some(())
    }
}

/// What a row holds before anything was put there.
pub trait Blank {
    /// That value.
    const BLANK: Self;
}

impl Blank for u16 {
    const BLANK: Self = Self::MAX;
}

impl Blank for u8 {
    const BLANK: Self = 0;
}

/// One bit a row, eight rows a byte.
#[derive(Debug)]
pub struct Bits<'ram, R> {
    bytes: &'ram mut [u8],
    row: PhantomData<fn(R)>,
}

impl<'ram, R: Row> Bits<'ram, R> {
    /// The table over that memory, every bit clear.
    pub fn new(bytes: &'ram mut [u8]) -> Self {
        bytes.fill(0);
        Self { bytes, row: PhantomData }
    }

    /// Bytes of that many rows.
    pub const fn bytes_for(rows: u32) -> usize {
        quotient::ceil(rows, 8) as usize
    }

    /// A row's bit.
    #[inline]
    pub fn get(&self, row: R) -> bool {
        debug_assert!(row.index() / 8 < self.bytes.len(), "row {} of bits", row.index());
        self.bytes.get(row.index() / 8).is_some_and(|byte| byte >> (row.index() % 8) & 1 == 1)
    }

    /// Sets or clears a row's bit.
    #[inline]
    pub fn set(&mut self, row: R, on: bool) {
        debug_assert!(row.index() / 8 < self.bytes.len(), "row {} of bits", row.index());
        if let Some(byte) = self.bytes.get_mut(row.index() / 8) {
            let bit = 1 << (row.index() % 8);
            *byte = if on { *byte | bit } else { *byte & !bit };
        }
    }

    /// Clears every bit.
    pub fn clear(&mut self) {
        self.bytes.fill(0);
    }

    /// Writes every row down.
    pub fn save(&self, sink: &mut impl Sink) {
        sink.put(self.bytes);
    }

    /// Takes every row back.
    pub fn load(&mut self, source: &mut impl Source) -> Option<()> {
        source.take(self.bytes)
    }
}

/// Four bits a row, two rows a byte.
#[derive(Debug)]
pub struct Nibbles<'ram, R> {
    bytes: &'ram mut [u8],
    row: PhantomData<fn(R)>,
}

impl<'ram, R: Row> Nibbles<'ram, R> {
    /// The table over that memory, every row zero.
    pub fn new(bytes: &'ram mut [u8]) -> Self {
        bytes.fill(0);
        Self { bytes, row: PhantomData }
    }

    /// Bytes of that many rows.
    pub const fn bytes_for(rows: u32) -> usize {
        quotient::ceil(rows, 2) as usize
    }

    /// A row's value, 0 to 15.
    #[inline]
    pub fn get(&self, row: R) -> u8 {
        debug_assert!(row.index() / 2 < self.bytes.len(), "row {} of nibbles", row.index());
        self.bytes.get(row.index() / 2).map_or(0, |byte| byte >> (row.index() % 2 * 4) & 0xF)
    }

    /// Sets a row's value to the low four bits given.
    #[inline]
    pub fn set(&mut self, row: R, value: u8) {
        debug_assert!(row.index() / 2 < self.bytes.len(), "row {} of nibbles", row.index());
        if let Some(byte) = self.bytes.get_mut(row.index() / 2) {
            let shift = row.index() % 2 * 4;
            *byte = *byte & !(0xF << shift) | (value & 0xF) << shift;
        }
    }

    /// Writes every row down.
    pub fn save(&self, sink: &mut impl Sink) {
        sink.put(self.bytes);
    }

    /// Takes every row back.
    pub fn load(&mut self, source: &mut impl Source) -> Option<()> {
        source.take(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Seat(usize);

    impl Row for Seat {
        fn index(self) -> usize {
            self.0
        }
    }

    #[test]
    fn a_new_table_is_blank_whatever_the_memory_held() {
        let mut memory = [7_u16; 3];
        let mut table: Table<'_, Seat, u16> = Table::new(&mut memory);
        assert_eq!(table.get(Seat(2)), u16::MAX);
        table.set(Seat(1), 9);
        assert_eq!((table.get(Seat(0)), table.get(Seat(1)), table.len()), (u16::MAX, 9, 3));
    }

    #[test]
    fn bits_and_nibbles_do_not_touch_their_neighbours() {
        let mut memory = [0xFF_u8; 2];
        let mut bits: Bits<'_, Seat> = Bits::new(&mut memory);
        bits.set(Seat(9), true);
        let set: Vec<usize> = (0..16).filter(|at| bits.get(Seat(*at))).collect();
        assert_eq!(set, [9]);
        bits.set(Seat(9), false);
        assert!(!bits.get(Seat(9)));

        let mut nibbles: Nibbles<'_, Seat> = Nibbles::new(&mut memory);
        nibbles.set(Seat(1), 0xA);
        nibbles.set(Seat(2), 0x5);
        let values: Vec<u8> = (0..4).map(|at| nibbles.get(Seat(at))).collect();
        assert_eq!(values, [0, 0xA, 0x5, 0]);
    }
}
