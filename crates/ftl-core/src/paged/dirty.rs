//! The table of dirty entries: sectors whose newest place no map page tells yet.
//!
//! Linear probing over all cells, in the order of homes: entries give way to one that has come further from its own.
//! So a sector that is not there is missed after a few cells, however full the table is; most look-ups are such.
//! Removals close the gap: whatever set of entries fits in one order of insertion fits in every other, so that a mount
//! can put back what was there, in the order in which it meets it.
//!
//! Each entry knows whether its map page's own pointer is still counted among the references of the block that it
//! points into ([`Old`]), and to which of two epochs it belongs: the present one or the one before.

use core::mem::replace;

use ftl_iface::Sector;

use super::address::Place;
use crate::bugs::{Bug, planted};

/// No sector.
const EMPTY: u32 = u32::MAX;
const PLACE: u32 = (1 << Place::BITS) - 1;
const RELEASED: u32 = 1 << 30;
const PARITY: u32 = 1 << 31;

/// What became of the pointer that the sector's map page has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Old {
    /// The block that it points into still counts it.
    Counted,
    /// No block counts it any more, or there is none.
    Released,
}

/// A dirty entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The newest place of the sector.
    pub place: Place,
    /// The pointer of its map page.
    pub old: Old,
}

/// Where a sector's entry is in the table, or would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Located {
    /// In that cell.
    At(usize),
    /// It is not there. It would be put into that cell.
    Missing(usize),
}

/// The table.
#[derive(Debug)]
pub struct DirtyTable<'ram> {
    sectors: &'ram mut [u32],
    values: &'ram mut [u32],
    len: u32,
    /// The present epoch's mark.
    parity: u32,
    /// Entries of the epoch before.
    old: u32,
    /// Where the search for what to write back goes on.
    hand: usize,
}

impl<'ram> DirtyTable<'ram> {
    /// The empty table over that memory.
    pub fn new(sectors: &'ram mut [u32], values: &'ram mut [u32]) -> Self {
        sectors.fill(EMPTY);
        values.fill(0);
        Self { sectors, values, len: 0, parity: 0, old: 0, hand: 0 }
    }

    /// Forgets every entry.
    pub fn clear(&mut self) {
        self.sectors.fill(EMPTY);
        (self.len, self.old) = (0, 0);
    }

    /// Entries.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Entries of the epoch before the present one.
    #[inline]
    pub const fn old(&self) -> u32 {
        self.old
    }

    #[inline]
    fn home(&self, sector: u32) -> usize {
        // Eight sectors in a row are neighbours, eights lie apart.
        let mixed = (sector >> 3).wrapping_mul(0x9E37_79B1);
        let cells = self.sectors.len() as u64;
        let eight = (u64::from(mixed) * (cells / 8).max(1)) >> 32;
        let home = eight as usize * 8 + (sector & 7) as usize;
        if home < self.sectors.len() { home } else { home % self.sectors.len().max(1) }
    }

    #[inline]
    const fn after(&self, cell: usize) -> usize {
        if cell + 1 >= self.sectors.len() { 0 } else { cell + 1 }
    }

    /// How far a cell lies behind the home of the sector that stands in it.
    #[inline]
    fn distance(&self, cell: usize, sector: u32) -> usize {
        let home = self.home(sector);
        if cell >= home { cell - home } else { cell + self.sectors.len() - home }
    }

    /// Where a sector's entry is, or would be put.
    #[inline]
    pub fn locate(&self, sector: Sector) -> Located {
        let mut cell = self.home(sector.get());
        for far in 0..self.sectors.len() {
            match self.sectors.get(cell) {
                Some(found) if *found == sector.get() => return Located::At(cell),
                Some(&EMPTY) | None => return Located::Missing(cell),
                // It would have given way.
                Some(found) if self.distance(cell, *found) < far => {
                    return Located::Missing(cell);
                }
                _ => cell = self.after(cell),
            }
        }
        Located::Missing(cell)
    }

