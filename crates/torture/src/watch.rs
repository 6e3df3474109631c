//! The watcher of a run: shows people the progress, and can end it.

/// Receives the progress of a run, and may end it.
pub trait Watcher: Sync {
    /// So many more cuts were tried.
    fn tried(&self, cuts: u64);

    /// Whether to continue; if not, the run ends soon with the result so far.
    fn goes_on(&self) -> bool;
}

/// Nobody watches.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn tried(&self, _: u64) {}

    fn goes_on(&self) -> bool {
        true
    }
}
