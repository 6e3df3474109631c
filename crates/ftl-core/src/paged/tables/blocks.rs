//! The blocks of both areas: their references, their wear, and their state.
//!
//! A block's *references* are the dirty entries that point into it, the map-page entries that point into it unless the
//! sector's dirty entry marks them as released, and the map pages in it that the directory points to. A block without
//! references is free, whatever it contains: no dirty entry and no map page points there. It is erased when it is
//! opened; idle work makes a few *ready*, which is to erase them before.

use super::named::{NAMED, Named};
use super::rates::{Group, RateMemory, Rates};
use super::times::Times;
use super::under_way::{Counting, Stream};
use crate::paged::plan::address::BlockNumber;
use crate::paged::plan::feature::{Feature, KEEPS_WEAR};
use crate::paged::plan::shape::{Area, AreaShape, PagedShape, REFERENCES};
use crate::table::Table;

/// Bad: never used again.
const BAD: u16 = u16::MAX;
/// Failed: a program in the block has failed. It is marked bad as soon as it has no references.
const FAILING: u16 = 1 << 15;
/// Open: pages are programmed to it.
const OPEN: u16 = 1 << 14;
/// Pinned: it is involved in a repetition after a mount and is not free before that is done.
const PINNED: u16 = REFERENCES as u16;
const COUNT: u16 = PINNED - 1;

/// Returns the references to a block in this state if it may be emptied and reused.
#[inline]
const fn references_to_empty(state: u16) -> Option<u16> {
    let count = state & COUNT;
    // `BAD` includes `OPEN`.
    if state & OPEN == 0 && count != 0 { Some(count) } else { None }
}

/// Which of several free blocks to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worn {
    /// One that is ready, or the least worn one, for hot data.
    Least,
    /// The most worn one, for cold data.
    Most,
}

/// The tables of all blocks.
#[derive(Debug)]
pub struct Blocks<'ram> {
    states: Table<'ram, BlockNumber, u16>,
    wear: Table<'ram, BlockNumber, u16>,
    /// When their data was written, by which stream, and whether some was replaced lately.
    pub(crate) times: Times<'ram>,
    /// How fast it is replaced.
    pub(crate) rates: Rates<'ram>,
    /// Makes the sectors of a block of the main area few enough to be counted in a small number.
    scale: u32,
    spans: [Span; 2],
    /// Free blocks of each area.
    free: [u32; 2],
    /// Some of them; all if there are few.
    named: [Named; 2],
    /// Those that idle work has erased.
    ready: Named,
    /// Blocks taken out of use since the mount.
    pub retired: u32,
    /// Blocks that were marked bad when the device was mounted, and blocks that failed since.
    pub failed: u32,
    /// Blocks that have failed and are not marked bad yet.
    failing: u32,
    /// What happened since it was last asked.
    news: BlockNews,
    /// Whether the device was formatted since it was last powered: good blocks without wear are erased.
    new: bool,
    /// The position of the search for a free block, in each area.
    hands: [u32; 2],
}

/// What happened to blocks.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockNews {
    /// One became free.
    pub(crate) freed: bool,
    /// One was closed.
    pub(crate) closed: bool,
}

impl BlockNews {
    const NONE: Self = Self { freed: false, closed: false };
}

/// The memory of the tables: for the first three, as many numbers as there are blocks.
pub(crate) struct BlockMemory<'ram> {
    pub(crate) states: &'ram mut [u16],
    pub(crate) wear: &'ram mut [u16],
    pub(crate) times: &'ram mut [u16],
    pub(crate) rates: RateMemory<'ram>,
}

/// The range of an area's blocks.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u32,
    blocks: u32,
}

impl Span {
    const fn of(area: &AreaShape) -> Self {
        Self { first: area.first_block, blocks: area.blocks }
    }
}

/// The recorded state of a good block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// Its erase count.
    pub(crate) wear: u16,
    /// When its data was written, as [`Times`] records it.
    pub(crate) times: u16,
}

impl Known {
    pub(crate) fn word(self) -> u32 {
        // All ones would mean a bad block, so the erase count stops one below.
        let wear = self.wear.min(u16::MAX - 1);
        u32::from(wear) | u32::from(self.times) << 16
    }

    pub(crate) fn of_word(word: u32) -> Self {
        Self { wear: word as u16, times: (word >> 16) as u16 }
    }
}

#[inline]
fn group_of(times: &Times<'_>, block: BlockNumber) -> Group {
    // Most blocks hold copies.
    let stream = times.stream(block).unwrap_or(Stream::Copies);
    Group::of(stream, times.age(block), times.rest(block))
}

