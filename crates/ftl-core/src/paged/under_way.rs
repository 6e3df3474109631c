//! What is under way: streams and their open blocks, the epoch, victims, the scrub, and what a mount found that a cut
//! may have left.

use super::address::{BlockNumber, Leaf, Spot};
use crate::layout::Stamp;
use crate::probe::Cause;

/// Who writes to an open block of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Stream {
    /// Map pages.
    Map,
    /// What the host writes to the fast area.
    Hot,
    /// What the host writes to the main area.
    Host,
    /// What the host writes to the main area and will hardly replace soon.
    Lasting,
    /// What has left the fast area.
    Left,
    /// What is copied within the main area.
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
    /// Pages before this one are relied upon: a program that endangers one of them is left out.
    pub(super) relied: u16,
}

/// From where on tags must be read after a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Epoch {
    /// What is older than this stamp, or is its own, stands in map pages.
    pub(super) horizon: Stamp,
    /// When the present epoch began: with no entry left of the one before, this becomes the horizon.
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
    /// With no page left to be looked at, and something still leading there: the leaf to be searched next.
    pub(super) salvaged: u32,
    /// Pages copied out of it for each page of the host's.
    pub(super) pace: u16,
    /// Where its copies go.
    pub(super) stream: Stream,
    /// What it is emptied for.
    pub(super) cause: Cause,
}

/// The page programmed last before the mount. Its content is in the page buffer, its slots are held at the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suspect {
    pub(super) spot: Spot,
    pub(super) what: What,
    /// The stamp of the page that did it first: this one, or the one that this one does again.
    pub(super) first: Stamp,
    /// Where that first page is, as soon as it is met.
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
    /// Where the search goes on.
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
