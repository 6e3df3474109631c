//! The one order in which a table with linear probing holds every set of entries that fits at all.
//!
//! With linear probing a sector may be in any cell of its window, which begins at its home. This is a scheduling
//! problem: a job with a release time and a deadline, all windows of one length. If the jobs are served in the order of
//! their homes, each in the first free cell, all meet their deadlines if any order lets them. So a table sorted in that
//! order has a cell for a further sector exactly if any arrangement has one, and no search is needed.

use super::{EMPTY, Home, Index, LogSlot};

impl Index<'_> {
    /// Places a sector whose window is full, and moves others within theirs. `false`: no arrangement has room for it.
    pub(super) fn place_in_order(&mut self, home: Home, slot: LogSlot) -> bool {
        self.settle();
        let probes = u32::from(self.shape.probes());
        // After all entries whose homes are not later.
        let position = self.shape.window(home.cell).find(|(displacement, cell)| {
            let word = self.word(*cell);
            self.is_free(word) || word & self.displacement_mask < *displacement
        });
        let Some((displacement, start)) = position else { return false };
        // From there on every entry moves by one, up to the first free cell.
        let mut cell = start;
        while !self.is_free(self.word(cell)) {
            if (self.word(cell) & self.displacement_mask) + 1 >= probes {
                return false;
            }
            cell = self.after(cell);
            if cell == start {
                return false;
            }
        }
        let (mut key, mut place) = (home.key | displacement, slot.get());
        let mut cell = start;
        loop {
            let word = self.word(cell);
            let moved = self.place_at(cell, word);
            self.put(cell, key, place);
            if self.is_free(word) {
                return true;
            }
            key = (word & self.any_mask() | word & self.virtual_bit) + 1;
            place = moved;
            cell = self.after(cell);
        }
    }

    /// Sorts the table: each entry is as close to its home as the entries with earlier homes allow.
    fn settle(&mut self) {
        let mut moved = true;
        while moved {
            moved = false;
            for start in 0..self.shape.entries() as usize {
                let mut cell = start;
                while self.moves_back(cell) {
                    cell = self.before(cell);
                    moved = true;
                }
            }
        }
    }

    /// Moves the entry of a cell one cell back, if that is free or its entry has a later home.
    fn moves_back(&mut self, cell: usize) -> bool {
        let word = self.word(cell);
        let displacement = word & self.displacement_mask;
        if word == EMPTY || displacement == 0 {
            return false;
        }
        let before = self.before(cell);
        let other = self.word(before);
        if other != EMPTY && displacement <= (other & self.displacement_mask) + 1 {
            return false;
        }
        let (place, other_place) = (self.place_at(cell, word), self.place_at(before, other));
        let key = |word: u32| word & self.any_mask() | word & self.virtual_bit;
        let (key, other_key) = (key(word), key(other));
        self.put(before, key - 1, place);
        if other == EMPTY {
            self.put(cell, EMPTY, 0);
        } else {
            self.put(cell, other_key + 1, other_place);
        }
        true
    }

    /// Whether an entry may be written there: the cell is free or has a virtual entry.
    fn is_free(&self, word: u32) -> bool {
        word == EMPTY || self.is_virtual(word)
    }

    fn after(&self, cell: usize) -> usize {
        if cell + 1 < self.shape.entries() as usize { cell + 1 } else { 0 }
    }

    fn before(&self, cell: usize) -> usize {
        if cell > 0 { cell - 1 } else { (self.shape.entries() as usize).saturating_sub(1) }
    }
}
