//! The stages of a request's way through Linux's block layer, of which blktrace records one event each.
//!
//! A request is taken at one stage only, or it would be replayed several times. The device's requests are the issued
//! ones, after requests were merged and split; a trace recorded without these events has queued or completed ones.

/// A stage at which requests are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Action C: the device has completed it.
    Completed,
    /// Action Q: a file system or a program has queued it.
    Queued,
    /// Action D: it is issued to the device.
    #[default]
    Issued,
}

impl Stage {
    /// The stage at which requests are taken, given the stages of the events at the beginning of a trace.
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
