//! The flash while power is off: a cell for each page, a few bits for each block, and a fingerprint of it all.

use super::content::{ContentId, Contents};
use super::grid::{BLOCKS_MAX, BlockAt, Grid, PAGES_MAX, PageAt};
use crate::dice::mix;

/// What a page reads as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// Every byte 0xFF.
    Erased,
    /// Uncorrectable.
    Dead,
    /// Bytes that nobody programmed.
    Noise,
    /// What was programmed.
    Content(ContentId),
}

/// A page's cells, in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell(u32);

impl Cell {
    pub(super) const ERASED: Self = Self(0);
    pub(super) const DEAD: Self = Self(1);
    pub(super) const NOISE: Self = Self(2);
    const FIRST: u32 = 3;
    const UNSTABLE: u32 = 1 << 31;

    pub(super) const fn holding(id: ContentId) -> Self {
        Self(id.0 + Self::FIRST)
    }

    /// The same, which lives or dies at each read.
    #[must_use]
    pub(super) const fn unstable(self) -> Self {
        // What cannot be read, or is not a page of anybody's, need not be worse.
        if self.0 == 1 || self.0 == 2 { self } else { Self(self.0 | Self::UNSTABLE) }
    }

    pub(super) const fn is_unstable(self) -> bool {
        self.0 & Self::UNSTABLE != 0
    }

    /// What a read gives that does not fail.
    pub(super) const fn read(self) -> Read {
        match self.0 & !Self::UNSTABLE {
            0 => Read::Erased,
            1 => Read::Dead,
            2 => Read::Noise,
            number => Read::Content(ContentId(number - Self::FIRST)),
        }
    }
}

/// What the rules of the device know of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockState {
    /// The first page that may be programmed.
    pub(super) next: u8,
    /// Its erase was cut or failed: it must be erased before anything is programmed.
    pub(super) torn: bool,
    /// Marked bad.
    pub(super) bad: bool,
}

/// The flash.
#[derive(Clone, Debug)]
pub(super) struct FlashImage {
    cells: [Cell; PAGES_MAX],
    blocks: [BlockState; BLOCKS_MAX],
    /// The sum over pages and blocks of a hash of each: the same for the same flash.
    sum: u64,
}

impl FlashImage {
    /// A device from the factory.
    pub(super) fn new() -> Self {
        Self {
            cells: [Cell::ERASED; PAGES_MAX],
            blocks: [BlockState::default(); BLOCKS_MAX],
            sum: 0,
        }
    }

    pub(super) fn cell(&self, page: PageAt) -> Cell {
        self.cells[usize::from(page)]
    }

    pub(super) fn set_cell(&mut self, contents: &Contents, page: PageAt, cell: Cell) {
        let before = self.cells[usize::from(page)];
        if before != cell {
            self.cells[usize::from(page)] = cell;
            let change = weight(contents, page, cell).wrapping_sub(weight(contents, page, before));
            self.sum = self.sum.wrapping_add(change);
        }
    }

    pub(super) fn block(&self, block: BlockAt) -> BlockState {
        self.blocks[usize::from(block)]
    }

    pub(super) fn set_block(&mut self, block: BlockAt, state: BlockState) {
        let before = self.block(block);
        if before != state {
            self.blocks[usize::from(block)] = state;
            let change = block_weight(block, state).wrapping_sub(block_weight(block, before));
            self.sum = self.sum.wrapping_add(change);
        }
    }

    /// Sets every page of a block.
    pub(super) fn fill_block(
        &mut self,
        (grid, contents): (&Grid, &Contents),
        block: BlockAt,
        mut change: impl FnMut(usize, Cell) -> Cell,
    ) {
        for (index, page) in grid.pages_of(block).enumerate() {
            let cell = change(index, self.cells[page]);
            self.set_cell(contents, page as PageAt, cell);
        }
    }

    /// The pages that hold something.
    pub(super) fn held(&self, grid: &Grid) -> impl Iterator<Item = (PageAt, Cell)> {
        let cells = self.cells.iter().take(grid.pages()).zip(0..);
        cells.filter(|(cell, _)| **cell != Cell::ERASED).map(|(cell, page)| (page, *cell))
    }

    /// A fingerprint of the flash.
    pub(super) const fn fingerprint(&self) -> u64 {
        self.sum
    }
}

fn weight(contents: &Contents, page: PageAt, cell: Cell) -> u64 {
    let hash = match cell.read() {
        Read::Erased if cell == Cell::ERASED => return 0,
        Read::Erased => 1,
        Read::Dead => 2,
        Read::Noise => 3,
        Read::Content(id) => contents.get(id).hash,
    };
    mix(hash ^ u64::from(cell.is_unstable()), u64::from(page) + 1)
}

fn block_weight(block: BlockAt, state: BlockState) -> u64 {
    if state == BlockState::default() {
        return 0;
    }
    let bits = u64::from(state.next) << 2 | u64::from(state.torn) << 1 | u64::from(state.bad);
    mix(bits, 0x1_0000 + u64::from(block))
}
