//! Sectors in order, with a word for each, in bins of sixteen cells.
//!
//! The bins stand in order, too, so a sector is found by two short searches, and the cells of a leaf follow one
//! another. A cell has only the low half of its sector: all sectors of a bin are of one *span*, 65,536 sectors with the
//! same upper half. What does not fit into its bin any more goes to a neighbour, or to a bin of its own. If there is
//! none, some neighbours with much space share fewer bins: the plan makes so many bins that such neighbours are always
//! found. So what fits does not depend on the order in which it comes.

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
        self.begun = firsts.partition_point(|first| *first <= sector);
        self.begun
    }

    /// Returns how many cells of a bin are below this one.
    #[inline]
    fn below(&self, rank: usize, low: u16) -> usize {
        self.lows.get(self.number(rank)).map_or(0, |lows| below(lows, low))
    }

    /// Returns the cell of a sector, and its word.
    #[inline]
    pub(crate) fn find(&mut self, sector: u32) -> Option<(Cell, u32)> {
        let rank = self.begun(sector).checked_sub(1)?;
        let bin = *self.order.get(rank)?;
        let (number, count) = (bin >> COUNT_BITS, bin as u8);
        let lows = self.lows.get(number as usize)?;
        let low = sector as u16;
        let at = below(lows, low);
        if at >= count.into() || *lows.get(at)? != low || !self.spans(rank, sector) {
            return None;
        }
        Some((Cell { rank, at }, *self.words.get(number as usize)?.get(at)?))
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

    /// Adds a sector that is not there.
    pub(crate) fn add(&mut self, held: Held) -> Result<(), Full> {
        let rank = match self.home(held.sector) {
            Some(rank) if self.count(rank) < BIN => rank,
            _ => self.make_space(held.sector)?,
        };
        let (number, count) = (self.number(rank), self.count(rank));
        let (Some(lows), Some(words)) = (self.lows.get_mut(number), self.words.get_mut(number))
        else {
            return Err(Full);
        };
        let low = held.sector as u16;
        let at = below(lows, low);
        insert(lows, at, count, low);
        insert(words, at, count, held.word);
        self.set_count(rank, count + 1);
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
        let (here, there) = (self.count(rank), self.count(rank + 1));
        let (mut lows, mut words) = ([UNUSED; 2 * BIN], [0; 2 * BIN]);
        for (rank, from, count) in [(rank, 0, here), (rank + 1, here, there)] {
            let number = self.number(rank);
            if let (Some(bin_lows), Some(bin_words)) =
                (self.lows.get_mut(number), self.words.get(number))
            {
                copy(lows.get_mut(from..), bin_lows.get(..count));
                copy(words.get_mut(from..), bin_words.get(..count));
                *bin_lows = [UNUSED; BIN];
            }
        }
        let span = self.first(rank) >> LOW_BITS << LOW_BITS;
        for (rank, from, count) in [(rank, 0, kept), (rank + 1, kept, here + there - kept)] {
            let number = self.number(rank);
            let had = self.count(rank);
            if let (Some(bin_lows), Some(bin_words)) =
                (self.lows.get_mut(number), self.words.get_mut(number))
            {
                copy(Some(bin_lows), lows.get(from..from + count));
                copy(Some(bin_words), words.get(from..from + count));
            }
            // The lower bin begins where it began, unless it was empty.
            if count > 0 && (from > 0 || had == 0) {
                let low = lows.get(from).copied().unwrap_or(0);
                self.set_first(rank, span | u32::from(low));
            }
            self.set_count(rank, count);
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

    /// Removes the sectors from `first` up to `end`, and shows the word of each.
    pub(crate) fn remove_run(&mut self, first: u32, end: u32, mut each: impl FnMut(u32)) {
        let mut from = self.seek(first);
        while let Some((cell, held)) = self.held_from(from) {
            let whole = !self.spans(cell.rank, end);
            let below = if whole { BIN } else { self.below(cell.rank, end as u16) };
            let upto = below.min(self.count(cell.rank));
            if held.sector >= end || upto <= cell.at {
                break;
            }
            let words = self.words.get(self.number(cell.rank));
            let gone = words.and_then(|words| words.get(cell.at..upto)).unwrap_or(&[]);
            for word in gone {
                each(*word);
            }
            self.cut(cell, upto - cell.at);
            if self.count(cell.rank) == 0 {
                self.close(cell.rank);
            }
            from = cell;
        }
        self.tidy(from.rank);
    }

    /// Removes some cells of a bin.
    fn cut(&mut self, cell: Cell, cells: usize) {
        let (number, count) = (self.number(cell.rank), self.count(cell.rank));
        if let (Some(lows), Some(words)) = (self.lows.get_mut(number), self.words.get_mut(number)) {
            remove(lows, cell.at, cells, UNUSED);
            remove(words, cell.at, cells, 0);
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

/// Returns how many cells are below this one. They are in order, and unused ones are the highest.
#[inline]
fn below(lows: &[u16; BIN], low: u16) -> usize {
    // The mask changes nothing, and spares a check.
    let is_below = |at: usize| lows.get(at & (BIN - 1)).is_some_and(|other| *other < low);
    let mut at = 0;
    for step in [8, 4, 2, 1, 1] {
        at += step * usize::from(is_below(at + step - 1));
    }
    at
}

/// Inserts a value before those from `at` to `count`.
#[inline]
fn insert<T: Copy>(cells: &mut [T; BIN], at: usize, count: usize, value: T) {
    let mut next = value;
    for cell in cells.get_mut(at..=count).unwrap_or(&mut []) {
        next = core::mem::replace(cell, next);
    }
}

/// Removes `gone` cells from `at` on. The cells at the end get `unused`.
fn remove<T: Copy>(cells: &mut [T; BIN], at: usize, gone: usize, unused: T) {
    for at in at..BIN {
        let next = cells.get(at + gone).copied().unwrap_or(unused);
        if let Some(cell) = cells.get_mut(at) {
            *cell = next;
        }
    }
}

fn copy<T: Copy>(to: Option<&mut [T]>, from: Option<&[T]>) {
    for (to, from) in to.unwrap_or(&mut []).iter_mut().zip(from.unwrap_or(&[])) {
        *to = *from;
    }
}

/// Moves the last element before all others.
fn last_to_front(elements: &mut [u32]) {
    if let Some(mut next) = elements.last().copied() {
        for element in elements {
            next = core::mem::replace(element, next);
        }
    }
}

/// Moves the first element behind all others.
fn first_to_end(elements: &mut [u32]) {
    if let Some(mut next) = elements.first().copied() {
        for element in elements.iter_mut().rev() {
            next = core::mem::replace(element, next);
        }
    }
}
