//! Blocks that fail.
//!
//! After a failed program the block keeps its other pages, and may hold the only copy of their data. So it is only
//! noted, and marked bad when it would be erased: then nothing in it is needed any more. If power fails before that,
//! the note is lost, and the block will fail again some day. A block that failed to erase is marked bad at once.
//!
//! A block that cannot be marked is listed in pages after the two headers, one page for each such block. Both header
//! blocks are rewritten for it, one after the other, so that one of them is always complete. The second copy of the
//! header ends the list: if it was begun, all pages before it were programmed completely.

use ftl_iface::{NandDevice, Sector};
use heapless::Vec;

use super::{Content, Flash, Purpose, Seen, Spot};
use crate::error::Fault;
use crate::hybrid::shape::Area;
use crate::layout::{Kind, Label, Slot, Slots, Stamp};
use crate::probe::{Cause, Probe};
use crate::table::{BlockNumber, word};

/// Blocks in a list. More failing blocks at a time are not remembered; if more cannot be marked, the device is
/// read-only.
pub(super) const LISTED_MAX: usize = 8;

/// How many blocks that cannot be marked can be listed in a header block: one per page of the block, less the two
/// copies of the header, and no more than the list in RAM holds.
pub const fn listed_max(meta: &Area) -> u16 {
    let pages = meta.pages.saturating_sub(2);
    if pages < LISTED_MAX as u16 { pages } else { LISTED_MAX as u16 }
}

/// How often a failed block is tried again if there is no other.
pub const AGAIN_MAX: u16 = 4;

/// What has failed so far.
#[derive(Debug)]
pub struct Failed {
    /// The first failed page of each block that is still in use.
    failing: Vec<Spot, LISTED_MAX, u8>,
    /// Bad blocks that could not be marked.
    unmarked: Vec<Spot, LISTED_MAX, u8>,
    /// Whether a page of host data has failed to program, and is stored nowhere else yet.
    pub page: bool,
    /// Blocks taken out of use since the mount.
    pub retired: u16,
    /// Whether the reserve of blocks is used up, so that the host may write no more.
    pub read_only: bool,
    /// Whether some block could be neither marked nor listed.
    unnoted: bool,
    /// How many reads asked for a lost sector.
    pub lost: u32,
}

/// The list after a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct List {
    /// How many blocks it names.
    pub(super) count: u16,
    /// Whether a page after these was begun, which ends the list or was to name one more block: all pages before it are
    /// complete.
    pub(super) ended: bool,
    /// The stamp of the header's second copy, if that ends it.
    pub(super) copy: Option<Stamp>,
}

impl List {
    /// None.
    pub(super) const NONE: Self = Self { count: 0, ended: false, copy: None };
}

impl Failed {
    /// Nothing has failed.
    pub const NONE: Self = Self {
        failing: Vec::new(),
        unmarked: Vec::new(),
        page: false,
        retired: 0,
        read_only: false,
        unnoted: false,
        lost: 0,
    };

    /// Notes that the program of a page has failed.
    #[cold]
    pub(super) fn note_failing(&mut self, spot: Spot) {
        if !self.is_failing(spot) {
            add(&mut self.failing, spot);
        }
    }

    /// Whether a program has failed to a block that is still in use.
    #[inline]
    pub fn has_failing(&self) -> bool {
        !self.failing.is_empty()
    }

    /// Whether a program to that block has failed.
    #[inline]
    pub fn is_failing(&self, spot: Spot) -> bool {
        !self.failing.is_empty() && self.lists_failing(spot.start())
    }

    /// Out of line: unrolled into each caller, this search alone took more code than mounts.
    #[cold]
    #[inline(never)]
    fn lists_failing(&self, block: Spot) -> bool {
        self.failing.iter().any(|page| page.start() == block)
    }

    /// The page of a block that failed to program.
    pub(super) fn failed_page(&self, spot: Spot) -> Option<u16> {
        self.failing.iter().find(|page| page.start() == spot.start()).map(|page| page.page)
    }

    /// Whether that page has failed to program: whatever it reads as, it is not valid.
    #[inline]
    pub(super) fn distrusts(&self, spot: Spot) -> bool {
        self.failing.contains(&spot)
    }

    pub(super) fn forget_failing(&mut self, spot: Spot) {
        self.failing.retain(|page| page.start() != spot.start());
    }

