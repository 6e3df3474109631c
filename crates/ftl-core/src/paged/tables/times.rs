//! When the data of each block was written, which stream filled it, and whether some of it was replaced lately.
//!
//! The clock counts what the main area programs: what the fast area takes makes nothing there older. An anchor stores
//! the tick. After a mount by every block, stamps stand for it; they also count the fast area's programs, so blocks
//! look older for a while, all of them alike. How long a block has rested is in RAM alone.

use super::under_way::Stream;
use crate::layout::Stamp;
use crate::paged::plan::address::BlockNumber;
use crate::paged::plan::feature::KEEPS_TIMES;
use crate::paged::plan::shape::PagedShape;
use crate::quotient::floor_wide;
use crate::table::Table;

/// The bits of a block's birth.
const BIRTH: u16 = 0x1FF;
/// The bits of the stream that filled it, above them: one more than its number, or zero if it is not known.
const STREAM: u16 = 0xF << STREAM_AT;
const STREAM_AT: u16 = 9;
/// The part of the area's pages that are programmed in a tick.
const TICKS: u32 = 64;
/// The bits of the tick of its last loss, above them.
const LOSS: u16 = 7 << LOSS_AT;
const LOSS_AT: u16 = 13;
/// It lost nothing lately. The ticks below this one follow each other in a circle.
const RESTED: u16 = 7;
/// The part of the spare pages that are programmed in a tick of losses.
const LOSS_TICKS: u32 = 16;
/// A loss was lately for so many ticks. For the rest of the circle the search for victims has time to pass the block.
const LATELY: u16 = 3;

/// A time, in ticks of the clock: a 64th of the main area's pages each. It wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tick(u16);

impl Tick {
    pub(crate) const fn new(tick: u16) -> Self {
        Self(tick & BIRTH)
    }

    pub(crate) const fn get(self) -> u16 {
        self.0
    }
}

/// An age, in ticks of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Age(u16);

impl Age {
    /// The greatest age: the clock wraps some time after it.
    pub(crate) const MAX: Self = Self(BIRTH - 31);
    /// Before that, less than a sixteenth of the area's pages were programmed.
    pub(crate) const YOUNG: Self = Self((TICKS / 16) as u16);

    #[cfg(test)]
    pub(crate) const fn new(ticks: u16) -> Self {
        Self(ticks)
    }

    pub(crate) const fn ticks(self) -> u16 {
        self.0
    }
}

/// How long a block has rested since some of its data was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It lost some lately, and may be about to lose more.
    Short,
    /// It lost none lately.
    Long,
}

impl Rest {
    /// Returns that of a block, by its word and the tick of the clock of losses.
    #[inline]
    const fn of(word: u16, now: u16) -> Self {
        let loss = (word & LOSS) >> LOSS_AT;
        let passed = if loss > now { now + RESTED - loss } else { now - loss };
        if loss == RESTED || passed >= LATELY { Self::Long } else { Self::Short }
    }
}

/// A clock hand that moves on after so many programs.
#[derive(Clone, Copy, Debug)]
struct Hand {
    turn: u32,
    programs: u32,
    at: u16,
}

impl Hand {
    const fn new(turn: u32) -> Self {
        Self { turn: if turn == 0 { 1 } else { turn }, programs: 0, at: 0 }
    }

    /// Counts a program. The hand goes through `places` places.
    #[inline]
    const fn count(&mut self, places: u16) {
        self.programs += 1;
        if self.programs >= self.turn {
            self.programs = 0;
            self.at = if self.at + 1 >= places { 0 } else { self.at + 1 };
        }
    }
}

/// The times of all blocks.
#[derive(Debug)]
pub(crate) struct Times<'ram> {
    /// Birth, stream and last loss of each block.
    words: Table<'ram, BlockNumber, u16>,
    clock: Hand,
    losses: Hand,
}

impl<'ram> Times<'ram> {
    pub(crate) fn new(words: &'ram mut [u16], shape: &PagedShape) -> Self {
        let main = &shape.main;
        let spare = (main.blocks * main.block_slots()).saturating_sub(shape.capacity.get());
        let spare_pages = floor_wide(spare.into(), main.slots.into()) as u32;
        let pages = main.blocks * u32::from(main.pages);
        let clock = Hand::new(pages / TICKS);
        Self { words: Table::new(words), clock, losses: Hand::new(spare_pages / LOSS_TICKS) }
    }

