//! Memory for blocks whose pages are stored packed: one row for each block, cut from few large pieces, which are
//! cheaper to allocate than many small ones. The row of an erased block goes to the block that is programmed next.

use super::packing::Packing;

/// Packed blocks, by the place that each has taken.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) packing: Packing,
    block_bytes: usize,
    /// How many blocks find room in a piece, as a power of two.
    piece_shift: u32,
    pieces: Vec<Box<[u8]>>,
    /// How many places were ever taken.
    taken: u32,
    /// Places that were given back.
    free: Vec<u32>,
}

/// Where a packed block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowId(u32);

/// The most blocks of a piece, as a power of two: in the MLC of the paper, 2 MB of them.
const PIECE_SHIFT_MAX: u32 = 10;

impl Rows {
    /// For that many blocks at most, of that many pages.
    pub(super) fn new(packing: Packing, blocks: usize, pages: u16) -> Self {
        let block_bytes = packing.block_bytes(pages);
        let piece_shift = blocks.next_power_of_two().trailing_zeros().min(PIECE_SHIFT_MAX);
        let (pieces, free) = (Vec::new(), Vec::new());
        Self { packing, block_bytes, piece_shift, pieces, taken: 0, free }
    }

    /// A place for a block whose first page is programmed.
    #[cold]
    #[inline(never)]
    pub(super) fn take(&mut self) -> RowId {
        if let Some(place) = self.free.pop() {
            return RowId(place);
        }
        if self.taken as usize == self.pieces.len() << self.piece_shift {
            // What is zero is given by the system when it is touched first.
            self.pieces.push(vec![0; self.block_bytes << self.piece_shift].into());
        }
        self.taken += 1;
        RowId(self.taken - 1)
    }

    /// Gives back the place of a block that is packed no longer.
    pub(super) fn give_back(&mut self, RowId(place): RowId) {
        self.free.push(place);
    }

    /// The piece in which a place is, and where in it.
    #[inline]
    const fn find(&self, RowId(place): RowId) -> (usize, usize) {
        let piece = place >> self.piece_shift;
        (piece as usize, (place - (piece << self.piece_shift)) as usize * self.block_bytes)
    }

    #[inline]
    pub(super) fn get(&self, place: RowId) -> &[u8] {
        let (piece, start) = self.find(place);
        &self.pieces[piece][start..start + self.block_bytes]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, place: RowId) -> &mut [u8] {
        let (piece, start) = self.find(place);
        &mut self.pieces[piece][start..start + self.block_bytes]
    }

    /// Memory of the places that were ever taken. The rest of the last piece was not touched.
    pub(super) const fn memory_bytes(&self) -> usize {
        self.taken as usize * self.block_bytes
    }
}

impl Clone for Rows {
    /// Copies what was taken: the rest of the last piece is as untouched in the copy.
    fn clone(&self) -> Self {
        let mut left = self.memory_bytes();
        let mut pieces = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            let used = left.min(piece.len());
            left -= used;
            let mut copy: Box<[u8]> = vec![0; piece.len()].into();
            copy[..used].copy_from_slice(&piece[..used]);
            pieces.push(copy);
        }
        let Self { packing, block_bytes, piece_shift, taken, .. } = *self;
        Self { packing, block_bytes, piece_shift, pieces, taken, free: self.free.clone() }
    }
}
