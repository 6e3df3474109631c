//! Who sees a replay from within, while it runs.

use std::num::NonZeroU32;

use nand_model::part::Nanos;

use crate::base::Observer;
use crate::engine::systems::System;
use crate::input::trace::Op;

/// One who sees the system itself, for charts that grow while a replay runs. It is called on the thread that replays,
/// between two requests, and changes nothing: the result is the same without it.
pub trait RunObserver: Observer + Sync {
    /// The requests between two looks. It looks after whole groups of 32, so it may be some more.
    fn every(&self) -> NonZeroU32;

    /// It looks.
    fn look(&self, look: &Look<'_>);
}

/// What there is to see.
pub struct Look<'a> {
    /// The system. What was counted before the replay is in its counts, too.
    pub system: &'a dyn System,
    /// When the replay began, by the device's clock.
    pub begun: Nanos,
    /// Requests issued so far. The first look is before the first one.
    pub requests: u64,
    /// Bytes that the host has written so far, of completed requests.
    pub written: u64,
    /// The requests that completed since the last look.
    pub answers: &'a [Answer],
}

/// A completed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What it asked.
    pub op: Op,
    /// Its response time.
    pub took: Nanos,
}
