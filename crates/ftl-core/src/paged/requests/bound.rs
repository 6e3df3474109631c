//! Upper bounds on the cost of a request, as a formula. They hold as long as every area has more free blocks than its
//! reserve.
//!
//! `S` is the number of slots of a page, of the area that has more.
//!
//! - A *step* of garbage collection makes space in the table for the entries of a page, at worst with one map page each
//!   (`S`), and copies one page; or, where pairs are guarded, it writes two map pages ahead. At worst it reads all tags
//!   of a block, and the map for each of its slots.
//! - A host page pays for 21 steps in the main area, and three in the fast one, if there is one; where pairs are
//!   guarded, for four before the copies of a victim begin; one more if a block is weak. None begins once 18 pages
//!   were programmed, anchors included. Then follow one map page if an epoch ends, `S` for its own entries, and itself.
//!   After a mount the table may have `S` entries too many.
//! - An anchor is due after a fixed number of programs, or when a block is opened that the last anchor does not list.
//!   The last step and what follows open three at most: for map pages, for copies, and for the host page.
//! - Each stream may open a block, another for each block's worth of word lines, and one for a weak open block.
//!
//! If an area is down to its reserve, a page waits until the reserve is restored, which takes as many copies as the
//! fullest blocks need. And until the first walk of the anchors is complete, 15 more anchors follow each one. Both are
//! counted by [`waited`]. After a mount [`settle`] comes first, and the next requests read the map pages that the mount
//! did not count: few each, or all at once if hardly any block is known to be free. A failing block and a page that
//! suddenly becomes unreadable cost extra.
//!
//! [`waited`]: crate::paged::PageFtl::waited
//! [`settle`]: crate::paged::PageFtl::settle

use ftl_iface::SectorCount;

use crate::bound::Operations;
use crate::paged::plan::anchor_page;
use crate::paged::plan::shape::PagedShape;
use crate::paged::tables::candidates::PACE_MAX;
use crate::paged::tables::under_way::Stream;
use crate::paged::upkeep::pace::{FAST_STEPS_MAX, PREPARED_MAX, PROGRAMS_MAX};
use crate::paged::upkeep::reclaim::FLUSHED;
use crate::quotient::{ceil_wide, floor_wide};

/// A refresh of both headers: one repaired, both erased and rewritten, each with two copies, and the reads.
const HEADERS: Operations = Operations { reads: 24, programs: 6, erases: 3 };

/// The most blocks that a host page opens once it has paid: for map pages, for copies, and for itself.
const OPENED_LAST: u64 = 3;

/// The most that requests cost on a device of this shape.
#[derive(Clone, Copy, Debug)]
pub struct PagedWorstCase {
    slots: u64,
    /// Slots per page, in the area with fewer.
    least_slots: u64,
    pages: u64,
    block_slots: u64,
    /// Word lines per block, in the area with fewer.
    lines: u64,
    leaf_sectors: u64,
    /// Reads of the map pages that a mount left to be counted.
    uncounted: Operations,
    /// Map pages that a step may write ahead.
    ahead: u64,
    /// The steps that a host page pays for.
    steps: u64,
    anchors: Option<AnchorFigures>,
}

#[derive(Clone, Copy, Debug)]
struct AnchorFigures {
    /// Programs between two anchors.
    programs: u64,
    /// Pages per block of the ring.
    lines: u64,
}

const fn larger(one: u64, other: u64) -> u64 {
    if one > other { one } else { other }
}

const fn smaller(one: u64, other: u64) -> u64 {
    if one < other { one } else { other }
}

impl PagedWorstCase {
    /// Returns the bounds for a device of this shape.
    #[cfg(feature = "internals")]
    pub const fn new(shape: &PagedShape) -> Self {
        Self::of(shape)
    }

    pub(crate) const fn of(shape: &PagedShape) -> Self {
        let (map, main) = (shape.map_area(), &shape.main);
        let anchors = if shape.has_anchors() {
            let page = map.page_bytes.as_usize();
            let slots = shape.slots_max() as u64;
            // An anchor is written before the records of a page and of the block opened for it may no longer fit.
            let records = anchor_page::in_page(page, shape.block_bytes) as u64;
            let room = records.saturating_sub(anchor_page::ahead(shape.slots_max()) as u64);
            let programs =
                smaller(anchor_page::programs_between(page), floor_wide(room, slots + 2));
            Some(AnchorFigures { programs: larger(programs, 1), lines: map.word_lines as u64 })
        } else {
            None
        };
        let fast = if shape.has_fast() { FAST_STEPS_MAX } else { 0 };
        let guards = shape.guards_area(main);
        let (ahead, prepared) = if guards { (FLUSHED as u64, PREPARED_MAX) } else { (0, 0) };
        Self {
            slots: shape.slots_max() as u64,
            least_slots: smaller(map.slots as u64, main.slots as u64),
            pages: larger(map.pages as u64, main.pages as u64),
            block_slots: larger(map.block_slots() as u64, main.block_slots() as u64),
            lines: smaller(map.word_lines as u64, main.word_lines as u64),
            leaf_sectors: shape.leaf_sectors as u64,
            uncounted: Operations { reads: shape.leaves as u64, programs: 0, erases: 0 },
            ahead,
            steps: (fast + PACE_MAX + prepared) as u64 + 1,
            anchors,
        }
    }

