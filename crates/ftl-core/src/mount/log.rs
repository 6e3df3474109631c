//! The log, from the summaries of its blocks.
//!
//! The head is the block whose first page is youngest; the tail is the first block after it that is not erased. In
//! between, from the tail to the head, later pages override earlier ones.

use ftl_iface::NandDevice;

use super::MountError;
use crate::address::{LogBlock, LogicalBlock};
use crate::error::Fault;
use crate::flash::Spot;
use crate::ftl::Ftl;
use crate::layout::{Kind, Slot, Stamp};
use crate::probe::{Cause, Probe};
use crate::slc::ring::Found;

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    pub(super) fn mount_log(&mut self) -> Result<(), MountError<D::Error>> {
        let Some((head, lap)) = self.youngest_log_block()? else {
            // Nothing was ever written to the log, so that nothing in it can be older than its chain.
            for number in 0..self.shape.logical_blocks {
                self.unproved.set(LogicalBlock::new(number), false);
            }
            return Ok(());
        };
        let (tail, used) = self.oldest_log_block(head)?;
        let log = self.the_log()?;
        let good = u64::from(log.ring().good());
        let before = (0..head.get()).filter(|at| !log.ring().is_bad(LogBlock::new(*at))).count();
        let opened = u64::from(lap.saturating_sub(1)) * good + before as u64 + 1;
        let erases = opened.saturating_sub(u64::from(used));
        let mut block = tail;
        for _ in 1..used {
            self.mount_closed_block(block)?;
            block = self.the_log()?.ring().after(block);
        }
        let head_page = self.mount_head(head)?;
        self.the_log()?.ring_mut().restore(Found { head, head_page, tail, used, lap, erases });
        Ok(())
    }

    /// The block written last, and how often it was erased.
    fn youngest_log_block(&mut self) -> Result<Option<(LogBlock, u32)>, Fault<D::Error>> {
        let mut youngest: Option<(Stamp, LogBlock, u32)> = None;
        for number in 0..self.the_log()?.part().blocks {
            let block = LogBlock::new(number);
            if self.the_log()?.ring().is_bad(block) {
                continue;
            }
            if let Some(tag) = self.flash.read_tag(Spot::log(block, 0), Cause::Mount)? {
                self.flash.raise_stamp(tag.stamp);
                if youngest.is_none_or(|(stamp, ..)| stamp < tag.stamp) {
                    youngest = Some((tag.stamp, block, tag.wear));
                }
            }
        }
        Ok(youngest.map(|(_, block, wear)| (block, wear)))
    }

    /// The tail, and how many blocks there are from it to the head.
    fn oldest_log_block(&mut self, head: LogBlock) -> Result<(LogBlock, u16), Fault<D::Error>> {
        let good = self.the_log()?.ring().good();
        let mut block = head;
        for erased in 0..good {
            block = self.the_log()?.ring().after(block);
            if self.flash.read_tag(Spot::log(block, 0), Cause::Mount)?.is_some() {
                return Ok((block, good - erased));
            }
        }
        Err(Fault::Corrupt)
    }

    /// Maps the sectors of a block that was written through.
    fn mount_closed_block(&mut self, block: LogBlock) -> Result<(), Fault<D::Error>> {
        let log = self.log.as_mut().ok_or(Fault::Corrupt)?;
        log.read_codes(&mut self.flash, block)?;
        let (pages, slots) = (log.data_pages(), log.part().slots);
        for page in 0..pages {
            for slot in 0..slots {
                let holds = self.the_log()?.code(page, slot);
                self.mount_slot(block, page, slot, holds)?;
            }
        }
        Ok(())
    }

    /// Maps the sectors of the head block. Says which page is free next.
    fn mount_head(&mut self, head: LogBlock) -> Result<u16, Fault<D::Error>> {
        let (pages, slots) = (self.the_log()?.data_pages(), self.the_log()?.part().slots);
        for page in 0..pages {
            let Some(tag) = self.flash.read_tag(Spot::log(head, page), Cause::Mount)? else {
                return if self.flash.was_erased() { Ok(page) } else { Err(Fault::Corrupt) };
            };
            if tag.kind != Kind::Log {
                return Err(Fault::Corrupt);
            }
            self.flash.raise_stamp(tag.stamp);
            for slot in 0..slots {
                // Mapping may read other tags: this page's slots are noted first.
                let holds = self.flash.slot(usize::from(slot));
                self.the_log()?.restore_head_code(page, slot, holds.code());
            }
            for slot in 0..slots {
                let holds = self.the_log()?.code(page, slot);
                self.mount_slot(head, page, slot, holds)?;
            }
        }
        // The summary is there, or the block would not be the head of a log at rest.
        let summary = Spot::log(head, self.shape.log.map_or(0, |part| part.pages - 1));
        if let Some(tag) = self.flash.read_tag(summary, Cause::Mount)? {
            self.flash.raise_stamp(tag.stamp);
        }
        Ok(pages)
    }

    /// Maps a sector to its place in the log. What the log holds of it earlier is older.
    fn mount_slot(
        &mut self,
        block: LogBlock,
        page: u16,
        slot: u16,
        holds: Slot,
    ) -> Result<(), Fault<D::Error>> {
        let Slot::Holds(sector) = holds else {
            return Ok(());
        };
        if sector.get() >= self.shape.capacity.get() {
            return Err(Fault::Corrupt);
        }
        let log = self.the_log()?;
        if log.restore(block, page, slot, sector) {
            return Ok(());
        }
        // The table holds entries that the chains made stale. At run time they would be gone.
        let place = log.place(block, page, slot);
        for number in 0..self.shape.logical_blocks {
            let logical = LogicalBlock::new(number);
            self.prove(logical)?;
            // Entries yet to come must be proved again.
            self.unproved.set(logical, true);
        }
        if !self.is_newest_in_log(sector, place)? {
            return Ok(());
        }
        let log = self.the_log()?;
        if log.restore(block, page, slot, sector) { Ok(()) } else { Err(Fault::Corrupt) }
    }
}
