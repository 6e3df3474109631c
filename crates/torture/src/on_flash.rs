//! An FTL as it lies on a device: its parts, and what its pages say.

use std::fmt;

use ftl_iface::{Block, Bytes, Page, Region, Sector};
use nand_model::{Chip, Stamp};

use crate::faults::Faults;

/// What is known of an FTL by what it keeps on a device.
pub(crate) trait OnFlash: fmt::Debug + Send + Sync {
    /// Sectors that the host may use.
    fn capacity(&self) -> u32;

    /// The size of a sector.
    fn sector_bytes(&self) -> Bytes;

    /// How many spare bytes of a page it uses, at most.
    fn spare_used(&self) -> Bytes;

    /// Its parts of the device, and how many blocks of each may fail before it may refuse writes.
    fn parts(&self, faults: &Faults) -> Vec<Part>;

    /// Blocks that may take no bad-block mark before it may refuse writes.
    fn unmarked_max(&self) -> usize;

    /// What it means for it that a page cannot be read back; `None` where it need not bear that.
    fn injury(&self, struck: &Struck<'_>) -> Option<Injury>;

    /// The spare bytes of a page, decoded for people.
    fn explain(&self, spare: &[u8], key: u32) -> String;

    /// Changes the spare bytes of a page as the numbers have it, and gives them the check that fits.
    fn forge(&self, spare: &mut [u8], key: u32, numbers: &mut dyn FnMut(u32) -> u32);
}

/// Blocks that serve one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Where.
    pub(crate) region: Region,
    /// The first.
    pub(crate) first: u32,
    /// How many.
    pub(crate) blocks: u32,
    /// Of them, as many may fail before the FTL may refuse writes.
    pub(crate) may_fail: usize,
    /// Whether no more of them may fail in a request than the FTL reports before it.
    pub(crate) bounded: Bounded,
    /// As many of them may be bad from the beginning.
    pub(crate) factory_bad_max: u32,
}

/// Whether the number of blocks that fail in one request is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounded {
    /// By what the FTL reports before the request.
    AtOnce,
    /// By nothing.
    Not,
}

impl Part {
    /// Whether the block is one of them.
    pub(crate) fn holds(&self, block: Block) -> bool {
        let last = self.first + self.blocks;
        block.region() == self.region && (self.first..last).contains(&block.index())
    }
}

/// A page that is programmed and cannot be read back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Struck<'a> {
    pub(crate) chip: &'a Chip,
    pub(crate) page: Page,
    pub(crate) data: &'a [u8],
    pub(crate) spare: &'a [u8],
    pub(crate) key: u32,
}

/// A page that was programmed and cannot be read back, and what the FTL cannot know of it.
#[derive(Clone, Debug)]
pub(crate) struct Injury {
    /// Where, until its block is erased.
    pub(crate) page: Option<Page>,
    /// What else shows what it held.
    pub(crate) told: Told,
    /// What it held.
    pub(crate) contents: Vec<Stamp>,
    /// Sectors of which nobody knows any more whether they held anything.
    pub(crate) places: Vec<Sector>,
    /// Whether it was read while nothing else showed what it held.
    pub(crate) untold: bool,
}

/// What else shows what a page held that cannot be read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Its place.
    ItsPlace,
    /// The page that is programmed last in its block.
    LastPage,
    /// The next page of its block.
    NextPage,
    /// The entry that leads to it, which a mount finds in the page itself if nothing else has recorded it yet.
    ItsEntry,
}
