//! How fast data is replaced, as the device has seen it itself.
//!
//! Blocks of the main area are told apart by the stream that filled them, by the age of their data, and by whether they
//! lost some of it lately. For each such *group* two things are counted: the data that is there, and the data that is
//! replaced. The less is replaced of what is there, the longer it stays, and the more is won by emptying such a block
//! now: what it holds does not go away by itself.

use core::iter::{Skip, StepBy};

use super::times::{Age, Rest};
use super::under_way::Stream;
use crate::paged::plan::feature::Feature;
use crate::paged::plan::groups::{AGES, GROUPS, RESTS, STREAMS};
use crate::quotient::floor;
use crate::table::{Row, Table};

// The first two streams are never in the same area.
const _: () = assert!(STREAMS == Stream::ALL.len() - 1);

/// How long data of average life stays.
const MEAN: u16 = 64;
/// How long data stays that was lost lately, while nothing has been learned.
const UNLEARNED: u16 = MEAN / 4;
/// After so many losses, what was learned is applied.
const LEARNED: u32 = 1_024;
/// After so many losses, older ones begin to count less.
const REMEMBERED: u32 = 8 * LEARNED;
/// A group of which little was seen is taken for average: as if so much of it had been seen before.
const DOUBT: u32 = 16;
/// One block in so many is counted when the search for victims passes it.
const SAMPLED: usize = 4;

/// Blocks whose data is replaced at about the same rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group(u8);

impl Group {
    /// Returns the group of a block.
    #[inline]
    pub(crate) fn of(stream: Stream, age: Age, rest: Rest) -> Self {
        let stream = (stream as usize).saturating_sub(1);
        let age = (u16::BITS - age.ticks().leading_zeros()) as usize;
        Self(((stream * AGES + age) * RESTS + rest as usize) as u8)
    }

    /// Whether data was lost lately.
    const fn lost_lately(self) -> bool {
        self.0 as usize % RESTS == Rest::Short as usize
    }

    fn all() -> impl Iterator<Item = Self> {
        (0..GROUPS as u8).map(Self)
    }
}

impl Row for Group {
    fn index(self) -> usize {
        self.0.into()
    }
}

/// The memory of the rates: [`GROUPS`] numbers each.
pub(crate) struct RateMemory<'ram> {
    pub(crate) there: &'ram mut [u16],
    pub(crate) lost: &'ram mut [u16],
    pub(crate) stays: &'ram mut [u16],
}

/// The rates of all groups.
#[derive(Debug)]
pub(crate) struct Rates<'ram> {
    /// The data of each group that the search for victims has passed.
    there: Table<'ram, Group, u16>,
    /// The data of each group that was replaced.
    lost: Table<'ram, Group, u16>,
    /// How long data of each group stays, beside [`MEAN`].
    stays: Table<'ram, Group, u16>,
    /// The longest of them.
    longest: u16,
    /// All that was lost.
    losses: u32,
    /// The number of losses at which it is time to learn.
    due: u32,
    /// The part of a sample's blocks that is counted next.
    turn: usize,
}

impl<'ram> Rates<'ram> {
    /// Nothing is known yet.
    pub(crate) fn new(memory: RateMemory<'ram>) -> Self {
        let RateMemory { there, lost, stays } = memory;
        let mut rates = Self {
            there: Table::new(there),
            lost: Table::new(lost),
            stays: Table::new(stays),
            longest: MEAN,
            losses: 0,
            due: LEARNED,
            turn: 0,
        };
        if !Feature::Lifetimes.is_built() {
            return rates;
        }
        for group in Group::all() {
            rates.there.set(group, 0);
            rates.lost.set(group, 0);
            rates.stays.set(group, if group.lost_lately() { UNLEARNED } else { MEAN });
        }
        rates
    }

    /// Returns how long data of a group stays.
    #[inline]
    pub(crate) fn stays(&self, group: Group) -> u16 {
        self.stays.get(group)
    }

    /// Returns the longest time that data of any group stays.
    pub(crate) const fn longest(&self) -> u16 {
        self.longest
    }

    /// Counts data that was replaced.
    #[inline]
    pub(crate) fn note_loss(&mut self, group: Group, count: u16) {
        self.lost.set(group, self.lost.get(group).saturating_add(count));
        self.losses += u32::from(count);
    }

