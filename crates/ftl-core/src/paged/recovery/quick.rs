//! A mount by the last anchor: its records from the base on, and the tags of what it leaves untold or was programmed
//! since.
//!
//! Those pages are listed in a map page's memory, so that each is read once. The newest one may be damaged by a power
//! cut. If nothing was programmed since the anchor, the anchor itself may be torn, and is written again first.

use ftl_iface::{NandDevice, Pairing, SectorCount};

use super::scan::Youngest;
use crate::error::Fault;
use crate::layout::Stamp;
use crate::paged::flash::{PageTag, Seen};
use crate::paged::plan::address::{BlockNumber, Leaf, Place, Spot};
use crate::paged::plan::anchor_page::take_off;
use crate::paged::plan::shape::Area;
use crate::paged::program::anchors::LISTED_SPANS;
use crate::paged::program::ring::{Newest, RingPage, RingUse};
use crate::paged::rules;
use crate::paged::tables::dirty::{Dirty, Entry, Old};
use crate::paged::tables::map;
use crate::paged::tables::records::{Head, Record, Site};
use crate::paged::tables::since::{LINE, List, Since, bytes_of, since_of};
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::Stream;
use crate::probe::{Cause, Probe};

/// Whether the last anchor was enough for a mount.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByAnchor {
    /// It was.
    Mounted,
    /// There is none, or it cannot be trusted: every block must be read.
    Untrusted,
}

/// Why a mount by the last anchor ends early.
#[derive(Debug)]
pub(crate) enum Unfinished<E> {
    /// The anchors, or what came after the last one, cannot be trusted.
    Untrusted,
    /// The device failed.
    Fault(Fault<E>),
}

impl<E> From<Fault<E>> for Unfinished<E> {
    fn from(fault: Fault<E>) -> Self {
        Self::Fault(fault)
    }
}

