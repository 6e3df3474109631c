//! The stages of a request's way through Linux's block layer, of which blktrace records one event each.
//!
//! A request is taken at one stage, or it would be replayed several times. What the device was asked for is what was
//! issued to it, after requests were merged and split; a trace that was recorded without these events has what was
//! queued, or what was completed.

/// A stage at which requests can be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Action C: the device has done it.
    Completed,
    /// Action Q: a file system or a program has asked for it.
    Queued,
    /// Action D: the device is asked for it.
    #[default]
    Issued,
}

impl Stage {
    /// The stage at which requests of a trace are taken, whose beginning has events of these stages.
    pub(super) fn of(events: impl Iterator<Item = Self>) -> Self {
        events.max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Stage::{Completed, Issued, Queued};
    use super::*;

    #[test]
    fn what_was_issued_goes_before_what_was_queued_and_that_before_what_was_completed() {
        assert_eq!(Stage::of([Queued, Issued, Completed].into_iter()), Issued);
        assert_eq!(Stage::of([Completed, Queued].into_iter()), Queued);
        assert_eq!(Stage::of([Completed].into_iter()), Completed);
        assert_eq!(Stage::of([].into_iter()), Issued);
    }
}