    /// Forgets the times of a block.
    pub(crate) fn forget(&mut self, block: BlockNumber) {
        self.bear(block, Tick(0));
    }

    #[inline]
    fn word(&self, block: BlockNumber) -> u16 {
        if KEEPS_TIMES { self.words.get(block) } else { LOSS }
    }

    #[inline]
    fn put(&mut self, block: BlockNumber, word: u16) {
        if KEEPS_TIMES {
            self.words.set(block, word);
        }
    }

    /// Returns the tick of the clock.
    pub(crate) const fn now(&self) -> Tick {
        Tick(self.clock.at)
    }

    /// Sets the clock.
    pub(crate) const fn set_now(&mut self, now: Tick) {
        self.clock.at = now.0;
    }

    /// Returns the tick that stands for a stamp, where nothing else is known.
    pub(crate) const fn tick_of(&self, stamp: Stamp) -> Tick {
        Tick::new(floor_wide(stamp.get(), self.clock.turn as u64) as u16)
    }

    /// Returns the age of a block's data.
    #[inline]
    pub(crate) fn age(&self, block: BlockNumber) -> Age {
        Age(self.clock.at.wrapping_sub(self.word(block)) & BIRTH).min(Age::MAX)
    }

    /// Sets when a block's data was written. It has lost none, and its stream is not known.
    pub(crate) fn bear(&mut self, block: BlockNumber, birth: Tick) {
        self.put(block, birth.0 | LOSS);
    }

    /// Gives a block the age of the block from which its data was copied.
    pub(crate) fn inherit(&mut self, block: BlockNumber, from: BlockNumber) {
        self.put(block, self.word(from) & BIRTH | self.word(block) & !BIRTH);
    }

    /// Notes the stream that fills a block.
    pub(crate) fn note_stream(&mut self, block: BlockNumber, stream: Stream) {
        let code = (stream as u16 + 1) << STREAM_AT;
        self.put(block, self.word(block) & !STREAM | code);
    }

    /// Returns the stream that filled a block, as far as a mount could find out.
    #[inline]
    pub(crate) fn stream(&self, block: BlockNumber) -> Option<Stream> {
        let code = (self.word(block) & STREAM) >> STREAM_AT;
        Stream::ALL.get(usize::from(code).wrapping_sub(1)).copied()
    }

    /// Counts a program in the main area.
    #[inline]
    pub(crate) const fn note_program(&mut self) {
        if KEEPS_TIMES {
            self.clock.count(BIRTH + 1);
            self.losses.count(RESTED);
        }
    }

    /// Notes that data of a block was replaced.
    #[inline]
    pub(crate) fn note_loss(&mut self, block: BlockNumber) {
        self.put(block, self.word(block) & !LOSS | self.losses.at << LOSS_AT);
    }

    /// Returns how long a block has rested since.
    #[inline]
    pub(crate) fn rest(&self, block: BlockNumber) -> Rest {
        Rest::of(self.word(block), self.losses.at)
    }

    /// Moves the times of old blocks along, before they look young again when a clock wraps.
    pub(crate) fn move_along(&mut self, first: BlockNumber, blocks: usize) {
        if !KEEPS_TIMES {
            return;
        }
        let (now, losses) = (self.clock.at, self.losses.at);
        let oldest = now.wrapping_sub(Age::MAX.0) & BIRTH;
        for word in self.words.run_mut(first, blocks) {
            let birth = if now.wrapping_sub(*word) & BIRTH > Age::MAX.0 { oldest } else { *word };
            let rested = if Rest::of(*word, losses) == Rest::Long { LOSS } else { 0 };
            *word = *word & !BIRTH | birth & BIRTH | rested;
        }
    }

    /// Returns what an anchor records of a block's times.
    pub(crate) fn recorded(&self, block: BlockNumber) -> u16 {
        self.word(block) | LOSS
    }

    /// Restores what was recorded.
    pub(crate) fn restore(&mut self, block: BlockNumber, recorded: u16) {
        self.put(block, recorded | LOSS);
    }
}
