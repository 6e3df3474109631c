//! The ring in a checkpoint: its bad blocks, its position, and how far it has turned.

use super::Ring;
use crate::hybrid::address::LogBlock;
use crate::image::{Sink, Source, holds};
use crate::table::Bits;

impl Ring<'_> {
    /// Bytes in an image, for that number of blocks.
    pub const fn image_bytes(blocks: u16) -> u64 {
        Bits::<LogBlock>::bytes_for(blocks as u32) as u64 + 5 * 2 + 4 + 4 + 8
    }

    /// Saves all but the number of blocks.
    pub fn save(&self, sink: &mut impl Sink) {
        self.bad.save(sink);
        sink.half(self.head.get());
        sink.half(self.head_page);
        sink.half(self.tail.get());
        sink.half(self.used);
        sink.word(self.sequence);
        sink.word(self.lap);
        sink.long(self.erases);
        sink.half(self.suspects);
    }

    /// Loads it. The head must follow the tail by the number of good blocks in use, or the image is inconsistent.
    pub fn load(&mut self, source: &mut impl Source, data_pages: u16) -> Option<()> {
        self.bad.load(source)?;
        self.head = LogBlock::new(source.half()?);
        self.head_page = source.half()?;
        self.tail = LogBlock::new(source.half()?);
        self.used = source.half()?;
        self.sequence = source.word()?;
        self.lap = source.word()?;
        self.erases = source.long()?;
        self.suspects = source.half()?;
        let all = (0..self.blocks).map(LogBlock::new);
        self.good = all.fold(0, |good, block| good + u16::from(!self.bad.get(block)));
        holds((1..=self.good).contains(&self.used))?;
        holds(self.tail.get() < self.blocks && !self.bad.get(self.tail))?;
        let head = (1..self.used).fold(self.tail, |block, _| self.after(block));
        holds(self.suspects <= self.good - self.used)?;
        holds(head == self.head && self.head_page <= data_pages)
    }

    /// A ring whose head is its first block, empty, and none of whose blocks is bad, as [`new`](Self::new) leaves it.
    pub fn clear(&mut self) {
        self.bad.clear();
        self.good = self.blocks;
        (self.head, self.tail) = (LogBlock::new(0), LogBlock::new(0));
        (self.head_page, self.used, self.sequence, self.lap, self.erases) = (0, 1, 0, 1, 0);
        self.suspects = 0;
    }
}