impl<'ram> Blocks<'ram> {
    /// Creates the tables with every block free and nothing else known.
    pub(crate) fn new(memory: BlockMemory<'ram>, shape: &PagedShape) -> Self {
        let BlockMemory { states, wear, times, rates } = memory;
        let mut blocks = Self {
            states: Table::new(states),
            wear: Table::new(wear),
            times: Times::new(times, shape),
            rates: Rates::new(rates),
            scale: (u32::BITS - shape.main.block_slots().leading_zeros()).saturating_sub(6),
            spans: [Span::of(shape.map_area()), Span::of(&shape.main)],
            free: [0; 2],
            named: [Named::NONE; 2],
            ready: Named::NONE,
            retired: 0,
            failed: 0,
            failing: 0,
            news: BlockNews::NONE,
            new: false,
            hands: [0; 2],
        };
        for block in blocks.all() {
            blocks.states.set(block, 0);
            blocks.set_wear(block, 0);
            blocks.times.forget(block);
        }
        blocks.count_free();
        blocks
    }

    /// Iterates over all blocks.
    pub fn all(&self) -> impl Iterator<Item = BlockNumber> + use<> {
        let [_, main] = self.spans;
        (0..main.first + main.blocks).map(BlockNumber::new)
    }

    /// Iterates over the blocks of an area.
    pub fn of(&self, area: Area) -> impl Iterator<Item = BlockNumber> + use<> {
        let Span { first, blocks } = self.spans[area as usize];
        (first..first + blocks).map(BlockNumber::new)
    }

    /// Returns the area of a block.
    #[inline]
    const fn area_of(&self, block: BlockNumber) -> Area {
        // The fast area's blocks come first.
        let is_main = !Feature::FastArea.is_built() || block.get() >= self.spans[1].first;
        if is_main { Area::Main } else { Area::Fast }
    }

    /// Clears all references, and presumes one to every block but those that are known to be free. Bad blocks stay bad.
    pub(crate) fn presume_used(&mut self, counting: &Counting) {
        for block in self.all() {
            if !self.is_bad(block) {
                let presumed = u16::from(counting.presumes(block));
                self.states.set(block, self.states.get(block) & !COUNT | presumed);
            }
        }
    }

    /// Takes the presumed references back, and counts the free blocks: all references are counted.
    pub(crate) fn presume_no_more(&mut self, counting: &Counting) {
        for block in self.all() {
            if counting.presumes(block) && !self.is_bad(block) {
                let state = self.states.get(block);
                debug_assert!(state & COUNT > 0, "{block:?} has no presumed reference");
                self.states.set(block, state - 1);
            }
        }
        self.count_free();
    }

    /// Pins the block: it is not free until all pins are removed.
    pub fn pin(&mut self, block: BlockNumber) {
        if !self.is_bad(block) {
            self.change(block, self.states.get(block) | PINNED);
        }
    }

    /// Removes all pins.
    pub fn unpin_all(&mut self) {
        for block in self.all() {
            let state = self.states.get(block);
            if state != BAD && state & PINNED != 0 {
                self.change(block, state & !PINNED);
            }
        }
    }

    /// Recounts the free blocks.
    pub fn count_free(&mut self) {
        self.free = [0; 2];
        (self.named, self.ready) = ([Named::NONE; 2], Named::NONE);
        self.news = BlockNews { freed: true, closed: true };
        for block in self.all() {
            let area = self.area_of(block) as usize;
            self.free[area] += u32::from(self.states.get(block) == 0);
        }
    }

    /// Returns the number of free blocks of an area.
    #[inline]
    pub const fn free(&self, area: Area) -> u32 {
        self.free[area as usize]
    }

    /// Returns the number of references to a block.
    #[inline]
    pub fn references(&self, block: BlockNumber) -> u16 {
        let state = self.states.get(block);
        if state == BAD { 0 } else { state & COUNT }
    }

    /// Whether the block is bad.
    #[inline]
    pub fn is_bad(&self, block: BlockNumber) -> bool {
        self.states.get(block) == BAD
    }

    /// Whether the block has failed and is not marked bad yet.
    pub fn is_failing(&self, block: BlockNumber) -> bool {
        let state = self.states.get(block);
        state != BAD && state & FAILING != 0
    }

    /// Whether the block is free and may be opened.
    #[inline]
    pub fn is_free(&self, block: BlockNumber) -> bool {
        self.states.get(block) == 0
    }

    /// Whether something refers to the block, it is neither open nor pinned and has not failed, and so many references
    /// more can be counted.
    pub fn may_be_unreadable(&self, block: BlockNumber, more: u32) -> bool {
        let state = self.states.get(block);
        state != 0 && state & !COUNT == 0 && u32::from(state) + more <= u32::from(COUNT)
    }

