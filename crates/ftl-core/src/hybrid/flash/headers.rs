//! The two headers. Each is repaired or refreshed while the other one stays.

use ftl_iface::{Block, Bytes, NandDevice, Region};

use super::failed::LISTED_MAX;
use super::header::HeaderState;
use super::{Erasure, Flash, Programmed, Seals, Spot};
use crate::error::Fault;
use crate::flash::Marked;
use crate::hybrid::rules;
use crate::hybrid::shape::HEADER_BLOCKS;
use crate::layout::Header;
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// Rewrites a header of which a copy is missing or whose list is too short: the one in doubt first, and each only
    /// while the other one stands, if it can.
    pub fn mend_headers(&mut self, header: &Header) -> Result<(), Fault<D::Error>> {
        let listed = self.failed.unmarked_count();
        let mut states = self.header_states()?;
        let order = Self::by_doubt(&states);
        let [older, younger] = order.map(|block| states[usize::from(block)]);
        // A page died, and either the older one's erase or the younger one's second copy may be torn. Whichever is will
        // be unreadable sooner or later, and then the other one is sure.
        let in_doubt =
            older.is_whole(listed) && younger.names(listed) && younger.has_second_alone();
        if in_doubt && rules::must_wait_for_doubt() {
            return Ok(());
        }
        for block in order {
            let spot = Spot::meta(block, 0);
            if self.is_bad(spot)? {
                continue;
            }
            let [first, second] = states;
            let (found, other) = if block == 0 { (first, second) } else { (second, first) };
            // A read-only device is left alone if it can be.
            let stays = |state: HeaderState| {
                state.is_whole(listed) || self.failed.read_only && state.names(listed)
            };
            if found.copies() > 0 && (other.copies() == 0 || stays(found) && stays(other)) {
                continue;
            }
            if self.rewrite_header(block, header)? == Programmed::BlockFailed {
                self.retire_meta(spot)?;
            }
            states = self.header_states()?;
        }
        Ok(())
    }

    /// Rewrites the headers, because one of them is weak: first the one in doubt, and each only while the other is
    /// intact. If that is missing it is repaired first, and this one when it is read again.
    pub fn refresh_headers(&mut self, header: &Header) -> Result<(), Fault<D::Error>> {
        if self.seals != Seals::Broken {
            self.break_seals()?;
        }
        for block in self.headers_by_doubt()? {
            let other = HEADER_BLOCKS - 1 - block;
            if self.is_bad(Spot::meta(block, 0))? || self.is_bad(Spot::meta(other, 0))? {
                break;
            }
            let found = self.header_state(other)?;
            if !found.is_whole(self.failed.unmarked_count()) {
                self.mend_headers(header)?;
                break;
            }
            if self.rewrite_header(block, header)? == Programmed::BlockFailed {
                self.retire_meta(Spot::meta(block, 0))?;
            }
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
