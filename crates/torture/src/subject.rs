//! What is tortured: an FTL with its configuration, as far as worlds, faults and truth need to know it.

use std::fmt;

use ftl_iface::{Block, BlockCount, BlockStore, Bytes, Page, Region, Sector, StoreWriteError};
use nand_model::{Chip, Stamp};

use crate::crossing::{Crossing, Halt};
use crate::faults::Faults;

/// An FTL under torture. Whatever is not said here is the same for all of them.
pub(crate) trait Subject: fmt::Debug + Send + Sync {
    /// Sectors that the host may use.
    fn capacity(&self) -> u32;

    /// The size of a sector.
    fn sector_bytes(&self) -> Bytes;

    /// How many spare bytes of a page it uses, at most.
    fn spare_used(&self) -> Bytes;

    /// Formats a device; the key tells this life of it from others.
    fn format(&self, device: &mut Crossing, key: u32) -> Result<(), String>;

    /// Mounts a device and hands it over, if it mounts.
    fn mount(&self, device: &mut Crossing, live: &mut Live<'_>) -> Result<(), Unmounted>;

    /// Its parts of the device, and how many blocks of each may fail before it may refuse writes.
    fn parts(&self, faults: &Faults) -> Vec<Part>;

    /// Blocks that may take no bad-block mark before it may refuse writes.
    fn unmarked_max(&self) -> usize;

    /// What it means for it that a page cannot be read back; `None` where it need not bear that.
    fn injury(&self, struck: &Struck<'_>) -> Option<Injury>;

    /// What the spare bytes of a page say, for people.
    fn explain(&self, spare: &[u8], key: u32) -> String;

    /// Changes what the spare bytes of a page say, as the numbers have it, and gives them the check that fits.
    fn forge(&self, spare: &mut [u8], key: u32, numbers: &mut dyn FnMut(u32) -> u32);
}

/// What is done with a device that has mounted.
pub(crate) type Live<'a> = dyn FnMut(&mut dyn Mounted) + 'a;

/// A device that was mounted.
pub(crate) trait Mounted: BlockStore<Error = Halt> {
    /// The device below.
    fn device(&self) -> &Crossing;

    /// The device below.
    fn device_mut(&mut self) -> &mut Crossing;

    /// Checks every invariant. A page that cannot be read may stand in the way.
    fn check(&mut self) -> Result<(), Unchecked>;

    /// Sets right what a power cut may have touched.
    fn settle(&mut self) -> Result<(), StoreWriteError<Halt>>;

    /// Asks for every page to be read once, in idle time to come.
    fn scrub(&mut self);

    /// Stops it, so that the next mount is quick.
    fn stop(&mut self) -> Result<(), StoreWriteError<Halt>>;

    /// How many blocks may fail in the next request.
    fn at_once(&self) -> BlockCount;

    /// What it says of its reserve, for people.
    fn health(&self) -> String;

    /// What it owes once it says that no idle work is left, for people; `None` where it owes nothing.
    fn owed(&self) -> Option<String>;
}

/// Why a device did not mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unmounted {
    /// It is not formatted, or not to the end.
    Blank(String),
    /// Anything else.
    Failed(String),
}

/// Why invariants were not found to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unchecked {
    /// This one does not.
    Broken(String),
    /// A page cannot be read.
    Unreadable(String),
}

impl From<ftl_core::check::Violation> for Unchecked {
    fn from(violation: ftl_core::check::Violation) -> Self {
        let sentence = violation.to_string();
        if sentence.contains("Uncorrectable") {
            Self::Unreadable(sentence)
        } else {
            Self::Broken(sentence)
        }
    }
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
    /// Whether no more of them may fail in a request than [`Mounted::at_once`] says.
    pub(crate) bounded: Bounded,
    /// As many of them may be bad from the beginning.
    pub(crate) factory_bad_max: u32,
}

/// Whether the number of blocks that fail in one request is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounded {
    /// By what the FTL says before the request.
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
    /// Who else tells what it held.
    pub(crate) told: Told,
    /// What it held.
    pub(crate) contents: Vec<Stamp>,
    /// Sectors of which nobody knows any more whether they held anything.
    pub(crate) places: Vec<Sector>,
    /// Whether it was met while nothing else told what it held.
    pub(crate) untold: bool,
}

/// Who else tells what a page held that cannot be read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Its place.
    ItsPlace,
    /// The page that is programmed last in its block.
    LastPage,
    /// The next page of its block.
    NextPage,
}
