//! The worst-case cost of a request, as a formula.
//!
//! A chain block has `P` pages of `s` slots; a log block has `d` pages of data and `u` of summary; a chain may have `L`
//! log blocks; a request does `c` steps of housekeeping for each of its pages.
//!
//! - A chain without free pages must take a block, and may have to fold for it. The running fold is finished (at most
//!   `P - 1` pages are left of it, because the first is programmed when it begins). If that frees no
//!   block for this chain, another fold is done (`P` pages). So each logical block that a write touches costs at most
//!   **`2P - 1` programs** beside its own pages. A third fold is never needed: the second one takes a chain of
//!   two blocks or more, and leaves two free.
//! - A write that finds the log full does at most `d + 1` steps of reclaiming, and then goes to the chains.
//! - A step of housekeeping programs one page, and once in `d` pages closes a log block with its summary; or it ends a
//!   fold, which erases its `L + 2` blocks at most.
//!
//! - A page of a chain that shares its cells with `e` earlier ones may first have to back them up: at most `e` times
//!   `s` pages of the log.
//!
//! After a mount, the first access to a logical block adds reads: its entries in the log are proved.
//!
//! **These formulas are tight for programs and erases:** tests reach them. Reads are bounded too, to show that
//! every loop ends, but each term assumes that every table is filled in the worst way for that term alone. No
//! request comes near that bound: do not plan times by it.
//!
//! The first change erases the blocks that hold the seals of checkpoints, two at most.
//!
//! Two more formulas are added: what the first request after a mount without a checkpoint does
//! before it begins ([`settle`](WorstCase::settle)), and what each failing block adds
//! ([`failure`](WorstCase::failure), [`end_of_reserve`](WorstCase::end_of_reserve)).

mod failure;
mod settle;

use ftl_iface::SectorCount;

use crate::bound::Operations;
use crate::config::Config;
use crate::hybrid::flash::listed_max;
use crate::hybrid::shape::{
    CHECKPOINT_AREAS, CheckpointArea, SPARE_BLOCKS_MIN, Shape, kept_in_hand,
};
use crate::quotient::{ceil_wide, floor_wide};
use crate::table::number;

