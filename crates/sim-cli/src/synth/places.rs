//! Where requests go: which slot, of as many as the footprint has.

use rand_pcg::Pcg64Mcg;

use super::below;
use super::zipf::{Scatter, Zipf};

/// A rule by which slots are chosen.
#[derive(Clone, Debug)]
pub(super) enum Places {
    Uniform { slots: u64 },
    Sequential { slots: u64, next: u64 },
    Zipf { ranks: Zipf, scatter: Scatter },
}

impl Places {
    pub(super) const fn uniform(slots: u64) -> Self {
        Self::Uniform { slots }
    }

    pub(super) const fn sequential(slots: u64) -> Self {
        Self::Sequential { slots, next: 0 }
    }

    pub(super) fn zipf(slots: u64, skew: f64, seed: u64) -> Self {
        Self::Zipf { ranks: Zipf::new(slots, skew), scatter: Scatter::new(slots, seed) }
    }

    #[inline]
    pub(super) fn next(&mut self, dice: &mut Pcg64Mcg) -> u64 {
        match self {
            Self::Uniform { slots } => below(dice, *slots),
            Self::Sequential { slots, next } => {
                let place = *next;
                *next = if place + 1 == *slots { 0 } else { place + 1 };
                place
            }
            Self::Zipf { ranks, scatter } => scatter.place(ranks.rank(dice)),
        }
    }
}
