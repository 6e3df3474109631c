//! A run's watcher, which shows progress and may end the run.

/// Follows the progress of a run, and may end it.
pub trait Watcher: Sync {
    /// Notes that many more cuts were tried.
    fn tried(&self, cuts: u64);

    /// Whether to continue; if not, the run ends soon and reports its results so far.
    fn goes_on(&self) -> bool;
}

/// A watcher that does nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn tried(&self, _: u64) {}

    fn goes_on(&self) -> bool {
        true
    }
}
