//! Unreadable pages. If a page and its tag are unreadable, it is unknown which sectors the page held. If such a page
//! keeps a victim from being emptied, the map is searched for the sectors that point there, one leaf per step, and they
//! are marked as lost: reading them is an error until they are written again. Then the block is free.

use ftl_iface::{NandDevice, SectorCount};

use super::copies::CopiesPage;
use crate::error::Fault;
use crate::layout::Slot;
use crate::paged::plan::address::{Leaf, Mapped, Place};
use crate::paged::plan::shape::Area;
use crate::paged::tables::dirty::{Dirty, Old};
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::Victim;
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Removes the references of one leaf from a victim whose pages were all examined.
    pub(crate) fn salvage_step(
        &mut self,
        area: Area,
        mut victim: Victim,
    ) -> Result<(), Fault<D::Error>> {
        let left = self.blocks.references(victim.block) > 0;
        if !left || victim.salvaged >= self.shape.leaves {
            if left {
                self.blocks.leave_alone(victim.block);
            }
            self.victims[area as usize] = None;
            return Ok(());
        }
        let leaf = Leaf::new(victim.salvaged);
        if self.map.spot(leaf).is_some_and(|spot| spot.block == victim.block) {
            // Addresses that cannot be read are lost with the page.
            self.victims[area as usize] = Some(victim);
            return self.write_leaf(leaf);
        }
        let copies = self.gather_lost(leaf, victim)?;
        if !copies.is_full() {
            victim.salvaged += 1;
        }
        self.victims[area as usize] = Some(victim);
        if copies.filled > 0 {
            self.buffer.fill(0xFF);
            self.put_copies(victim, (copies.filled, victim.block), copies)?;
        }
        Ok(())
    }

    /// Gathers the sectors of a leaf that are mapped to a victim, marked as lost, at most a page of them.
    fn gather_lost(&mut self, leaf: Leaf, victim: Victim) -> Result<CopiesPage, Fault<D::Error>> {
        let mut copies = self.begin_copies(victim.stream);
        let (first, sectors) = self.shape.sectors_of(leaf);
        let page = self.map.load(&mut self.flash, leaf, Cause::Gc)?;
        let shape = self.shape;
        let leads = |place: Place| shape.spot(place).0.block == victim.block;
        for at in 0..sectors {
            let sector = first + SectorCount::new(at);
            let mapped = matches!(self.map.get(page, at), Mapped::At(place) if leads(place));
            let lost = match self.table.find(sector) {
                Some(Dirty { cell, entry, .. }) => {
                    if mapped && entry.old == Old::Counted {
                        self.table.release(cell);
                        self.blocks.release(victim.block, 1);
                    }
                    leads(entry.place)
                }
                None => mapped,
            };
            if lost {
                self.flash.hold(copies.filled, Slot::Lost(sector));
                copies.filled += 1;
                if copies.is_full() {
                    break;
                }
            }
        }
        Ok(copies)
    }
}
