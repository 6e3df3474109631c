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
    /// The same, from a block that is old.
    Old,
}

impl Stream {
    pub(super) const ALL: [Self; 7] =
        [Self::Map, Self::Hot, Self::Host, Self::Lasting, Self::Left, Self::Copies, Self::Old];

    /// Those of the main area.
    pub(super) const MAIN: [Self; 5] =
        [Self::Host, Self::Lasting, Self::Left, Self::Copies, Self::Old];
}

/// A block that takes pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) block: BlockNumber,
    /// The page to be programmed next.
    pub(super) next: u16,
    /// Pages before this one are relied upon: a page whose program could corrupt one of them is skipped.
    pub(super) relied: u16,
}

/// The horizon: from which stamp on tags must be read after a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Epoch {
    /// Everything up to this stamp is in map pages.
    pub(super) horizon: Stamp,
    /// The start of the current epoch. When no entry of the previous one is left, it becomes the horizon.
    pub(super) begun: Stamp,
    /// When it should end.
    pub(super) due: u64,
}

impl Epoch {
    /// The first of a device.
    pub(super) const FIRST: Self = Self { horizon: Stamp::ZERO, begun: Stamp::ZERO, due: 0 };
}

/// A block that is being emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Victim {
    pub(super) block: BlockNumber,
    /// The page to be looked at next.
    pub(super) page: u16,
    /// And its slot.
    pub(super) slot: u16,
    /// If no page is left to be examined, but something still refers to the block: the leaf to be searched next.
    pub(super) salvaged: u32,
    /// Pages copied out of it for each page of the host's.
    pub(super) pace: u16,
    /// Where its copies go.
    pub(super) stream: Stream,
    /// What it is emptied for.
    pub(super) cause: Cause,
}

/// The page programmed last before the mount. Its content is in the page buffer, its slots are in the flash access
/// layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suspect {
    pub(super) spot: Spot,
    pub(super) what: What,
    /// The stamp of the first attempt: of this page, or of the one that it repeats.
    pub(super) first: Stamp,
    /// The address of that first page, once it is found.
    pub(super) origin: Option<Spot>,
}

/// What it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Sectors.
    Sectors,
    /// The map page of a leaf.
    Map(Leaf),
}

/// What a scrub reads next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scrubbed {
    /// A header.
    Header(u16),
    /// A page of a block.
    Page(Spot),
}

/// What is known of an area's least worn blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leveling {
    /// Where the search continues.
    pub(super) hand: u32,
    /// The least worn block in use that was met.
    pub(super) least: Option<BlockNumber>,
    /// How often the block was erased that was opened last.
    pub(super) worn: u16,
    /// Blocks that were opened since one was emptied to be worn.
    pub(super) since: u16,
}

impl Leveling {
    pub(super) const NONE: Self = Self { hand: 0, least: None, worn: 0, since: 0 };
}
