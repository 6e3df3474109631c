//! Unfinished work: streams and their open blocks, the epoch, victims, the scrub, and the page that a power cut may
//! have damaged.

use super::address::{BlockNumber, Leaf, Spot};
use crate::layout::Stamp;
use crate::probe::Cause;

/// The streams: each has an open block of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Stream {
    /// Map pages.
    Map,
    /// Host data in the fast area.
    Hot,
    /// Host data in the main area.
    Host,
    /// Host data in the main area that is expected to live long.
    Lasting,
    /// Data that has left the fast area.
    Left,
    /// Copies within the main area.
    Copies,
    /// Copies from an old block.
    Old,
}

impl Stream {
    pub(super) const ALL: [Self; 7] =
        [Self::Map, Self::Hot, Self::Host, Self::Lasting, Self::Left, Self::Copies, Self::Old];

    /// The streams of the main area.
    pub(super) const MAIN: [Self; 5] =
        [Self::Host, Self::Lasting, Self::Left, Self::Copies, Self::Old];
}

/// An open block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) block: BlockNumber,
    /// The next page to program.
    pub(super) next: u16,
    /// Pages before this one are relied upon: a page whose program could corrupt one of them is skipped.
    pub(super) relied: u16,
}

/// Epochs and the horizon: the stamp from which on tags must be read after a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Epoch {
    /// Everything up to this stamp is in map pages.
    pub(super) horizon: Stamp,
    /// The start of the current epoch. When no entry of the previous one is left, it becomes the horizon.
    pub(super) begun: Stamp,
    /// The stamp at which it should end.
    pub(super) due: u64,
}

impl Epoch {
    /// The first epoch of a device.
    pub(super) const FIRST: Self = Self { horizon: Stamp::ZERO, begun: Stamp::ZERO, due: 0 };
}

/// A victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Victim {
    pub(super) block: BlockNumber,
    /// The next page to examine.
    pub(super) page: u16,
    /// The next slot of it.
    pub(super) slot: u16,
    /// The next leaf to search, if all pages were examined but the block still has references.
    pub(super) salvaged: u32,
    /// Pages copied out of it per host page.
    pub(super) pace: u16,
    /// The stream of its copies.
    pub(super) stream: Stream,
    /// The reason for emptying it.
    pub(super) cause: Cause,
}

/// The page programmed last before the mount. Its content is in the page buffer, and its slots are in the flash access
/// layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suspect {
    pub(super) spot: Spot,
    pub(super) what: What,
    /// The stamp of the first attempt: of this page, or of the one that it repeats.
    pub(super) first: Stamp,
    /// The address of the first attempt, once it is found.
    pub(super) origin: Option<Spot>,
}

/// The content of a suspect page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Sectors.
    Sectors,
    /// The map page of a leaf.
    Map(Leaf),
}

/// The next page that a scrub reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scrubbed {
    /// A header.
    Header(u16),
    /// A page of a block.
    Page(Spot),
}

/// The search for an area's least worn block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leveling {
    /// The position of the search.
    pub(super) hand: u32,
    /// The least worn block in use found so far.
    pub(super) least: Option<BlockNumber>,
    /// The erase count of the block opened last.
    pub(super) worn: u16,
    /// Blocks opened since the last victim of wear leveling.
    pub(super) since: u16,
}

impl Leveling {
    pub(super) const NONE: Self = Self { hand: 0, least: None, worn: 0, since: 0 };
}

/// The result of a step of idle work.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdleStep {
    /// Something was done.
    Done,
    /// There is no work.
    NothingToDo,
}
