//! The table of dirty entries: sectors whose newest address is not yet in a map page, in order. So those of a map page
//! follow one another, and a walk that goes on behind the last sector that it met misses no entry that stays.
//!
//! Each entry records whether the address in its map page is still counted among the references of the block that it
//! points into ([`Old`]), and to which of two epochs it belongs: the current one or the previous one. It belongs to the
//! one in which it was added, however often its sector is written.

use ftl_iface::{Sector, SectorCount};

use super::bins::{BinMemory, Bins, Cell, Full, Gap, Held};
use crate::paged::plan::address::Place;
use crate::paged::rules;

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

/// An entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dirty {
    /// Where it is, until entries are added or removed.
    pub cell: Cell,
    /// Its sector.
    pub sector: Sector,
    /// What the table holds of it.
    pub entry: Entry,
}

/// The table.
#[derive(Debug)]
pub struct DirtyTable<'ram> {
    bins: Bins<'ram>,
    /// The number of entries that surely fit.
    most: u32,
    /// The mark of the current epoch.
    parity: u32,
    /// Entries of the previous epoch.
    old: u32,
    /// The position of the search for a full leaf, in bins.
    next_bin: usize,
    /// The position of the search for entries of the previous epoch.
    next_old: Sector,
}

impl<'ram> DirtyTable<'ram> {
    /// Creates an empty table in this memory, for `most` entries.
    pub fn new(memory: BinMemory<'ram>, most: u32) -> Self {
        let bins = Bins::new(memory);
        Self { bins, most, parity: 0, old: 0, next_bin: 0, next_old: Sector::new(0) }
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.bins.clear();
        self.old = 0;
    }

