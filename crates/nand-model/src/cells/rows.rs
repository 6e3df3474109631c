//! The memory of packed blocks: as much for each, cut from few large pieces, which are cheaper to get than many small
//! ones. What an erased block leaves goes to the block that is programmed next.

use super::packing::Packing;

/// Packed blocks, by the place that each has taken.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) packing: Packing,
    block_bytes: usize,
    pieces: Vec<Box<[u8]>>,
    /// How many places were ever taken.
    taken: u32,
    /// Places that were given back.
    free: Vec<u32>,
}

/// Where a packed block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u32);

/// A piece has room for two to the power of this many blocks.
const PIECE_SHIFT: u32 = 10;
const PIECE: u32 = 1 << PIECE_SHIFT;

impl Rows {
    /// For blocks of so many pages.
    pub(super) const fn new(packing: Packing, pages: u16) -> Self {
        let block_bytes = packing.block_bytes(pages);
        Self { packing, block_bytes, pieces: Vec::new(), taken: 0, free: Vec::new() }
    }

    /// A place for a block whose first page is programmed.
    #[cold]
    #[inline(never)]
    pub(super) fn take(&mut self) -> Place {
        if let Some(place) = self.free.pop() {
            return Place(place);
        }
        if self.taken.is_multiple_of(PIECE) {
            // What is zero is given by the system when it is touched first.
            self.pieces.push(vec![0; self.block_bytes << PIECE_SHIFT].into());
        }
        self.taken += 1;
        Place(self.taken - 1)
    }

    /// Gives back the place of a block that is packed no longer.
    pub(super) fn give_back(&mut self, Place(place): Place) {
        self.free.push(place);
    }

    #[inline]
    pub(super) fn get(&self, Place(place): Place) -> &[u8] {
        let start = (place & (PIECE - 1)) as usize * self.block_bytes;
        &self.pieces[(place >> PIECE_SHIFT) as usize][start..start + self.block_bytes]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, Place(place): Place) -> &mut [u8] {
        let start = (place & (PIECE - 1)) as usize * self.block_bytes;
        &mut self.pieces[(place >> PIECE_SHIFT) as usize][start..start + self.block_bytes]
    }

    /// Memory that was ever touched.
    pub(super) const fn memory_bytes(&self) -> usize {
        self.taken as usize * self.block_bytes
    }
}