    /// Returns the references to a block if it may be emptied and reused.
    #[inline]
    pub fn to_empty(&self, block: BlockNumber) -> Option<u16> {
        references_to_empty(self.states.get(block))
    }

    /// Iterates over those of some blocks that may be emptied and reused, and their references.
    #[inline]
    pub(crate) fn all_to_empty(
        &self,
        first: BlockNumber,
        blocks: usize,
    ) -> impl Iterator<Item = (BlockNumber, u16)> + '_ {
        let states = self.states.run(first, blocks).iter().zip(first.get()..);
        states.filter_map(|(state, number)| {
            references_to_empty(*state).map(|count| (BlockNumber::new(number), count))
        })
    }

    /// Returns the group of blocks whose data is replaced as fast as that of this one.
    #[inline]
    fn group(&self, block: BlockNumber) -> Group {
        group_of(&self.times, block)
    }

    /// Returns how long a block's data stays.
    #[inline]
    pub(crate) fn stays(&self, block: BlockNumber) -> u16 {
        self.rates.stays(self.group(block))
    }

    /// Whether a block holds map pages, as far as a mount could find out.
    #[inline]
    pub(crate) fn holds_map(&self, block: BlockNumber) -> bool {
        self.times.stream(block) == Some(Stream::Map)
    }

    /// Whether the block may be a victim.
    #[inline]
    pub fn may_be_victim(&self, block: BlockNumber) -> bool {
        self.to_empty(block).is_some()
    }

    /// Returns what happened since this was last asked.
    #[inline]
    pub(crate) const fn take_news(&mut self) -> BlockNews {
        core::mem::replace(&mut self.news, BlockNews::NONE)
    }

    #[inline]
    fn change(&mut self, block: BlockNumber, state: u16) {
        let was_free = self.is_free(block);
        self.states.set(block, state);
        if was_free != (state == 0) {
            self.note_turned(block);
        }
    }

    /// Updates the count when a block becomes free or stops being free.
    #[inline(never)]
    fn note_turned(&mut self, block: BlockNumber) {
        let area = self.area_of(block) as usize;
        if self.is_free(block) {
            self.free[area] += 1;
            self.news.freed = true;
            self.named[area].add(block);
        } else {
            self.free[area] = self.free[area].saturating_sub(1);
            self.named[area].remove(block);
            self.ready.remove(block);
        }
    }

    /// Adds references.
    #[inline]
    pub fn refer(&mut self, block: BlockNumber, count: u16) {
        let state = self.states.get(block);
        if state != BAD && (state & COUNT) + count <= COUNT {
            self.change(block, state + count);
        }
    }

    /// Removes references to data that was copied out of a block.
    pub fn release(&mut self, block: BlockNumber, count: u16) {
        let state = self.states.get(block);
        debug_assert!(state == BAD || state & COUNT >= count, "{block:?} has none left");
        if state != BAD {
            self.change(block, state - count.min(state & COUNT));
        }
    }

    /// Removes references to data that was replaced.
    pub fn lose(&mut self, block: BlockNumber, count: u16) {
        self.release(block, count);
        if self.area_of(block) == Area::Main {
            if Feature::Lifetimes.is_built() && self.states.get(block) & OPEN == 0 {
                self.rates.note_loss(self.group(block), count);
            }
            self.times.note_loss(block);
        }
    }

    /// Counts some of these blocks of the main area: how much data there is of each kind.
    pub(crate) fn note_there(&mut self, first: BlockNumber, blocks: usize) {
        let Self { states, times, rates, scale, .. } = self;
        let states = states.run(first, blocks).iter().zip(first.get()..);
        for (state, number) in rates.sample(states) {
            if let Some(used) = references_to_empty(*state) {
                rates.note_there(group_of(times, BlockNumber::new(number)), used >> *scale);
            }
        }
    }

    /// Marks the block as open.
    pub fn open(&mut self, block: BlockNumber) {
        self.change(block, self.states.get(block) | OPEN);
    }

    /// Marks the block as closed.
    pub fn close(&mut self, block: BlockNumber) {
        self.news.closed = true;
        if !self.is_bad(block) {
            self.change(block, self.states.get(block) & !OPEN);
        }
    }

    /// Marks the block as failed.
    pub fn fail(&mut self, block: BlockNumber) {
        if !self.is_bad(block) {
            self.failing += u32::from(!self.is_failing(block));
            self.change(block, self.states.get(block) | FAILING);
        }
    }

    /// Excludes a block whose last references cannot be found: it can be neither emptied nor used until the next mount.
    pub fn leave_alone(&mut self, block: BlockNumber) {
        if !self.is_bad(block) {
            let newly = u32::from(!self.is_failing(block));
            self.failed += newly;
            self.failing += newly;
            self.change(block, self.states.get(block) | FAILING | OPEN);
        }
    }

    /// Marks the block as bad.
    pub fn retire(&mut self, block: BlockNumber) {
        self.failing -= u32::from(self.is_failing(block)).min(self.failing);
        self.change(block, BAD);
    }

    /// Returns a failed block of the area that has no references left.
    pub fn failed_and_empty(&self, area: Area) -> Option<BlockNumber> {
        if self.failing == 0 {
            return None;
        }
        self.of(area).find(|block| self.states.get(*block) == FAILING)
    }

    /// Returns the number of good blocks of an area, without failed ones.
    pub fn good(&self, area: Area) -> u32 {
        self.of(area).filter(|block| self.states.get(*block) & FAILING == 0).count() as u32
    }

    /// Notes that every good block was erased, and counts these erases for none.
    pub const fn note_all_erased(&mut self) {
        self.new = true;
    }

    /// Whether nothing was done to a block since a format just before: it is erased. A mount does not know that of any
    /// block.
    pub fn is_new(&self, block: BlockNumber) -> bool {
        KEEPS_WEAR && self.new && self.wear(block) == 0
    }

    /// Notes that a free block was erased before it is opened.
    pub fn make_ready(&mut self, block: BlockNumber) {
        self.ready.add(block);
    }

    /// Whether a free block was erased to be opened later.
    pub fn is_ready(&self, block: BlockNumber) -> bool {
        self.ready.all().contains(&block)
    }

    /// Counts an erase of a block.
    pub fn wear_down(&mut self, block: BlockNumber) {
        let wear = self.wear(block).saturating_add(1);
        self.set_wear(block, wear);
    }

    /// Returns a block's erase count.
    pub fn wear(&self, block: BlockNumber) -> u16 {
        if KEEPS_WEAR { self.wear.get(block) } else { 0 }
    }

    /// Sets a block's erase count.
    pub fn set_wear(&mut self, block: BlockNumber, wear: u16) {
        if KEEPS_WEAR {
            self.wear.set(block, wear);
        }
    }

    /// Clears the tables.
    pub fn forget(&mut self) {
        for block in self.all() {
            self.states.set(block, 0);
            self.set_wear(block, 0);
            self.times.forget(block);
        }
        (self.retired, self.failed, self.failing) = (0, 0, 0);
        self.count_free();
    }

    /// Returns the recorded state of a block that is not bad.
    pub(crate) fn known(&self, block: BlockNumber) -> Known {
        Known { wear: self.wear(block), times: self.times.recorded(block) }
    }

    /// Restores the recorded state of a block.
    pub(crate) fn set_known(&mut self, block: BlockNumber, known: Known) {
        self.set_wear(block, known.wear);
        self.times.restore(block, known.times);
    }

    /// Returns the next free block to open, except these: the least worn of a few.
    pub fn next_free(&mut self, area: Area, but: &[Option<BlockNumber>]) -> Option<BlockNumber> {
        self.name_more(area);
        let named = self.named[area as usize];
        let others = named.all().iter().copied().filter(|block| !but.contains(&Some(*block)));
        self.pick(others, Worn::Least)
    }

    /// Chooses one of these blocks.
    pub fn pick(
        &self,
        mut blocks: impl Iterator<Item = BlockNumber>,
        worn: Worn,
    ) -> Option<BlockNumber> {
        let first = blocks.next()?;
        Some(blocks.fold(first, |best, block| {
            let better = match worn {
                Worn::Least => self.cost(block) < self.cost(best),
                Worn::Most => self.wear(block) > self.wear(best),
            };
            if better { block } else { best }
        }))
    }

    /// What opening a free block costs: an erase, if any, and wear.
    fn cost(&self, block: BlockNumber) -> (bool, u16) {
        (!self.is_ready(block), self.wear(block))
    }

    /// Searches for free blocks from the current position if fewer are known than may be requested.
    fn name_more(&mut self, area: Area) {
        let at = area as usize;
        let Span { first, blocks } = self.spans[at];
        for _ in 0..blocks {
            if self.named[at].all().len() >= NAMED.min(self.free[at] as usize) {
                break;
            }
            let hand = self.hands[at];
            self.hands[at] = if hand + 1 >= blocks { 0 } else { hand + 1 };
            let block = BlockNumber::new(first + hand);
            if self.is_free(block) && !self.named[at].all().contains(&block) {
                self.named[at].add(block);
            }
        }
    }
}
