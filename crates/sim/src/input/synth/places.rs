//! The places of requests: slots of the footprint.

use ftl_iface::Lifetime;
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
    Writers(Writers),
}

/// Two writers, each in its half, in order, again and again.
#[derive(Clone, Debug)]
pub(super) struct Writers {
    /// Slots of each half.
    half: u64,
    next: [u64; 2],
    /// How many requests of the first writer come before one of the second.
    speed: u64,
    turn: u64,
    /// How long each says that its data lives.
    lifetimes: [Lifetime; 2],
}

impl Writers {
    fn next(&mut self) -> (u64, Lifetime) {
        let writer = usize::from(self.turn == self.speed);
        self.turn = if self.turn == self.speed { 0 } else { self.turn + 1 };
        let place = self.next[writer];
        self.next[writer] = if place + 1 == self.half { 0 } else { place + 1 };
        (writer as u64 * self.half + place, self.lifetimes[writer])
    }
}

/// The place of a request, and the lifetime that its host expects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) lifetime: Lifetime,
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

    pub(super) const fn writers(slots: u64, speed: u64, lifetimes: [Lifetime; 2]) -> Self {
        Self::Writers(Writers { half: slots / 2, next: [0; 2], speed, turn: 0, lifetimes })
    }

    /// The place of the next request, whose length is `size` unless the rule sets another.
    #[inline]
    pub(super) fn next(&mut self, op: Op, size: u64, dice: &mut Pcg64Mcg) -> Placed {
        let mut lifetime = Lifetime::Unknown;
        let slot = match self {
            Self::FileSystem(streams) => {
                let (offset, length) = streams.next(op, dice);
                return Placed { offset, length, lifetime };
            }
            Self::Writers(writers) => {
                let slot;
                (slot, lifetime) = writers.next();
                slot
            }
            Self::Uniform { slots } => below(dice, *slots),
            Self::Sequential { slots, next } => {
                let place = *next;
                *next = if place + 1 == *slots { 0 } else { place + 1 };
                place
            }
            Self::Zipf { ranks, scatter } => scatter.place(ranks.rank(dice)),
        };
        Placed { offset: slot * size, length: size, lifetime }
    }
}
