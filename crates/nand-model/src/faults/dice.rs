//! Chance that repeats: what a seed decides depends on the place and its wear alone.

use std::num::NonZeroU32;

use fastrand::Rng;
use ftl_iface::Block;

/// How often something happens by chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Chance(Option<NonZeroU32>);

impl Chance {
    /// It never happens.
    pub const NEVER: Self = Self(None);

    /// Once in `times`, on average; never for zero, always for one.
    pub const fn one_in(times: u32) -> Self {
        Self(NonZeroU32::new(times))
    }

    pub(super) fn comes_up(self, mut dice: impl FnMut() -> Rng) -> bool {
        self.0.is_some_and(|times| dice().u32(0..times.get()) == 0)
    }
}

/// When a fault at a named place strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum When {
    /// Every time until it is lifted.
    Always,
    /// At the nth time from now, counted from one, and never again.
    Nth(u32),
}

impl When {
    /// Whether it strikes this time, and what is left of it.
    pub(super) const fn strike(self) -> (bool, Option<Self>) {
        match self {
            Self::Always => (true, Some(self)),
            Self::Nth(0 | 1) => (true, None),
            Self::Nth(times) => (false, Some(Self::Nth(times - 1))),
        }
    }
}

/// What a throw decides. The number keeps throws for one place apart; images rely on it, so it stays.
#[derive(Clone, Copy)]
pub(super) enum Subject {
    FactoryBad = 1,
    ProgramFailure = 2,
    EraseFailure = 3,
    Uncorrectable = 4,
    BitErrors = 5,
    FailedProgram = 6,
    HalfErased = 7,
    Garbage = 8,
    FailedErase = 9,
    DestroyingMark = 10,
    DestroyedPages = 11,
}

/// The dice of a place at a time of its life. `detail` is a page's number, or whatever else tells two throws for one
/// block apart.
pub(super) fn dice(seed: u64, subject: Subject, block: Block, cycles: u32, detail: u64) -> Rng {
    let place = (block.region() as u64) << 32 | u64::from(block.index());
    [subject as u64, place, u64::from(cycles), detail]
        .iter()
        .fold(Rng::with_seed(seed), |mut dice, word| Rng::with_seed(dice.u64(..) ^ word))
}
