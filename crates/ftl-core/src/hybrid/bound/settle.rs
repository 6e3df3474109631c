//! The worst case of the recovery that a mount without a checkpoint leaves to the first request.
//!
//! Every page is assumed to be unreadable wherever that makes the search longer, so that the bound on reads holds
//! whatever power cuts have corrupted. A device whose pages can all be read is far below it. Programs and erases occur
//! in one place each, and are counted there.
//!
//! - *Look into blocks:* each page of the chains is read three times at most.
//! - *Copy the newest page,* or a fold's last page and what is already valid: the log is searched, and rescue blocks
//!   are read slot by slot; one of them is erased and programmed. The first change erases the seals.
//! - *Put chains in order:* each of the `L + 4` blocks of a chain is compared with all before it. At most as many are
//!   stale, in one chain, and erased.
//! - *Map the log and close its head:* a summary is programmed, or an empty head is erased. If the hash table is full,
//!   all chains are proved, once per entry.
//! - *Write the copy again:* for each sector `P + 1` programs, because it may take a fold, with the erases of the fold,
//!   of a switch, and of two blocks that a power cut may have damaged. `P` more for each block kept free.
//! - *Erase the copies:* all blocks of the meta area except the headers, if a rescue block is bad.
//! - *Repair the headers* with their lists.
//!
//! Not counted: sectors of the log that find no cell in the hash table, because pages were lost that nothing recorded.
//!
//! A chain has `L + 4` blocks at most when it is found: `L + 2` that a fold froze or a switch left, the new first
//! block, and one whose erase was cut and that reads as before.
//!
//! One fold for each sector is enough, because none is running: it frees one block more than it takes. If blocks have
//! failed, the blocks kept free are restored first.

use super::{LogFigures, WorstCase};
use crate::bound::Operations;
use crate::hybrid::path::prove::TRIES_MAX;
use crate::hybrid::shape::HEADER_BLOCKS;
use crate::quotient;

impl WorstCase {
    /// Returns the most that [`Ftl::settle`](crate::Ftl::settle) costs, which is added to the first request after a
    /// mount without checkpoint, if no block fails meanwhile. After a mount from a checkpoint it costs nothing.
    pub const fn settle(&self) -> Operations {
        self.look_into_blocks()
            .and(self.rescue())
            .and(self.order_chains())
            .and(self.settle_log())
            .and(self.write_again())
            .and(self.clear())
            .and(Self::SEALS)
    }

    /// Returns the most blocks of a chain when a mount finds it.
    const fn found_blocks(&self) -> u64 {
        self.chain_logs + 4
    }

    /// Returns the cost of finding, for each block, its first and last readable pages and how far it is filled.
    const fn look_into_blocks(&self) -> Operations {
        Operations { reads: 3 * self.chain_pages * self.chain_blocks, ..Operations::NONE }
    }

    /// Returns the pages of a rescue block that hold copies, before the commit and its proof.
    pub(super) const fn rescue_pages(&self) -> u64 {
        self.meta.pages.saturating_sub(2)
    }

    /// Returns the cost of finding the valid copy, of finding what must be copied, and of copying it.
    const fn rescue(&self) -> Operations {
        let backups = match self.log {
            // Each page is read on the way to the oldest backup, and once more to be copied.
            Some(log) => log.blocks * log.data_pages * (2 + log.slots) + 1,
            None => 0,
        };
        let page = 2 + self.chain_slots + 2 * self.endangered;
        let copy = (2 + self.meta.slots) * self.rescue_pages();
        Operations {
            reads: 3 * self.meta.blocks + backups + 2 * (page + copy),
            programs: self.meta.pages,
            // Its own block, and that of a copy which it replaces.
            erases: 2,
        }
    }

