//! Blocks that no host write opens: garbage collection and recovery need them.

/// The reserve of the fast area: blocks that no host write opens. A step of garbage collection opens at most one for
/// map pages. After a power cut, one is opened for the repeated page and one for map pages. One more is for the next
/// power cut, which leaves a block nearly empty.
const FAST_RESERVE: u32 = 4;

/// The reserve of the main area. Its blocks are written in three streams or more, and a power cut leaves one nearly
/// empty block of each; of a mount that is cut soon, the block of the page that it repeats, and one of copies.
const MAIN_RESERVE: u32 = 4;

/// The reserve of a single area, which has all of these streams.
const ONLY_RESERVE: u32 = 5;

/// The reserve of a main area whose streams lend their blocks to each other. Emptying a victim opens one for copies and
/// those for map pages; one more is for the page to be repeated after a power cut. Cuts in a row are no danger where so
/// many blocks hold garbage: any of them is soon emptied.
pub(super) const fn lending_reserve(for_map_pages: u32) -> u32 {
    2 + for_map_pages
}

/// Blocks beyond the needed ones that a device must have for that.
pub(super) const TO_LEND: u32 = 5;

/// Which of a device's areas one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The fast one of two.
    Fast,
    /// The main one of two.
    Main,
    /// The only one.
    Single,
}

impl Role {
    /// Returns the reserve that an area must have room for, with so many streams beyond two.
    pub(super) const fn reserve(self, more_streams: u32) -> u32 {
        match self {
            Self::Fast => FAST_RESERVE,
            Self::Main => MAIN_RESERVE + more_streams,
            Self::Single => ONLY_RESERVE + more_streams,
        }
    }
}
