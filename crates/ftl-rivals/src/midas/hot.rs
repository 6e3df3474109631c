//! The paper's filter of hot units: which host writes go to the hot group.

use crate::kit::Unit;

/// A unit whose counter is there is hot: of two bits, the highest.
const HOT: u8 = 3;

/// Collected hot blocks whose mean age decides.
const COLLECTED: u32 = 16;

/// Where the data that a host write replaces lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replaced {
    /// In the hot group.
    InHot,
    /// In the first group of the chain, in a block of that age.
    InFirst(u64),
    /// Further down, or nowhere.
    Elsewhere,
}

/// The counters of all units.
#[derive(Clone, Debug)]
pub(super) struct HotFilter {
    counters: Vec<u8>,
    /// The age of a hot block when it is collected, in units programmed.
    age: u64,
    sum: u64,
    count: u32,
}

impl HotFilter {
    /// For so many units, all cold.
    pub(super) fn new(units: u32) -> Self {
        Self { counters: vec![0; units as usize], age: units.into(), sum: 0, count: 0 }
    }

    /// Whether a host write of the unit is hot.
    pub(super) fn is_hot(&self, Unit(unit): Unit) -> bool {
        self.counters[unit as usize] == HOT
    }

    /// Notes a host write: a unit becomes hotter with each one that comes while a hot block would still be there.
    pub(super) fn note(&mut self, Unit(unit): Unit, replaced: Replaced) {
        let counter = &mut self.counters[unit as usize];
        match replaced {
            Replaced::InHot => *counter = HOT.min(*counter + 1),
            Replaced::InFirst(age) if age <= self.age => *counter = HOT.min(*counter + 1),
            Replaced::InFirst(_) => *counter = counter.saturating_sub(1),
            Replaced::Elsewhere => {}
        }
    }

    /// Notes that a unit was copied because it outlived its block, twice if that was a hot one.
    pub(super) fn cool(&mut self, Unit(unit): Unit, steps: u8) {
        let counter = &mut self.counters[unit as usize];
        *counter = counter.saturating_sub(steps);
    }

    /// Notes the age of a hot block that is collected. The age follows slowly, as a longer one makes more units hot.
    pub(super) fn note_collected(&mut self, age: u64) {
        (self.sum, self.count) = (self.sum + age, self.count + 1);
        if self.count == COLLECTED {
            let mean = self.sum / u64::from(COLLECTED);
            let is_far = mean >= 2 * self.age;
            self.age = if is_far { self.age * 3 / 2 } else { u64::midpoint(self.age, mean) }.max(1);
            (self.sum, self.count) = (0, 0);
        }
    }

    /// Two bits a unit.
    pub(super) fn ram_bytes(&self) -> u64 {
        self.counters.len() as u64 / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_hot_after_three_writes_in_time_and_cools_when_it_is_copied() {
        let mut filter = HotFilter::new(100);
        let unit = Unit(7);
        filter.note(unit, Replaced::InFirst(100));
        filter.note(unit, Replaced::InHot);
        filter.note(unit, Replaced::Elsewhere);
        assert!(!filter.is_hot(unit));
        filter.note(unit, Replaced::InFirst(0));
        assert!(filter.is_hot(unit) && !filter.is_hot(Unit(8)));
        filter.note(unit, Replaced::InFirst(101));
        assert!(!filter.is_hot(unit));
        (0..3).for_each(|_| filter.note(unit, Replaced::InHot));
        filter.cool(unit, 2);
        filter.note(unit, Replaced::InHot);
        assert!(!filter.is_hot(unit));
    }

    #[test]
    fn its_age_follows_that_of_collected_hot_blocks_by_half() {
        let mut filter = HotFilter::new(100);
        (0..COLLECTED).for_each(|_| filter.note_collected(50));
        assert_eq!(filter.age, 75);
        (0..COLLECTED).for_each(|_| filter.note_collected(1_000));
        assert_eq!(filter.age, 112);
    }
}
