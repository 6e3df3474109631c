//! The dirty entries that a mount finds by reading every block: the newest tags of sectors that no map page has. If the
//! newest page of a leaf has become unreadable by itself, they show it.

use ftl_iface::{NandDevice, Sector};

use super::scan::TagAge;
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::layout::Stamp;
use crate::paged::flash::door::{self, Seen};
use crate::paged::plan::address::{Leaf, Spot};
use crate::paged::tables::dirty::{Entry, Old};
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{Suspect, What};
use crate::probe::{Cause, Probe};

/// How the search for dirty entries ended.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replay {
    /// All are in the table.
    Done,
    /// The table is too small.
    TableFull,
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Finds the dirty entries: tags below the ceiling and above the horizon that are newer than the map page of their
    /// leaf. If a page of the map cannot be read, leaves whose newest page is gone are given up.
    pub(crate) fn replay_all(&mut self, ceiling: Stamp) -> Result<Replay, Fault<D::Error>> {
        if self.replay(ceiling)? == Replay::TableFull {
            return Ok(Replay::TableFull);
        }
        if self.unreadable.is_some() {
            self.give_up_gone()?;
        }
        Ok(Replay::Done)
    }

    /// Gives up the leaves whose newest page is gone. What is older than the horizon was in map pages once: if the
    /// newest copy of a sector is, and yet newer than its leaf's page, that is not the leaf's newest page.
    fn give_up_gone(&mut self) -> Result<(), Fault<D::Error>> {
        for block in self.blocks.all() {
            if self.age_of_tags(block)? == TagAge::Old {
                continue;
            }
            for page in 0..self.shape.area_at(block).pages {
                self.give_up_leaves_of(Spot { block, page })?;
            }
        }
        Ok(())
    }

    fn give_up_leaves_of(&mut self, spot: Spot) -> Result<(), Fault<D::Error>> {
        let Seen::Page(page) = self.door.look(spot, Cause::Mount)? else { return Ok(()) };
        let tag = page.tag;
        if !door::is_sectors(tag.kind) || tag.stamp > self.epoch.horizon {
            return Ok(());
        }
        self.kept.keep(&page);
        for slot in 0..self.shape.area_at(spot.block).slots {
            let sector = self.kept.slot(slot).copy_of();
            let Some(sector) = sector.filter(|sector| *sector < self.shape.end()) else { continue };
            let (leaf, _) = self.shape.leaf_of(sector);
            let has_newer = self.table.get(sector).is_some() || self.is_suspect(sector, leaf);
            if !has_newer && self.leaf_stamp(leaf)? < tag.stamp {
                self.map.set_spot(leaf, self.unreadable.ok_or(Fault::Corrupt)?);
            }
        }
        Ok(())
    }

    /// Whether the page to be repeated has the sector's newest copy, or says where it is. What that replaced may be
    /// erased, and older copies are left.
    fn is_suspect(&self, sector: Sector, leaf: Leaf) -> bool {
        match self.suspect {
            None => false,
            Some(Suspect { what: What::Map(of), .. }) => of == leaf,
            Some(Suspect { what: What::Sectors, spot, .. }) => {
                let mut slots = 0..self.shape.area_at(spot.block).slots;
                slots.any(|slot| self.door.held(slot).copy_of() == Some(sector))
            }
        }
    }

    /// Gives up a leaf whose newest page has become unreadable by itself: its sectors are lost, but for those written
    /// after the horizon.
    fn give_up(&mut self, leaf: Leaf) -> Result<(), Fault<D::Error>> {
        let unreadable = self.unreadable.ok_or(Fault::Corrupt)?;
        self.table.clear();
        self.map.note_all_clean();
        self.map.set_spot(leaf, unreadable);
        Ok(())
    }

    /// Gives up the leaf with the most dirty entries, when there are more than could ever be: its page that was found
    /// must be an old one. If there are too many behind the horizon alone, as few of these as possible are lost, too:
    /// the oldest.
    pub(crate) fn give_up_fullest(&mut self, ceiling: Stamp) -> Result<(), Fault<D::Error>> {
        let fullest = self.map.leaves().max_by_key(|leaf| self.map.dirty(*leaf));
        let leaf = fullest.filter(|leaf| self.map.dirty(*leaf) > 0);
        let leaf = leaf.ok_or(Fault::Corrupt)?;
        if self.is_given_up(leaf) {
            let (mut too_few, mut enough) = (self.lost_until.get(), self.door.stamp().get());
            while too_few + 1 < enough {
                let middle = too_few.midpoint(enough);
                self.lost_until = Stamp::new(middle);
                self.give_up(leaf)?;
                match self.replay(ceiling)? {
                    Replay::Done => enough = middle,
                    Replay::TableFull => too_few = middle,
                }
            }
            self.lost_until = Stamp::new(enough);
        }
        self.give_up(leaf)
    }

    fn is_given_up(&self, leaf: Leaf) -> bool {
        self.unreadable.is_some() && self.map.spot(leaf) == self.unreadable
    }

    fn replay(&mut self, ceiling: Stamp) -> Result<Replay, Fault<D::Error>> {
        for block in self.blocks.all() {
            if self.age_of_tags(block)? == TagAge::Old {
                continue;
            }
            for page in 0..self.shape.area_at(block).pages {
                if self.replay_page(Spot { block, page }, ceiling)? == Replay::TableFull {
                    return Ok(Replay::TableFull);
                }
            }
        }
        Ok(Replay::Done)
    }

    fn replay_page(&mut self, spot: Spot, ceiling: Stamp) -> Result<Replay, Fault<D::Error>> {
        let Seen::Page(page) = self.door.look(spot, Cause::Mount)? else {
            return Ok(Replay::Done);
        };
        let tag = page.tag;
        self.kept.keep(&page);
        self.pin_again(spot, tag.stamp);
        let is_clean = tag.stamp <= self.epoch.horizon && !planted(Bug::TakeOldTags);
        if !door::is_sectors(tag.kind) || tag.stamp >= ceiling || is_clean {
            return Ok(Replay::Done);
        }
        for slot in 0..self.shape.area_at(spot.block).slots {
            let sector = self.kept.slot(slot).copy_of();
            let Some(sector) = sector.filter(|sector| *sector < self.shape.end()) else { continue };
            if self.replay_slot(sector, (spot, slot), tag.stamp)? == Replay::TableFull {
                return Ok(Replay::TableFull);
            }
        }
        Ok(Replay::Done)
    }

    /// Enters a sector's copy in the table, unless its map page or its entry is newer.
    fn replay_slot(
        &mut self,
        sector: Sector,
        (spot, slot): (Spot, u16),
        stamp: Stamp,
    ) -> Result<Replay, Fault<D::Error>> {
        let (leaf, _) = self.shape.leaf_of(sector);
        if self.is_given_up(leaf) && stamp <= self.lost_until {
            return Ok(Replay::Done);
        }
        if self.leaf_stamp(leaf)? > stamp && !planted(Bug::TakeOldTags) {
            return Ok(Replay::Done);
        }
        // Entries of a page repeated after a mount may exceed the configured number.
        let limit = self.shape.table_entries + u32::from(self.shape.slots_max());
        match self.table.get(sector) {
            Some(entry) => {
                let (other, _) = self.shape.spot(entry.place);
                if self.stamp_at(other)? > stamp && !planted(Bug::TakeLastTag) {
                    return Ok(Replay::Done);
                }
            }
            None if self.table.len() >= limit => return Ok(Replay::TableFull),
            None => self.map.note_dirty(leaf),
        }
        let place = self.place(spot, slot);
        let put = self.table.put(sector, Entry { place, old: Old::Released });
        Ok(if put { Replay::Done } else { Replay::TableFull })
    }
}
