//! Blocks that fail.
//!
//! After a failed program the block keeps its other pages, and may hold the only copy of their data. So it is only
//! noted, and marked bad when it would be erased: then nothing in it is needed any more. If power fails before that,
//! the note is lost, and the block will fail again some day. A block that failed to erase is marked bad at once.
//!
//! A block that cannot be marked is listed in pages after the two headers, one page for each such block. Both header
//! blocks are rewritten for it, one after the other, so that one of them is always complete. A last page ends the list:
//! if it was begun, all pages before it were programmed completely.

use ftl_iface::{MarkError, NandDevice, Sector};
use heapless::Vec;

use super::{Content, Flash, Purpose, Seen, Spot};
use crate::error::Fault;
use crate::hybrid::shape::{Area, HEADER_BLOCKS};
use crate::layout::{Header, Kind, Label, Slot, Slots, Stamp};
use crate::probe::{Cause, Probe};
use crate::table::{BlockNumber, word};

/// Blocks in a list. More failing blocks at a time are not remembered; if more cannot be marked, the device is
/// read-only.
const LISTED_MAX: usize = 8;

/// How many blocks that cannot be marked can be listed after the headers: one per page of the block, less the header
/// and the end of the list, and no more than the list in RAM holds.
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
    pub(super) fn is_unmarked(&self, spot: Spot) -> bool {
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

    /// How many bad blocks could not be marked.
    pub fn unmarked_count(&self) -> u16 {
        self.unmarked.len() as u16
    }
}

