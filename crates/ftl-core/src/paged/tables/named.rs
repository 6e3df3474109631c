//! Short lists of free blocks.

use crate::paged::plan::address::BlockNumber;

/// The most in a list: those that anchors list of an area, and as many again to choose from.
pub(crate) const NAMED: usize = 16;

/// Some free blocks, which need no search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    blocks: [BlockNumber; NAMED],
    len: usize,
}

impl Named {
    pub(crate) const NONE: Self = Self { blocks: [BlockNumber::new(0); NAMED], len: 0 };

    pub(crate) fn all(&self) -> &[BlockNumber] {
        self.blocks.get(..self.len).unwrap_or(&[])
    }

    /// Adds a block, if there is space.
    pub(crate) fn add(&mut self, block: BlockNumber) {
        if let Some(cell) = self.blocks.get_mut(self.len) {
            *cell = block;
            self.len += 1;
        }
    }

    /// Removes a block, if it is there.
    pub(crate) fn remove(&mut self, block: BlockNumber) {
        let Some(at) = self.all().iter().position(|named| *named == block) else { return };
        self.len -= 1;
        if let (Some(last), Some(cell)) =
            (self.blocks.get(self.len).copied(), self.blocks.get_mut(at))
        {
            *cell = last;
        }
    }
}
