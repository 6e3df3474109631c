//! A mount by the last anchor: its records from the base on, and the tags of what was programmed since.
//!
//! The pages programmed since are listed in a map page's memory, so that each is read once. The newest one may be
//! damaged by a power cut. If nothing was programmed since the anchor, the anchor itself may be torn, and is written
//! again first.

use ftl_iface::{NandDevice, Pairing, SectorCount};

use super::address::{BlockNumber, Leaf, Place, Spot};
use super::dirty::{Entry, Old};
use super::door::{self, Seen};
use super::map;
use super::records::{Head, Record};
use super::ring::Newest;
use super::scan::Youngest;
use super::shape::Area;
use super::since::{LINE, List, Since, bytes_of, since_of};
use super::store::PageFtl;
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::layout::{Kind, Stamp};
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Mounts by the last anchor. Returns `false` if there is none, or if it cannot be trusted; then every block must
    /// be read.
    pub(super) fn mount_by_anchor(&mut self) -> Result<bool, Fault<D::Error>> {
        if self.shape.anchors == 0 {
            return Ok(false);
        }
        let Some(newest) = self.newest_anchor()? else { return Ok(false) };
        self.anchors.number = newest.site.number.wrapping_add(1);
        self.anchors.block = Some(newest.site.block);
        self.anchors.set_last(newest.stamp);
        let mut list = List { page: self.map.vacate(None), len: 0 };
        let fits = newest.head.base.is_some()
            && self.fits(&newest.head)
            && !self.begins_torn_before(newest.site.block)?;
        if !fits || !self.list_since(&newest, &mut list)? {
            return Ok(false);
        }
        let ceiling = self.suspect_since(newest.stamp, &mut list)?;
        // If the records of the later pages do not fit, the base is lost again.
        self.anchors.base = newest.head.base;
        if !self.replay_anchors(&newest)? || !self.replay_since(&newest, &list, ceiling)? {
            return Ok(false);
        }
        self.epoch.horizon = newest.head.horizon;
        self.anchors.listed = newest.head.listed;
        self.anchors.due = list.len == 0 && !planted(Bug::TrustLastAnchor);
        self.anchors.unsure = true;
        for block in newest.head.listed.iter().flatten().flatten() {
            if self.door.is_bad(*block)? && !self.blocks.is_bad(*block) {
                self.blocks.retire(*block);
                self.blocks.failed += 1;
            }
        }
        self.count_references()?;
        Ok(true)
    }

    /// Whether the blocks that an anchor names exist.
    fn fits(&self, head: &Head) -> bool {
        let blocks = self.shape.blocks();
        let mut fits = head.base.is_none_or(|base| base.block < self.shape.anchors);
        for open in head.opens.iter().flatten() {
            fits &= open.block.get() < blocks;
        }
        for (area, listed) in [Area::Fast, Area::Main].into_iter().zip(&head.listed) {
            for block in listed.iter().flatten() {
                fits &= block.get() < blocks && self.shape.area_of(*block) == area;
            }
        }
        fits
    }

    /// Lists what was programmed since the anchor, in the order of stamps. Returns `false` if that is more than an
    /// anchor can cover.
    fn list_since(&mut self, newest: &Newest, list: &mut List) -> Result<bool, Fault<D::Error>> {
        for spot in newest.head.opens.iter().flatten() {
            if !self.list_block(newest.stamp, *spot, list)? {
                return Ok(false);
            }
        }
        for block in newest.head.listed.iter().flatten().flatten() {
            let spot = Spot { block: *block, page: 0 };
            let is_new = match self.door.look(spot, Cause::Mount)? {
                Seen::Page(tag) => tag.stamp > newest.stamp,
                Seen::Unreadable => true,
                Seen::Erased => false,
            };
            if is_new && !self.list_block(newest.stamp, spot, list)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn list_block(
        &mut self,
        anchor: Stamp,
        from: Spot,
        list: &mut List,
    ) -> Result<bool, Fault<D::Error>> {
        let area = *self.shape.area_at(from.block);
        for page in from.page..area.pages {
            let spot = Spot { block: from.block, page };
            let tag = match self.door.look(spot, Cause::Mount)? {
                Seen::Page(tag) => tag,
                // Pages may have been skipped because others share their cells.
                Seen::Erased if area.pairing == Pairing::None => break,
                Seen::Erased | Seen::Unreadable => continue,
            };
            if tag.stamp <= anchor {
                continue;
            }
            let age = tag.stamp.get() - anchor.get();
            if age > self.anchor_span() {
                return Ok(false);
            }
            let wear = (page == 0 && !door::is_redone(tag.kind)).then_some(tag.note as u16);
            let first = self.slots_in_a_row(area.slots, tag.kind);
            let since = Since { age: age as u32, spot, first, kind: tag.kind, wear };
            if !self.insert(list, &since) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the content of the first slot of the page read last, if it implies that of the others.
    fn slots_in_a_row(&self, slots: u16, kind: Kind) -> Option<u32> {
        if door::is_map(kind) {
            return map::leaf_named(self.door.slot(0)).map(Leaf::get);
        }
        if slots > 1 {
            return None;
        }
        self.door.slot(0).copy_of().map(ftl_iface::Sector::get)
    }

    fn line(&self, list: &List, at: usize) -> Option<Since> {
        let bytes = self.map.bytes(list.page).get(at * LINE..)?.first_chunk()?;
        Some(since_of(bytes))
    }

    /// Inserts a line in the order of stamps. Returns `false` if there is no space.
    fn insert(&mut self, list: &mut List, since: &Since) -> bool {
        let mut at = list.len;
        while at > 0
            && let Some(before) = self.line(list, at - 1)
            && before.age > since.age
        {
            at -= 1;
        }
        let bytes = self.map.bytes_mut(list.page);
        let (start, end) = (at * LINE, list.len * LINE);
        let Some(lines) = bytes.get_mut(start..end + LINE) else { return false };
        // Each line moves one further, and the new one takes the first place.
        let mut taken = bytes_of(since);
        for line in lines.chunks_exact_mut(LINE) {
            for (byte, taken) in line.iter_mut().zip(&mut taken) {
                core::mem::swap(byte, taken);
            }
        }
        list.len += 1;
        true
    }

    /// Keeps the last listed page that can be read as a whole, and pins the pages that it repeats. Returns the stamp
    /// from which on the list is to be ignored.
    fn suspect_since(&mut self, anchor: Stamp, list: &mut List) -> Result<Stamp, Fault<D::Error>> {
        let mut ceiling = Stamp::new(u64::MAX);
        let mut at = list.len;
        while at > 0
            && let Some(since) = self.line(list, at - 1)
        {
            let stamp = Stamp::new(anchor.get() + u64::from(since.age));
            if let Some(first) = self.keep_suspect(Youngest { stamp, spot: since.spot })? {
                ceiling = first;
                break;
            }
            ceiling = stamp;
            at -= 1;
        }
        if planted(Bug::TrustYoungest) {
            (ceiling, self.suspect) = (Stamp::new(u64::MAX), None);
        }
        for at in 0..at {
            if let Some(since) = self.line(list, at) {
                self.pin_again(since.spot, Stamp::new(anchor.get() + u64::from(since.age)));
            }
        }
        list.len = at;
        Ok(ceiling)
    }

    /// Applies the records of every anchor from the base on. Returns `false` if one is missing or invalid.
    fn replay_anchors(&mut self, newest: &Newest) -> Result<bool, Fault<D::Error>> {
        let Some(mut base) = newest.head.base else { return Ok(false) };
        if planted(Bug::ReplayLate) {
            base = newest.site;
        }
        let (mut expected, mut block, mut page) = (base.number, base.block, base.page);
        let pages = self.shape.map_area().pages;
        let key = self.door.key();
        for _ in 0..=self.shape.anchors {
            while page < pages {
                let at = page;
                page += 1;
                if !self.takes_anchor(at) {
                    continue;
                }
                match self.ring_page(block, at)? {
                    Seen::Erased => break,
                    Seen::Unreadable => continue,
                    Seen::Page(_) if !map::is_whole(self.anchors.page_mut(), key) => continue,
                    Seen::Page(_) => {}
                }
                let Some(head) = self.anchors.head() else { continue };
                if head.number != expected {
                    continue;
                }
                for number in 0..head.records {
                    let record = self.anchors.told(number);
                    if !record.is_some_and(|record| self.apply(record)) {
                        return Ok(false);
                    }
                }
                if expected == newest.site.number {
                    self.anchors.forget_records();
                    return Ok(true);
                }
                expected = expected.wrapping_add(1);
            }
            (block, page) = (if block + 1 < self.shape.anchors { block + 1 } else { 0 }, 0);
        }
        Ok(false)
    }

    /// Applies a record. Returns `false` if it is invalid.
    fn apply(&mut self, record: Record) -> bool {
        match record {
            Record::Sectors(place, sector, run) => {
                let fits =
                    place + run <= self.shape.places() && sector + run <= self.shape.capacity.get();
                fits && (0..run).all(|ahead| {
                    let sector = ftl_iface::Sector::new(sector + ahead);
                    if self.table.get(sector).is_none() {
                        self.map.note_dirty(self.shape.leaf_of(sector).0);
                    }
                    let place = Place::new(place + ahead);
                    self.table.put(sector, Entry { place, old: Old::Released })
                })
            }
            Record::Written(leaf, page) => match self.apply_leaf(leaf, page) {
                Some(leaf) => {
                    self.forget_entries(leaf);
                    true
                }
                None => false,
            },
            Record::Stands(leaf, page) => self.apply_leaf(leaf, page).is_some(),
            Record::Block(block, known) => {
                let fits = block < self.shape.blocks();
                let block = BlockNumber::new(block);
                match known {
                    _ if !fits => {}
                    Some(known) => self.blocks.set_known(block, known),
                    None if self.blocks.is_bad(block) => {}
                    None => {
                        self.blocks.retire(block);
                        self.blocks.failed += 1;
                    }
                }
                fits
            }
        }
    }

    /// Notes the address of a leaf's page. Returns `None` if there is no such leaf or page.
    fn apply_leaf(&mut self, leaf: u32, page: u32) -> Option<Leaf> {
        let map = self.shape.map_area();
        if leaf >= self.shape.leaves || page >= map.blocks * u32::from(map.pages) {
            return None;
        }
        let leaf = Leaf::new(leaf);
        self.map.set_spot(leaf, self.shape.map_spot(page));
        Some(leaf)
    }

    /// Removes the dirty entries of a leaf whose page was written, since the page contains them.
    fn forget_entries(&mut self, leaf: Leaf) {
        if self.map.dirty(leaf) == 0 {
            return;
        }
        let (first, sectors) = self.shape.sectors_of(leaf);
        for sector in first.run(SectorCount::new(sectors)) {
            self.table.take(sector);
        }
        self.map.note_clean(leaf);
    }

    /// Applies the list below the ceiling, and records it for the next anchor. Returns `false` if it is invalid.
    fn replay_since(
        &mut self,
        newest: &Newest,
        list: &List,
        ceiling: Stamp,
    ) -> Result<bool, Fault<D::Error>> {
        for at in 0..list.len {
            let Some(since) = self.line(list, at) else { return Ok(false) };
            if let Some(wear) = since.wear {
                let (block, stamp) = (since.spot.block, newest.stamp.get() + u64::from(since.age));
                self.blocks.set_wear(block, wear);
                self.blocks.set_birth(block, Stamp::new(stamp));
                if self.shape.area_of(block) == Area::Fast {
                    self.blocks.note_map(block, door::is_map(since.kind));
                }
                self.record_block(block);
            }
            if newest.stamp.get() + u64::from(since.age) >= ceiling.get() {
                continue;
            }
            if !self.replay_one(&since)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn replay_one(&mut self, since: &Since) -> Result<bool, Fault<D::Error>> {
        if door::is_map(since.kind) {
            let Some(leaf) = since.first else { return Ok(true) };
            let record = Record::Written(leaf, self.shape.map_page(since.spot));
            self.anchors.record(record);
            return Ok(self.apply(record));
        }
        if door::is_proof(since.kind) {
            return Ok(true);
        }
        let slots = self.shape.area_at(since.spot.block).slots;
        if slots == 1 {
            let Some(sector) = since.first else { return Ok(true) };
            let record = Record::Sectors(self.place(since.spot, 0).get(), sector, 1);
            self.anchors.record(record);
            return Ok(self.apply(record));
        }
        self.door.look(since.spot, Cause::Mount)?;
        self.keep_tag();
        self.record_slots(since.spot, Self::kept_sector);
        for slot in 0..slots {
            let Some(sector) = self.kept_sector(slot) else { continue };
            let place = self.place(since.spot, slot).get();
            if !self.apply(Record::Sectors(place, sector, 1)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the sector of a slot in the saved tag.
    fn kept_sector(&self, slot: u16) -> Option<u32> {
        let held = crate::layout::slot(self.kept, usize::from(slot));
        held.copy_of().map(ftl_iface::Sector::get)
    }
}
