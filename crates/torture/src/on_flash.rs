//! An FTL's layout on a device: its parts, and the content of its pages.

use std::fmt;
use std::ops::Range;

use ftl_iface::{Block, Bytes, Page, Region, Sector};
use nand_model::{Chip, Stamp};

use crate::faults::Faults;

/// What tests know of an FTL from its layout on a device.
pub(crate) trait OnFlash: fmt::Debug + Send + Sync {
    /// Sectors that the host may use.
    fn capacity(&self) -> u32;

    /// The size of a sector.
    fn sector_bytes(&self) -> Bytes;

    /// The most spare bytes of a page that it uses.
    fn spare_used(&self) -> Bytes;

    /// Its parts of the device, and how many blocks of each may fail before it may refuse writes.
    fn parts(&self, faults: &Faults) -> Vec<Area>;

    /// Blocks that may take no bad-block mark before it may refuse writes.
    fn unmarked_max(&self) -> usize;

    /// The purpose of a block.
    fn purpose(&self, block: Block) -> Purpose;

    /// What a page in the store keeps; `None` if it is not of this format, or the FTL need not bear its loss.
    fn kept(&self, data: &[u8], spare: &[u8], key: u32) -> Option<PageContent>;

    /// The sectors whose addresses a page of the map has.
    fn range(&self, data: &[u8], spare: &[u8], key: u32) -> Option<Range<u32>>;

    /// When a page of this format was programmed.
    fn stamp(&self, data: &[u8], spare: &[u8], key: u32) -> Option<u64>;

    /// Whether a page of a header block is a header of this format.
    fn is_header(&self, data: &[u8], spare: &[u8], key: u32) -> bool;

    /// The consequences of an unreadable page; `None` if it need not tolerate one there.
    fn unreadable_page(&self, lost: &LostProgram<'_>) -> Option<UnreadablePage>;

    /// The content of a page's spare bytes, in readable form.
    fn explain(&self, spare: &[u8], key: u32) -> String;

    /// Changes the spare bytes of a page by the numbers, and gives them a valid checksum.
    fn forge(&self, spare: &mut [u8], key: u32, numbers: &mut dyn FnMut(u32) -> u32);
}

/// What blocks are for, as far as the loss of a page differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The two headers.
    Headers,
    /// Anchors, or checkpoints: only for quick mounts.
    Anchors,
    /// Anything else.
    Store,
}

/// What a page in the store keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageContent {
    /// Host data.
    Data,
    /// Addresses of sectors.
    Map,
    /// Nothing.
    Nothing,
}

/// Blocks that serve one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    /// Their region.
    pub(crate) region: Region,
    /// The first block.
    pub(crate) first: u32,
    /// The number of blocks.
    pub(crate) blocks: u32,
    /// How many of them may fail before the FTL may refuse writes.
    pub(crate) may_fail: usize,
    /// Whether the FTL limits how many of them may fail in one request.
    pub(crate) bounded: Bounded,
    /// How many of them may be bad from the beginning.
    pub(crate) factory_bad_max: u32,
}

/// Whether the number of blocks that fail in one request is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounded {
    /// By the number that the FTL reports before the request.
    AtOnce,
    /// Not bounded.
    Not,
}

impl Area {
    /// Whether the block is one of them.
    pub(crate) fn holds(&self, block: Block) -> bool {
        let last = self.first + self.blocks;
        block.region() == self.region && (self.first..last).contains(&block.index())
    }
}

/// A page that is programmed and cannot be read back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostProgram<'a> {
    pub(crate) chip: &'a Chip,
    pub(crate) page: Page,
    pub(crate) data: &'a [u8],
    pub(crate) spare: &'a [u8],
    pub(crate) key: u32,
}

/// A page that was programmed and cannot be read back, and what the FTL cannot know about it.
#[derive(Clone, Debug)]
pub(crate) struct UnreadablePage {
    /// Its address, until its block is erased.
    pub(crate) page: Option<Page>,
    /// What else records its content.
    pub(crate) told: RecordedBy,
    /// Its content.
    pub(crate) contents: Vec<Stamp>,
    /// Sectors of which it is no longer known whether they held anything.
    pub(crate) places: Vec<Sector>,
    /// Sectors that it marked as lost.
    pub(crate) marks: Vec<Sector>,
    /// Whether it was read while nothing else recorded its content.
    pub(crate) untold: bool,
}

/// What else records the content of an unreadable page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordedBy {
    /// Its place.
    ItsPlace,
    /// The page that is programmed last in its block.
    LastPage,
    /// The next page of its block.
    NextPage,
    /// Its map entry. Until something else records it, a mount finds it only in the page itself.
    ItsEntry,
}