/// What a step of a mount by the last anchor gives, unless that ends early.
type Step<T, E> = Result<T, Unfinished<E>>;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Mounts by the last anchor, if there is one that can be trusted.
    pub(crate) fn mount_by_anchor(&mut self) -> Result<ByAnchor, Fault<D::Error>> {
        match self.try_anchor() {
            Ok(()) => Ok(ByAnchor::Mounted),
            Err(Unfinished::Untrusted) => Ok(ByAnchor::Untrusted),
            Err(Unfinished::Fault(fault)) => Err(fault),
        }
    }

    fn try_anchor(&mut self) -> Step<(), D::Error> {
        if !self.shape.has_anchors() || self.ring_turns()? == RingUse::GivenUp {
            return Err(Unfinished::Untrusted);
        }
        let newest = self.newest_anchor()?.ok_or(Unfinished::Untrusted)?;
        self.anchors.number = newest.site.number.wrapping_add(1);
        self.anchors.block = Some(newest.site.block);
        self.anchors.set_last(newest.stamp);
        self.anchors.doubtful = newest.hidden;
        if rules::may_be_out_of_date(newest.hidden) {
            return Err(Unfinished::Untrusted);
        }
        if newest.head.base.is_none() || !self.fits(&newest.head) {
            return Err(Unfinished::Untrusted);
        }
        // An anchor may leave pages untold that were programmed after the one before it.
        let origin = newest.stamp.get().saturating_sub(LISTED_SPANS * self.anchor_span());
        let mut list = List {
            page: self.map.vacate(None),
            len: 0,
            origin: Stamp::new(origin),
            unopened: newest.head.listed,
        };
        self.list_since(&newest, &mut list)?;
        let ceiling = self.suspect_since(newest.stamp, &mut list)?;
        if self.suspect_is_part() {
            // The page that it is a part of may be older than the list.
            return Err(Unfinished::Untrusted);
        }
        let known = self.known_free(&newest, list.unopened)?;
        // If the records of the later pages do not fit, the base is lost again.
        self.anchors.base = newest.head.base;
        self.replay_anchors(&newest)?;
        self.blocks.times.set_now(newest.head.tick);
        self.replay_since(&list, ceiling)?;
        if !rules::has_space_for_repetition(self.entries_to_come(), self.table.vacant()) {
            return Err(Unfinished::Untrusted);
        }
        self.epoch.horizon = newest.head.horizon;
        self.anchors.listed = newest.head.listed;
        self.anchors.due = rules::must_repeat_anchor(newest.stamp, self.last_listed(&list));
        self.anchors.unsure = true;
        for block in newest.head.listed.iter().flatten().flatten() {
            if self.flash.is_bad(*block)? && !self.blocks.is_bad(*block) {
                self.blocks.retire(*block);
                self.blocks.failed += 1;
            }
        }
        self.begin_to_count(known);
        Ok(self.count_if_short()?)
    }

    /// Whether the blocks that an anchor names exist.
    fn fits(&self, head: &Head) -> bool {
        let blocks = self.shape.blocks();
        let mut fits = head.base.is_none_or(|base| base.block < self.shape.anchor_blocks());
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

    /// Lists what the anchor does not tell, in the order of stamps, if an anchor can cover that.
    fn list_since(&mut self, newest: &Newest, list: &mut List) -> Step<(), D::Error> {
        let untold = rules::untold_from(list.origin, newest.stamp);
        for spot in newest.head.opens.iter().flatten() {
            self.list_block(newest.stamp, *spot, untold, list)?;
        }
        for block in newest.head.listed.iter().flatten().flatten() {
            let spot = Spot { block: *block, page: 0 };
            let is_new = match self.flash.look(spot, Cause::Mount)? {
                Seen::Page(first) => first.tag().stamp > newest.stamp,
                Seen::Unreadable => true,
                Seen::Erased => false,
            };
            if rules::may_be_in_use(is_new) {
                take_off(&mut list.unopened, *block);
            }
            if is_new {
                self.list_block(newest.stamp, spot, newest.stamp, list)?;
            }
        }
        Ok(())
    }

    /// Lists the pages of a block from one on that are younger than `after`.
    fn list_block(
        &mut self,
        anchor: Stamp,
        from: Spot,
        after: Stamp,
        list: &mut List,
    ) -> Step<(), D::Error> {
        let area = *self.shape.area_at(from.block);
        for page in from.page..area.pages {
            let spot = Spot { block: from.block, page };
            let (tag, first) = match self.flash.look(spot, Cause::Mount)? {
                Seen::Page(page) => (page.tag(), slots_in_a_row(&page, area.slots)),
                // Pages may have been skipped because others share their cells.
                Seen::Erased if area.pairing == Pairing::None => break,
                Seen::Erased | Seen::Unreadable => continue,
            };
            // A later anchor stood once, or this one is not of this block.
            let is_later = tag.stamp.get() > anchor.get() + self.anchor_span();
            if is_later || tag.stamp <= list.origin && after < anchor {
                return Err(Unfinished::Untrusted);
            }
            if tag.stamp <= after {
                continue;
            }
            let age = tag.stamp.get() - list.origin.get();
            let wear = (page == 0 && !tag.kind.is_repeated()).then_some(tag.note as u16);
            let since = Since { age: age as u32, spot, first, kind: tag.kind, wear };
            if !self.insert(list, &since) {
                return Err(Unfinished::Untrusted);
            }
        }
        Ok(())
    }

    /// Returns the stamp of the newest page on the list.
    fn last_listed(&self, list: &List) -> Option<Stamp> {
        let last = self.line(list, list.len.checked_sub(1)?)?;
        Some(list.stamp(&last))
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
            let stamp = list.stamp(&since);
            if stamp <= anchor {
                break;
            }
            if let Some(first) = self.keep_suspect(Youngest { stamp, spot: since.spot })? {
                ceiling = first;
                break;
            }
            ceiling = stamp;
            at -= 1;
        }
        if !rules::must_repeat_youngest() {
            (ceiling, self.suspect) = (Stamp::new(u64::MAX), None);
        }
        for at in 0..at {
            if let Some(since) = self.line(list, at) {
                self.pin_again(since.spot, list.stamp(&since));
            }
        }
        list.len = at;
        Ok(ceiling)
    }

    /// Applies the records of every anchor from the base on, if none of them is missing or invalid.
    fn replay_anchors(&mut self, newest: &Newest) -> Step<(), D::Error> {
        let base = newest.head.base.ok_or(Unfinished::Untrusted)?;
        let start = rules::replay_start(base, newest.site);
        let mut from = start;
        for _ in 0..=self.shape.anchor_blocks() {
            if rules::ring_block_counts(self.ring_block_is_bad(from.block)?) {
                from.number = self.replay_ring_block(from, newest)?;
            }
            if rules::lacks_base(from.number == start.number) {
                return Err(Unfinished::Untrusted);
            }
            if from.number == newest.site.number.wrapping_add(1) {
                self.anchors.forget_records();
                return Ok(());
            }
            let block =
                if from.block + 1 < self.shape.anchor_blocks() { from.block + 1 } else { 0 };
            from = Site { number: from.number, block, page: 0 };
        }
        Err(Unfinished::Untrusted)
    }

    /// Applies the records of the anchors of a block, as long as their numbers follow. Returns the next number.
    fn replay_ring_block(&mut self, from: Site, newest: &Newest) -> Step<u32, D::Error> {
        let mut expected = from.number;
        for page in from.page..self.shape.map_area().pages {
            if !self.takes_anchor(page) {
                continue;
            }
            match self.ring_page(from.block, page)? {
                RingPage::Anchor(_) => {}
                RingPage::Erased => break,
                RingPage::Damaged => continue,
            }
            let Some(head) = self.anchors.head() else { continue };
            if head.number != expected {
                continue;
            }
            for number in 0..head.records {
                let record = self.anchors.nth_record(number);
                if !record.is_some_and(|record| self.apply(record)) {
                    return Err(Unfinished::Untrusted);
                }
            }
            expected = expected.wrapping_add(1);
            if head.number == newest.site.number {
                break;
            }
        }
        Ok(expected)
    }

    /// Applies a record. Returns `false` if it is invalid.
    fn apply(&mut self, record: Record) -> bool {
        match record {
            Record::Sectors(place, sector, run) => {
                let fits =
                    place + run <= self.shape.places() && sector + run <= self.shape.capacity.get();
                fits && (0..run).all(|ahead| {
                    let sector = ftl_iface::Sector::new(sector + ahead);
                    let entry = Entry { place: Place::new(place + ahead), old: Old::Released };
                    match self.table.search(sector) {
                        Ok(Dirty { cell, .. }) => {
                            self.table.renew(cell, entry);
                            true
                        }
                        Err(gap) => {
                            self.map.note_dirty(self.shape.leaf_of(sector).0);
                            self.table.add(gap, sector, entry).is_ok()
                        }
                    }
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
        self.table.remove_run(first, SectorCount::new(sectors));
        self.map.note_clean(leaf);
    }

    /// Applies the list below the ceiling, and records it for the next anchor.
    fn replay_since(&mut self, list: &List, ceiling: Stamp) -> Step<(), D::Error> {
        for at in 0..list.len {
            let since = self.line(list, at).ok_or(Unfinished::Untrusted)?;
            if since.spot.page == 0 {
                // Its block was opened since.
                let block = since.spot.block;
                if let Some(wear) = since.wear {
                    self.blocks.set_wear(block, wear);
                }
                self.blocks.times.bear(block, self.blocks.times.now());
                if since.kind.is_map() {
                    self.blocks.times.note_stream(block, Stream::Map);
                }
                self.record_block(block);
            }
            if list.stamp(&since) < ceiling {
                self.replay_one(&since)?;
            }
        }
        Ok(())
    }

    fn replay_one(&mut self, since: &Since) -> Step<(), D::Error> {
        if since.kind.is_proof() {
            return Ok(());
        }
        if since.kind.is_map() {
            let Some(leaf) = since.first else { return Ok(()) };
            return self.record_and_apply(Record::Written(
                leaf,
                self.shape.map_area().page_number(since.spot),
            ));
        }
        let slots = self.shape.area_at(since.spot.block).slots;
        if slots == 1 {
            let Some(sector) = since.first else { return Ok(()) };
            let place = self.place(since.spot, 0).get();
            return self.record_and_apply(Record::Sectors(place, sector, 1));
        }
        let seen = self.flash.look(since.spot, Cause::Mount)?;
        if !rules::tells_of_sectors(&seen) {
            return Ok(());
        }
        if let Seen::Page(page) = seen {
            self.kept.keep(&page);
        }
        self.record_slots(since.spot, Self::kept_sector);
        for slot in 0..slots {
            let Some(sector) = self.kept_sector(slot) else { continue };
            let place = self.place(since.spot, slot).get();
            if !self.apply(Record::Sectors(place, sector, 1)) {
                return Err(Unfinished::Untrusted);
            }
        }
        Ok(())
    }

    fn record_and_apply(&mut self, record: Record) -> Step<(), D::Error> {
        self.anchors.record(record);
        if self.apply(record) { Ok(()) } else { Err(Unfinished::Untrusted) }
    }

    /// Returns the sector of a kept slot.
    fn kept_sector(&self, slot: u16) -> Option<u32> {
        self.kept.slot(slot).copy_of().map(ftl_iface::Sector::get)
    }
}

/// Returns the content of a page's first slot, if it implies that of the others.
fn slots_in_a_row(page: &PageTag<'_>, slots: u16) -> Option<u32> {
    if page.kind.is_map() {
        return map::leaf_named(page.slot(0)).map(Leaf::get);
    }
    if slots > 1 {
        return None;
    }
    page.slot(0).copy_of().map(ftl_iface::Sector::get)
}
