//! How an entry finds a cell.

use core::ops::Range;

use ftl_iface::{BlockCount, Sector, SectorCount};

use super::{EMPTY, Home, Index, LogSequence, LogSlot, Window};

/// Which virtual entries may be displaced.
struct Displacing {
    /// The window from which ages are counted.
    head: LogSequence,
    /// No younger entry is displaced.
    youngest: u32,
    /// The entries of these sectors are not displaced.
    spared: Range<u32>,
}

impl Index<'_> {
    /// Gives every sector of a request an entry, and returns how many of them the log holds already; `None` if one
    /// found no room.
    ///
    /// A sector keeps the entry it has; else it gets a free cell, else that of the oldest virtual entry in its window,
    /// an expired one first, but never that of a sector of the same request. New entries are virtual, and existing
    /// virtual ones are renewed: both are tied to the window's head, and [`set`](Self::set) makes them real one after
    /// the other. They are kept as long as no other sector is placed and the log advances by less than the window.
    ///
    /// If one found no room, the entries placed before it stay. They mean what a throttled request leaves behind: that
    /// the log rejected these sectors; any real entry may take their cells. To undo them would need a list of them, and
    /// what they displaced would still be lost.
    pub fn reserve(
        &mut self,
        first: Sector,
        count: SectorCount,
        window: Window,
    ) -> Option<SectorCount> {
        let end = first.get().saturating_add(count.get());
        let mut updates = 0;
        let mut home = self.home(first);
        for number in first.get()..end {
            debug_assert!(number < self.shape.sectors().get(), "a request beyond the store");
            let word = self.probe(home, self.any_mask());
            // A real entry is all that the request needs.
            if word == EMPTY || self.is_virtual(word) {
                let displacing =
                    Displacing { head: window.head, youngest: 0, spared: first.get()..end };
                if !self.trace(home, word, &displacing) {
                    return None;
                }
            } else {
                updates += 1;
            }
            home = self.next_home(home);
        }
        Some(SectorCount::new(updates))
    }

    /// Notes that a sector is in that slot, whether it had an entry or not; `false` if its window holds only real
    /// entries of other sectors.
    ///
    /// For sectors without a reservation: those of garbage collection whose entry was displaced, and those of a mount.
    /// Any virtual entry may be displaced, even one that a request in flight has reserved.
    pub fn place(&mut self, sector: Sector, slot: LogSlot) -> bool {
        self.check_slot(slot);
        let home = self.home(sector);
        let word = self.probe(home, self.any_mask());
        let room = if word == EMPTY {
            self.first_room(home)
        } else {
            Some((word & self.displacement_mask, self.cell_of(home, word)))
        };
        let Some((displacement, cell)) = room else { return false };
        self.put(cell, home.key | displacement, slot.get());
        true
    }

    /// Records that a sector was rejected: a virtual entry, tied to the window's head.
    ///
    /// It takes a free cell, or that of the oldest virtual entry in its window that is tied to an earlier block, so
    /// that the latest rejections are kept. An entry tied to the same block is not displaced, so those of one request
    /// do not displace each other. A sector that has an entry keeps it: a real one unchanged, a virtual one renewed.
    /// `false` if there is no room.
    pub fn insert_virtual(&mut self, sector: Sector, window: Window) -> bool {
        let home = self.home(sector);
        let word = self.probe(home, self.any_mask());
        if word != EMPTY && !self.is_virtual(word) {
            return true;
        }
        self.trace(home, word, &Displacing { head: window.head, youngest: 1, spared: 0..0 })
    }

    /// Moves the clock hand over `entries` cells and frees those whose virtual entries have expired.
    ///
    /// Call it at each log block that is opened, with [`expire_stride`](Self::expire_stride) cells: ages are kept
    /// modulo at least twice the log's length, and an entry must be freed before its age wraps.
    pub fn expire(&mut self, window: Window, entries: u32) {
        for _ in 0..entries.min(self.shape.entries()) {
            let cell = self.hand as usize;
            let after = self.hand + 1;
            self.hand = if after < self.shape.entries() { after } else { 0 };
            let word = self.word(cell);
            if self.is_virtual(word)
                && self.age(self.place_at(cell, word), window.head) >= window.blocks.get()
            {
                self.put(cell, EMPTY, 0);
            }
        }
    }

    /// How many cells the clock hand must visit at each opened block to visit every cell twice in one round of a log of
    /// `blocks` blocks.
    pub fn expire_stride(&self, blocks: BlockCount) -> u32 {
        let visits = self.shape.entries() * 2;
        let stride = visits.checked_div(blocks.get()).unwrap_or(visits);
        // Rounded up.
        if stride.wrapping_mul(blocks.get()) < visits { stride + 1 } else { stride }
    }

    /// Writes a virtual entry, tied to the newest block, over a sector's own virtual one (`word`) or to a cell that it
    /// may take.
    fn trace(&mut self, home: Home, word: u32, displacing: &Displacing) -> bool {
        let room = if word == EMPTY {
            self.oldest_room(home, displacing)
        } else {
            Some((word & self.displacement_mask, self.cell_of(home, word)))
        };
        let Some((displacement, cell)) = room else { return false };
        self.put(cell, home.key | self.virtual_bit | displacement, displacing.head.get());
        true
    }

    /// A free cell of the window, or else one with a virtual entry.
    fn first_room(&self, home: Home) -> Option<(u32, usize)> {
        let mut traced = None;
        for (displacement, cell) in self.shape.window(home.cell) {
            let word = self.word(cell);
            if word == EMPTY {
                return Some((displacement, cell));
            }
            if traced.is_none() && self.is_virtual(word) {
                traced = Some((displacement, cell));
            }
        }
        traced
    }

    /// A free cell of the window, or else the one whose virtual entry is the oldest of those that
    /// may be displaced.
    fn oldest_room(&self, home: Home, displacing: &Displacing) -> Option<(u32, usize)> {
        let mut oldest = None;
        let mut least = displacing.youngest;
        for (displacement, cell) in self.shape.window(home.cell) {
            let word = self.word(cell);
            if word == EMPTY {
                return Some((displacement, cell));
            }
            if !self.is_virtual(word) {
                continue;
            }
            let age = self.age(self.place_at(cell, word), displacing.head);
            if age >= least && !displacing.spared.contains(&self.sector_of(cell, word)) {
                oldest = Some((displacement, cell));
                // Of two of the same age the first is taken; an age fits in its field, below 2^32.
                least = age.saturating_add(1);
            }
        }
        oldest
    }
}
