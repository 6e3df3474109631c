//! The states met so far: a fingerprint of each, with what was left to try when it was met.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;
use std::sync::{Mutex, PoisonError};

use super::content::IdentityHasher;

/// What may still happen on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// Requests of the host.
    pub(super) requests: u8,
    /// Power cuts, failures and pages that become unreadable, together.
    pub(super) harms: u8,
    /// Failures among them.
    pub(super) failures: u8,
    /// Pages that become unreadable among them.
    pub(super) rots: u8,
    /// How often power may be switched off at rest without a clean stop.
    pub(super) rests: u8,
    /// Requests of a life that a cut or a rest began, as long as more harm may follow.
    pub(super) after: u8,
}

impl Budget {
    const fn covers(self, other: Self) -> bool {
        self.requests >= other.requests
            && self.harms >= other.harms
            && self.failures >= other.failures
            && self.rots >= other.rots
            && self.rests >= other.rests
            && self.after >= other.after
    }
}

type Bucket = HashMap<u64, Budget, BuildHasherDefault<IdentityHasher>>;

/// The states, in parts, so that threads seldom wait for each other.
#[derive(Debug)]
pub(super) struct Visited(Vec<Mutex<Bucket>>);

impl Visited {
    const PARTS: usize = 256;

    pub(super) fn new() -> Self {
        Self((0..Self::PARTS).map(|_| Mutex::default()).collect())
    }

    /// Notes a state; returns whether there is anything left to try from it.
    pub(super) fn is_new(&self, state: u64, budget: Budget) -> bool {
        let part = &self.0[(state >> 32) as usize % Self::PARTS];
        let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
        match part.entry(state) {
            Entry::Vacant(place) => {
                place.insert(budget);
                true
            }
            Entry::Occupied(place) if place.get().covers(budget) => false,
            Entry::Occupied(mut place) => {
                if budget.covers(*place.get()) {
                    place.insert(budget);
                }
                true
            }
        }
    }
}