    #[inline]
    fn find(&self, sector: u32) -> Option<usize> {
        match self.locate(Sector::new(sector)) {
            Located::At(cell) => Some(cell),
            Located::Missing(_) => None,
        }
    }

    /// The first entry, from a cell on, of a sector in that run, and its cell. To look at each cell once costs less
    /// than to look for each sector of a leaf.
    pub fn next_in(&self, from: usize, first: Sector, count: u32) -> Option<(usize, Sector)> {
        let mut cells = self.sectors.get(from..)?;
        let is_one = |found: &u32| found.wrapping_sub(first.get()) < count;
        // Most are not: eight at a time.
        while let Some((eight, rest)) = cells.split_first_chunk::<8>()
            && !eight.iter().any(is_one)
        {
            cells = rest;
        }
        let before = self.sectors.len() - cells.len();
        let at = cells.iter().position(is_one)?;
        cells.get(at).map(|sector| (before + at, Sector::new(*sector)))
    }

    /// The entry of a sector.
    #[inline]
    pub fn get(&self, sector: Sector) -> Option<Entry> {
        self.values.get(self.find(sector.get())?).map(|value| entry(*value))
    }

    /// Sets the entry of a sector, in the present epoch. `false`: the table is full.
    pub fn put(&mut self, sector: Sector, entry: Entry) -> bool {
        self.put_at(self.locate(sector), sector, entry)
    }

    /// The same, where that sector was located and the table has not changed since.
    pub fn put_at(&mut self, located: Located, sector: Sector, entry: Entry) -> bool {
        let released = if entry.old == Old::Released { RELEASED } else { 0 };
        let value = entry.place.get() & PLACE | released | self.parity;
        match located {
            Located::At(cell) => {
                let held = self.values.get(cell).copied().unwrap_or(value);
                self.old -= u32::from(held & PARITY != self.parity);
                self.set(cell, sector.get(), value);
                true
            }
            Located::Missing(_) if self.len as usize == self.sectors.len() => false,
            Located::Missing(cell) => {
                self.len += 1;
                self.insert(cell, sector.get(), value);
                true
            }
        }
    }

    /// Puts in what is not there, into the cell where it belongs: what stands there and behind it moves on by one, as
    /// far as an empty cell.
    fn insert(&mut self, mut cell: usize, mut sector: u32, mut value: u32) {
        for _ in 0..self.sectors.len() {
            let (Some(found), Some(held)) = (self.sectors.get_mut(cell), self.values.get_mut(cell))
            else {
                break;
            };
            (sector, value) = (replace(found, sector), replace(held, value));
            if sector == EMPTY {
                break;
            }
            cell = self.after(cell);
        }
    }

    /// Says that no block counts the pointer of the sector's map page any more.
    pub fn release(&mut self, sector: Sector) {
        if let Some(value) = self.find(sector.get()).and_then(|cell| self.values.get_mut(cell)) {
            *value |= RELEASED;
        }
    }

    /// Takes the entry of a sector out.
    pub fn take(&mut self, sector: Sector) -> Option<Entry> {
        let cell = self.find(sector.get())?;
        self.take_at(cell).map(|(_, entry)| entry)
    }

    /// Takes the entry in that cell out.
    pub fn take_at(&mut self, cell: usize) -> Option<(Sector, Entry)> {
        let sector = self.sectors.get(cell).copied().filter(|found| *found != EMPTY)?;
        let value = *self.values.get(cell)?;
        self.len -= 1;
        self.old -= u32::from(value & PARITY != self.parity);
        self.close_gap(cell);
        Some((Sector::new(sector), entry(value)))
    }

    /// Moves entries behind a cell that becomes empty up, as far as none stands at its home.
    fn close_gap(&mut self, mut gap: usize) {
        for _ in 0..self.sectors.len() {
            let cell = self.after(gap);
            let moved = self.sectors.get(cell).copied().filter(|found| *found != EMPTY);
            let Some(sector) = moved.filter(|sector| self.distance(cell, *sector) > 0) else {
                break;
            };
            let value = self.values.get(cell).copied().unwrap_or(0);
            self.set(gap, sector, value);
            gap = cell;
        }
        self.set(gap, EMPTY, 0);
    }

