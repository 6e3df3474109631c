//! Unfinished work: streams and their open blocks, the epoch, victims, the scrub, and the page that a power cut may
//! have damaged.

use ftl_iface::Sector;

use crate::layout::Stamp;
use crate::paged::flash::{Extent, PagedKind};
use crate::paged::plan::address::{BlockNumber, Leaf, Spot};
use crate::paged::plan::anchor_page::Listed;
use crate::probe::Cause;

/// The streams: each has an open block of its own. Host data whose lifetime the host gives goes to `Host`, `Lasting`,
/// `Left` or `Old`, and with two streams to `Host` or `Copies`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Stream {
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
    pub(crate) const ALL: [Self; 7] =
        [Self::Map, Self::Hot, Self::Host, Self::Lasting, Self::Left, Self::Copies, Self::Old];

    /// The streams of the main area.
    pub(crate) const MAIN: [Self; 5] =
        [Self::Host, Self::Lasting, Self::Left, Self::Copies, Self::Old];
}

/// An open block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) block: BlockNumber,
    pub(crate) begun: Begun,
    /// The next page to program.
    pub(crate) next: u16,
    /// Pages before this one are relied upon: a page whose program could corrupt one of them is skipped.
    pub(crate) relied: u16,
    /// Pages before this one were programmed when a block last became free.
    pub(crate) freed: u16,
    /// Pages before this one are told by the next anchor.
    pub(crate) told: u16,
}

/// What the first page of an open block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// Any page of the block's stream.
    Usual,
    /// A repetition, or its proof. Mounts that read every block look behind these for pages of any kind.
    Repetition,
}

impl Open {
    /// An erased block.
    pub(crate) const fn erased(block: BlockNumber) -> Self {
        Self { block, begun: Begun::Usual, next: 0, relied: 0, freed: 0, told: 0 }
    }

    /// Notes that the next page was programmed.
    pub(crate) fn note(&mut self, kind: PagedKind) {
        if self.next == 0 && (kind.is_repeated() || kind.is_proof()) {
            self.begun = Begun::Repetition;
        }
        self.next += 1;
    }

    /// Marks a page as relied upon, if it is of this block.
    pub(crate) fn rely_on(&mut self, spot: Spot) {
        if self.block == spot.block {
            self.relied = self.relied.max(spot.page + 1);
        }
    }
}

/// Epochs and the horizon: the stamp from which on tags must be read after a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch {
    /// Everything up to this stamp is in map pages.
    pub(crate) horizon: Stamp,
    /// The start of the current epoch. When no entry of the previous one is left, it becomes the horizon.
    pub(crate) begun: Stamp,
    /// The stamp at which it should end.
    pub(crate) due: u64,
}

impl Epoch {
    /// The first epoch of a device.
    pub(crate) const FIRST: Self = Self { horizon: Stamp::ZERO, begun: Stamp::ZERO, due: 0 };
}

/// What a page of a victim held. Pages side by side were mostly written by one request, and so become obsolete by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neighbour {
    Obsolete,
    Valid,
}

/// A victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    pub(crate) block: BlockNumber,
    /// The next page to examine.
    pub(crate) page: u16,
    /// The next slot of it.
    pub(crate) slot: u16,
    /// What the last page of sectors before that one held.
    pub(crate) before: Neighbour,
    /// The next leaf to search, if all pages were examined but the block still has references.
    pub(crate) salvaged: u32,
    /// The stream of its copies.
    pub(crate) stream: Stream,
    /// The reason for emptying it.
    pub(crate) cause: Cause,
}

/// The page programmed last before the mount. Its content is in the page buffer, and its slots are in the flash access
/// layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Suspect {
    pub(crate) spot: Spot,
    pub(crate) what: What,
    /// The stamp of the first attempt: of this page, or of the one that it repeats.
    pub(crate) first: Stamp,
    /// What it holds of that page.
    pub(crate) extent: Extent,
    /// The address of the first attempt, once it is found.
    pub(crate) origin: Option<Spot>,
}

/// How far the references in map pages were counted since a mount.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counting {
    /// The first leaf whose page is not counted.
    pub(crate) next: Leaf,
    /// The blocks that are known to be free. All others are presumed to be in use.
    pub(crate) known: Listed,
}

impl Counting {
    /// Whether a block is presumed to be in use.
    pub(crate) fn presumes(&self, block: BlockNumber) -> bool {
        !self.known.iter().flatten().any(|known| *known == Some(block))
    }
}

/// What a mount found in the blocks of map pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapPages {
    /// All can be read, but for what a power cut may have torn.
    Whole,
    /// One cannot be read that others were programmed after.
    Gap,
}

/// The content of a suspect page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Sectors.
    Sectors,
    /// The map page of a leaf.
    Map(Leaf),
}

/// The sectors of which the table has the dirty entries: all, unless a mount found more than the table takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TablePart {
    pub(crate) from: Sector,
    pub(crate) end: Sector,
    /// The mount ignored pages from this stamp on.
    pub(crate) ceiling: Stamp,
    /// The last stamp before the mount.
    pub(crate) resumed: Stamp,
}

impl TablePart {
    /// All sectors, up to this one.
    pub(crate) const fn all(end: Sector) -> Self {
        let never = Stamp::new(u64::MAX);
        Self { from: Sector::new(0), end, ceiling: never, resumed: never }
    }

    /// Whether the table has the entry of a sector, if there is one.
    pub(crate) fn holds(&self, sector: Sector) -> bool {
        sector >= self.from && sector < self.end
    }

    /// Whether a page counts: those from the ceiling on do not, unless they were programmed since the mount.
    pub(crate) fn counts(&self, stamp: Stamp) -> bool {
        stamp < self.ceiling || stamp > self.resumed
    }
}

/// The next page that a scrub reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scrubbed {
    /// A header.
    Header(u16),
    /// A page of a block.
    Page(Spot),
}

/// The search for an area's least worn block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leveling {
    /// The position of the search.
    pub(crate) hand: u32,
    /// The least worn block in use found so far.
    pub(crate) least: Option<BlockNumber>,
    /// The erase count of the block opened last.
    pub(crate) worn: u16,
    /// Blocks opened since the last victim of wear leveling.
    pub(crate) since: u16,
}

impl Leveling {
    pub(crate) const NONE: Self = Self { hand: 0, least: None, worn: 0, since: 0 };
}

/// The result of a step of idle work.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdleStep {
    /// Something was done.
    Done,
    /// There is no work.
    NothingToDo,
}
