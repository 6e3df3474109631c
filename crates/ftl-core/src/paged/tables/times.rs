//! When the data of each block of the main area was written, when it is expected to be replaced, and how long a block
//! has rested since some of it was.
//!
//! The clock counts what the main area programs: what the fast area takes makes nothing there older. An anchor stores
//! the tick. After a mount by every block, stamps stand for it; they also count the fast area's programs, so blocks
//! look older for a while, all of them alike. How long a block has rested is in RAM alone.

use crate::layout::Stamp;
use crate::paged::plan::address::BlockNumber;
use crate::paged::plan::shape::PagedShape;
use crate::quotient::floor_wide;
use crate::table::Table;

/// The bits of a block's birth.
const BIRTH: u16 = 0x1FF;
/// The bits of the life that its data was expected to have, above them.
const LIFE: u16 = 0xF << LIFE_AT;
const LIFE_AT: u16 = 9;
/// The lives that can be expected, in ticks.
const LIVES: [u16; 16] = [0, 2, 4, 6, 9, 13, 18, 26, 37, 52, 74, 104, 148, 208, 295, 416];
/// The part of the area's pages that are programmed in a tick.
const TICKS: u32 = 64;
/// The bits of the tick of its last loss, above them.
const LOSS: u16 = 7 << LOSS_AT;
const LOSS_AT: u16 = 13;
/// It lost nothing lately. The ticks below this one follow each other in a circle.
const RESTED: u16 = 7;
/// The part of the spare pages that are programmed in a tick of losses.
const LOSS_TICKS: u32 = 32;
/// In the fast area no life is expected: this one marks a block that takes map pages.
const MAP: u16 = 1 << LIFE_AT;

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
    pub(crate) const ZERO: Self = Self(0);
    /// The greatest age: the clock wraps some time after it.
    pub(crate) const MAX: Self = Self(BIRTH - 31);
    /// Before that, less than a sixteenth of the area's pages were programmed.
    pub(crate) const YOUNG: Self = Self((TICKS / 16) as u16);

    pub(crate) const fn ticks(self) -> u16 {
        self.0
    }
}

/// How long a block has rested, in half ticks of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rest(u16);

impl Rest {
    /// It lost nothing lately.
    pub(crate) const MOST: Self = Self::of(RESTED);

    /// That of so many ticks.
    const fn of(ticks: u16) -> Self {
        Self(2 * ticks + 1)
    }

    pub(crate) const fn half_ticks(self) -> u16 {
        self.0
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
    /// Birth, expected life and last loss of each block.
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
        Age(self.clock.at.wrapping_sub(self.words.get(block)) & BIRTH).min(Age::MAX)
    }

    /// Sets when a block's data was written. It has lost none.
    pub(crate) fn bear(&mut self, block: BlockNumber, birth: Tick) {
        self.words.set(block, birth.0 | LOSS);
    }

    /// Gives a block the age and the expected life of the block from which its data was copied.
    pub(crate) fn inherit(&mut self, block: BlockNumber, from: BlockNumber) {
        self.words.set(block, self.words.get(from) & !LOSS | self.words.get(block) & LOSS);
    }

    /// Returns the expected life of a block's data.
    #[inline]
    fn life(&self, block: BlockNumber) -> u16 {
        let code = (self.words.get(block) & LIFE) >> LIFE_AT;
        LIVES.get(usize::from(code)).copied().unwrap_or(0)
    }

    /// Updates the expected life of a block's data for some that replaced data of this age: a mean, weighted toward the
    /// last few pages.
    pub(crate) fn expect(&mut self, block: BlockNumber, lived: Age) {
        let life = self.age(block).0 + lived.0;
        let mean = (self.life(block) + life).div_ceil(2);
        let code = LIVES.iter().filter(|life| **life <= mean).count() as u16 - 1;
        self.words.set(block, self.words.get(block) & !LIFE | code << LIFE_AT);
    }

    /// Returns the time until a block's data is expected to be replaced, or its age if that time is past: data that
    /// should have been replaced by now stays longer the older it is.
    #[inline]
    pub(crate) fn far(&self, block: BlockNumber) -> Age {
        let age = self.age(block);
        match self.life(block).checked_sub(age.0) {
            Some(0) | None => age,
            Some(ahead) => Age(ahead),
        }
    }

    /// Counts a program in the main area.
    #[inline]
    pub(crate) const fn note_program(&mut self) {
        self.clock.count(BIRTH + 1);
        self.losses.count(RESTED);
    }

    /// Notes that data of a block was replaced.
    #[inline]
    pub(crate) fn note_loss(&mut self, block: BlockNumber) {
        self.words.set(block, self.words.get(block) & !LOSS | self.losses.at << LOSS_AT);
    }

    /// Returns how long a block has rested since.
    #[inline]
    pub(crate) fn rest(&self, block: BlockNumber) -> Rest {
        let now = self.losses.at;
        let ticks = match (self.words.get(block) & LOSS) >> LOSS_AT {
            RESTED => RESTED,
            loss if loss > now => now + RESTED - loss,
            loss => now - loss,
        };
        Rest::of(ticks)
    }

    /// Moves the times of old blocks along, before they look young again when a clock wraps.
    pub(crate) fn move_along(&mut self, first: BlockNumber, blocks: usize) {
        let now = self.clock.at;
        let oldest = now.wrapping_sub(Age::MAX.0) & BIRTH;
        // The losses that count as rested by now: the two ticks that come next.
        let next = [1, 2].map(|ahead| ((self.losses.at + ahead) % RESTED) << LOSS_AT);
        for word in self.words.run_mut(first, blocks) {
            let birth = if now.wrapping_sub(*word) & BIRTH > Age::MAX.0 { oldest } else { *word };
            let rested = if next.contains(&(*word & LOSS)) { LOSS } else { 0 };
            *word = *word & !BIRTH | birth & BIRTH | rested;
        }
    }

    /// Returns what an anchor records of a block's times.
    pub(crate) fn recorded(&self, block: BlockNumber) -> u16 {
        self.words.get(block) | LOSS
    }

    /// Restores what was recorded.
    pub(crate) fn restore(&mut self, block: BlockNumber, recorded: u16) {
        self.words.set(block, recorded | LOSS);
    }

    /// Marks whether a block of the fast area takes map pages.
    pub(crate) fn note_map(&mut self, block: BlockNumber, holds_map: bool) {
        let mark = u16::from(holds_map) * MAP;
        self.words.set(block, self.words.get(block) & !LIFE | mark);
    }

    /// Whether a block of the fast area holds map pages, as far as a mount could find out.
    #[inline]
    pub(crate) fn holds_map(&self, block: BlockNumber) -> bool {
        self.words.get(block) & LIFE == MAP
    }
}
