//! How many groups of blocks are told apart by the rate at which their data is replaced.

/// The streams of an area: map pages and host data of the fast area are never in the same one.
pub(crate) const STREAMS: usize = 6;
/// The ages, each twice the one before: a number of ticks has at most nine bits.
pub(crate) const AGES: usize = 10;
/// Whether a block lost data lately or not.
pub(crate) const RESTS: usize = 2;
/// The number of groups.
pub(crate) const GROUPS: usize = STREAMS * AGES * RESTS;
