//! Where a system gets its requests: from a reader that all systems share, or from one of its own.

#[cfg(feature = "threads")]
use std::sync::mpsc::{Receiver, SyncSender};

use super::feed::Batch;
#[cfg(any(test, not(feature = "threads")))]
use super::feed::{Fed, Turns};
#[cfg(any(test, not(feature = "threads")))]
use crate::base::Failure;
use crate::engine::result::Round;

/// The batches of one system, in order.
pub(super) trait Batches {
    /// The next batch; `None` after the last.
    fn next(&mut self) -> Option<Batch>;

    /// Whether it receives how each round went.
    fn hears_rounds(&self) -> bool;

    /// Hears how a round went.
    fn round(&mut self, round: Round);
}

/// Batches from a reader on another thread.
#[cfg(feature = "threads")]
pub(super) struct Piped {
    pub(super) batches: Receiver<Batch>,
    /// To whom the system tells of each round, if there are rounds.
    pub(super) tells: Option<SyncSender<Round>>,
}

#[cfg(feature = "threads")]
impl Batches for Piped {
    fn next(&mut self) -> Option<Batch> {
        self.batches.recv().ok()
    }

    fn hears_rounds(&self) -> bool {
        self.tells.is_some()
    }

    fn round(&mut self, round: Round) {
        if let Some(tells) = &self.tells {
            // The reader has ended only if a system failed.
            let _ = tells.send(round);
        }
    }
}

/// Batches of a reader of one's own, each made when it is asked for.
#[cfg(any(test, not(feature = "threads")))]
pub(super) struct Pulled<'a> {
    turns: Turns<'a>,
    first: Option<Batch>,
    /// The batch that was asked for last.
    last: Option<Batch>,
    /// How the last round went.
    told: Option<Round>,
    failed: Option<Failure>,
}

#[cfg(any(test, not(feature = "threads")))]
impl<'a> Pulled<'a> {
    /// That batch, and those after it.
    pub(super) fn new(turns: Turns<'a>, first: Batch) -> Self {
        Self { turns, first: Some(first), last: None, told: None, failed: None }
    }

    /// The counts of the reader, or why it could not read on.
    pub(super) fn fed(self) -> Result<Fed, Failure> {
        self.failed.map_or_else(|| Ok(self.turns.fed()), Err)
    }
}

#[cfg(any(test, not(feature = "threads")))]
impl Batches for Pulled<'_> {
    fn next(&mut self) -> Option<Batch> {
        let next = match self.last.take() {
            None => Ok(self.first.take()),
            Some(last) => self.turns.after(&last, |told| {
                for rounds in told {
                    rounds.extend(self.told);
                }
                true
            }),
        };
        match next {
            Ok(next) => self.last = next,
            Err(failure) => self.failed = Some(failure),
        }
        self.last.clone()
    }

    fn hears_rounds(&self) -> bool {
        self.turns.has_rounds()
    }

    fn round(&mut self, round: Round) {
        self.told = Some(round);
    }
}
