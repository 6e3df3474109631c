//! The two headers. Each is repaired or refreshed while the other one stays.

use ftl_iface::{Block, Bytes, NandDevice, Region};

use super::failed::LISTED_MAX;
use super::header::{HeaderState, to_mend};
use super::{Erasure, Flash, Programmed, Seals, Spot};
use crate::error::Fault;
use crate::flash::Marked;
use crate::hybrid::shape::HEADER_BLOCKS;
use crate::layout::Header;
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// Rewrites a header of which a copy is missing or whose list is too short: the one in doubt first, and each only
    /// while the other one stands, if it can.
    pub fn mend_headers(&mut self, header: &Header) -> Result<(), Fault<D::Error>> {
        for _ in 0..HEADER_BLOCKS {
            let states = self.header_states()?;
            let listed = self.failed.unmarked_count();
            let Some(block) = to_mend(states, listed) else { break };
            // A read-only device is left alone if it can be.
            let stays = |found: &HeaderState| found.copies() > 0 && found.names(listed);
            if self.failed.read_only && states.iter().flatten().all(stays) {
                break;
            }
            if self.rewrite_header(block, header)? == Programmed::BlockFailed {
                self.retire_meta(Spot::meta(block, 0))?;
            }
        }
        Ok(())
    }

    /// Rewrites the headers, because one of them is weak, each while the other is whole. One that is not is mended.
    pub fn refresh_headers(&mut self, header: &Header) -> Result<(), Fault<D::Error>> {
        if self.seals != Seals::Broken {
            self.break_seals()?;
        }
        let listed = self.failed.unmarked_count();
        let is_whole = |found: Option<HeaderState>| found.is_some_and(|it| it.is_whole(listed));
        if self.header_states()?.into_iter().all(is_whole) {
            for block in self.headers_by_doubt()? {
                if self.rewrite_header(block, header)? == Programmed::BlockFailed {
                    self.retire_meta(Spot::meta(block, 0))?;
                    break;
                }
            }
        } else {
            self.mend_headers(header)?;
        }
        // Rewriting one reads the other and may note it as weak again, endlessly.
        for block in 0..HEADER_BLOCKS {
            self.weak.forget_block(Spot::meta(block, 0));
        }
        Ok(())
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
