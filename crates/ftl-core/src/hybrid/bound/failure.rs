//! What failing blocks add to the request in which they fail.
//!
//! - *A program of the request itself fails:* the page is copied to a rescue block, and programmed again after new
//!   space was found for it; then the copy is erased.
//! - *A program of a fold fails:* the chain is folded again at once, from the beginning.
//! - *An erase fails:* the block is missing, so up to two folds free another one.
//! - *A copy in the log fails:* the page is built again; if the log has no space left, each of its sectors goes to its
//!   chain.
//! - *A backup of paired pages fails:* pages are skipped, and this may fill up a block.
//! - *A block cannot be marked bad:* both headers are rewritten, with their lists.
//!
//! A block fails in one of these ways. Which one is known only during the request, so the bound adds all of them.

use super::WorstCase;
use crate::bound::Operations;
use crate::hybrid::shape::{CHECKPOINT_AREAS, HEADER_BLOCKS};

impl WorstCase {
    /// Returns the most that each failing block adds to a request, if no more fail than the device's health allows at
    /// once ([`Health::at_once`](crate::Health)).
    pub const fn failure(&self) -> Operations {
        let summary = match self.log {
            Some(log) => log.summary_pages,
            None => 0,
        };
        let again = Operations {
            reads: 0,
            programs: 1 + summary,
            // The failed operation itself, the log's next block, and an empty head.
            erases: 3,
        };
        let anew = Operations { programs: self.chain_pages, ..self.fold() };
        let list = 2 + self.meta.listed;
        let headers = Operations { reads: 3 * list, programs: list, erases: 1 };
        again
            .and(self.room())
            .and(self.guard())
            .and(anew)
            .and(headers.times(HEADER_BLOCKS as u64))
            .and(self.failed_page())
    }

    /// Returns the cost of the copy of a page that failed to program: with its commit and the proof of that, and erased
    /// before and after. If it is a page of the log, each of its sectors may go to its chain.
    const fn failed_page(&self) -> Operations {
        let copy = Operations { reads: 0, programs: self.rescue_pages() + 2, erases: 2 };
        let Some(log) = self.log else {
            return copy;
        };
        let sector = Operations { reads: 2, programs: 1, erases: 0 };
        self.room().and(sector).times(log.slots).and(copy)
    }

    /// Returns what the request that uses up the reserve adds: it writes a checkpoint. The running fold is given up,
    /// the seals are broken, and each checkpoint area is tried.
    pub const fn end_of_reserve(&self) -> Operations {
        let places = CHECKPOINT_AREAS as u64;
        let seals = Operations { reads: 2 * places, ..Self::SEALS };
        let image = Operations {
            reads: 0,
            programs: self.meta.place_pages,
            erases: self.meta.place_blocks,
        };
        let given_up = Operations { reads: 0, programs: 0, erases: 1 };
        image.times(places).and(seals).and(given_up)
    }
}
