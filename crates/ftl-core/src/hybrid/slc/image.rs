//! The log in a checkpoint: ring, hash table, the slots of the head, and the progress in the tail.

use super::index::Index;
use super::ring::Ring;
use super::{Log, TailWalk};
use crate::hybrid::shape::Area;
use crate::image::{Sink, Source, holds};
use crate::layout::Slot;

impl Log<'_> {
    /// Bytes in an image, given those of the hash table's cells.
    pub const fn image_bytes(area: &Area, index_bytes: u64) -> u64 {
        let codes = area.data_pages() as u64 * area.slots as u64;
        let walk = 1 + 4 * 4 + 4 * codes;
        Ring::image_bytes(area.short_blocks())
            + Index::image_bytes(index_bytes)
            + 4 * codes
            + 4
            + walk
    }

    /// Saves the log.
    pub fn save(&self, sink: &mut impl Sink) {
        self.ring.save(sink);
        self.index.save(sink);
        // Beyond the programmed pages, the codes are those of an earlier head.
        let filled = usize::from(self.ring.head_page()) * usize::from(self.area.slots);
        for (at, code) in self.head_codes.iter().enumerate() {
            sink.word(if at < filled { *code } else { Slot::Empty.code() });
        }
        sink.word(self.last_stamp);
        let walk = self.tail.unwrap_or_default();
        sink.byte(u8::from(self.tail.is_some()));
        for number in [walk.next, walk.valid, walk.kept, walk.kept_pages] {
            sink.word(number);
        }
        for code in self.tail_codes.iter().take(self.head_codes.len()) {
            sink.word(if self.tail.is_some() { *code } else { Slot::Empty.code() });
        }
    }

    /// Loads it.
    pub fn load(&mut self, source: &mut impl Source) -> Option<()> {
        self.ring.load(source, self.data_pages)?;
        self.index.load(source)?;
        let sectors = self.index.shape().sectors().get();
        let known = |code: u32| match Slot::from_code(code) {
            Slot::Holds(sector) | Slot::Lost(sector) => sector.get() < sectors,
            Slot::Empty => true,
            Slot::Hole(_) | Slot::Elsewhere(_) => false,
        };
        for code in &mut *self.head_codes {
            *code = source.word()?;
            holds(known(*code))?;
        }
        self.last_stamp = source.word()?;
        let walks = source.byte()?;
        let (next, valid) = (source.word()?, source.word()?);
        let (kept, kept_pages) = (source.word()?, source.word()?);
        self.tail = (walks == 1).then_some(TailWalk { next, valid, kept, kept_pages });
        holds(walks <= 1 && (walks == 0 || self.has_tail()))?;
        let codes = self.head_codes.len();
        holds(next as usize <= codes && kept <= valid && valid as usize <= codes)?;
        holds(kept_pages <= u32::from(self.data_pages))?;
        for code in self.tail_codes.iter_mut().take(codes) {
            *code = source.word()?;
            holds(known(*code))?;
        }
        Some(())
    }

    /// An empty log of blocks none of which is bad, as [`new`](Self::new) leaves it.
    pub fn clear(&mut self) {
        self.ring.clear();
        self.index.clear();
        self.tail = None;
        self.last_stamp = 0;
    }
}