    /// Returns the cost of this many map pages.
    const fn flushes(count: u64) -> Operations {
        Operations { reads: count, programs: count, erases: 0 }
    }

    /// Returns the cost of this many steps of garbage collection.
    const fn steps(&self, count: u64) -> Operations {
        let looks = 2 * self.pages + 2 * self.block_slots;
        let pages = Self::flushes(larger(self.slots + 1, self.ahead));
        Operations { reads: looks, programs: 0, erases: 0 }.and(pages).times(count)
    }

    /// Returns the cost of the steps that a host page pays for, before the last one that programs something.
    const fn paid(&self) -> Operations {
        Operations { programs: PROGRAMS_MAX as u64 - 1, ..self.steps(self.steps) }
    }

    /// Returns the cost of space for the entries of a page, and of the end of an epoch.
    const fn room(&self) -> Operations {
        Self::flushes(self.slots + 1)
    }

    /// Adds the blocks that these programs open, with `closed` of them closed early, and the anchors written meanwhile.
    const fn opening(&self, done: Operations, closed: u64) -> Operations {
        let done = done.and(Self::flushes(self.slots));
        let opened = Stream::ALL.len() as u64 + closed + floor_wide(done.programs, self.lines);
        let blocks = Operations { reads: 0, programs: 0, erases: opened };
        let anchors = match self.anchors {
            None => Operations::NONE,
            Some(AnchorFigures { programs, lines }) => {
                let due = 1 + floor_wide(done.programs, programs) + opened;
                // The first one after a mount may have a second block erased.
                Operations { reads: 0, programs: due, erases: 2 + floor_wide(due, lines) }
            }
        };
        done.and(blocks).and(anchors)
    }

    /// Returns the cost of a write of that many sectors, at least one.
    pub const fn write(&self, sectors: SectorCount) -> Operations {
        let pages = ceil_wide(sectors.get() as u64, self.least_slots);
        let own = Operations { reads: 1, programs: 1, erases: 0 };
        let last = self.steps(1).and(self.room()).and(own);
        let headers = Operations { programs: 0, ..HEADERS };
        let done = self.paid().and(last).times(pages).and(headers).and(self.uncounted);
        let all = self.opening(done, 1 + pages);
        let programs = done.programs + self.slots + self.last_anchors(last, pages);
        Operations { programs: smaller(all.programs, programs), ..all }
    }

    /// Returns the anchors that these programs cause for each of some pages.
    const fn last_anchors(&self, last: Operations, pages: u64) -> u64 {
        let Some(AnchorFigures { programs, .. }) = self.anchors else { return 0 };
        let due = floor_wide(last.programs * pages + self.slots, programs);
        due + pages * (1 + OPENED_LAST)
    }

    /// Returns the cost of a trim of that many sectors, at least one: a map page for each of their leaves.
    pub const fn trim(&self, sectors: SectorCount) -> Operations {
        let leaf = self.room().and(Self::flushes(2));
        self.opening(leaf.times(self.leaves(sectors)).and(self.uncounted), 1)
    }

    /// Returns the cost of a read of that many sectors, at least one.
    pub const fn read(&self, sectors: SectorCount) -> Operations {
        let reads = sectors.get() as u64 + self.leaves(sectors);
        Operations { reads, programs: 0, erases: 0 }
    }

    /// Returns the cost of `maintain` with that many steps.
    pub const fn maintain(&self, budget: u32) -> Operations {
        let budget = budget as u64;
        let done = self.steps(budget).and(HEADERS.times(budget)).and(self.uncounted);
        self.opening(done, 1 + budget)
    }

    /// Returns the most leaves to which this many sectors can belong.
    const fn leaves(&self, sectors: SectorCount) -> u64 {
        floor_wide(sectors.get() as u64 + 2 * self.leaf_sectors - 2, self.leaf_sectors)
    }
}
