//! Sectors in order, with a word for each, in bins of sixteen cells.
//!
//! The bins stand in order, too, so a sector is found by two short searches, and the cells of a leaf follow one
//! another. A cell has only the low half of its sector: all sectors of a bin are of one *span*, 65,536 sectors with the
//! same upper half. What does not fit into its bin any more goes to a neighbour, or to a bin of its own. If there is
//! none, some neighbours with much space share fewer bins: the plan makes so many bins that such neighbours are always
//! found. So what fits does not depend on the order in which it comes.

use super::cells::{below, divide, first_to_end, insert, last_to_front, remove};
use crate::paged::plan::bins::{BIN, LOW_BITS, NEIGHBOURS};

/// A bin with so many cells or fewer takes some from a full neighbour, or all of a small one.
const ROOMY: usize = 12;
/// An unused cell.
const UNUSED: u16 = u16::MAX;
/// In the order of bins: the bits for how many cells are in use.
const COUNT_BITS: u32 = 8;

/// The memory of the bins.
#[derive(Debug)]
pub struct BinMemory<'ram> {
    /// The lowest sector of each bin.
    pub firsts: &'ram mut [u32],
    /// The order of the bins.
    pub order: &'ram mut [u32],
    /// A word for each cell.
    pub words: &'ram mut [u32],
    /// The low half of the sector of each cell.
    pub lows: &'ram mut [u16],
}

/// A cell, until cells are added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Which of the bins in order.
    rank: usize,
    at: usize,
}

impl Cell {
    /// Returns the cell after this one, if the bin has one more.
    #[inline]
    pub(crate) const fn next(self) -> Self {
        Self { rank: self.rank, at: self.at + 1 }
    }
}

/// Where a sector would be that is not there, until cells are added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap(Cell);

/// A sector and its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) sector: u32,
    pub(crate) word: u32,
}

/// Every cell is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// The bins.
#[derive(Debug)]
pub(crate) struct Bins<'ram> {
    /// The lowest sector that each bin may hold, in order: it ends where the next one begins.
    firsts: &'ram mut [u32],
    /// The bins in use, in order, then the others: the number of a bin, and how many cells it uses.
    order: &'ram mut [u32],
    words: &'ram mut [[u32; BIN]],
    /// Those of unused cells are all ones.
    lows: &'ram mut [[u16; BIN]],
    used: usize,
    len: u32,
    /// How many bins began at the sector looked for last or before it: the next one is often the same, or near.
    begun: usize,
}

impl<'ram> Bins<'ram> {
    /// Creates empty bins, as many as fit into all slices.
    pub(crate) fn new(memory: BinMemory<'ram>) -> Self {
        let BinMemory { firsts, order, words, lows } = memory;
        let (words, lows) = (words.as_chunks_mut().0, lows.as_chunks_mut().0);
        let mut bins = Self { firsts, order, words, lows, used: 0, len: 0, begun: 0 };
        bins.clear();
        bins
    }

    /// Removes all cells.
    pub(crate) fn clear(&mut self) {
        for (number, bin) in (0..).zip(&mut *self.order) {
            *bin = number << COUNT_BITS;
        }
        self.lows.as_flattened_mut().fill(UNUSED);
        (self.used, self.len) = (0, 0);
    }

