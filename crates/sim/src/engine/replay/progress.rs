//! Who is told how far a replay is.

/// One who is told of a replay's progress.
pub(crate) trait Progress {
    /// How far it is, from 0 to 1, if that is known; and the requests so far.
    fn at(&self, fraction: Option<f64>, requests: u64);

    /// It has ended.
    fn done(&self);
}

/// Nobody is told.
impl Progress for () {
    fn at(&self, _: Option<f64>, _: u64) {}

    fn done(&self) {}
}
