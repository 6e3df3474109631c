//! The table of dirty entries: sectors whose newest address is not yet in a map page.
//!
//! Cells come in groups of eight. A sector's entry is in its home group or, if that was full, in a later one; each
//! group counts the entries that overflowed beyond it. So an unsuccessful lookup, which most are, ends after the home
//! group or a few more. When an entry is removed, one that had overflowed moves back: entries move only to earlier
//! cells, so a walk through the cells from the last to the first misses no entry that stays. If a set of entries fits
//! in one order of insertion, it fits in every order: a mount can insert what it finds in any order.
//!
//! Each entry records whether the address in its map page is still counted among the references of the block that it
//! points into ([`Old`]), and to which of two epochs it belongs: the current one or the previous one.

use ftl_iface::Sector;

use crate::bugs::{Bug, planted};
use crate::paged::plan::address::Place;
use crate::paged::plan::shape::GROUP;

/// No sector.
const EMPTY: u32 = u32::MAX;
const PLACE: u32 = (1 << Place::BITS) - 1;
const RELEASED: u32 = 1 << 30;
const PARITY: u32 = 1 << 31;

/// Whether the address in the sector's map page is still counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Old {
    /// The block that it points into still counts it as a reference.
    Counted,
    /// No block counts it any more, or the map page has none.
    Released,
}

/// A dirty entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The sector's newest place.
    pub place: Place,
    /// The state of the address in its map page.
    pub old: Old,
}

/// The counter of overflowed entries saturates at this value, and is then not decremented until the next epoch begins.
const MANY: u8 = u8::MAX;

/// The table.
#[derive(Debug)]
pub struct DirtyTable<'ram> {
    sectors: &'ram mut [[u32; GROUP]],
    values: &'ram mut [[u32; GROUP]],
    /// Entries that overflowed beyond each group, from this group or an earlier one.
    beyond: &'ram mut [u8],
    len: u32,
    /// The mark of the current epoch.
    parity: u32,
    /// Entries of the previous epoch.
    old: u32,
    /// The position of the search for entries to write back.
    hand: usize,
}

impl<'ram> DirtyTable<'ram> {
    /// Creates an empty table in this memory, with as many groups as fit into all three slices.
    pub fn new(sectors: &'ram mut [u32], values: &'ram mut [u32], beyond: &'ram mut [u8]) -> Self {
        let (sectors, values) = (sectors.as_chunks_mut().0, values.as_chunks_mut().0);
        let mut table = Self { sectors, values, beyond, len: 0, parity: 0, old: 0, hand: 0 };
        table.clear();
        table
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.sectors.as_flattened_mut().fill(EMPTY);
        self.beyond.fill(0);
        (self.len, self.old) = (0, 0);
    }

    /// Returns the number of entries.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether there are no entries.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of entries of the previous epoch.
    #[inline]
    pub const fn old(&self) -> u32 {
        self.old
    }

    /// Returns a sector's home group. Consecutive sectors have distant homes: otherwise a long run would fill whole
    /// groups, and most of its entries would overflow far.
    #[inline]
    const fn home(&self, sector: u32) -> usize {
        let mixed = sector.wrapping_mul(0x9E37_79B1);
        ((mixed as u64 * self.sectors.len() as u64) >> 32) as usize
    }

    #[inline]
    const fn after(&self, group: usize) -> usize {
        if group + 1 >= self.sectors.len() { 0 } else { group + 1 }
    }

    /// Returns the cell of a sector's entry.
    #[inline]
    pub fn find(&self, sector: Sector) -> Option<usize> {
        let mut group = self.home(sector.get());
        for _ in 0..self.sectors.len() {
            let cells = self.sectors.get(group)?;
            if let Some(at) = cells.iter().position(|found| *found == sector.get()) {
                return Some(group * GROUP + at);
            }
            if *self.beyond.get(group)? == 0 {
                break;
            }
            group = self.after(group);
        }
        None
    }

    /// Returns the first entry of a sector in this run, beginning at a cell, and its cell. Examining each cell once
    /// costs less than looking up each sector of a leaf.
    pub fn next_in(&self, from: usize, first: Sector, count: u32) -> Option<(usize, Sector)> {
        let (group, cell) = (from / GROUP, from % GROUP);
        let groups = self.sectors.get(group..)?;
        let here =
            groups.first()?.get(cell..)?.iter().position(|found| is_in(*found, first, count));
        let at = if let Some(at) = here {
            from + at
        } else {
            let later = groups.get(1..)?;
            let ahead = later.iter().position(|cells| any_in(cells, first, count))?;
            let cells = later.get(ahead)?;
            let at = cells.iter().position(|found| is_in(*found, first, count))?;
            (group + 1 + ahead) * GROUP + at
        };
        let sector = self.sectors.get(at / GROUP)?.get(at % GROUP)?;
        Some((at, Sector::new(*sector)))
    }