/// Puts a block into a list. `false`: there is no room.
fn add(list: &mut Vec<Spot, LISTED_MAX, u8>, spot: Spot) -> bool {
    list.contains(&spot) || list.push(spot).is_ok()
}

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// Whether the host may write.
    #[inline]
    pub fn writable(&self) -> Result<(), Fault<D::Error>> {
        if self.failed.read_only { Err(Fault::ReadOnly) } else { Ok(()) }
    }

    /// Takes a block out of use for good: by a mark, or by listing it. Returns the fault to pass on.
    #[cold]
    #[inline(never)]
    pub(super) fn retire(&mut self, spot: Spot) -> Fault<D::Error> {
        if let Err(fault) = self.alive() {
            return fault;
        }
        self.failed.forget_failing(spot);
        self.weak.forget_block(spot);
        self.failed.retired = self.failed.retired.saturating_add(1);
        let block = self.block(spot);
        match self.device.mark_bad(block) {
            Ok(()) => return Fault::BlockFailed,
            Err(MarkError::Failed) => {}
            Err(MarkError::Driver(error)) => return self.driver_failed(error),
        }
        match self.list_unmarked(spot.start()) {
            Ok(true) => Fault::BlockFailed,
            Ok(false) => {
                self.failed.read_only = true;
                self.failed.unnoted = true;
                Fault::ReadOnly
            }
            Err(fault) => fault,
        }
    }

    /// Lists a block that cannot be marked. `false`: there is no room for it.
    fn list_unmarked(&mut self, spot: Spot) -> Result<bool, Fault<D::Error>> {
        let listed = add(&mut self.failed.unmarked, spot);
        if spot.purpose == Purpose::Meta && spot.short_block() < HEADER_BLOCKS {
            // A mount sees by itself that it is no header any more.
            return Ok(true);
        }
        if !listed {
            return Ok(false);
        }
        // A device that is being formatted has no header yet; the list will be written with it.
        let mut known = false;
        let mut written = false;
        for block in self.headers_by_doubt()? {
            let other = Spot::meta(HEADER_BLOCKS - 1 - block, 0);
            let header = if self.is_bad(other)? { None } else { self.header_at(other)? };
            known |= header.is_some();
            if let Some(header) = header {
                written |= self.rewrite_header(block, &header)?;
            }
        }
        self.spoiled = true;
        Ok(written || !known)
    }

    /// The header blocks in the order in which they are rewritten: first the one that a power cut may have touched,
    /// because during its rewrite only the other one exists. That is the one that cannot be read, whose list has no
    /// end, or which names fewer blocks than the other, because its program may have been torn; or else the older one,
    /// whose erase may have been begun already.
    pub(super) fn headers_by_doubt(&mut self) -> Result<[u16; 2], Fault<D::Error>> {
        let nothing = (List { count: 0, ended: false }, Stamp::ZERO);
        let mut found = [nothing; HEADER_BLOCKS as usize];
        for (block, found) in (0..).zip(&mut found) {
            if let Some(tag) = self.look(Spot::meta(block, 0), Cause::Mount)?.tag() {
                *found = (self.read_list(block)?, tag.stamp);
            }
        }
        let [(first, first_stamp), (second, second_stamp)] = found;
        let ranks = [
            (first.ended && first.count >= second.count, first_stamp),
            (second.ended && second.count >= first.count, second_stamp),
        ];
        Ok(if ranks[1] < ranks[0] { [1, 0] } else { [0, 1] })
    }

    pub(super) fn header_at(&mut self, spot: Spot) -> Result<Option<Header>, Fault<D::Error>> {
        match self.read_header(spot) {
            Ok(header) => Ok(header.ok().filter(|header| header.key == self.key)),
            Err(Fault::Uncorrectable) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Rewrites a header block, with the list of bad blocks. `false`: it cannot be written. Its content must be in the
    /// other one.
    pub(super) fn rewrite_header(
        &mut self,
        block: u16,
        header: &Header,
    ) -> Result<bool, Fault<D::Error>> {
        let spot = Spot::meta(block, 0);
        if self.is_bad(spot)? || self.failed.is_failing(spot) {
            return Ok(false);
        }
        if self.erase_block(spot, Cause::Meta)? {
            return self.program_header(spot, header);
        }
        self.failed.note_failing(spot);
        Ok(false)
    }

    /// Programs the list of bad blocks after a header. `false`: it does not fit, or the block failed.
    pub(super) fn program_list(&mut self, header: Spot) -> Result<bool, Fault<D::Error>> {
        let mut page = 1;
        // By index, because programming its pages borrows the whole of `self`.
        while let Some(listed) = self.failed.unmarked.get(usize::from(page) - 1).copied() {
            let named = [Slot::Elsewhere(Sector::new(word(listed.block)))];
            let spot = header.beside(page);
            if !self.program_listed(spot, listed.purpose as u32, &named)? {
                return Ok(false);
            }
            page += 1;
        }
        self.program_listed(header.beside(page), 0, &[])
    }

    /// Programs a page of the list. `false`: it does not fit, or the block failed.
    fn program_listed(
        &mut self,
        spot: Spot,
        note: u32,
        named: &[Slot],
    ) -> Result<bool, Fault<D::Error>> {
        if spot.page >= self.meta.pages {
            return Ok(false);
        }
        let label = Label { kind: Kind::Bad, note, slots: Slots::Listed(named) };
        match self.program_page(spot, label, Content::Buffer, Cause::Meta) {
            Ok(()) => Ok(true),
            Err(Fault::BlockFailed) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// Reads the list of bad blocks after the headers, for a mount.
    pub fn read_lists(&mut self) -> Result<(), Fault<D::Error>> {
        for block in 0..HEADER_BLOCKS {
            if !self.is_bad(Spot::meta(block, 0))? {
                self.read_list(block)?;
            }
        }
        Ok(())
    }

    /// Reads the list after one header.
    pub(super) fn read_list(&mut self, block: u16) -> Result<List, Fault<D::Error>> {
        let mut list = List { count: 0, ended: false };
        for page in 1..self.meta.pages {
            let spot = Spot::meta(block, page);
            let seen = self.look(spot, Cause::Mount)?;
            // An unreadable page may end the list, or be a torn page that was to name a block.
            list.ended = !seen.is_erased();
            let Seen::Page(listed) = seen else { break };
            let (tag, named) = (listed.tag, listed.slot(0));
            if tag.kind != Kind::Bad {
                break;
            }
            self.raise_stamp(tag.stamp);
            let Slot::Elsewhere(number) = named else { break };
            if let Some(purpose) = Purpose::ALL.get(tag.note as usize) {
                let spot = Spot { purpose: *purpose, block: number.get() as BlockNumber, page: 0 };
                add(&mut self.failed.unmarked, spot);
            }
            list.count += 1;
            list.ended = false;
        }
        Ok(list)
    }

    /// Writes the device's header into an erased block, and after it the list of bad blocks that could not be marked.
    /// `false`: the block failed.
    pub fn program_header(&mut self, spot: Spot, header: &Header) -> Result<bool, Fault<D::Error>> {
        let page = self.meta.page_bytes.as_usize();
        if let Some(target) = self.buffer.get_mut(..page) {
            target.fill(0xFF);
            header.put(target);
        }
        let label = Label { kind: Kind::Header, note: 1, slots: Slots::Listed(&[]) };
        match self.program_page(spot, label, Content::Buffer, Cause::Meta) {
            Ok(()) => self.program_list(spot),
            Err(Fault::BlockFailed) => Ok(false),
            Err(fault) => Err(fault),
        }
    }
}
