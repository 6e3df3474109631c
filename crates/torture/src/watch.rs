//! Who watches a run: to tell people how far it has come, and to end it.

/// Is told how far a run has come, and may end it.
pub trait Watcher: Sync {
    /// So many more cuts were tried.
    fn tried(&self, cuts: u64);

    /// Whether to go on; where not, a run ends soon and tells what it has.
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
