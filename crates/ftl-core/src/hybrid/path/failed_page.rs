//! A page that failed to program, until its content is stored elsewhere.
//!
//! "The failing page reads as anything": it may also read as intended for a while, and later not. The FTL no longer
//! trusts it, but this is known only in RAM. A mount would take it for an acknowledged page, because newer
//! pages may follow it: those of folds that free space for it. So its content is copied to a rescue block before any of
//! these is programmed, as after a power cut. The copy is erased as soon as the page is stored elsewhere, before
//! anything newer is acknowledged.

use ftl_iface::NandDevice;

use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::hybrid::address::LogicalBlock;
use crate::hybrid::flash::{Content, Gathered, Spot};
use crate::hybrid::mechanisms::Mechanisms;
use crate::hybrid::mlc::maps::MapId;
use crate::hybrid::rescued::Copy;
use crate::hybrid::state::Ftl;
use crate::layout::{Kind, Slot, Slots};
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe, M: Mechanisms> Ftl<'_, D, P, M> {
    /// Copies a page to a rescue block whose program has just failed. `slots` tells what it was to hold.
    #[cold]
    #[inline(never)]
    pub(crate) fn secure_failed(
        &mut self,
        content: Content<'_>,
        slots: Slots<'_>,
        count: u16,
    ) -> Result<(), Fault<D::Error>> {
        let failed = core::mem::take(&mut self.flash.failed.page);
        // While a power cut is dealt with there is a copy of all that is written.
        if !failed
            || self.failed_page.is_some()
            || self.unsettled.is_some()
            || planted(Bug::BelieveFailedPage)
        {
            return Ok(());
        }
        while let Some(target) = self.rescue_block(None)? {
            match self.copy_failed(target, content, slots, count) {
                Ok(copy) => {
                    self.failed_page = copy;
                    return Ok(());
                }
                Err(Fault::BlockFailed) => self.erase_or_lose(Spot::meta(target, 0))?,
                Err(fault) => return Err(fault),
            };
        }
        Err(self.no_block_left())
    }

    /// Copies the page to that rescue block. `None`: its content is gone from the page buffer, because a bad block
    /// had to be listed meanwhile.
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
            // A trim: the buffer has its range.
            Slot::Hole(first) => self.put_rescued(target, 0, &[Slot::Elsewhere(first)])?,
            _ => self.copy_failed_slots(target, slots, count)?,
        };
        self.commit(target, pages, None, None).map(Some)
    }

    /// Programs what the slots of the page in the buffer hold to as many pages of a rescue block as it takes.
    fn copy_failed_slots(
        &mut self,
        target: u16,
        slots: Slots<'_>,
        count: u16,
    ) -> Result<u16, Fault<D::Error>> {
        let room = self.shape.meta.slots.max(1);
        let pages = count.div_ceil(room);
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

    /// Erases the copy of a page whose program had failed, and whose content is elsewhere now.
    #[inline]
    pub(crate) fn release_failed(&mut self) -> Result<(), Fault<D::Error>> {
        match self.failed_page.take() {
            None => Ok(()),
            Some(copy) => self.erase_or_lose(Spot::meta(copy.block, 0)).map(|_| ()),
        }
    }

    /// A page did not program to the chain's last log block: the block takes no more, and is folded soon. Where nothing
    /// is in it, it leaves the chain.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave_last_log(
        &mut self,
        logical: LogicalBlock,
        map: MapId,
    ) -> Result<(), Fault<D::Error>> {
        let empty = self.mlc.maps.next_page(map) == 0;
        // What the page reads as now, a scan is to find out.
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
