//! Copies in the log for which a mount finds no cell in the hash table.
//!
//! At run time all newest copies in the log had their cells. If the page of a chain that replaced some of them has
//! become unreadable, and nothing else recorded it, those are valid again, and together there may be too many. What
//! has no cell goes to a rescue block, and from there to its chain, as after a power cut. So it is safe at every
//! moment, and a fold that makes room for it does no harm.

use ftl_iface::{NandDevice, Sector};

use crate::error::Fault;
use crate::hybrid::address::LogBlock;
use crate::hybrid::flash::{Gathered, Spot};
use crate::hybrid::path::prove::Newest;
use crate::hybrid::rescued::{Copy, Rescued};
use crate::hybrid::rules;
use crate::hybrid::state::Ftl;
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Copies what is not mapped to a rescue block, beside the copies that are valid.
    #[cold]
    #[inline(never)]
    pub(super) fn rescue_unmapped(&mut self) -> Result<(), Fault<D::Error>> {
        if !rules::must_copy_unmapped() {
            return Err(Fault::Corrupt);
        }
        let before = self.unsettled.and_then(|state| state.rescued).unwrap_or(Rescued::NONE);
        while !before.is_full()
            && let Some(target) = self.rescue_block(Some(before))?
        {
            match self.copy_unmapped(target, before.newest()) {
                Err(Fault::BlockFailed) => self.discard(Spot::meta(target, 0))?,
                outcome => {
                    let rescued = before.after(outcome?);
                    if let Some(state) = &mut self.unsettled {
                        state.rescued = Some(rescued);
                    }
                    return Ok(());
                }
            }
        }
        Err(self.no_block_left())
    }

    /// Copies it from the oldest to the newest, because a sector may be there twice.
    fn copy_unmapped(&mut self, target: u16, older: Option<Copy>) -> Result<Copy, Fault<D::Error>> {
        self.flash.erase(Spot::meta(target, 0), Cause::Meta)?;
        let (room, log) = (self.shape.meta.slots, self.the_log()?);
        let (pages, slots) = (log.data_pages(), log.area().slots);
        let (mut block, head) = (log.ring().tail(), log.ring().head());
        let (mut gathered, mut next) = (Gathered::new(), 0);
        loop {
            self.read_codes(block)?;
            let places = (0..pages).flat_map(|page| (0..slots).map(move |slot| (page, slot)));
            for (page, slot) in places {
                let Some(sector) = self.find_unmapped(block, page, slot)? else { continue };
                let from = (Spot::log(block, page), slot);
                self.flash.gather(&mut gathered, from, sector, Cause::Mount)?;
                if gathered.count() == room {
                    next = self.put_rescued(target, next, gathered.list())?;
                    gathered.clear();
                }
            }
            // Reading the next block's codes takes the buffer.
            if gathered.count() > 0 {
                self.flash.leave_empty(&mut gathered, room);
                next = self.put_rescued(target, next, gathered.list())?;
                gathered.clear();
            }
            if block == head {
                break;
            }
            block = self.the_log()?.ring().after(block);
        }
        let ended = match older {
            Some(copy) => self.still_ended(copy)?,
            None => None,
        };
        self.commit(target, next, ended, older)
    }

    /// Reads what the slots of a block hold into the codes.
    fn read_codes(&mut self, block: LogBlock) -> Result<(), Fault<D::Error>> {
        let log = self.log.as_mut().ok_or(Fault::Corrupt)?;
        if log.read_summary(&mut self.flash, block)?.is_none() {
            log.read_tags(&mut self.flash, block)?;
        }
        Ok(())
    }

    /// The sector that a slot of the block read last holds, if it should be mapped and is not.
    fn find_unmapped(
        &mut self,
        block: LogBlock,
        page: u16,
        slot: u16,
    ) -> Result<Option<Sector>, Fault<D::Error>> {
        let log = self.the_log()?;
        let place = log.place(block, page, slot);
        let Some(sector) = log.code(page, slot).copy_of() else { return Ok(None) };
        let is_mapped = log.index.find(sector).is_some();
        if is_mapped || self.is_rescued(sector)? {
            return Ok(None);
        }
        let newest = self.newest_of(sector, place)?;
        Ok((newest == Newest::InLog).then_some(sector))
    }
}
