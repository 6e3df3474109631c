//! Programs and erases for the modules above: they invalidate checkpoints first, and handle blocks that fail.

use ftl_iface::NandDevice;

use super::{Content, Erasure, Flash, Seals, Spot};
use crate::error::Fault;
use crate::hybrid::address::LogBlock;
use crate::hybrid::flash::{AGAIN_MAX, Purpose};
use crate::hybrid::rules;
use crate::layout::{self, Kind, Label, Slots};
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// Programs a page. If that fails, nothing more should be programmed to its block, which will be marked bad instead
    /// of being erased.
    #[inline]
    pub fn program(
        &mut self,
        spot: Spot,
        label: Label<'_>,
        content: Content<'_>,
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        if self.seals != Seals::Broken {
            self.break_seals_before_program()?;
        }
        if self.spoiled && matches!(content, Content::Buffer) {
            self.spoiled = false;
            return Err(Fault::BlockFailed);
        }
        self.program_page(spot, label, content, cause)
    }

    /// Erases the block of a spot. If that fails, or a program to it has failed, the block is marked bad.
    pub fn erase(&mut self, spot: Spot, cause: Cause) -> Result<(), Fault<D::Error>> {
        if rules::must_break_seals_first(self.seals != Seals::Broken) {
            self.break_seals()?;
            if spot.purpose == Purpose::Meta && self.is_bad(spot)? {
                // It held a seal, and has failed just now.
                return Err(Fault::BlockFailed);
            }
        }
        if rules::must_retire(self.failed.is_failing(spot)) {
            return Err(self.retire(spot));
        }
        match self.erase_block(spot, cause)? {
            Erasure::Done => Ok(()),
            Erasure::Failed => Err(self.retire(spot)),
        }
    }

    /// Writes the summary of a log block into the pages after its data.
    pub fn program_summary(
        &mut self,
        block: LogBlock,
        data_pages: u16,
        wear: u32,
        codes: &[u32],
    ) -> Result<(), Fault<D::Error>> {
        let page_bytes = self.log.page_bytes;
        let chunk = layout::summary_sectors(page_bytes).max(1) as usize;
        for page in data_pages..self.log.pages {
            let start = usize::from(page - data_pages) * chunk;
            let end = (start + chunk).min(codes.len());
            let listed = codes.get(start.min(end)..end).unwrap_or(&[]);
            let key = self.key();
            if let Some(target) = self.buffer.get_mut(..page_bytes.as_usize()) {
                layout::put_summary(target, listed, key);
            }
            self.spoiled = false;
            let spot = Spot::log(block, page);
            let label = Label { kind: Kind::Summary, note: wear, slots: Slots::Listed(&[]) };
            self.program(spot, label, Content::Buffer, Cause::Meta)?;
        }
        Ok(())
    }

    /// Erases a block when no other is left, so a failed erase is tried again, a few times. One that may look like a
    /// finished fold is marked bad.
    #[cold]
    pub fn erase_last(&mut self, spot: Spot, cause: Cause) -> Result<(), Fault<D::Error>> {
        let pages = self.area(spot.purpose).pages;
        if rules::may_look_finished(self.failed.failed_page(spot), pages) {
            return self.erase(spot, cause);
        }
        self.failed.forget_failing(spot);
        for _ in 1..AGAIN_MAX {
            if self.erase_block(spot, cause)? == Erasure::Done {
                return Ok(());
            }
        }
        self.erase(spot, cause)
    }
}