    /// Returns the last cell before this one with an entry of a sector in the run.
    pub fn last_in(&self, before: usize, first: Sector, count: u32) -> Option<usize> {
        let (group, cell) = (before / GROUP, before % GROUP);
        let here = self.sectors.get(group).and_then(|cells| {
            cells.get(..cell)?.iter().rposition(|found| is_in(*found, first, count))
        });
        if let Some(at) = here {
            return Some(group * GROUP + at);
        }
        let earlier = self.sectors.get(..group)?;
        let group = earlier.iter().rposition(|cells| any_in(cells, first, count))?;
        let at = earlier.get(group)?.iter().rposition(|found| is_in(*found, first, count))?;
        Some(group * GROUP + at)
    }

    /// Returns a sector's entry.
    #[inline]
    pub fn get(&self, sector: Sector) -> Option<Entry> {
        let (_, entry) = self.entry_at(self.find(sector)?)?;
        Some(entry)
    }

    #[inline]
    const fn value(&self, entry: Entry) -> u32 {
        let released = if matches!(entry.old, Old::Released) { RELEASED } else { 0 };
        entry.place.get() & PLACE | released | self.parity
    }

    /// Sets a sector's entry, in the current epoch. Returns `false` if the table is full.
    pub fn put(&mut self, sector: Sector, entry: Entry) -> bool {
        match self.find(sector) {
            Some(cell) => {
                self.renew(cell, entry);
                true
            }
            None => self.add(sector, entry),
        }
    }

    /// Sets the entry in a cell, in the current epoch.
    #[inline]
    pub fn renew(&mut self, cell: usize, entry: Entry) {
        let value = self.value(entry);
        if let Some(held) = self.value_mut(cell) {
            let before = core::mem::replace(held, value);
            self.old -= u32::from((before ^ value) & PARITY != 0);
        }
    }

    /// How many more entries it has space for.
    pub fn vacant(&self) -> usize {
        self.cells().saturating_sub(self.len as usize)
    }

    /// Adds an entry for a sector that has none, in the current epoch. Returns `false` if the table is full.
    pub fn add(&mut self, sector: Sector, entry: Entry) -> bool {
        if self.len as usize >= self.cells() {
            return false;
        }
        let value = self.value(entry);
        let mut group = self.home(sector.get());
        for _ in 0..self.sectors.len() {
            let (Some(cells), Some(beyond)) =
                (self.sectors.get_mut(group), self.beyond.get_mut(group))
            else {
                break;
            };
            let empty = cells.iter_mut().zip(group * GROUP..).find(|(found, _)| **found == EMPTY);
            if let Some((found, cell)) = empty {
                *found = sector.get();
                if let Some(held) = self.value_mut(cell) {
                    *held = value;
                }
                self.len += 1;
                return true;
            }
            *beyond = beyond.saturating_add(1);
            group = self.after(group);
        }
        false
    }

    #[inline]
    fn value_mut(&mut self, cell: usize) -> Option<&mut u32> {
        self.values.get_mut(cell / GROUP)?.get_mut(cell % GROUP)
    }

    /// Marks the address in the sector's map page as released.
    pub fn release(&mut self, sector: Sector) {
        if let Some(cell) = self.find(sector)
            && let Some(value) = self.value_mut(cell)
        {
            *value |= RELEASED;
        }
    }

    /// Removes a sector's entry.
    pub fn take(&mut self, sector: Sector) -> Option<Entry> {
        self.take_at(self.find(sector)?).map(|(_, entry)| entry)
    }

    /// Removes the entry in a cell. Others may move, but only into this cell and later ones.
    pub fn take_at(&mut self, cell: usize) -> Option<(Sector, Entry)> {
        let value = *self.values.get(cell / GROUP)?.get(cell % GROUP)?;
        let found = self.sectors.get_mut(cell / GROUP)?.get_mut(cell % GROUP)?;
        let sector = core::mem::replace(found, EMPTY);
        if sector == EMPTY {
            return None;
        }
        self.len -= 1;
        self.old -= u32::from(value & PARITY != self.parity);
        let mut group = self.home(sector);
        while group != cell / GROUP {
            let beyond = self.beyond.get_mut(group)?;
            if *beyond < MANY {
                *beyond -= 1;
            }
            group = self.after(group);
        }
        self.fill_gap(cell);
        Some((Sector::new(sector), entry(value)))
    }

