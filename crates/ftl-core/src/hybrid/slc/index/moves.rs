//! How a mount finds a cell in a full window.
//!
//! At run time the table is filled in some order. An entry that found a cell then may find none when a mount fills the
//! table in another order. No entry may be lost by that, so other entries move within their own windows to free a cell.
//! This is the search for an augmenting path between sectors and cells: it finds a series of moves whenever the entries
//! and the new one fit in the table at all.

use ftl_iface::Sector;

use super::{EMPTY, Home, Index, IndexShape, LogSlot};
use crate::config::Probing;

/// Random walks tried before a sector is given up.
const WALKS: u32 = 64;

/// An entry on its way from one cell to another.
struct Carried {
    home: Home,
    virtual_bit: u32,
    place: u32,
}

impl Carried {
    fn key(&self, displacement: u32) -> u32 {
        self.home.key | self.virtual_bit | displacement
    }
}

/// A node of the search: a cell in its low bits, and in its high bits the node whose entry would
/// move into that cell.
const CELL_BITS: u32 = IndexShape::MOST_ENTRIES.trailing_zeros();
const CELL_MASK: u32 = (1 << CELL_BITS) - 1;
/// Stands for the new sector's own window as parent; one more than the last node's number.
const ROOT: usize = (u32::MAX >> CELL_BITS) as usize;

// Every cell fits in its field, and the fields in a word.
const _: () = assert!(
    IndexShape::MOST_ENTRIES - 1 <= CELL_MASK && IndexShape::MOST_ENTRIES.is_power_of_two()
);

impl Index<'_> {
    /// Like [`place`](Self::place), but if the window is full, other entries move within theirs.
    ///
    /// For a mount only. With linear probing the answer is exact. With quadratic probing a search compares each cell
    /// with all those visited, so its time grows with the square of `scratch`, of which each element serves one cell
    /// and the first 4,095 are used. If `scratch` has as many elements as the table has cells, the answer is false only
    /// if no arrangement of the entries has room for the sector. With fewer, random walks follow, which find room in
    /// all but the fullest tables.
    ///
    /// If the answer is false, every entry is kept.
    pub fn place_moving(&mut self, sector: Sector, slot: LogSlot, scratch: &mut [u32]) -> bool {
        if self.place(sector, slot) {
            return true;
        }
        let home = self.home(sector);
        match self.shape.probing() {
            Probing::Linear => self.place_in_order(home, slot),
            Probing::Quadratic => {
                self.place_by_search(sector, slot, scratch)
                    || (scratch.len() < self.shape.capacity() as usize
                        && self.place_by_walk(home, slot, scratch))
            }
        }
    }

    /// Frees a cell of the sector's window by a chain of moves.
    fn place_by_search(&mut self, sector: Sector, slot: LogSlot, scratch: &mut [u32]) -> bool {
        let home = self.home(sector);
        let Some((mut mover, mut free)) = self.find_chain(home.cell, scratch) else { return false };
        // A parent's number is smaller than its child's, so the chain ends.
        while let Some(node) = scratch.get(mover) {
            let cell = (node & CELL_MASK) as usize;
            self.move_entry(cell, free);
            free = cell;
            mover = (node >> CELL_BITS) as usize;
            if mover == ROOT {
                break;
            }
        }
        self.place(sector, slot)
    }

    /// Puts the sector into a random cell of its window; the entry displaced there does the same, until one finds a
    /// free cell. The scratch records the cells of the walk. If it is full, the walk is undone, and another begins.
    fn place_by_walk(&mut self, home: Home, slot: LogSlot, scratch: &mut [u32]) -> bool {
        let mut carried = Carried { home, virtual_bit: 0, place: slot.get() };
        let mut dice = home.cell | 1;
        for _ in 0..WALKS {
            let mut steps = 0;
            while let Some(step) = scratch.get_mut(steps) {
                if let Some((displacement, cell)) = self.free_cell(carried.home) {
                    self.put(cell, carried.key(displacement), carried.place);
                    return true;
                }
                dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let throw = ((dice >> 16) * u32::from(self.shape.probes())) >> 16;
                let cell = self.shape.reach(carried.home.cell, throw) as usize;
                *step = cell as u32;
                self.exchange(&mut carried, cell);
                steps += 1;
            }
            for cell in scratch.iter().rev() {
                self.exchange(&mut carried, *cell as usize);
            }
        }
        false
    }

    /// The first cell of the window that is free or has a virtual entry.
    fn free_cell(&self, home: Home) -> Option<(u32, usize)> {
        self.shape.window(home.cell).find(|(_, cell)| {
            let word = self.word(*cell);
            word == EMPTY || self.is_virtual(word)
        })
    }

    /// Swaps the carried entry with that of a cell of its window.
    fn exchange(&mut self, carried: &mut Carried, cell: usize) {
        let word = self.word(cell);
        let probe = self.shape.window(carried.home.cell).find(|(_, probed)| *probed == cell);
        debug_assert!(probe.is_some() && word != EMPTY, "the cell is in the window, and taken");
        if let Some((displacement, _)) = probe {
            let met = Carried {
                home: self.home_at(cell, word),
                virtual_bit: word & self.virtual_bit,
                place: self.place_at(cell, word),
            };
            self.put(cell, carried.key(displacement), carried.place);
            *carried = met;
        }
    }

    /// The end of a chain of moves: the last node, and the cell that its entry can move to.
    fn find_chain(&self, home: u32, scratch: &mut [u32]) -> Option<(usize, usize)> {
        let mut met = 0;
        for (_, cell) in self.shape.window(home) {
            meet(scratch, &mut met, cell, ROOT);
        }
        let mut mover = 0;
        while mover < met {
            let cell = (scratch.get(mover)? & CELL_MASK) as usize;
            let home = self.home_at(cell, self.word(cell));
            for (_, target) in self.shape.window(home.cell) {
                let word = self.word(target);
                if word == EMPTY || self.is_virtual(word) {
                    return Some((mover, target));
                }
                meet(scratch, &mut met, target, mover);
            }
            mover += 1;
        }
        None
    }

    /// Moves an entry to another cell of its window.
    fn move_entry(&mut self, from: usize, to: usize) {
        let word = self.word(from);
        let place = self.place_at(from, word);
        let home = self.home_at(from, word);
        let probe = self.shape.window(home.cell).find(|(_, cell)| *cell == to);
        debug_assert!(probe.is_some(), "an entry moves within its window");
        if let Some((displacement, _)) = probe {
            self.put(to, home.key | word & self.virtual_bit | displacement, place);
            self.put(from, EMPTY, 0);
        }
    }
}

/// Appends a node for a cell that was not met before, as long as there is memory for it.
fn meet(scratch: &mut [u32], met: &mut usize, cell: usize, parent: usize) {
    let known = scratch.get(..*met).unwrap_or_default();
    if known.iter().any(|node| (node & CELL_MASK) as usize == cell) || *met >= ROOT {
        return;
    }
    if let Some(node) = scratch.get_mut(*met) {
        *node = cell as u32 | (parent as u32) << CELL_BITS;
        *met += 1;
    }
}