/// The worst case of any request to a device of one shape and configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorstCase {
    chain_pages: u64,
    chain_slots: u64,
    sectors_per_block: u64,
    chain_logs: u64,
    copies: u64,
    /// Pages that one program endangers, if paired pages are protected.
    endangered: u64,
    chain_blocks: u64,
    logical_blocks: u64,
    /// Free blocks that are never used for log blocks.
    in_hand: u64,
    meta: MetaFigures,
    log: Option<LogFigures>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MetaFigures {
    blocks: u64,
    pages: u64,
    slots: u64,
    /// Blocks that can be listed as bad after a header.
    listed: u64,
    place_blocks: u64,
    place_pages: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LogFigures {
    blocks: u64,
    slots: u64,
    data_pages: u64,
    summary_pages: u64,
}

impl WorstCase {
    /// Returns the worst case for a device of this shape and configuration.
    #[cfg(feature = "internals")]
    pub const fn new(shape: &Shape, config: &Config) -> Self {
        Self::of(shape, config)
    }

    pub(crate) const fn of(shape: &Shape, config: &Config) -> Self {
        let log = match &shape.log {
            Some(area) => {
                let data_pages = area.data_pages();
                Some(LogFigures {
                    blocks: area.blocks as u64,
                    slots: area.slots as u64,
                    data_pages: data_pages as u64,
                    summary_pages: (area.pages - data_pages) as u64,
                })
            }
            None => None,
        };
        let place = CheckpointArea::new(&shape.meta, 0);
        Self {
            chain_pages: shape.chain.pages as u64,
            chain_slots: shape.chain.slots as u64,
            sectors_per_block: shape.sectors_per_block.get() as u64,
            chain_logs: config.chain_log_blocks_max as u64,
            copies: config.copies_per_page as u64,
            endangered: shape.guarded.endangered_max() as u64,
            chain_blocks: shape.chain.blocks as u64,
            logical_blocks: shape.logical_blocks as u64,
            in_hand: kept_in_hand(
                shape.chain.blocks.saturating_sub(shape.logical_blocks + number(SPARE_BLOCKS_MIN)),
            ) as u64,
            meta: MetaFigures {
                blocks: shape.meta.blocks as u64,
                pages: shape.meta.pages as u64,
                slots: shape.meta.slots as u64,
                listed: listed_max(&shape.meta) as u64,
                place_blocks: place.blocks as u64,
                place_pages: place.pages as u64 * place.blocks as u64,
            },
            log,
        }
    }

    /// The first change after a mount breaks the seals of checkpoints.
    const SEALS: Operations = Operations { reads: 0, programs: 0, erases: CHECKPOINT_AREAS as u64 };

    /// Returns the reads that build a chain's map: every page of its log blocks, twice if it is a trim.
    const fn scan(&self) -> u64 {
        (self.chain_logs + 1) * self.chain_pages * 2
    }

    /// Returns the reads that prove a logical block after a mount: for each sector its copy in the log and its copy in
    /// the chain, or the chain's trims.
    const fn prove(&self) -> u64 {
        match self.log {
            Some(_) => self.scan() + self.sectors_per_block * (2 + self.scan()),
            None => 0,
        }
    }

    /// Returns the cost of a whole fold, except for its programs.
    const fn fold(&self) -> Operations {
        Operations {
            reads: self.prove() + self.scan() + self.chain_pages * self.chain_slots,
            programs: 0,
            erases: self.chain_logs + 2,
        }
    }

    /// Returns the cost of making space in a chain, and of the erases when its block becomes full and replaces others.
    const fn room(&self) -> Operations {
        let folds = self.fold().times(2);
        let switch = Operations { reads: 0, programs: 0, erases: self.chain_logs + 2 };
        let scans = Operations { reads: 3 * self.scan(), programs: 0, erases: 0 };
        let copies = Operations { reads: 0, programs: 2 * self.chain_pages - 1, erases: 0 };
        folds.and(switch).and(scans).and(copies)
    }

    /// Returns the cost of protecting paired pages before a page of a chain is programmed: the pages that it endangers
    /// are read, proved, and copied to the log, slot by slot.
    const fn guard(&self) -> Operations {
        if self.endangered == 0 {
            return Operations { reads: 0, programs: 0, erases: 0 };
        }
        let (programs, erases) = match self.log {
            Some(log) => {
                let pages = self.endangered * ceil_wide(self.chain_slots, log.slots);
                (pages + self.summaries(pages), 1)
            }
            None => (0, 0),
        };
        // Pages are skipped until one is found that endangers nothing.
        let looked_at = self.endangered * self.chain_pages;
        let reads = self.prove() + looked_at + self.endangered * self.chain_slots;
        Operations { reads, programs, erases }
    }

    /// Returns the cost of steps of housekeeping, without the summaries that they write.
    const fn steps(&self, count: u64) -> Operations {
        let (slots, summary) = match self.log {
            Some(log) => (log.slots, log.summary_pages),
            None => (0, 0),
        };
        let gathered = if slots > self.chain_slots { slots } else { self.chain_slots };
        Operations {
            reads: self.prove() + 2 * self.scan() + gathered + summary + 1,
            programs: 1,
            erases: self.chain_logs + 3,
        }
        .and(self.guard())
        .times(count)
    }

    /// Returns the programs of summaries when this many pages go to the log.
    const fn summaries(&self, pages: u64) -> u64 {
        match self.log {
            Some(log) => (floor_wide(pages, log.data_pages) + 1) * log.summary_pages,
            None => 0,
        }
    }

    /// Returns the bound for a write of one or more sectors.
    pub const fn write(&self, sectors: SectorCount) -> Operations {
        let count = sectors.get() as u64;
        // Pages and logical blocks that the worst-placed request touches.
        let pages = ceil_wide(count + self.chain_slots - 1, self.chain_slots);
        let blocks = ceil_wide(count + self.sectors_per_block - 1, self.sectors_per_block);
        let (log_pages, entering) = match self.log {
            Some(log) => (ceil_wide(count, log.slots), log.data_pages + 1),
            None => (0, 0),
        };
        let most_pages = if pages > log_pages { pages } else { log_pages };
        let steps = entering + self.copies * most_pages;
        let own = Operations { reads: 0, programs: most_pages, erases: 0 };
        let chains = self.room().times(blocks);
        let summaries =
            Operations { reads: 0, programs: self.summaries(log_pages + steps), erases: 0 };
        let guarded = self.guard().times(most_pages);
        own.and(guarded).and(chains).and(self.steps(steps)).and(summaries).and(Self::SEALS)
    }

    /// Returns the bound for a trim of one or more sectors: a page per logical block.
    pub const fn trim(&self, sectors: SectorCount) -> Operations {
        let count = sectors.get() as u64;
        let blocks = ceil_wide(count + self.sectors_per_block - 1, self.sectors_per_block);
        let page = Operations { reads: 0, programs: 1, erases: 0 };
        let steps = self.steps(self.copies);
        let summaries = Operations { reads: 0, programs: self.summaries(self.copies), erases: 0 };
        page.and(self.guard())
            .and(self.room())
            .and(steps)
            .and(summaries)
            .times(blocks)
            .and(Self::SEALS)
    }

    /// Returns the bound for a read of one or more sectors.
    pub const fn read(&self, sectors: SectorCount) -> Operations {
        let count = sectors.get() as u64;
        let blocks = ceil_wide(count + self.sectors_per_block - 1, self.sectors_per_block);
        // Without cached maps each sector may scan its chain; with a cache, each logical block.
        let scans = count * self.scan() + blocks * self.prove();
        Operations { reads: count + scans, programs: 0, erases: 0 }
    }

    /// Returns the bound for maintenance of this many steps.
    pub const fn maintain(&self, budget: u32) -> Operations {
        let count = budget as u64;
        let summaries = Operations { reads: 0, programs: self.summaries(count), erases: 0 };
        self.steps(count).and(summaries).and(Self::SEALS)
    }
}
