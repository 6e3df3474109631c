//! The circular order of the log's blocks, from the tail to the head.

mod image;

use crate::hybrid::address::LogBlock;
use crate::table::Bits;

/// The blocks between tail and head. Bad blocks are skipped; all others wear evenly, because they are erased in turn.
#[derive(Debug)]
pub struct Ring<'ram> {
    blocks: u16,
    good: u16,
    bad: Bits<'ram, LogBlock>,
    head: LogBlock,
    head_page: u16,
    tail: LogBlock,
    used: u16,
    sequence: u32,
    lap: u32,
    erases: u64,
    /// This many of the next blocks may be badly erased, because a power cut may have touched them.
    suspects: u16,
}

impl<'ram> Ring<'ram> {
    /// A ring whose head is its first block, empty, and none of whose blocks is bad.
    pub fn new(blocks: u16, bad: &'ram mut [u8]) -> Self {
        Self {
            blocks,
            good: blocks,
            bad: Bits::new(bad),
            head: LogBlock::new(0),
            head_page: 0,
            tail: LogBlock::new(0),
            used: 1,
            sequence: 0,
            lap: 1,
            erases: 0,
            suspects: 0,
        }
    }

    /// Removes a bad block, before the ring is in use.
    pub fn retire(&mut self, block: LogBlock) {
        if !self.bad.get(block) {
            self.bad.set(block, true);
            self.good -= 1;
        }
        if self.head == block {
            self.head = self.after(block);
            self.tail = self.head;
        }
    }

    /// Removes the tail, whose erase failed.
    pub fn retire_tail(&mut self) {
        let tail = self.tail;
        self.tail = self.after(tail);
        self.used -= 1;
        self.take_out(tail);
    }

    /// Removes the block that was to be the next head.
    pub fn retire_next(&mut self) {
        let next = self.after(self.head);
        self.suspects = self.suspects.saturating_sub(1);
        self.take_out(next);
    }

    /// Removes the head, which is empty and not the tail too. The block before it, of `pages` pages, is the head again,
    /// and full.
    pub fn retire_head(&mut self, pages: u16) {
        let head = self.head;
        self.head = self.before(head);
        if self.head >= head {
            self.lap = self.lap.saturating_sub(1);
        }
        self.head_page = pages;
        self.used -= 1;
        // Virtual entries keep their age, as if the block had not been opened.
        self.sequence = self.sequence.wrapping_sub(1);
        self.take_out(head);
    }

    /// Removes the head of an empty log.
    pub fn retire_only(&mut self) {
        let head = self.head;
        self.head = self.after(head);
        self.tail = self.head;
        self.suspects = self.suspects.saturating_sub(1);
        self.take_out(head);
    }

    fn take_out(&mut self, block: LogBlock) {
        self.bad.set(block, true);
        self.good = self.good.saturating_sub(1);
    }

    /// Whether the ring can still advance. If not, it is closed: its data can be read, but nothing is written to it any
    /// more.
    #[inline]
    pub fn turns(&self) -> bool {
        self.good >= 2
    }

    /// Whether the block is bad.
    pub fn is_bad(&self, block: LogBlock) -> bool {
        self.bad.get(block)
    }

    /// The next good block in the ring.
    pub fn after(&self, block: LogBlock) -> LogBlock {
        let mut at = block.get();
        for _ in 0..self.blocks {
            at = if at + 1 < self.blocks { at + 1 } else { 0 };
            if !self.bad.get(LogBlock::new(at)) {
                break;
            }
        }
        LogBlock::new(at)
    }

    /// The previous good block in the ring.
    pub fn before(&self, block: LogBlock) -> LogBlock {
        let mut at = block.get();
        for _ in 0..self.blocks {
            at = if at > 0 { at - 1 } else { self.blocks - 1 };
            if !self.bad.get(LogBlock::new(at)) {
                break;
            }
        }
        LogBlock::new(at)
    }

    /// Blocks that are not bad.
    #[inline]
    pub fn good(&self) -> u16 {
        self.good
    }

    /// Blocks from tail to head, both included.
    #[inline]
    pub fn used(&self) -> u16 {
        self.used
    }

    /// The block that is being written.
    #[inline]
    pub fn head(&self) -> LogBlock {
        self.head
    }

    /// Its next free page.
    #[inline]
    pub fn head_page(&self) -> u16 {
        self.head_page
    }

    /// The oldest block.
    #[inline]
    pub fn tail(&self) -> LogBlock {
        self.tail
    }

    /// The running number of the head among all blocks ever opened.
    #[inline]
    pub fn sequence(&self) -> u32 {
        self.sequence
    }

    /// The erase count of the head block.
    #[inline]
    pub fn wear(&self) -> u32 {
        self.lap
    }

    /// Erases since the device was formatted.
    pub fn erases(&self) -> u64 {
        self.erases
    }

    /// Whether the next head must be erased before it is programmed.
    pub fn next_is_suspect(&self) -> bool {
        self.suspects > 0
    }

    /// How many of the blocks after the head must be erased before they are programmed.
    #[cfg(feature = "check")]
    pub fn suspects(&self) -> u16 {
        self.suspects
    }

    /// Notes that this many blocks after the head must be erased before they are programmed.
    pub fn suspect(&mut self, blocks: u16) {
        self.suspects = blocks;
    }

    /// Notes that nothing more is programmed to the head.
    pub fn close_head(&mut self, pages: u16) {
        self.head_page = pages;
    }

    /// Notes that a page of the head was programmed.
    #[inline]
    pub fn fill_page(&mut self) {
        self.head_page += 1;
    }

    /// Makes the next block the head. `false`: none is free.
    pub fn advance(&mut self) -> bool {
        if self.used >= self.good {
            return false;
        }
        let next = self.after(self.head);
        // After the last block the ring starts its next round, in which each block has been erased once more.
        if next <= self.head {
            self.lap = self.lap.saturating_add(1);
        }
        self.suspects = self.suspects.saturating_sub(1);
        self.head = next;
        self.head_page = 0;
        self.used += 1;
        self.sequence = self.sequence.wrapping_add(1);
        true
    }

    /// Notes that the tail block is erased.
    pub fn drop_tail(&mut self) {
        self.tail = self.after(self.tail);
        self.used -= 1;
        self.erases += 1;
    }

    /// The ring in the state that a mount found.
    pub fn restore(&mut self, found: RingState) {
        self.head = found.head;
        self.head_page = found.head_page;
        self.tail = found.tail;
        self.used = found.used;
        self.lap = found.lap;
        self.sequence = u32::from(found.used);
        self.erases = found.erases;
        self.suspects = self.good - found.used;
    }
}

/// What a mount found of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingState {
    /// The block that was written last.
    pub head: LogBlock,
    /// Its next free page.
    pub head_page: u16,
    /// The oldest block.
    pub tail: LogBlock,
    /// Blocks from tail to head.
    pub used: u16,
    /// The erase count of the head.
    pub lap: u32,
    /// Erases since the device was formatted.
    pub erases: u64,
}