    fn set(&mut self, cell: usize, sector: u32, value: u32) {
        if let (Some(found), Some(held)) = (self.sectors.get_mut(cell), self.values.get_mut(cell)) {
            (*found, *held) = (sector, value);
        }
    }

    /// Begins an epoch: all entries are of the one before. Only where none was left of the one before that.
    pub fn begin_epoch(&mut self) {
        debug_assert!(
            self.old == 0 || planted(Bug::MoveHorizonEarly),
            "entries are left of the epoch that ends"
        );
        self.parity ^= PARITY;
        self.old = self.len;
    }

    /// The next entries from the hand on, so many cells far; the hand moves on.
    pub fn next_entries(&mut self, cells: usize) -> impl Iterator<Item = Sector> + '_ {
        let start = self.hand;
        let all = self.sectors.len().max(1);
        self.hand = (start + cells) % all;
        let numbers = (0..cells.min(all)).map(move |ahead| (start + ahead) % all);
        numbers.filter_map(|cell| {
            self.sectors.get(cell).copied().filter(|found| *found != EMPTY).map(Sector::new)
        })
    }

    /// The next entry of the epoch before, from the hand on.
    pub fn next_old(&mut self) -> Option<Sector> {
        if self.old == 0 {
            return None;
        }
        for _ in 0..self.sectors.len() {
            let cell = self.hand;
            self.hand = self.after(cell);
            let sector = self.sectors.get(cell).copied().filter(|found| *found != EMPTY);
            let value = self.values.get(cell).copied().unwrap_or(0);
            if let Some(sector) = sector
                && value & PARITY != self.parity
            {
                return Some(Sector::new(sector));
            }
        }
        None
    }

    /// Every entry.
    pub fn entries(&self) -> impl Iterator<Item = (Sector, Entry)> + '_ {
        let cells = self.sectors.iter().zip(&*self.values);
        cells
            .filter(|(sector, _)| **sector != EMPTY)
            .map(|(sector, value)| (Sector::new(*sector), entry(*value)))
    }

    /// Visits the entries whose home is that cell or one behind it, in the order of their homes, until one is refused.
    /// Gives the home of that one, or how many cells there are.
    pub fn visit_from(&self, home: usize, mut takes: impl FnMut(Sector, Entry) -> bool) -> usize {
        let cells = self.sectors.len();
        // Those from before the first cell that is asked for stand before its own.
        let mut skips = true;
        // Behind the last cell stand, in the first ones, those that have come beyond it.
        for at in home..2 * cells {
            let beyond = at >= cells;
            let cell = if beyond { at - cells } else { at };
            let (Some(&sector), Some(&value)) = (self.sectors.get(cell), self.values.get(cell))
            else {
                break;
            };
            if sector == EMPTY {
                if beyond {
                    break;
                }
                skips = false;
                continue;
            }
            if skips || beyond {
                let own = at.checked_sub(self.distance(cell, sector));
                if own.is_none_or(|own| own < home) {
                    continue;
                }
                if own >= Some(cells) {
                    break;
                }
                skips = false;
            }
            if !takes(Sector::new(sector), entry(value)) {
                return at - self.distance(cell, sector);
            }
        }
        cells
    }

    /// The entry in that cell.
    pub fn entry_at(&self, cell: usize) -> Option<(Sector, Entry)> {
        let sector = self.sectors.get(cell).copied().filter(|found| *found != EMPTY)?;
        Some((Sector::new(sector), entry(self.values.get(cell).copied()?)))
    }

    /// Cells.
    pub const fn cells(&self) -> usize {
        self.sectors.len()
    }
}