    /// Whether that block is bad and could not be marked.
    pub fn is_unmarked(&self, spot: Spot) -> bool {
        self.unmarked.contains(&spot.start())
    }

    /// How many blocks of the chains have failed and are still in use.
    pub fn failing_chain_blocks(&self) -> BlockNumber {
        let chains = self.failing.iter().filter(|spot| spot.purpose == Purpose::Chain);
        chains.fold(0, |count, _| count + 1)
    }

    /// Whether every bad block is marked or listed. If one is not, a mount cannot know of it, and must find the device
    /// as a power cut would have left it when the block failed, so nothing may be programmed any more.
    pub fn noted<E>(&self) -> Result<(), Fault<E>> {
        if self.unnoted { Err(Fault::ReadOnly) } else { Ok(()) }
    }

    /// Lists a block that cannot be marked, in a list of at most so many.
    pub(super) fn list(&mut self, spot: Spot, most: u16) -> Entered {
        if self.to_be_named() >= most && !spot.is_header() && !self.is_unmarked(spot) {
            return Entered::NoRoom;
        }
        add(&mut self.unmarked, spot.start())
    }

    /// Notes that a bad block is neither marked nor listed.
    pub(super) fn leave_unnoted(&mut self) {
        self.read_only = true;
        self.unnoted = true;
    }

    /// How many bad blocks could not be marked and are named after the headers.
    pub fn to_be_named(&self) -> u16 {
        self.unmarked.iter().filter(|spot| !spot.is_header()).count() as u16
    }
}

/// Whether a block is in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// It is.
    Listed,
    /// There is no room for it, or no header can surely name it.
    NoRoom,
}

/// Puts a block into a list.
fn add(list: &mut Vec<Spot, LISTED_MAX, u8>, spot: Spot) -> Entered {
    if list.contains(&spot) || list.push(spot).is_ok() { Entered::Listed } else { Entered::NoRoom }
}

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// Whether the host may write.
    #[inline]
    pub fn writable(&self) -> Result<(), Fault<D::Error>> {
        if self.failed.read_only { Err(Fault::ReadOnly) } else { Ok(()) }
    }

    /// Programs the list of bad blocks after a header. Returns the page after it, if there is one and none has failed.
    pub(super) fn program_list(&mut self, header: Spot) -> Result<Option<Spot>, Fault<D::Error>> {
        let mut page = 1;
        // By index, because programming its pages borrows the whole of `self`.
        for at in 0..self.failed.unmarked.len() {
            let listed = self.failed.unmarked.get(at).copied();
            let Some(listed) = listed.filter(|spot| !spot.is_header()) else { continue };
            if page >= self.meta.pages {
                return Ok(None);
            }
            let named = [Slot::Elsewhere(Sector::new(word(listed.block)))];
            let note = listed.purpose as u32;
            let label = Label { kind: Kind::Bad, note, slots: Slots::Listed(&named) };
            match self.program_page(header.beside(page), label, Content::Buffer, Cause::Meta) {
                Ok(()) => page += 1,
                Err(Fault::BlockFailed) => return Ok(None),
                Err(fault) => return Err(fault),
            }
        }
        Ok((page < self.meta.pages).then(|| header.beside(page)))
    }

    /// Reads the list after one header.
    pub(super) fn read_list(&mut self, block: u16) -> Result<List, Fault<D::Error>> {
        let mut list = List::NONE;
        for page in 1..self.meta.pages {
            let spot = Spot::meta(block, page);
            let seen = self.look(spot, Cause::Mount)?;
            // An unreadable page may end the list, or be a torn page that was to name a block.
            list.ended = !seen.is_erased();
            let Seen::Page(listed) = seen else { break };
            let (tag, named) = (listed.tag(), listed.slot(0));
            if tag.kind != Kind::Bad {
                list.copy = (tag.kind == Kind::Header).then_some(tag.stamp);
                break;
            }
            self.raise_stamp(tag.stamp);
            let Slot::Elsewhere(number) = named else { break };
            if let Some(purpose) = Purpose::ALL.get(tag.note as usize) {
                let spot = Spot { purpose: *purpose, block: number.get() as BlockNumber, page: 0 };
                add(&mut self.failed.unmarked, spot);
                list.count += u16::from(!spot.is_header());
            }
            list.ended = false;
        }
        Ok(list)
    }
}
