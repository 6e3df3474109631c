//! Energy: supply voltage times current times time, summed exactly.

use std::fmt;
use std::ops::{Add, AddAssign};

use crate::part::{Nanos, Power};

/// An amount of energy, in attojoules: a millivolt times a microampere times a nanosecond is one, so that sums of
/// datasheet figures stay whole numbers.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(transparent)]
pub struct Energy(u128);

impl Energy {
    /// None at all.
    pub const ZERO: Self = Self(0);

    /// What a current drawn from a supply for a time amounts to.
    pub const fn of(millivolts: u32, microamps: u32, time: Nanos) -> Self {
        Self(millivolts as u128 * microamps as u128 * time.get() as u128)
    }

    /// This many attojoules.
    pub const fn from_attojoules(attojoules: u128) -> Self {
        Self(attojoules)
    }

    /// The plain number of attojoules.
    pub const fn attojoules(self) -> u128 {
        self.0
    }

    /// Whole and broken microjoules, for tables.
    #[allow(clippy::cast_precision_loss)] // A table shows a few digits.
    pub fn as_microjoules_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl Add for Energy {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Energy {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl fmt::Display for Energy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} uJ", self.as_microjoules_f64())
    }
}

impl Power {
    /// Energy of a die that reads, programs or erases for that long.
    pub const fn active(&self, time: Nanos) -> Energy {
        Energy::of(self.supply_millivolts, self.active_microamps, time)
    }

    /// Energy of a die in standby for that long.
    pub const fn idle(&self, time: Nanos) -> Energy {
        Energy::of(self.supply_millivolts, self.standby_microamps, time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_at_3_3_volts_15_milliamperes_and_800_microseconds_costs_39_6_microjoules() {
        let energy = Energy::of(3_300, 15_000, Nanos::from_micros(800));
        assert_eq!(energy, Energy::from_attojoules(39_600_000_000_000));
        assert_eq!(energy.to_string(), "39.600 uJ");
    }
}
