//! The places of requests: slots of the footprint.

use rand_pcg::Pcg64Mcg;

use super::file_system::{FileSystem, Shape};
use super::numbers::below;
use super::zipf::{Scatter, Zipf};
use crate::input::trace::Op;

/// A rule by which slots are chosen.
#[derive(Clone, Debug)]
pub(super) enum Places {
    Uniform { slots: u64 },
    Sequential { slots: u64, next: u64 },
    Zipf { ranks: Zipf, scatter: Scatter },
    FileSystem(Box<FileSystem>),
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

    pub(super) fn file_system(shape: Shape, footprint: u64, seed: u64) -> Self {
        Self::FileSystem(Box::new(FileSystem::new(shape, footprint, seed)))
    }

    /// Offset and length of the next request, whose length is `size` unless the rule sets another.
    #[inline]
    pub(super) fn next(&mut self, op: Op, size: u64, dice: &mut Pcg64Mcg) -> (u64, u64) {
        let slot = match self {
            Self::FileSystem(streams) => return streams.next(op, dice),
            Self::Uniform { slots } => below(dice, *slots),
            Self::Sequential { slots, next } => {
                let place = *next;
                *next = if place + 1 == *slots { 0 } else { place + 1 };
                place
            }
            Self::Zipf { ranks, scatter } => scatter.place(ranks.rank(dice)),
        };
        (slot * size, size)
    }
}
