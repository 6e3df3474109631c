//! A page that failed to program, until its content is stored elsewhere.
//!
//! "The failing page reads as anything": it may also read as intended for a while, and later not. The FTL no longer
//! trusts it, but this is known only in RAM. A mount would take it for an acknowledged page, because newer
//! pages may follow it: those of folds that free space for it. So its content is copied to a rescue block before any of
//! these is programmed, as after a power cut. The copy is erased as soon as the page is stored elsewhere, before
//! anything newer is acknowledged.

use ftl_iface::NandDevice;

use crate::error::Fault;
use crate::hybrid::address::LogicalBlock;
use crate::hybrid::flash::{Content, Gathered, Spot};
use crate::hybrid::mlc::maps::MapId;
use crate::hybrid::rescued::Copy;
use crate::hybrid::rules;
use crate::hybrid::state::Ftl;
use crate::layout::{Kind, Slot, Slots};
use crate::probe::{Cause, Probe};
use crate::quotient;

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Copies a page whose program has just failed to a rescue block. `slots` lists what it was to hold.
    #[cold]
    #[inline(never)]
    pub(crate) fn secure_failed(
        &mut self,
        content: Content<'_>,
        slots: Slots<'_>,
        count: u16,
    ) -> Result<(), Fault<D::Error>> {
        let failed = core::mem::take(&mut self.flash.failed.page);
        let has_copy = self.failed_page.is_some() || self.unsettled.is_some();
        if !rules::must_copy_failed(failed, has_copy) {
            return Ok(());
        }
        while let Some(target) = self.rescue_block(None)? {
            match self.copy_failed(target, content, slots, count) {
                Ok(copy) => {
                    self.failed_page = copy;
                    return Ok(());
                }
                Err(Fault::BlockFailed) => self.discard(Spot::meta(target, 0))?,
                Err(fault) => return Err(fault),
            }
        }
        Err(self.no_block_left())
    }

    /// Copies the page to that rescue block. `None`: listing a bad block meanwhile overwrote the page buffer.
    fn copy_failed(
        &mut self,
        target: u16,
        content: Content<'_>,
        slots: Slots<'_>,
        count: u16,
    ) -> Result<Option<Copy>, Fault<D::Error>> {
        self.flash.erase(Spot::meta(target, 0), Cause::Meta)?;
        if let Content::Host(data) = content {
            self.flash.put(0, data);
        } else if self.flash.is_spoiled() {
            return Ok(None);
        }
        let pages = match slots.get(0) {
            // A trim page: its payload is in the buffer.
            Slot::Hole(first) => self.put_rescued(target, 0, &[Slot::Elsewhere(first)])?,
            _ => self.copy_failed_slots(target, slots, count)?,
        };
        self.commit(target, pages, None, None).map(Some)
    }

    /// Programs the content of the page in the buffer to as many pages of a rescue block as it needs.
    fn copy_failed_slots(
        &mut self,
        target: u16,
        slots: Slots<'_>,
        count: u16,
    ) -> Result<u16, Fault<D::Error>> {
        let room = self.shape.meta.slots.max(1);
        let pages = quotient::ceil(count.into(), room.into()) as u16;
        for page in 0..pages {
            let from = page * room;
            let mut held = Gathered::new();
            for slot in from..count.min(from + room) {
                held.push(slots.get(slot));
            }
            let spot = Spot::meta(target, page);
            self.flash.program_part(spot, Kind::Rescue, from, held.slots(), Cause::Meta)?;
        }
        Ok(pages)
    }

    /// Erases the copy of a page that failed to program and is now stored elsewhere.
    #[inline]
    pub(crate) fn release_failed(&mut self) -> Result<(), Fault<D::Error>> {
        match self.failed_page.take() {
            None => Ok(()),
            Some(copy) => self.discard(Spot::meta(copy.block, 0)),
        }
    }

    /// Handles a failed program to the chain's last log block: the block takes no more pages, and its chain is folded
    /// soon. If it holds nothing, it leaves the chain.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave_last_log(
        &mut self,
        logical: LogicalBlock,
        map: MapId,
    ) -> Result<(), Fault<D::Error>> {
        let empty = self.mlc.maps.next_page(map) == 0;
        // A scan must find out what the page reads as now.
        self.mlc.maps.forget(logical);
        self.mlc.sealed.set(logical, true);
        if !empty {
            return Ok(());
        }
        let block = self.mlc.chains.pop_log(logical).ok_or(Fault::Corrupt)?;
        self.mlc.sealed.set(logical, self.mlc.has_log(logical));
        self.free_block(block, Cause::Gc)
    }
}
