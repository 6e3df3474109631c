//! The blocks of both areas: how many references each has, how worn it is, what may be done with it.
//!
//! A block's *references* are the entries of the dirty table that name a place in it, the entries of map pages that do,
//! unless a dirty entry says that this one is released, and the map pages in it that the directory names. A block
//! without references is free: neither table nor any map page leads there, whatever stands in it. It is erased when it
//! is opened, not before.

use super::address::BlockNumber;
use super::shape::{Area, PagedShape};
use crate::table::Table;

/// Not to be used any more.
const BAD: u16 = u16::MAX;
/// A program to it has failed: it is marked bad as soon as nothing refers to it.
const FAILING: u16 = 1 << 15;
/// Pages are programmed to it now.
const OPEN: u16 = 1 << 14;
/// It has something to do with what is to be done again after a mount: it is not free until that is done.
const PINNED: u16 = 1 << 13;
const COUNT: u16 = PINNED - 1;

/// What is known of all blocks.
#[derive(Debug)]
pub struct Blocks<'ram> {
    states: Table<'ram, BlockNumber, u16>,
    wear: Table<'ram, BlockNumber, u16>,
    shape: PagedShape,
    /// Free blocks of each area.
    free: [u16; 2],
    /// Blocks that were taken out of use since the mount.
    pub retired: u16,
    /// Where the search for a free block goes on, in each area.
    hands: [u16; 2],
}

impl<'ram> Blocks<'ram> {
    /// Blocks of which nothing is known: each free.
    pub fn new(states: &'ram mut [u16], wear: &'ram mut [u16], shape: &PagedShape) -> Self {
        let mut blocks = Self {
            states: Table::new(states),
            wear: Table::new(wear),
            shape: *shape,
            free: [0; 2],
            retired: 0,
            hands: [0; 2],
        };
        for block in blocks.all() {
            blocks.states.set(block, 0);
            blocks.wear.set(block, 0);
        }
        blocks.count_free();
        blocks
    }

    /// Every block.
    pub fn all(&self) -> impl Iterator<Item = BlockNumber> + use<> {
        (0..self.shape.blocks()).map(BlockNumber::new)
    }

    /// The blocks of an area.
    pub fn of(&self, area: Area) -> impl Iterator<Item = BlockNumber> + use<> {
        let area = *self.shape.area(area);
        (area.first_block..area.first_block + area.blocks).map(BlockNumber::new)
    }

    /// Forgets all references, but not which blocks are bad.
    pub fn clear_references(&mut self) {
        for block in self.all() {
            if !self.is_bad(block) {
                self.states.set(block, self.states.get(block) & PINNED);
            }
        }
    }

    /// The block is not free until everything is unpinned.
    pub fn pin(&mut self, block: BlockNumber) {
        if !self.is_bad(block) {
            self.change(block, self.states.get(block) | PINNED);
        }
    }

    /// Nothing is pinned any more.
    pub fn unpin_all(&mut self) {
        for block in self.all() {
            let state = self.states.get(block);
            if state != BAD && state & PINNED != 0 {
                self.change(block, state & !PINNED);
            }
        }
    }

    /// Counts the free blocks anew.
    pub fn count_free(&mut self) {
        self.free = [0; 2];
        for block in self.all() {
            let area = self.shape.area_of(block) as usize;
            self.free[area] += u16::from(self.states.get(block) == 0);
        }
    }

    /// Free blocks of an area.
    #[inline]
    pub const fn free(&self, area: Area) -> u16 {
        self.free[area as usize]
    }

    /// References to a block.
    #[inline]
    pub fn references(&self, block: BlockNumber) -> u16 {
        let state = self.states.get(block);
        if state == BAD { 0 } else { state & COUNT }
    }

    /// Whether the block is not to be used.
    #[inline]
    pub fn is_bad(&self, block: BlockNumber) -> bool {
        self.states.get(block) == BAD
    }

    /// Whether the block has failed and still holds something.
    pub fn is_failing(&self, block: BlockNumber) -> bool {
        let state = self.states.get(block);
        state != BAD && state & FAILING != 0
    }

    /// Whether it may be opened.
    #[inline]
    pub fn is_free(&self, block: BlockNumber) -> bool {
        self.states.get(block) == 0
    }

    /// Whether the block may be emptied to be used anew.
    #[inline]
    pub fn may_be_victim(&self, block: BlockNumber) -> bool {
        let state = self.states.get(block);
        state != BAD && state & OPEN == 0 && state & COUNT != 0
    }

    fn change(&mut self, block: BlockNumber, state: u16) {
        let area = self.shape.area_of(block) as usize;
        let was_free = self.states.get(block) == 0;
        self.states.set(block, state);
        match (was_free, state == 0) {
            (true, false) => self.free[area] = self.free[area].saturating_sub(1),
            (false, true) => self.free[area] += 1,
            _ => {}
        }
    }

    /// Counts references more.
    pub fn refer(&mut self, block: BlockNumber, count: u16) {
        let state = self.states.get(block);
        if state != BAD && (state & COUNT) + count <= COUNT {
            self.change(block, state + count);
        }
    }

    /// Counts references less.
    pub fn release(&mut self, block: BlockNumber, count: u16) {
        let state = self.states.get(block);
        debug_assert!(state == BAD || state & COUNT >= count, "{block:?} has none left");
        if state != BAD {
            self.change(block, state - count.min(state & COUNT));
        }
    }

    /// Pages are programmed to it from now on.
    pub fn open(&mut self, block: BlockNumber) {
        self.change(block, self.states.get(block) | OPEN);
    }

    /// No more pages are programmed to it.
    pub fn close(&mut self, block: BlockNumber) {
        if !self.is_bad(block) {
            self.change(block, self.states.get(block) & !OPEN);
        }
    }

    /// A program to it has failed.
    pub fn fail(&mut self, block: BlockNumber) {
        if !self.is_bad(block) {
            self.change(block, self.states.get(block) | FAILING);
        }
    }

    /// It is not to be used any more.
    pub fn retire(&mut self, block: BlockNumber) {
        self.change(block, BAD);
    }

    /// A failing block of the area to which nothing refers any more.
    pub fn failed_and_empty(&self, area: Area) -> Option<BlockNumber> {
        self.of(area).find(|block| self.states.get(*block) == FAILING)
    }

    /// Good blocks of an area, failing ones not among them.
    pub fn good(&self, area: Area) -> u16 {
        self.of(area).filter(|block| self.states.get(*block) & FAILING == 0).count() as u16
    }

    /// How often a block was erased.
    pub fn wear(&self, block: BlockNumber) -> u16 {
        self.wear.get(block)
    }

    /// Sets how often a block was erased.
    pub fn set_wear(&mut self, block: BlockNumber, wear: u16) {
        self.wear.set(block, wear);
    }

    /// The free block to be opened next: of a few from the hand on the least worn.
    pub fn next_free(&mut self, area: Area) -> Option<BlockNumber> {
        /// As many are looked at; a device has more that are not free.
        const CHOICE: u16 = 8;
        let shape = *self.shape.area(area);
        let mut best: Option<BlockNumber> = None;
        let mut met = 0;
        for _ in 0..shape.blocks {
            let at = self.hands[area as usize];
            self.hands[area as usize] = if at + 1 >= shape.blocks { 0 } else { at + 1 };
            let block = BlockNumber::new(shape.first_block + at);
            if self.is_free(block) {
                if best.is_none_or(|best| self.wear(block) < self.wear(best)) {
                    best = Some(block);
                }
                met += 1;
                if met == CHOICE {
                    break;
                }
            }
        }
        best
    }
}