    /// Fills an emptied cell with an entry that overflowed beyond its group, then the cell of that entry, and so on.
    fn fill_gap(&mut self, mut gap: usize) {
        while self.beyond.get(gap / GROUP).is_some_and(|beyond| *beyond > 0)
            && let Some(cell) = self.come_to(gap / GROUP + 1)
            && let Some((sector, value)) = self.held(cell)
        {
            self.set(gap, sector.get(), value);
            self.set(cell, EMPTY, 0);
            if let Some(beyond) = self.beyond.get_mut(gap / GROUP).filter(|beyond| **beyond < MANY)
            {
                *beyond -= 1;
            }
            gap = cell;
        }
    }

    /// Returns a cell of the group whose entry has another home.
    fn come_to(&self, group: usize) -> Option<usize> {
        let cells = self.sectors.get(group)?;
        let is_guest = |found: &u32| *found != EMPTY && self.home(*found) != group;
        cells.iter().position(is_guest).map(|at| group * GROUP + at)
    }

    fn set(&mut self, cell: usize, sector: u32, value: u32) {
        if let Some(found) = self.sectors.get_mut(cell / GROUP) {
            found[cell % GROUP] = sector;
        }
        if let Some(held) = self.values.get_mut(cell / GROUP) {
            held[cell % GROUP] = value;
        }
    }

    /// Begins an epoch: all entries now belong to the previous one. Requires that no entry of the previous epoch is
    /// left.
    pub fn begin_epoch(&mut self) {
        debug_assert!(
            self.old == 0 || planted(Bug::MoveHorizonEarly),
            "entries are left of the epoch that ends"
        );
        self.parity ^= PARITY;
        self.old = self.len;
        // Saturated counters are rare, but without this lookups would pass such groups forever.
        if self.beyond.contains(&MANY) {
            self.count_beyond();
        }
    }

    /// Recounts the overflowed entries of each group.
    #[cold]
    fn count_beyond(&mut self) {
        self.beyond.fill(0);
        for cell in 0..self.cells() {
            let Some((sector, _)) = self.held(cell) else { continue };
            let mut group = self.home(sector.get());
            while group != cell / GROUP
                && let Some(beyond) = self.beyond.get_mut(group)
            {
                *beyond = beyond.saturating_add(1);
                group = self.after(group);
            }
        }
    }

    /// Returns the entries of the next groups, and advances the position.
    pub fn next_entries(&mut self, groups: usize) -> impl Iterator<Item = Sector> + '_ {
        let all = self.sectors.len();
        let start = if self.hand < self.cells() { self.hand / GROUP } else { 0 };
        let end = start + groups.min(all);
        self.hand = if end < all { end } else { end - all } * GROUP;
        let (before, from) = self.sectors.split_at_checked(start).unwrap_or((&[], &[]));
        let cells = from.iter().chain(before).take(groups).flatten();
        cells.filter(|found| **found != EMPTY).map(|found| Sector::new(*found))
    }

    /// Returns the next entry of the previous epoch, from the position on.
    pub fn next_old(&mut self) -> Option<Sector> {
        if self.old == 0 {
            return None;
        }
        for _ in 0..self.cells() {
            let cell = self.hand;
            self.hand = if cell + 1 >= self.cells() { 0 } else { cell + 1 };
            if let Some((sector, value)) = self.held(cell)
                && value & PARITY != self.parity
            {
                return Some(sector);
            }
        }
        None
    }

    /// Iterates over all entries.
    pub fn entries(&self) -> impl Iterator<Item = (Sector, Entry)> + '_ {
        (0..self.cells()).filter_map(|cell| self.entry_at(cell))
    }

    /// Visits the entries except those in the last `passed` cells, from later cells to earlier ones, until one is
    /// refused. Returns how many cells have then been passed.
    pub fn visit(&self, passed: usize, mut takes: impl FnMut(Sector, Entry) -> bool) -> usize {
        let cells = self.cells();
        for passed in passed..cells {
            if let Some((sector, entry)) = self.entry_at(cells - 1 - passed)
                && !takes(sector, entry)
            {
                return passed;
            }
        }
        cells
    }

    #[inline]
    fn held(&self, cell: usize) -> Option<(Sector, u32)> {
        let sector = *self.sectors.get(cell / GROUP)?.get(cell % GROUP)?;
        let value = *self.values.get(cell / GROUP)?.get(cell % GROUP)?;
        (sector != EMPTY).then(|| (Sector::new(sector), value))
    }

    /// Returns the entry in a cell.
    #[inline]
    pub fn entry_at(&self, cell: usize) -> Option<(Sector, Entry)> {
        self.held(cell).map(|(sector, value)| (sector, entry(value)))
    }

    /// Returns the number of cells.
    #[inline]
    pub const fn cells(&self) -> usize {
        self.sectors.len() * GROUP
    }
}