    /// Returns those of some blocks that are to be counted, a part in turn.
    pub(crate) fn sample<I: Iterator>(&mut self, blocks: I) -> StepBy<Skip<I>> {
        self.turn = (self.turn + 1) % SAMPLED;
        blocks.skip(self.turn).step_by(SAMPLED)
    }

    /// Counts data that is there.
    #[inline]
    pub(crate) fn note_there(&mut self, group: Group, amount: u16) {
        let there = self.there.get(group) + amount;
        self.there.set(group, there);
        if there > u16::MAX / 2 {
            halve(&mut self.there);
        }
    }

    /// Learns from what was counted, if it is time.
    #[inline]
    pub(crate) fn learn_if_due(&mut self) {
        if self.losses >= self.due {
            self.learn();
        }
    }

    #[inline(never)]
    fn learn(&mut self) {
        let there: u32 = Group::all().map(|group| u32::from(self.there.get(group))).sum();
        let lost: u32 = Group::all().map(|group| u32::from(self.lost.get(group))).sum();
        self.longest = 1;
        for group in Group::all() {
            // What it would have lost if all data were replaced at the same rate.
            let share = floor(u32::from(self.there.get(group)) * lost, there.max(1));
            let seen = u32::from(self.lost.get(group));
            let stays = floor((share + DOUBT) * u32::from(MEAN), seen + DOUBT).clamp(1, 0xFFFF);
            self.stays.set(group, stays as u16);
            self.longest = self.longest.max(stays as u16);
        }
        if self.losses >= REMEMBERED {
            halve(&mut self.lost);
            self.losses /= 2;
        }
        self.due = self.losses + LEARNED;
    }
}

fn halve(table: &mut Table<'_, Group, u16>) {
    for group in Group::all() {
        table.set(group, table.get(group) / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(stream: Stream, ticks: u16, rest: Rest) -> Group {
        Group::of(stream, Age::new(ticks), rest)
    }

    #[test]
    fn every_block_has_a_group_of_its_kind() {
        let mut seen = [false; GROUPS];
        for stream in Stream::ALL.into_iter().filter(|stream| *stream != Stream::Hot) {
            for age in (0..AGES).map(|bits| if bits == 0 { 0 } else { 1 << (bits - 1) }) {
                for rest in [Rest::Short, Rest::Long] {
                    let seen = &mut seen[group(stream, age, rest).index()];
                    assert!(!*seen, "{stream:?} {age} {rest:?}");
                    *seen = true;
                }
            }
        }
        assert_eq!(seen, [true; GROUPS]);
    }

    #[test]
    fn what_is_replaced_less_often_stays_longer() {
        let [mut there, mut lost, mut stays] = [[7; GROUPS]; 3];
        let memory = RateMemory { there: &mut there, lost: &mut lost, stays: &mut stays };
        let mut rates = Rates::new(memory);
        let [hot, cold, rare] =
            [Stream::Host, Stream::Old, Stream::Left].map(|stream| group(stream, 20, Rest::Long));
        for turn in 0..4 * LEARNED {
            // As much of each, but the cold data loses a ninth of what the hot data does.
            rates.note_there(hot, 10);
            rates.note_there(cold, 10);
            rates.note_loss(if turn % 10 == 0 { cold } else { hot }, 1);
            rates.learn_if_due();
        }
        let ratio = f64::from(rates.stays(cold)) / f64::from(rates.stays(hot));
        assert!((8.0..10.0).contains(&ratio), "{ratio}");
        assert_eq!(rates.stays(rare), MEAN, "nothing is known of it");
        assert_eq!(rates.longest(), rates.stays(cold));
    }

    #[test]
    fn old_losses_are_forgotten() {
        let [mut there, mut lost, mut stays] = [[0; GROUPS]; 3];
        let memory = RateMemory { there: &mut there, lost: &mut lost, stays: &mut stays };
        let mut rates = Rates::new(memory);
        let [one, other] =
            [Stream::Host, Stream::Copies].map(|stream| group(stream, 20, Rest::Long));
        for hot in [one, other] {
            for _ in 0..8 * REMEMBERED {
                rates.note_there(one, 10);
                rates.note_there(other, 10);
                rates.note_loss(hot, 1);
                rates.learn_if_due();
            }
        }
        assert!(rates.stays(other) < MEAN && rates.stays(one) > 4 * MEAN);
    }
}