const fn entry(value: u32) -> Entry {
    let old = if value & RELEASED == 0 { Old::Counted } else { Old::Released };
    Entry { place: Place::new(value & PLACE), old }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Random steps beside a map, in a table that is nearly full all the time.
    #[test]
    fn the_table_holds_what_was_put_whatever_is_taken_out() {
        for seed in 1..40_u64 {
            let (mut sectors, mut values) = (vec![0; 37], vec![0; 37]);
            let mut table = DirtyTable::new(&mut sectors, &mut values);
            let mut truth: BTreeMap<u32, u32> = BTreeMap::new();
            let mut dice = seed;
            for step in 0..3_000 {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let sector = (dice >> 33) as u32 % 90;
                if dice >> 61 < 3 || truth.len() == 36 {
                    let taken = table.take(Sector::new(sector)).map(|entry| entry.place.get());
                    assert_eq!(taken, truth.remove(&sector), "{seed} {step}");
                } else {
                    let entry = Entry { place: Place::new(step), old: Old::Released };
                    assert!(table.put(Sector::new(sector), entry));
                    truth.insert(sector, step);
                }
                for sector in 0..90 {
                    let found = table.get(Sector::new(sector)).map(|entry| entry.place.get());
                    assert_eq!(found, truth.get(&sector).copied(), "{seed} {step}");
                }
                assert_eq!(table.len() as usize, truth.len());
            }
        }
    }

    /// However often a walk rests, and whatever is put in and taken out meanwhile, it meets all that stays.
    #[test]
    fn a_walk_by_homes_meets_every_entry_that_stays() {
        for seed in 1..200_u64 {
            let (mut sectors, mut values) = (vec![0; 37], vec![0; 37]);
            let mut table = DirtyTable::new(&mut sectors, &mut values);
            let mut dice = seed;
            let mut roll = |below: u64| {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (dice >> 33) % below
            };
            let entry = Entry { place: Place::new(1), old: Old::Released };
            while table.len() < 30 {
                table.put(Sector::new(roll(90) as u32), entry);
            }
            let mut stays: Vec<u32> = table.entries().map(|(sector, _)| sector.get()).collect();
            stays.sort_unstable();
            let mut all = Vec::new();
            table.visit_from(0, |sector, _| {
                all.push(sector.get());
                true
            });
            all.sort_unstable();
            assert_eq!(all, stays, "{seed}: all of them, each once");
            let (mut home, mut met) = (0, Vec::new());
            while home < table.cells() {
                // More than have the same home, or it would not come further.
                let mut room = 12;
                home = table.visit_from(home, |sector, _| {
                    room -= 1;
                    met.push(sector.get());
                    room > 0
                });
                for _ in 0..4 {
                    let sector = roll(90) as u32;
                    if table.take(Sector::new(sector)).is_some() {
                        stays.retain(|stays| *stays != sector);
                    }
                    if table.len() < 34 {
                        table.put(Sector::new(roll(90) as u32), entry);
                    }
                }
            }
            assert!(stays.iter().all(|sector| met.contains(sector)), "{seed}");
        }
    }

    #[test]
    fn an_epoch_ends_when_its_entries_are_written_anew_or_taken() {
        let (mut sectors, mut values) = (vec![0; 9], vec![0; 9]);
        let mut table = DirtyTable::new(&mut sectors, &mut values);
        let entry = Entry { place: Place::new(7), old: Old::Counted };
        for sector in 0..4 {
            table.put(Sector::new(sector), entry);
        }
        table.begin_epoch();
        assert_eq!(table.old(), 4);
        table.put(Sector::new(1), entry);
        table.take(Sector::new(2));
        assert_eq!(table.old(), 2);
        let first = table.next_old().unwrap();
        table.take(first);
        let last = table.next_old().unwrap();
        table.take(last);
        assert_eq!((table.old(), table.next_old()), (0, None));
        assert_eq!([first.get(), last.get()].map(|sector| [0, 3].contains(&sector)), [true; 2]);
    }
}
