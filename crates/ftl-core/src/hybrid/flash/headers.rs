//! The two headers. Each is repaired or refreshed while the other one stays.

use ftl_iface::{Block, Bytes, NandDevice, Region};

use super::failed::{Entered, LISTED_MAX, List};
use super::header::{Mended, older_of_whole, to_mend};
use super::{Erasure, Flash, Programmed, Seals, Spot};
use crate::error::Fault;
use crate::flash::Marked;
use crate::hybrid::shape::HEADER_BLOCKS;
use crate::layout::Header;
use crate::probe::{Cause, Probe};

/// What can be read of the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// The lists after both, and the second copies, which end them.
    Whole,
    /// A second copy is missing, or a bad block.
    Lacking,
}

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// Rewrites a header of which a copy is missing or whose list is too short, while the other one stays.
    pub fn mend_headers(&mut self, header: &Header) -> Result<(), Fault<D::Error>> {
        for _ in 0..HEADER_BLOCKS {
            match self.mend_header(header)? {
                Mended::Done => {}
                Mended::Failed(block) => self.retire_meta(block)?,
                Mended::Nothing => break,
            }
        }
        if self.find_listed()? == Entered::NoRoom {
            self.failed.leave_unnoted();
        }
        Ok(())
    }

    /// Rewrites the headers, because one of them is weak, each while the other is whole. One that is not is mended.
    pub fn refresh_headers(&mut self, header: &Header) -> Result<(), Fault<D::Error>> {
        let listed = self.failed.to_be_named();
        let states = self.header_states()?;
        if older_of_whole(states, listed).or(to_mend(states, listed)).is_some() {
            if self.seals != Seals::Broken {
                self.break_seals()?;
            }
            self.rewrite_headers(header)?;
        }
        // Rewriting one reads the other and may note it as weak again, endlessly.
        for block in 0..HEADER_BLOCKS {
            self.weak.forget_block(Spot::meta(block, 0));
        }
        Ok(())
    }

    /// Rewrites both headers if both are whole, or else mends them.
    fn rewrite_headers(&mut self, header: &Header) -> Result<(), Fault<D::Error>> {
        let listed = self.failed.to_be_named();
        let Some(older) = older_of_whole(self.header_states()?, listed) else {
            return self.mend_headers(header);
        };
        for block in [older, 1 - older] {
            if self.rewrite_header(block, header)? == Programmed::BlockFailed {
                return self.retire_meta(Spot::meta(block, 0));
            }
        }
        Ok(())
    }

    /// Reads the lists of bad blocks after the headers, for a mount.
    pub fn read_lists(&mut self) -> Result<Listing, Fault<D::Error>> {
        let mut lists = [None; HEADER_BLOCKS as usize];
        for (block, list) in (0..HEADER_BLOCKS).zip(&mut lists) {
            if !self.is_bad(Spot::meta(block, 0))? {
                *list = Some(self.read_list(block)?);
            }
        }
        let listed = self.failed.to_be_named();
        let is_whole = |list: &List| list.copy.is_some() && list.count >= listed;
        let are_whole = lists.iter().flatten().all(is_whole);
        Ok(if are_whole { Listing::Whole } else { Listing::Lacking })
    }

    /// Has the headers looked after with what is weak.
    pub fn note_headers(&mut self) {
        self.weak.note(Spot::meta(0, 0));
    }

    /// Erases headers that earlier formats left in a region that this one does not use: a mount with another
    /// configuration would find them. Nothing else there is touched.
    pub fn erase_other_headers(&mut self) -> Result<(), Fault<D::Error>> {
        for region in Region::ALL {
            let is_used = region == self.meta.region || region == self.chain.region;
            for block in 0..u32::from(HEADER_BLOCKS) {
                let block = Block::new(region, block);
                if is_used || !self.geometry().contains_block(block) {
                    continue;
                }
                if self.holds_header(block)? {
                    self.erase_beside(block)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a block that is not ours begins with a header of either FTL.
    fn holds_header(&mut self, block: Block) -> Result<bool, Fault<D::Error>> {
        if self.door.is_bad(block)? {
            return Ok(false);
        }
        let Some(shape) = self.geometry().region(block.region()).copied() else {
            return Ok(false);
        };
        let lines = shape.pairing.word_lines(shape.pages_per_block).get() as u16;
        // Of the hybrid FTL, the second copy is after the list; of the page store, on the second word line.
        for line in 0..lines.min(LISTED_MAX as u16 + 2) {
            let page = block.page(shape.pairing.nth_first_page(line));
            let mut magic = [0; Header::MAGIC.len()];
            match self.door.read(page, Bytes::ZERO, &mut magic, &mut [], Cause::Mount) {
                Ok(_) if magic == Header::MAGIC || magic == Header::PAGE_STORE => return Ok(true),
                Ok(_) | Err(Fault::Uncorrectable) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(false)
    }

    /// Erases a block that is not ours, or marks it bad.
    fn erase_beside(&mut self, block: Block) -> Result<(), Fault<D::Error>> {
        let done = self.door.erase(block, Cause::Meta)? == Erasure::Done
            || self.door.mark_bad(block)? == Marked::Done;
        if done { Ok(()) } else { Err(Fault::BlockFailed) }
    }
}
