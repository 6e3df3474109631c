//! The state of the running fold: the newest copies of a chain are collected, page by page, in a new data block.
//!
//! When a fold begins, the chain as it is becomes *frozen*. Later writes go to an additional log block, which will
//! follow the new data block. The frozen blocks count until the last page is programmed. If a power cut interrupts the
//! fold, the new block is discarded.

use crate::hybrid::address::{ChainBlock, LogicalBlock};
use crate::layout::Stamp;
use crate::probe::Cause;
use crate::table::{Bits, Row};

/// A sector's offset in the chain being folded.
#[derive(Clone, Copy, Debug)]
pub struct Offset(u32);

impl Row for Offset {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is being folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The chain.
    pub logical: LogicalBlock,
    /// The block that becomes its data block.
    pub target: ChainBlock,
    /// Why it is folded.
    pub cause: Cause,
    /// How many of the chain's blocks are frozen, the data block included.
    pub frozen: u16,
    /// How many of those are log blocks.
    pub frozen_logs: u16,
    /// The next page to program.
    pub page: u16,
    /// The stamp of the first page.
    pub born: Stamp,
    /// Whether it is the first attempt.
    pub attempt: Attempt,
}

/// Whether a fold was begun because another of the same chain had failed. The first page of its target says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// It was not.
    First,
    /// It was: the older target is void, even if its last page can be read.
    Again,
}

impl Attempt {
    const AGAIN: u32 = 1 << 23;

    /// The note of a target's first page, with its wear.
    const fn note(self, wear: u32) -> u32 {
        match self {
            Self::First => Self::wear_of(wear),
            Self::Again => wear | Self::AGAIN,
        }
    }

    /// What the note of a target's first page says.
    pub const fn of_note(note: u32) -> Self {
        if note & Self::AGAIN == 0 { Self::First } else { Self::Again }
    }

    /// The wear in the note of a target's first page.
    pub const fn wear_of(note: u32) -> u32 {
        note & (Self::AGAIN - 1)
    }
}

impl Job {
    /// The note of the next page, in a block of `pages` pages. The first and the last page, which a mount reads, record
    /// the block's wear, and the first whether this is the first attempt. The others record the distance of their stamp
    /// from that of the first page, in case the first becomes unreadable; zero if it does not fit.
    #[inline]
    pub fn note(&self, wear: u32, pages: u16, next: Stamp) -> u32 {
        if self.page == 0 {
            return self.attempt.note(wear);
        }
        if self.page + 1 == pages {
            return wear;
        }
        let distance = next.get() - self.born.get();
        if distance < 1 << 24 { distance as u32 } else { 0 }
    }
}

/// The fold under way, or none.
#[derive(Debug)]
pub struct Fold<'ram> {
    job: Option<Job>,
    any_touched: bool,
    leaves_logged: bool,
    touched: Bits<'ram, Offset>,
    collected: Bits<'ram, Offset>,
}

impl<'ram> Fold<'ram> {
    /// No fold under way. Each table has one bit per sector of a logical block.
    pub fn new(touched: &'ram mut [u8], collected: &'ram mut [u8]) -> Self {
        let (touched, collected) = (Bits::new(touched), Bits::new(collected));
        Self { job: None, any_touched: false, leaves_logged: false, touched, collected }
    }

    /// Starts a fold.
    pub fn start(&mut self, job: Job) {
        self.any_touched = false;
        self.leaves_logged = false;
        self.touched.clear();
        self.collected.clear();
        self.job = Some(job);
    }

    /// What is being folded.
    #[inline]
    pub fn job(&self) -> Option<Job> {
        self.job
    }

    /// Whether a fold is under way.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.job.is_some()
    }

    /// Whether that chain is being folded.
    #[inline]
    pub fn is_of(&self, logical: LogicalBlock) -> bool {
        self.job.is_some_and(|job| job.logical == logical)
    }

    /// How many log blocks are frozen.
    pub fn frozen_logs(&self) -> u16 {
        self.job.map_or(0, |job| job.frozen_logs)
    }

    /// Whether the last of that chain's `logs` log blocks is frozen, so that nothing may be appended to it.
    pub fn seals(&self, logical: LogicalBlock, logs: u16) -> bool {
        self.is_of(logical) && logs == self.frozen_logs()
    }

    /// Notes that another fold of the chain has failed before this one.
    pub fn repeat(&mut self) {
        if let Some(job) = &mut self.job {
            job.attempt = Attempt::Again;
        }
    }

    /// Notes that the next page was just programmed, with that stamp.
    #[inline]
    pub fn advance(&mut self, stamp: Stamp) {
        if let Some(job) = &mut self.job {
            if job.page == 0 {
                job.born = stamp;
            }
            job.page += 1;
        }
    }

    /// Ends the fold, completed or abandoned.
    pub fn finish(&mut self) -> Option<Job> {
        self.job.take()
    }

    /// Notes that a sector was written to that chain: if the chain is being folded, the new copy replaces the fold's.
    #[inline]
    pub fn touch(&mut self, logical: LogicalBlock, offset: u32) {
        if self.is_of(logical) {
            self.any_touched = true;
            self.touched.set(Offset(offset), true);
            self.collected.set(Offset(offset), false);
        }
    }

    /// Whether any sector was written to the chain since the fold began.
    #[inline]
    pub fn is_any_touched(&self) -> bool {
        self.any_touched
    }

    /// Whether the sector was written to the chain since the fold began.
    pub fn is_touched(&self, offset: u32) -> bool {
        self.touched.get(Offset(offset))
    }

    /// Notes that the fold took the sector from the log.
    pub fn collect(&mut self, offset: u32) {
        self.collected.set(Offset(offset), true);
    }

    /// Notes that the sector was written to the log: what the fold took is stale.
    #[inline]
    pub fn uncollect(&mut self, logical: LogicalBlock, offset: u32) {
        if self.is_of(logical) && self.collected.get(Offset(offset)) {
            self.collected.set(Offset(offset), false);
            self.leaves_logged = true;
        }
    }

    /// Notes that a sector of that chain stays in the log, or was written to it.
    pub fn leave_logged(&mut self, logical: LogicalBlock) {
        if self.is_of(logical) {
            self.leaves_logged = true;
        }
    }

    /// Whether the log holds a sector of the chain that the fold did not take, or took before it was written again.
    pub fn leaves_logged(&self) -> bool {
        self.leaves_logged
    }

    /// Whether the fold took the sector from the log, and it was not written since.
    pub fn is_collected(&self, offset: u32) -> bool {
        self.collected.get(Offset(offset))
    }
}
