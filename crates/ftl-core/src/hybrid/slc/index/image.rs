//! The hash table in a checkpoint, cell by cell. The counts follow from the cells.

use super::{EMPTY, Index};
use crate::image::{Sink, Source, holds};

impl Index<'_> {
    /// Bytes in an image, given the bytes of the cells.
    pub const fn image_bytes(cells: u64) -> u64 {
        cells + 4
    }

    /// Saves every cell, and the position of the hand.
    pub fn save(&self, sink: &mut impl Sink) {
        for word in &*self.low {
            sink.word(*word);
        }
        sink.put(self.high);
        sink.word(self.hand);
    }

    /// Loads them. Each entry must be one that `put` could have written to its cell.
    pub fn load(&mut self, source: &mut impl Source) -> Option<()> {
        for word in &mut *self.low {
            *word = source.word()?;
        }
        source.take(self.high)?;
        self.hand = source.word()?;
        holds(self.hand < self.shape.entries())?;
        (self.reals, self.virtuals) = (0, 0);
        for (cell, word) in self.low.iter().copied().enumerate() {
            if word == EMPTY {
                continue;
            }
            self.stands_well(cell, word)?;
            let is_virtual = u32::from(self.is_virtual(word));
            self.virtuals += is_virtual;
            self.reals += 1 - is_virtual;
        }
        self.check().ok()
    }

    /// Whether the fields of an entry are within their ranges, so that computations with them do not wrap.
    fn stands_well(&self, cell: usize, word: u32) -> Option<()> {
        let displacement = word & self.displacement_mask;
        holds(displacement < u32::from(self.shape.probes()))?;
        // Quadratic windows end at the prime, which is below the number of cells.
        holds(cell < self.shape.capacity() as usize)?;
        let home = self.home_at(cell, word);
        let prime = u64::from(self.shape.prime().get());
        let quotient = u64::from(home.key >> (self.shape.displacement_bits() + 1));
        let sector = quotient.checked_sub(1)? * prime + u64::from(home.cell);
        holds(u64::from(home.cell) < prime && sector < u64::from(self.shape.sectors().get()))
    }
}
