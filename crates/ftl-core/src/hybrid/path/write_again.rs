//! Writing the content of rescue copies to its chains again.

use ftl_iface::{NandDevice, Sector, SectorCount};

use crate::error::Fault;
use crate::hybrid::address::LogicalBlock;
use crate::hybrid::flash::{Content, Gathered, Programmed, Seen, Spot};
use crate::hybrid::rescued::Rescued;
use crate::hybrid::rules;
use crate::hybrid::state::Ftl;
use crate::layout::{Slot, Trim};
use crate::probe::{Cause, Probe};
use crate::table::word;

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Writes the sectors of the copies to their chains: first what a fold collected, because the rest is newer.
    pub(crate) fn write_rescued(&mut self, rescued: Rescued) -> Result<(), Fault<D::Error>> {
        for copy in rescued.copies() {
            for page in 0..copy.pages {
                self.write_page_again(Spot::meta(copy.block, page))?;
            }
        }
        // The pages that were copied may still be readable, for a while.
        for copy in rescued.copies() {
            for page in 0..copy.pages {
                for sector in self.sectors_of_copy(Spot::meta(copy.block, page))? {
                    self.protect_last_log(self.mlc.locate(sector).0);
                }
            }
        }
        Ok(())
    }

    /// The sectors that a page of a copy holds or trims, of a longer trim the first; none if it cannot be read.
    pub(crate) fn sectors_of_copy(
        &mut self,
        spot: Spot,
    ) -> Result<impl Iterator<Item = Sector> + use<D, P>, Fault<D::Error>> {
        let held = self.slots_of_copy(spot)?;
        for slot in held.list() {
            rules::sector_concerned(*slot)
                .map_or(Ok(()), |sector| self.in_device(sector).map(|_| ()))?;
        }
        Ok(held.into_list().filter_map(|(_, slot)| rules::sector_concerned(slot)))
    }

    /// What the slots of a page of a copy hold; nothing if it cannot be read.
    fn slots_of_copy(&mut self, spot: Spot) -> Result<Gathered, Fault<D::Error>> {
        Ok(match self.flash.look(spot, Cause::Mount)? {
            Seen::Page(page) => Gathered::of(&page, 0, self.shape.meta.slots),
            Seen::Erased | Seen::Unreadable => Gathered::new(),
        })
    }

    /// Writes what a page of a copy holds. Any unreadable part was written before.
    fn write_page_again(&mut self, spot: Spot) -> Result<(), Fault<D::Error>> {
        let held = self.slots_of_copy(spot)?;
        for (slot, held) in held.into_list() {
            match held {
                Slot::Elsewhere(_) => {
                    match self.mlc.read_trim(&mut self.flash, spot, Cause::Mount) {
                        Ok(trim) => self.trim_again(trim)?,
                        Err(Fault::Uncorrectable | Fault::Corrupt) => {}
                        Err(fault) => return Err(fault),
                    }
                }
                Slot::Hole(first) => {
                    self.trim_again(Trim { first, count: SectorCount::new(1) })?;
                }
                held => self.write_copy(spot, slot, held)?,
            }
        }
        Ok(())
    }

    /// Repeats a trim from a copy.
    fn trim_again(&mut self, trim: Trim) -> Result<(), Fault<D::Error>> {
        let (logical, offset) = self.in_device(trim.first)?;
        if trim.count.get() > self.mlc.sectors_per_block().get() - offset {
            return Err(Fault::Corrupt);
        }
        self.trim_run(logical, trim)
    }

    /// Logical block and offset of a sector number read from flash. The last logical block may extend beyond the
    /// capacity.
    fn in_device(&self, sector: Sector) -> Result<(LogicalBlock, u32), Fault<D::Error>> {
        let places = word(self.shape.logical_blocks) * self.mlc.sectors_per_block().get();
        if sector.get() < places { Ok(self.mlc.locate(sector)) } else { Err(Fault::Corrupt) }
    }

    /// Writes one sector of a copy to its chain.
    fn write_copy(&mut self, spot: Spot, slot: u16, held: Slot) -> Result<(), Fault<D::Error>> {
        let Some(sector) = held.copy_of() else {
            return Ok(());
        };
        let (logical, offset) = self.in_device(sector)?;
        let sector = self.mlc.sector(logical, offset);
        while self.write_copy_to(sector, held, spot, slot)? == Programmed::BlockFailed {}
        Ok(())
    }

    /// See [`write_copy`](Self::write_copy).
    fn write_copy_to(
        &mut self,
        sector: Sector,
        holds: Slot,
        spot: Spot,
        slot: u16,
    ) -> Result<Programmed, Fault<D::Error>> {
        let (logical, offset) = self.mlc.locate(sector);
        let map = self.chain_with_room(logical)?;
        let (_, home) = self.mlc.home(offset);
        let slots = self.shape.chain.slots;
        let mut page = Gathered::new();
        self.flash.leave_empty(&mut page, home);
        // A sector marked as lost there is copied as lost.
        self.flash.gather(&mut page, (spot, slot), sector, Cause::Mount)?;
        if page.list().last() != Some(&holds) {
            // It was half erased, and has become unreadable since it was checked, so this was done before.
            return Ok(Programmed::Done);
        }
        if !rules::must_keep_copy() {
            self.flash.erase(spot, Cause::Meta)?;
        }
        self.flash.leave_empty(&mut page, slots);
        self.append_to_chain(logical, map, Content::Buffer, page.slots(), Cause::Mount)
    }

    /// Removes sectors with a rescue copy from the log, whose versions are older and will be written again.
    pub(crate) fn unmap_rescued(&mut self) -> Result<(), Fault<D::Error>> {
        let rescued = self.unsettled.and_then(|state| state.rescued).unwrap_or(Rescued::NONE);
        for copy in rescued.copies() {
            for page in 0..copy.pages {
                for sector in self.sectors_of_copy(Spot::meta(copy.block, page))? {
                    self.the_log()?.index.remove_real(sector);
                }
            }
        }
        Ok(())
    }

    /// Whether a sector has a rescue copy.
    pub(crate) fn is_rescued(&mut self, sector: Sector) -> Result<bool, Fault<D::Error>> {
        let rescued = self.unsettled.and_then(|state| state.rescued).unwrap_or(Rescued::NONE);
        for copy in rescued.copies() {
            for page in 0..copy.pages {
                let mut sectors = self.sectors_of_copy(Spot::meta(copy.block, page))?;
                if sectors.any(|held| held == sector) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Writes the copy of a failed page of the log to its chains, because the log has no room left.
    #[cold]
    #[inline(never)]
    pub(crate) fn write_failed(&mut self) -> Result<(), Fault<D::Error>> {
        if let Some(newest) = self.failed_page {
            self.write_rescued(Rescued::one(newest))?;
        }
        self.release_failed()
    }
}