/// Whether a cell has a sector of the run.
#[inline]
const fn is_in(found: u32, first: Sector, count: u32) -> bool {
    found.wrapping_sub(first.get()) < count
}

/// Whether any cell of a group has a sector of the run. Most have none; without a branch per cell the compiler can
/// compare several at once.
#[inline]
fn any_in(cells: &[u32; GROUP], first: Sector, count: u32) -> bool {
    let is_one = |found: &u32| is_in(*found, first, count);
    if cfg!(target_pointer_width = "64") {
        cells.iter().fold(false, |any, found| any | is_one(found))
    } else {
        cells.iter().any(is_one)
    }
}

#[inline]
const fn entry(value: u32) -> Entry {
    let old = if value & RELEASED == 0 { Old::Counted } else { Old::Released };
    Entry { place: Place::new(value & PLACE), old }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Random steps beside a reference map, in a table that is nearly full all the time.
    #[test]
    fn the_table_holds_what_was_put_whatever_is_taken_out() {
        for seed in 1..40_u64 {
            let (mut sectors, mut values, mut beyond) = (vec![0; 40], vec![0; 40], vec![0; 5]);
            let mut table = DirtyTable::new(&mut sectors, &mut values, &mut beyond);
            let mut truth: BTreeMap<u32, u32> = BTreeMap::new();
            let mut dice = seed;
            for step in 0..3_000 {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let sector = (dice >> 33) as u32 % 90;
                if dice >> 61 < 3 || truth.len() == 40 {
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

    /// A walk in several parts meets every entry that stays, whatever is inserted and removed in between.
    #[test]
    fn a_walk_meets_every_entry_that_stays() {
        for seed in 1..200_u64 {
            let (mut sectors, mut values, mut beyond) = (vec![0; 40], vec![0; 40], vec![0; 5]);
            let mut table = DirtyTable::new(&mut sectors, &mut values, &mut beyond);
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
            table.visit(0, |sector, _| {
                all.push(sector.get());
                true
            });
            all.sort_unstable();
            assert_eq!(all, stays, "{seed}: all of them, each once");
            let (mut passed, mut met) = (0, Vec::new());
            while passed < table.cells() {
                let mut room = 3;
                passed = table.visit(passed, |sector, _| {
                    if room > 0 {
                        met.push(sector.get());
                    }
                    room -= 1;
                    room >= 0
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

    /// More entries with one home than a counter of overflowed entries can hold.
    #[test]
    fn a_group_that_very_many_have_gone_beyond_leads_on_to_those_that_stay() {
        let (mut sectors, mut values, mut beyond) = (vec![0; 400], vec![0; 400], vec![0; 50]);
        let mut table = DirtyTable::new(&mut sectors, &mut values, &mut beyond);
        let same: Vec<u32> =
            (0..1 << 20).filter(|sector| table.home(*sector) == 7).take(300).collect();
        for sector in &same {
            let entry = Entry { place: Place::new(*sector), old: Old::Counted };
            assert!(table.put(Sector::new(*sector), entry));
        }
        let (gone, stay) = same.split_at(290);
        for sector in gone {
            assert!(table.take(Sector::new(*sector)).is_some(), "{sector}");
        }
        let all_stay = |table: &DirtyTable<'_>| {
            for sector in stay {
                let found = table.get(Sector::new(*sector)).map(|entry| entry.place.get());
                assert_eq!(found, Some(*sector));
            }
        };
        all_stay(&table);
        assert!(table.beyond.contains(&MANY));
        table.begin_epoch();
        // Eight of the ten that stay are in their home group, or all ten have overflowed.
        assert!(table.beyond.iter().all(|beyond| *beyond <= 10), "{:?}", table.beyond);
        all_stay(&table);
    }

    #[test]
    fn an_epoch_ends_when_its_entries_are_written_anew_or_taken() {
        let (mut sectors, mut values, mut beyond) = (vec![0; 16], vec![0; 16], vec![0; 2]);
        let mut table = DirtyTable::new(&mut sectors, &mut values, &mut beyond);
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