    /// Returns the number of cells in use.
    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.len
    }

    /// Returns the number of bins in use.
    pub(crate) const fn used(&self) -> usize {
        self.used
    }

    /// Returns the number of bins.
    fn bins(&self) -> usize {
        self.order.len()
    }

    /// Returns how many cells a bin uses.
    #[inline]
    fn count(&self, rank: usize) -> usize {
        let bin = self.order.get(rank).copied().unwrap_or(0);
        (bin & ((1 << COUNT_BITS) - 1)) as usize
    }

    #[inline]
    fn set_count(&mut self, rank: usize, count: usize) {
        if let Some(bin) = self.order.get_mut(rank) {
            *bin = *bin >> COUNT_BITS << COUNT_BITS | count as u32;
        }
    }

    #[inline]
    fn number(&self, rank: usize) -> usize {
        (self.order.get(rank).copied().unwrap_or(u32::MAX) >> COUNT_BITS) as usize
    }

    #[inline]
    fn first(&self, rank: usize) -> u32 {
        self.firsts.get(rank).copied().unwrap_or(0)
    }

    /// Whether a bin is in use and has the span of a sector.
    #[inline]
    fn spans(&self, rank: usize, sector: u32) -> bool {
        rank < self.used && self.first(rank) >> LOW_BITS == sector >> LOW_BITS
    }

    /// Returns how many bins begin at this sector or before it.
    #[inline]
    fn begun(&mut self, sector: u32) -> usize {
        let firsts = self.firsts.get(..self.used).unwrap_or(&[]);
        let begun = self.begun;
        let ends = begun <= self.used && firsts.get(begun).is_none_or(|first| *first > sector);
        if ends && (begun == 0 || firsts.get(begun - 1).is_some_and(|first| *first <= sector)) {
            return begun;
        }
        self.begun_anew(sector)
    }

    #[inline(never)]
    fn begun_anew(&mut self, sector: u32) -> usize {
        let firsts = self.firsts.get(..self.used).unwrap_or(&[]);
        self.begun = firsts.partition_point(|first| *first <= sector);
        self.begun
    }

    /// Returns how many cells of a bin are below this one.
    #[inline]
    fn below(&self, rank: usize, low: u16) -> usize {
        self.lows.get(self.number(rank)).map_or(0, |lows| below(lows, low))
    }

    /// Returns the cell of a sector, and its word; or where it would be.
    #[inline]
    pub(crate) fn search(&mut self, sector: u32) -> Result<(Cell, u32), Gap> {
        let begun = self.begun(sector);
        let none = Gap(Cell { rank: begun, at: BIN });
        let rank = begun.checked_sub(1).ok_or(none)?;
        let first = *self.firsts.get(rank).ok_or(none)?;
        if first >> LOW_BITS != sector >> LOW_BITS {
            return Err(none);
        }
        let bin = *self.order.get(rank).ok_or(none)?;
        let (number, count) = ((bin >> COUNT_BITS) as usize, usize::from(bin as u8));
        let lows = self.lows.get(number).ok_or(none)?;
        let low = sector as u16;
        let at = below(lows, low);
        let cell = Cell { rank, at };
        if at < count && lows.get(at) == Some(&low) {
            let word = self.words.get(number).and_then(|words| words.get(at)).ok_or(none)?;
            return Ok((cell, *word));
        }
        Err(Gap(cell))
    }

    /// Returns the first cell with this sector or a later one.
    #[inline]
    pub(crate) fn seek(&mut self, sector: u32) -> Cell {
        let begun = self.begun(sector);
        match begun.checked_sub(1) {
            Some(rank) if self.spans(rank, sector) => {
                Cell { rank, at: self.below(rank, sector as u16) }
            }
            _ => Cell { rank: begun, at: 0 },
        }
    }

    /// Returns the first cell of a bin.
    pub(crate) const fn start(rank: usize) -> Cell {
        Cell { rank, at: 0 }
    }

    /// Returns this cell, or the next one if the bin has no such cell; and what it holds.
    #[inline]
    pub(crate) fn held_from(&self, cell: Cell) -> Option<(Cell, Held)> {
        let cell = self.settled(cell);
        if cell.rank >= self.used {
            return None;
        }
        let number = self.number(cell.rank);
        let low = *self.lows.get(number)?.get(cell.at)?;
        let word = *self.words.get(number)?.get(cell.at)?;
        let sector = self.first(cell.rank) >> LOW_BITS << LOW_BITS | u32::from(low);
        Some((cell, Held { sector, word }))
    }

    /// Iterates over the cells from this one on, and what they hold.
    pub(crate) fn all_from(&self, cell: Cell) -> impl Iterator<Item = (Cell, Held)> + '_ {
        let next = |(cell, _): &(Cell, Held)| self.held_from(cell.next());
        core::iter::successors(self.held_from(cell), next)
    }

    /// Returns this cell, or the first one of the next bin if the bin has no such cell: every bin has one.
    #[inline]
    fn settled(&self, cell: Cell) -> Cell {
        let within = cell.at < self.count(cell.rank);
        if within { cell } else { Cell { rank: cell.rank + 1, at: 0 } }
    }

    /// Returns the last cell, and what it holds.
    pub(crate) fn last(&self) -> Option<(Cell, Held)> {
        let rank = self.used.checked_sub(1)?;
        self.held_from(Cell { rank, at: self.count(rank).checked_sub(1)? })
    }

    /// Returns the word of a cell.
    #[inline]
    pub(crate) fn word_mut(&mut self, cell: Cell) -> Option<&mut u32> {
        let number = self.number(cell.rank);
        self.words.get_mut(number)?.get_mut(cell.at)
    }

    /// Adds a sector where a search said that it would be.
    pub(crate) fn add(&mut self, Gap(mut cell): Gap, held: Held) -> Result<(), Full> {
        let low = held.sector as u16;
        let count = self.count(cell.rank);
        if cell.at > count || count >= BIN {
            cell.rank = match self.home(held.sector) {
                Some(rank) if self.count(rank) < BIN => rank,
                _ => self.make_space(held.sector)?,
            };
            cell.at = self.below(cell.rank, low);
        }
        let (number, count) = (self.number(cell.rank), self.count(cell.rank));
        let (Some(lows), Some(words)) = (self.lows.get_mut(number), self.words.get_mut(number))
        else {
            return Err(Full);
        };
        insert(lows, cell.at, count, low);
        insert(words, cell.at, count, held.word);
        self.set_count(cell.rank, count + 1);
        self.len += 1;
        Ok(())
    }

    /// Returns the bin in which a sector belongs, if there is one of its span.
    #[inline]
    fn home(&mut self, sector: u32) -> Option<usize> {
        let begun = self.begun(sector);
        if let Some(rank) = begun.checked_sub(1)
            && self.spans(rank, sector)
        {
            return Some(rank);
        }
        // The first bin of the span begins with the first sector from now on.
        self.spans(begun, sector).then(|| {
            self.set_first(begun, sector);
            begun
        })
    }

    #[inline]
    fn set_first(&mut self, rank: usize, sector: u32) {
        if let Some(first) = self.firsts.get_mut(rank) {
            *first = sector;
        }
    }

    /// Makes space in the bin in which a sector belongs, and returns that bin.
    #[inline(never)]
    fn make_space(&mut self, sector: u32) -> Result<usize, Full> {
        if self.used == self.bins() {
            self.save_bin()?;
        }
        // Other cells may be in other bins now.
        let Some(rank) = self.home(sector) else {
            let rank = self.begun(sector);
            self.open(rank, sector);
            return Ok(rank);
        };
        if self.count(rank) < BIN {
            return Ok(rank);
        }
        let next = rank + 1;
        let free_in = |rank: usize| {
            if self.spans(rank, sector) { BIN - self.count(rank).min(BIN) } else { 0 }
        };
        if self.below(rank, sector as u16) == BIN {
            // Whoever writes in order fills one bin after the other.
            if free_in(next) > 0 {
                self.set_first(next, sector);
            } else {
                self.open(next, sector);
            }
            return Ok(next);
        }
        let (above, below) = (free_in(next), rank.checked_sub(1).map_or(0, free_in));
        if above >= BIN - ROOMY {
            self.share(rank, BIN - above / 2);
        } else if below >= BIN - ROOMY {
            self.share(rank - 1, BIN - below + below / 2);
        } else {
            self.open(next, sector);
            self.share(rank, BIN / 2);
        }
        Ok(self.begun(sector).saturating_sub(1))
    }

    /// Begins to use a bin.
    fn open(&mut self, rank: usize, first: u32) {
        if let (Some(order), Some(firsts)) =
            (self.order.get_mut(rank..=self.used), self.firsts.get_mut(rank..=self.used))
        {
            last_to_front(order);
            last_to_front(firsts);
            self.used += 1;
            self.set_first(rank, first);
        }
    }

    /// Stops using an empty bin.
    fn close(&mut self, rank: usize) {
        if let (Some(order), Some(firsts)) =
            (self.order.get_mut(rank..self.used), self.firsts.get_mut(rank..self.used))
        {
            first_to_end(order);
            first_to_end(firsts);
            self.used -= 1;
        }
    }

    /// Divides the cells of a bin and of the next one anew: the lower one gets this many.
    fn share(&mut self, rank: usize, kept: usize) {
        let had = [self.count(rank), self.count(rank + 1)];
        let [here, there] = had;
        let both = [self.number(rank), self.number(rank + 1)];
        let (Ok([lows, next_lows]), Ok([words, next_words])) =
            (self.lows.get_disjoint_mut(both), self.words.get_disjoint_mut(both))
        else {
            return;
        };
        divide(lows, next_lows, had, kept, UNUSED);
        divide(words, next_words, had, kept, 0);
        let firsts = [lows, next_lows].map(|lows| lows.first().copied().unwrap_or(0));
        let span = self.first(rank) >> LOW_BITS << LOW_BITS;
        let counts = [kept, here + there - kept];
        // The lower bin begins where it began, unless it was empty.
        let moves = [here == 0, kept > 0 || there == 0];
        for (at, (first, (count, moves))) in
            firsts.into_iter().zip(counts.into_iter().zip(moves)).enumerate()
        {
            if count > 0 && moves {
                self.set_first(rank + at, span | u32::from(first));
            }
            self.set_count(rank + at, count);
        }
    }

    /// Finds neighbours that fit into one bin fewer, and puts them there.
    fn save_bin(&mut self) -> Result<(), Full> {
        for neighbours in 2..=NEIGHBOURS {
            let found = (0..(self.used + 1).saturating_sub(neighbours))
                .find(|rank| self.cells_of(*rank, neighbours) <= BIN * (neighbours - 1));
            if let Some(rank) = found {
                self.press(rank, neighbours);
                return Ok(());
            }
        }
        Err(Full)
    }

    /// Returns the number of cells of some neighbours; more than they have, if they are not of one span.
    fn cells_of(&self, rank: usize, neighbours: usize) -> usize {
        if !self.spans(rank + neighbours - 1, self.first(rank)) {
            return usize::MAX;
        }
        (rank..rank + neighbours).map(|rank| self.count(rank)).sum()
    }

    /// Fills all but the last one of some neighbours, and closes that.
    fn press(&mut self, rank: usize, neighbours: usize) {
        for rank in rank..rank + neighbours - 1 {
            self.share(rank, (self.count(rank) + self.count(rank + 1)).min(BIN));
        }
        self.close(rank + neighbours - 1);
    }

    /// Removes a cell.
    pub(crate) fn remove(&mut self, cell: Cell) {
        self.cut(cell, 1);
        self.tidy(cell.rank);
    }

    /// Removes the sectors from `first` up to `end`, and shows the words of those of each bin.
    pub(crate) fn remove_run(&mut self, first: u32, end: u32, mut show: impl FnMut(&[u32])) {
        let mut from = self.seek(first);
        let mut to_tidy = from.rank;
        let mut emptied = 0;
        while let Some((cell, upto)) = self.piece(from, end) {
            let words = self.words.get(self.number(cell.rank));
            show(words.and_then(|words| words.get(cell.at..upto)).unwrap_or(&[]));
            self.cut(cell, upto - cell.at);
            // Those after the first one are closed, but for the last one.
            to_tidy = if emptied == 0 { cell.rank } else { to_tidy };
            emptied += usize::from(self.count(cell.rank) == 0);
            from = Cell { rank: cell.rank + 1, at: 0 };
        }
        for _ in 0..emptied {
            self.close(to_tidy);
        }
        self.tidy(to_tidy);
    }

    /// Returns the first cell from this one on, and the cell of its bin at which the sectors before `end` end.
    fn piece(&self, from: Cell, end: u32) -> Option<(Cell, usize)> {
        let cell = self.settled(from);
        if cell.rank >= self.used || self.first(cell.rank) >= end {
            return None;
        }
        let count = self.count(cell.rank);
        let whole = !self.spans(cell.rank, end);
        let upto = if whole { count } else { self.below(cell.rank, end as u16).min(count) };
        (cell.at < upto).then_some((cell, upto))
    }

    /// Shows the sectors from `first` up to `end`, and their words.
    #[inline]
    pub(crate) fn show_run(&mut self, first: u32, end: u32, mut show: impl FnMut(Held)) {
        let mut from = self.seek(first);
        while let Some((cell, upto)) = self.piece(from, end) {
            let span = self.first(cell.rank) >> LOW_BITS << LOW_BITS;
            let number = self.number(cell.rank);
            if let (Some(lows), Some(words)) = (self.lows.get(number), self.words.get(number)) {
                for (low, word) in lows.iter().zip(words).take(upto).skip(cell.at) {
                    show(Held { sector: span | u32::from(*low), word: *word });
                }
            }
            from = Cell { rank: cell.rank + 1, at: 0 };
        }
    }

    /// Removes some cells of a bin.
    fn cut(&mut self, cell: Cell, cells: usize) {
        let (number, count) = (self.number(cell.rank), self.count(cell.rank));
        if let (Some(lows), Some(words)) = (self.lows.get_mut(number), self.words.get_mut(number)) {
            remove(lows, cell.at, cells, UNUSED);
            if cell.at + cells < count {
                remove(words, cell.at, cells, 0);
            }
            self.set_count(cell.rank, count - cells);
            self.len -= cells as u32;
        }
    }

    /// After a removal: closes an empty bin, and joins a small one with its neighbour.
    fn tidy(&mut self, rank: usize) {
        if rank < self.used && self.count(rank) == 0 {
            self.close(rank);
        }
        for rank in [Some(rank), rank.checked_sub(1)].into_iter().flatten() {
            if self.cells_of(rank, 2) <= ROOMY {
                self.press(rank, 2);
            }
        }
    }
}