    /// Returns the number of entries.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.bins.len()
    }

    /// Whether there are no entries.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of entries of the previous epoch.
    #[cfg(test)]
    const fn old(&self) -> u32 {
        self.old
    }

    /// How many more entries it has space for.
    pub const fn vacant(&self) -> u32 {
        self.most.saturating_sub(self.len())
    }

    /// Returns a sector's entry, and where it is.
    #[inline]
    pub fn find(&mut self, sector: Sector) -> Option<Dirty> {
        self.search(sector).ok()
    }

    /// Returns a sector's entry, and where it is; or where it would be.
    #[inline(never)]
    pub fn search(&mut self, sector: Sector) -> Result<Dirty, Gap> {
        let (cell, word) = self.bins.search(sector.get())?;
        Ok(dirty((cell, Held { sector: sector.get(), word })))
    }

    /// Returns a sector's entry.
    #[inline]
    pub fn get(&mut self, sector: Sector) -> Option<Entry> {
        self.find(sector).map(|dirty| dirty.entry)
    }

    /// Shows the entries of a run of sectors.
    #[inline]
    pub fn show_run(
        &mut self,
        first: Sector,
        count: SectorCount,
        mut show: impl FnMut(Sector, Entry),
    ) {
        self.bins.show_run(first.get(), (first + count).get(), |held| {
            show(Sector::new(held.sector), entry_of(held.word));
        });
    }

    /// Iterates over the entries from a sector on, in order.
    pub fn entries_from(&mut self, first: Sector) -> impl Iterator<Item = Dirty> + '_ {
        let first = self.bins.seek(first.get());
        self.bins.all_from(first).map(dirty)
    }

    /// Iterates over all entries, in order.
    pub fn entries(&self) -> impl Iterator<Item = Dirty> + '_ {
        self.bins.all_from(Bins::start(0)).map(dirty)
    }

    /// Returns the last entry.
    pub fn last(&self) -> Option<Dirty> {
        self.bins.last().map(dirty)
    }

    #[inline]
    const fn word(&self, entry: Entry) -> u32 {
        let released = if matches!(entry.old, Old::Released) { RELEASED } else { 0 };
        entry.place.get() & PLACE | released | self.parity
    }

    /// Sets a sector's entry. A new one is of the current epoch.
    pub fn put(&mut self, sector: Sector, entry: Entry) -> Result<(), Full> {
        match self.search(sector) {
            Ok(Dirty { cell, .. }) => {
                self.renew(cell, entry);
                Ok(())
            }
            Err(gap) => self.add(gap, sector, entry),
        }
    }

    /// Sets the entry in a cell. It stays of its epoch.
    #[inline]
    pub fn renew(&mut self, cell: Cell, entry: Entry) {
        let word = self.word(entry);
        if let Some(held) = self.bins.word_mut(cell) {
            let now = if rules::keeps_epoch() { word & !PARITY | *held & PARITY } else { word };
            self.old -= u32::from((*held ^ now) & PARITY != 0);
            *held = now;
        }
    }

    /// Adds an entry for a sector that has none, in the current epoch.
    #[inline(never)]
    pub fn add(&mut self, gap: Gap, sector: Sector, entry: Entry) -> Result<(), Full> {
        if self.len() >= self.most {
            return Err(Full);
        }
        self.bins.add(gap, Held { sector: sector.get(), word: self.word(entry) })
    }

    /// Marks the address in the map page of the sector in a cell as released.
    pub fn release(&mut self, cell: Cell) {
        if let Some(word) = self.bins.word_mut(cell) {
            *word |= RELEASED;
        }
    }

    /// Removes a sector's entry.
    pub fn take(&mut self, sector: Sector) -> Option<Entry> {
        let Dirty { cell, entry, .. } = self.find(sector)?;
        let word = self.bins.word_mut(cell).copied().unwrap_or(0);
        self.old -= u32::from(word & PARITY != self.parity);
        self.bins.remove(cell);
        Some(entry)
    }

    /// Removes the entries of a run of sectors.
    pub fn remove_run(&mut self, first: Sector, count: SectorCount) {
        let Self { bins, old, parity, .. } = self;
        bins.remove_run(first.get(), (first + count).get(), |words| {
            *old -= words.iter().map(|word| u32::from(*word & PARITY != *parity)).sum::<u32>();
        });
    }

    /// Whether what the entries of the previous epoch say is in map pages.
    pub fn may_move_horizon(&self) -> bool {
        rules::may_move_horizon(self.old)
    }

    /// Begins an epoch: all entries now belong to the previous one. Requires that no entry of the previous epoch is
    /// left.
    pub fn begin_epoch(&mut self) {
        debug_assert!(self.may_move_horizon(), "entries are left of the epoch that ends");
        self.parity ^= PARITY;
        self.old = self.len();
    }

    /// Returns the first sectors of the next bins, and advances the position. The more entries a leaf has, the more
    /// likely it is among theirs.
    pub fn next_sectors(&mut self, bins: usize) -> impl Iterator<Item = Sector> + '_ {
        let used = self.bins.used();
        let start = if self.next_bin < used { self.next_bin } else { 0 };
        let end = start + bins.min(used);
        self.next_bin = if end < used { end } else { end - used };
        let ranks = (start..end).map(move |rank| if rank < used { rank } else { rank - used });
        let held = ranks.filter_map(|rank| self.bins.held_from(Bins::start(rank)));
        held.map(|held| dirty(held).sector)
    }

    /// Returns the next entry of the previous epoch, from the position on.
    pub fn next_old(&mut self) -> Option<Sector> {
        if self.old == 0 {
            return None;
        }
        let start = self.bins.seek(self.next_old.get());
        let is_old = |held: &(Cell, Held)| held.1.word & PARITY != self.parity;
        let from = |cell| self.bins.all_from(cell).find(is_old);
        let found = from(start).or_else(|| from(Bins::start(0))).map(dirty)?;
        self.next_old = found.sector;
        Some(found.sector)
    }
}

#[inline]
const fn dirty((cell, held): (Cell, Held)) -> Dirty {
    Dirty { cell, sector: Sector::new(held.sector), entry: entry_of(held.word) }
}

