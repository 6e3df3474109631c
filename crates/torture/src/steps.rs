//! The host's requests: a workload drawn by a seed.

use std::fmt;

use crate::dice::Dice;

/// Whether power is still on after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    On,
    Off,
}

/// One event of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sectors are written.
    Write {
        /// The first sector.
        first: u32,
        /// The number of sectors.
        count: u32,
    },
    /// Sectors are trimmed.
    Trim {
        /// The first sector.
        first: u32,
        /// The number of sectors.
        count: u32,
    },
    /// Sectors are read and compared.
    Read {
        /// The first sector.
        first: u32,
        /// The number of sectors.
        count: u32,
    },
    /// The host is idle.
    Maintain {
        /// The most page copies in this time.
        budget: u32,
    },
    /// The host waits until everything is on flash.
    Flush,
    /// The device recovers from a power cut now, and not with the next request.
    Settle,
    /// A scrub is started, and gets some idle time.
    Scrub,
    /// Everything is read and compared, and every invariant is checked.
    Compare,
    /// Power fails between two requests.
    Rest,
    /// The device is stopped, and then switched off.
    Stop,
    /// Power will fail some operations later.
    Cut {
        /// How many.
        after: u32,
        /// The seed of the operation's fate.
        seed: u64,
    },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write { first, count } => write!(f, "writing {count} sectors from {first}"),
            Self::Trim { first, count } => write!(f, "trimming {count} sectors from {first}"),
            Self::Read { first, count } => write!(f, "reading {count} sectors from {first}"),
            Self::Maintain { budget } => write!(f, "maintaining with {budget} copies"),
            Self::Flush => f.write_str("flushing"),
            Self::Settle => f.write_str("settling"),
            Self::Scrub => f.write_str("scrubbing"),
            Self::Compare => f.write_str("comparing everything"),
            Self::Rest => f.write_str("switching off at rest"),
            Self::Stop => f.write_str("stopping"),
            Self::Cut { after, .. } => write!(f, "letting power fail {after} operations later"),
        }
    }
}

/// A workload: hot sectors rewritten, cold runs, trims, idle times, power cuts.
#[derive(Clone, Debug)]
pub struct Workload {
    dice: Dice,
    capacity: u32,
    left: u32,
    /// The next sector to be filled at the beginning.
    fill: Option<u32>,
    /// Requests until the life ends.
    life: u32,
    /// Whether power fails at all.
    cuts: bool,
}

/// Sectors of the longest request.
const LONGEST: u32 = 24;

impl Workload {
    /// A run's own life: the device is filled, then used through several lives.
    pub const fn whole(seed: u64, capacity: u32, requests: u32) -> Self {
        let dice = Dice::new(seed);
        Self { dice, capacity, left: requests, fill: Some(0), life: 40, cuts: true }
    }

    /// What the host does after a cut.
    pub const fn after(seed: u64, capacity: u32, requests: u32) -> Self {
        let dice = Dice::new(seed);
        Self { dice, capacity, left: requests, fill: None, life: u32::MAX, cuts: false }
    }

    /// Requests that are left.
    pub const fn left(&self) -> u32 {
        self.left
    }

    fn run(&mut self, count: u32) -> (u32, u32) {
        let first = self.dice.below(self.capacity);
        (first, count.min(self.capacity - first))
    }

    fn hot(&mut self) -> Step {
        let hot = (self.capacity / 8).max(4);
        let first = self.dice.below(hot);
        let count = 1 + self.dice.below(3);
        Step::Write { first, count: count.min(self.capacity - first) }
    }

    fn cold(&mut self, most: u32) -> Step {
        let count = 1 + self.dice.below(most);
        let (first, count) = self.run(count);
        Step::Write { first, count }
    }

    fn trim(&mut self) -> Step {
        // Sometimes long enough for whole logical blocks on small devices.
        let most = if self.dice.percent(25) { 4 * LONGEST } else { 6 };
        let count = 1 + self.dice.below(most);
        let (first, count) = self.run(count);
        Step::Trim { first, count }
    }

    fn request(&mut self) -> Step {
        match self.dice.below(100) {
            0..52 => self.hot(),
            52..74 => self.cold(4),
            74..84 => self.cold(LONGEST),
            84..90 => self.trim(),
            90..94 => {
                let (first, count) = self.run(LONGEST);
                Step::Read { first, count }
            }
            94..98 => Step::Maintain { budget: 1 + self.dice.below(40) },
            98 => Step::Maintain { budget: 1_000 },
            _ => Step::Flush,
        }
    }
}

impl Iterator for Workload {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        self.left = self.left.checked_sub(1)?;
        // Every other life after a cut ends with a clean stop.
        if self.left == 0 && !self.cuts && self.dice.percent(50) {
            return Some(Step::Stop);
        }
        if let Some(first) = self.fill {
            let count = LONGEST.min(self.capacity - first);
            let next = first + count;
            self.fill = (next < self.capacity).then_some(next);
            return Some(Step::Write { first, count });
        }
        if self.cuts {
            self.life = self.life.saturating_sub(1);
            if self.life == 0 {
                self.life = 5 + self.dice.below(60);
                return Some(match self.dice.below(10) {
                    0..2 => Step::Rest,
                    2..5 => Step::Stop,
                    _ => Step::Cut { after: self.dice.below(12), seed: self.dice.next() },
                });
            }
        }
        Some(self.request())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_fills_the_device_first_stays_within_it_and_does_everything() {
        let steps: Vec<Step> = Workload::whole(3, 100, 1_000).collect();
        assert_eq!(steps.len(), 1_000);
        assert_eq!(steps[4], Step::Write { first: 96, count: 4 });
        let mut seen = [false; 8];
        for step in steps {
            let (kind, end) = match step {
                Step::Write { first, count } => (0, first + count),
                Step::Trim { first, count } => (1, first + count),
                Step::Read { first, count } => (2, first + count),
                Step::Maintain { .. } => (3, 0),
                Step::Flush => (4, 0),
                Step::Rest => (5, 0),
                Step::Cut { .. } => (6, 0),
                Step::Stop => (7, 0),
                other => panic!("{other}: worlds alone ask for it"),
            };
            assert!(end <= 100, "{step}");
            seen[kind] = true;
        }
        assert_eq!(seen, [true; 8]);
    }
}
