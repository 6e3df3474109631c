//! The dirty entries that a mount finds by reading every block: the newest tags of sectors that no map page has. If the
//! newest page of a leaf has become unreadable by itself, they show it.

use ftl_iface::{NandDevice, Sector};

use crate::error::Fault;
use crate::layout::Stamp;
use crate::paged::flash::Seen;
use crate::paged::plan::address::{Leaf, Place, Spot};
use crate::paged::recovery::scan::Pass;
use crate::paged::rules;
use crate::paged::tables::bins::Full;
use crate::paged::tables::dirty::{Entry, Old};
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{Suspect, What};
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Finds the dirty entries: tags below the ceiling and above the horizon that are newer than the map page of their
    /// leaf. If a page of the map cannot be read, leaves whose newest page is gone are given up.
    pub(crate) fn replay_all(&mut self) -> Result<(), Fault<D::Error>> {
        self.replay()?;
        match self.unreadable {
            Some(unreadable) => self.visit_young(|ftl, spot| ftl.give_up_gone(spot, unreadable)),
            None => Ok(()),
        }
    }

    /// Gives up the leaves of a page's sectors whose newest page is gone. What is older than the horizon was in map
    /// pages once: if the newest copy of a sector is, and yet newer than its leaf's page, that is not the leaf's newest
    /// page.
    fn give_up_gone(&mut self, spot: Spot, unreadable: Spot) -> Result<(), Fault<D::Error>> {
        let Seen::Page(page) = self.flash.look(spot, Cause::Mount)? else { return Ok(()) };
        let tag = page.tag();
        if !tag.kind.is_sectors() || tag.stamp > self.epoch.horizon {
            return Ok(());
        }
        self.kept.keep(&page);
        for slot in 0..self.shape.area_at(spot.block).slots {
            let Some(sector) = self.copied(slot) else { continue };
            let (leaf, _) = self.shape.leaf_of(sector);
            let may_have_newer = !self.part.holds(sector)
                || self.table.get(sector).is_some()
                || self.is_suspect(sector, leaf);
            if !may_have_newer && self.leaf_stamp(leaf)? < Some(tag.stamp) {
                self.map.set_spot(leaf, unreadable);
                self.stamp_read = None;
            }
        }
        Ok(())
    }

    /// Returns the sector of which a kept slot is a copy.
    fn copied(&self, slot: u16) -> Option<Sector> {
        self.kept.slot(slot).copy_of().filter(|sector| *sector < self.shape.end())
    }

    /// Whether the page to be repeated has the sector's newest copy, or says where it is. What that replaced may be
    /// erased, and older copies are left.
    fn is_suspect(&self, sector: Sector, leaf: Leaf) -> bool {
        match self.suspect {
            None => false,
            Some(Suspect { what: What::Map(of), .. }) => of == leaf,
            Some(Suspect { what: What::Sectors, spot, .. }) => {
                let mut slots = 0..self.shape.area_at(spot.block).slots;
                slots.any(|slot| self.flash.held(slot).copy_of() == Some(sector))
            }
        }
    }

    /// Enters the newest tags of the part's sectors in the table.
    pub(crate) fn replay(&mut self) -> Result<(), Fault<D::Error>> {
        let (from, end) = (self.part.from, self.part.end);
        for _ in 0..=self.shape.blocks() {
            // Another page may be there since.
            self.stamp_read = None;
            let mut pass = Pass::Whole;
            self.visit_young(|ftl, spot| ftl.replay_page(spot, &mut pass))?;
            if rules::pass_counts(pass == Pass::Whole) {
                break;
            }
            self.empty_table(from, end);
        }
        Ok(())
    }

    fn replay_page(&mut self, spot: Spot, pass: &mut Pass) -> Result<(), Fault<D::Error>> {
        let Seen::Page(page) = self.flash.look(spot, Cause::Mount)? else { return Ok(()) };
        let tag = page.tag();
        self.kept.keep(&page);
        self.pin_again(spot, tag.stamp);
        let is_clean = rules::is_behind_horizon(tag.stamp, self.epoch.horizon);
        if !tag.kind.is_sectors() || !self.part.counts(tag.stamp) || is_clean {
            return Ok(());
        }
        for slot in 0..self.shape.area_at(spot.block).slots {
            if let Some(sector) = self.copied(slot) {
                self.replay_slot(sector, self.place(spot, slot), tag.stamp, pass)?;
            }
        }
        Ok(())
    }

    /// Enters a sector's copy in the table, unless its map page or its entry is newer.
    fn replay_slot(
        &mut self,
        sector: Sector,
        place: Place,
        stamp: Stamp,
        pass: &mut Pass,
    ) -> Result<(), Fault<D::Error>> {
        let (leaf, _) = self.shape.leaf_of(sector);
        if !self.part.holds(sector) || rules::is_in_leaf_page(stamp, self.leaf_stamp(leaf)?) {
            return Ok(());
        }
        if let Some(entry) = self.table.get(sector) {
            let (other, _) = self.shape.spot(entry.place);
            match self.stamp_at(other)? {
                Some(newest) if !rules::copy_counts(stamp, newest) => return Ok(()),
                Some(_) => {}
                None => *pass = Pass::Stale,
            }
        } else {
            while !self.has_space() {
                self.leave_to_rest();
                if !self.part.holds(sector) {
                    return Ok(());
                }
            }
            self.map.note_dirty(leaf);
        }
        let entry = Entry { place, old: Old::Released };
        self.table.put(sector, entry).map_err(|Full| Fault::Corrupt)
    }
}