#[inline]
const fn entry_of(word: u32) -> Entry {
    let old = if word & RELEASED == 0 { Old::Counted } else { Old::Released };
    Entry { place: Place::new(word & PLACE), old }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ops::Bound::{Excluded, Included};

    use super::*;
    use crate::paged::plan::bins::{BIN, bins_for};

    struct Memory {
        firsts: Vec<u32>,
        order: Vec<u32>,
        words: Vec<u32>,
        lows: Vec<u16>,
        most: u32,
    }

    impl Memory {
        fn of(most: u32, sectors: u32) -> Self {
            let bins = bins_for(most, sectors) as usize;
            Self {
                firsts: vec![7; bins],
                order: vec![7; bins],
                words: vec![7; bins * BIN],
                lows: vec![7; bins * BIN],
                most,
            }
        }

        fn table(&mut self) -> DirtyTable<'_> {
            let Self { firsts, order, words, lows, most } = self;
            DirtyTable::new(BinMemory { firsts, order, words, lows }, *most)
        }
    }

    struct Dice(u64);

    impl Dice {
        fn below(&mut self, end: u32) -> u32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((self.0 >> 33) % u64::from(end)) as u32
        }
    }

    fn entry(place: u32) -> Entry {
        Entry { place: Place::new(place), old: Old::Released }
    }

    fn found(table: &mut DirtyTable<'_>, from: u32) -> Vec<(u32, u32)> {
        let entries = table.entries_from(Sector::new(from));
        entries.map(|dirty| (dirty.sector.get(), dirty.entry.place.get())).collect()
    }

    #[test]
    fn an_entry_stays_of_its_epoch_however_often_its_sector_is_written() {
        let mut memory = Memory::of(16, 100);
        let mut table = memory.table();
        table.put(Sector::new(3), entry(1)).expect("there is space");
        table.begin_epoch();
        table.put(Sector::new(3), entry(2)).expect("it is there");
        assert_eq!((table.may_move_horizon(), table.next_old()), (false, Some(Sector::new(3))));
        table.take(Sector::new(3));
        assert_eq!((table.may_move_horizon(), table.next_old()), (true, None));
    }

    /// Random steps beside a reference map, in a table that is nearly full all the time, over one span and over many.
    #[test]
    fn the_table_holds_what_was_put_whatever_is_taken_out() {
        for seed in 1..60_u32 {
            let mut dice = Dice(seed.into());
            let most = [1, 2, 16, 17, 40, 200][seed as usize % 6];
            let sectors = [most + 50, 90, 1 << 18, 1 << 29][seed as usize % 4].max(most + 1);
            let mut memory = Memory::of(most, sectors);
            let mut table = memory.table();
            let mut truth: BTreeMap<u32, u32> = BTreeMap::new();
            let mut front = 0;
            for step in 0..3_000 {
                // Random sectors, neighbours of those that are there, and runs in order.
                let sector = match dice.below(3) {
                    0 => dice.below(sectors),
                    1 => truth.keys().next().map_or(0, |first| first + dice.below(40)),
                    _ => {
                        front += 1;
                        (dice.below(2) << 16) + front
                    }
                } % sectors;
                let full = truth.len() as u32 == most && !truth.contains_key(&sector);
                if dice.below(9) == 0 && full {
                    assert_eq!(table.put(Sector::new(sector), entry(0)), Err(Full));
                } else if dice.below(60) == 0 {
                    let count = 1 + dice.below(sectors / 2);
                    table.remove_run(Sector::new(sector), SectorCount::new(count));
                    truth.retain(|held, _| *held < sector || *held >= sector + count);
                } else if dice.below(4) == 0 || full {
                    let held = truth.range((Included(sector), Included(u32::MAX))).next();
                    let sector = held.map_or(sector, |(sector, _)| *sector);
                    let taken = table.take(Sector::new(sector)).map(|entry| entry.place.get());
                    assert_eq!(taken, truth.remove(&sector), "{seed} {step}");
                } else {
                    assert_eq!(
                        table.put(Sector::new(sector), entry(step)),
                        Ok(()),
                        "{seed} {step}"
                    );
                    truth.insert(sector, step);
                }
                let all: Vec<(u32, u32)> = truth.iter().map(|(one, two)| (*one, *two)).collect();
                assert_eq!(found(&mut table, 0), all, "{seed} {step}");
                let later = truth.range((Excluded(sector), Included(u32::MAX)));
                let later: Vec<(u32, u32)> = later.map(|(one, two)| (*one, *two)).collect();
                assert_eq!(found(&mut table, sector + 1), later, "{seed} {step}");
                for sector in [sector, sector + 1, sector.saturating_sub(1)] {
                    let found = table.get(Sector::new(sector)).map(|entry| entry.place.get());
                    assert_eq!(found, truth.get(&sector).copied(), "{seed} {step}");
                }
                let last = truth.last_key_value().map(|(sector, _)| *sector);
                assert_eq!(table.last().map(|dirty| dirty.sector.get()), last);
                assert_eq!(table.len() as usize, truth.len());
                assert_eq!(table.vacant() as usize, most as usize - truth.len());
            }
        }
    }

    #[test]
    fn a_run_shows_the_entries_in_it_and_no_others() {
        for sectors in [300, 1 << 18] {
            let mut memory = Memory::of(250, sectors);
            let mut table = memory.table();
            let mut dice = Dice(5);
            for place in 0..240 {
                assert_eq!(table.put(Sector::new(dice.below(sectors)), entry(place)), Ok(()));
            }
            let all = found(&mut table, 0);
            for _ in 0..200 {
                let first = dice.below(sectors);
                let end = first + dice.below(sectors - first);
                let mut shown = Vec::new();
                table.show_run(Sector::new(first), SectorCount::new(end - first), |at, entry| {
                    shown.push((at.get(), entry.place.get()));
                });
                let inside = |(sector, _): &&(u32, u32)| (first..end).contains(sector);
                assert_eq!(shown, all.iter().filter(inside).copied().collect::<Vec<_>>());
            }
        }
    }

    /// The leaf with most of the entries is among those that one round over the bins shows.
    #[test]
    fn the_next_sectors_are_of_all_bins_in_turn() {
        let mut memory = Memory::of(300, 1 << 17);
        let mut table = memory.table();
        let mut dice = Dice(3);
        while table.len() < 270 {
            assert_eq!(table.put(Sector::new(dice.below(1 << 17)), entry(1)), Ok(()));
        }
        for sector in 5_000..5_030 {
            assert_eq!(table.put(Sector::new(sector), entry(1)), Ok(()));
        }
        let mut shown: Vec<u32> = Vec::new();
        for _ in 0..10 {
            shown.extend(table.next_sectors(5).map(Sector::get));
        }
        assert!(shown.iter().any(|sector| (5_000..5_030).contains(sector)));
        shown.sort_unstable();
        shown.dedup();
        assert!(shown.len() > 18, "{shown:?}");
    }

    #[test]
    fn an_epoch_ends_when_its_entries_are_taken() {
        let mut memory = Memory::of(16, 100);
        let mut table = memory.table();
        let entry = Entry { place: Place::new(7), old: Old::Counted };
        for sector in 0..6 {
            assert_eq!(table.put(Sector::new(sector), entry), Ok(()));
        }
        table.begin_epoch();
        assert_eq!(table.old(), 6);
        assert_eq!(table.put(Sector::new(1), entry), Ok(()));
        table.take(Sector::new(2));
        table.remove_run(Sector::new(4), SectorCount::new(9));
        assert_eq!(table.old(), 3);
        table.take(Sector::new(1));
        let first = table.next_old().unwrap();
        table.take(first);
        let last = table.next_old().unwrap();
        table.take(last);
        assert_eq!((table.old(), table.next_old()), (0, None));
        assert_eq!([first.get(), last.get()], [0, 3]);
    }
}