    /// Returns the cost of sorting the chains by the first pages of their blocks, and of finding the first block of
    /// each. If it is doubtful whether a fold ended, the block that it was to replace is read.
    const fn order_chains(&self) -> Operations {
        let found = self.found_blocks();
        // Each block's own first page and those of the blocks before it: half of them on average.
        let sort = self.chain_blocks * self.chain_pages * quotient::ceil_wide(found + 1, 2);
        let roles = self.chain_blocks * (self.chain_pages + 1 + self.endangered);
        Operations { reads: sort + roles + self.chain_pages, programs: 0, erases: found }
    }

    /// Returns the reads that build a chain's map when pages are lost: in addition to those of [`scan`](Self::scan),
    /// the block is searched for its last page for each lost page before a readable one.
    const fn scan_torn(&self) -> u64 {
        let searches = quotient::ceil_wide(self.chain_pages, 2) * (self.chain_pages + 2) / 2;
        (self.chain_logs + 2) * (2 * self.chain_pages + searches)
    }

    /// Returns the reads that show which of two copies of a sector is newer, once the chain's map is known: the stamp
    /// of a page of the log, and of one of the chain or of its trims. If the page is in the log's last block, which may
    /// be half erased, the block and a few of its sectors are looked at.
    const fn compare(&self) -> u64 {
        let in_log = match self.log {
            Some(log) => (3 + TRIES_MAX as u64) * (1 + log.data_pages + log.summary_pages),
            None => 0,
        };
        let tried = TRIES_MAX as u64 * self.scan_torn();
        let in_chains = (1 + TRIES_MAX as u64) * (1 + 2 * self.chain_pages * (self.chain_logs + 2));
        in_log + in_chains + tried
    }

    const fn prove_torn(&self) -> u64 {
        match self.log {
            // If a trim's page becomes unreadable meanwhile, the map is built once more.
            Some(_) => 2 * self.scan_torn() + self.sectors_per_block * self.compare(),
            None => 0,
        }
    }

    /// Returns the cost of mapping the rest of the log, which the mount could not, and of closing its head.
    const fn settle_log(&self) -> Operations {
        let Some(log) = self.log else {
            return Operations::NONE;
        };
        let LogFigures { blocks, slots, data_pages, summary_pages } = log;
        let entries = blocks * data_pages * slots;
        // A summary is read twice if blocks were skipped; a page that was held back is read slot by slot.
        let block = 2 * summary_pages + 3 + data_pages + 2 * slots;
        // Each entry may find the hash table full: every chain is proved then, and the entry itself.
        let proof = self.logical_blocks * self.scan_torn()
            + entries * self.compare()
            + 2 * self.rescue_pages()
            + self.scan_torn()
            + self.compare();
        let reads = blocks * block + entries * proof + 2 * slots + data_pages + summary_pages;
        Operations { reads, programs: summary_pages, erases: 1 }
    }

    /// Returns the cost of writing the copied data to the chains again, sector by sector.
    const fn write_again(&self) -> Operations {
        let guarded = self.prove_torn() + self.endangered * self.chain_pages;
        let fold = Operations {
            reads: self.prove_torn() + self.scan_torn() + self.chain_pages * self.chain_slots,
            programs: self.chain_pages,
            // The blocks that it froze, and its target if a power cut may have damaged it.
            erases: self.chain_logs + 3,
        };
        // Reads of the copied page and of the sector's own page; erases of a new log block, and of the blocks that a
        // switch frees.
        let sector = Operations {
            reads: 3 * self.scan_torn() + guarded + 2,
            programs: 1,
            erases: self.chain_logs + 3,
        };
        let sectors = self.rescue_pages() * self.meta.slots;
        fold.and(sector).times(sectors).and(fold.times(self.in_hand))
    }

    /// Returns the cost of erasing the copies, and of writing a missing header.
    const fn clear(&self) -> Operations {
        Operations {
            reads: self.meta.blocks + 3 * HEADER_BLOCKS as u64 * self.meta.pages,
            programs: HEADER_BLOCKS as u64 * (2 + self.meta.listed),
            erases: self.meta.blocks,
        }
    }
}
