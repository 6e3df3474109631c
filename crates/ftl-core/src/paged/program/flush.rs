//! Writing map pages: each gets every dirty entry of its range.
//!
//! A map page contains everything that was written to its range before it: no program comes between collecting its
//! entries and programming it. So it is complete up to its own stamp, and older tags of its range are obsolete.

use ftl_iface::{NandDevice, Sector, SectorCount};

use super::page::{Content, Written};
use crate::error::Fault;
use crate::layout::Slot;
use crate::paged::flash::PagedKind;
use crate::paged::plan::address::{Leaf, Mapped};
use crate::paged::plan::shape::PagedShape;
use crate::paged::rules;
use crate::paged::tables::dirty::{Entry, Old};
use crate::paged::tables::map::Cached;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::Stream;
use crate::probe::{Cause, Probe};

/// Bins of the table whose first entries are candidates for the next leaf to write.
const LOOKED_AT: usize = 48;
/// With this many leaves or fewer, all are candidates.
const FEW_LEAVES: u32 = 96;

/// Sectors to be trimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trimmed {
    pub(crate) first: Sector,
    pub(crate) count: SectorCount,
}

impl Trimmed {
    pub(crate) const NONE: Self = Self { first: Sector::new(0), count: SectorCount::ZERO };

    const fn holds(self, sector: Sector) -> bool {
        sector.get() >= self.first.get() && sector.get() - self.first.get() < self.count.get()
    }

    /// Returns the trimmed sectors within a run.
    fn within(self, first: Sector, count: u32) -> impl Iterator<Item = Sector> {
        let end = (first + SectorCount::new(count)).min(self.first + self.count).get();
        (self.first.max(first).get()..end).map(Sector::new)
    }
}

/// Where a leaf's new page may differ from the old one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Differs {
    /// In the dirty entries, and in these sectors.
    Entries(Trimmed),
    /// Anywhere.
    Anywhere,
}

/// Whether a map page takes an entry. The rules say that it takes all.
fn takes(shape: &PagedShape, entry: Entry) -> bool {
    (shape.is_in_main(entry.place) || rules::takes_fast_entries())
        && (entry.old == Old::Counted || rules::takes_released_entries())
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Makes space in the table for more entries.
    pub(crate) fn make_entries(&mut self, count: u32) -> Result<(), Fault<D::Error>> {
        while self.table.len() + count > self.shape.table_entries {
            self.flush_fullest()?;
        }
        Ok(())
    }

    /// Writes the map page of the leaf with the most dirty entries, among all leaves if they are few, else among some.
    pub(crate) fn flush_fullest(&mut self) -> Result<(), Fault<D::Error>> {
        if self.shape.leaves <= FEW_LEAVES {
            let mut best = (0, None);
            for leaf in self.map.leaves() {
                let won = self.map.won_by(leaf);
                if won > best.0 {
                    best = (won, Some(leaf));
                }
            }
            if let Some(leaf) = best.1 {
                return self.flush(leaf, Trimmed::NONE);
            }
        }
        let mut best: Option<Leaf> = None;
        for sector in self.table.next_sectors(LOOKED_AT) {
            let (leaf, _) = self.shape.leaf_of(sector);
            if best.is_none_or(|best| self.map.won_by(leaf) > self.map.won_by(best)) {
                best = Some(leaf);
            }
        }
        best.map_or(Ok(()), |leaf| self.flush(leaf, Trimmed::NONE))
    }

    /// Writes the map page of a leaf.
    pub(crate) fn write_leaf(&mut self, leaf: Leaf) -> Result<(), Fault<D::Error>> {
        self.flush(leaf, Trimmed::NONE)
    }

    pub(crate) fn flush(&mut self, leaf: Leaf, trimmed: Trimmed) -> Result<(), Fault<D::Error>> {
        self.count_if_short()?;
        let before = self.map.load(&mut self.flash, leaf, Cause::Map)?;
        let page = self.map.vacate(Some(before));
        self.map.copy(before, page);
        let (first, sectors) = self.shape.sectors_of(leaf);
        let shape = &self.shape;
        let shares = shape.main.shares_cells() || shape.map_area().shares_cells();
        let marks = rules::must_rely_on_mapped(shares);
        let Self { table, map, shape, opens, .. } = self;
        table.show_run(first, SectorCount::new(sectors), |sector, entry| {
            if !takes(shape, entry) {
                return;
            }
            map.set(page, sector.get() - first.get(), Mapped::At(entry.place));
            if marks && !trimmed.holds(sector) {
                let old = shape.spot(entry.place).0;
                opens.iter_mut().flatten().for_each(|open| open.rely_on(old));
            }
        });
        if rules::must_trim_on_flash() {
            for sector in trimmed.within(first, sectors) {
                self.map.set(page, sector.get() - first.get(), Mapped::Nowhere);
            }
        }
        let takes_all = rules::takes_fast_entries() && rules::takes_released_entries();
        let differs = if takes_all { Differs::Entries(trimmed) } else { Differs::Anywhere };
        self.install((leaf, Written::New(PagedKind::Map)), differs, before, page)
    }

    /// Programs a map page from RAM, and enters it in the directory.
    pub(crate) fn install(
        &mut self,
        (leaf, what): (Leaf, Written),
        differs: Differs,
        before: Cached,
        page: Cached,
    ) -> Result<(), Fault<D::Error>> {
        let (horizon, key) = (self.epoch.horizon, self.flash.key());
        self.map.seal(page, horizon, key);
        self.flash.hold(0, Slot::Holds(Sector::new(leaf.get())));
        self.flash.hold_no_more(1);
        let spot = self.program(Stream::Map, what, Content::Cached(page), Cause::Map)?;
        let weight = self.leaf_weight();
        self.blocks.refer(spot.block, weight);
        if let Some(old) = self.map.spot(leaf) {
            self.blocks.lose(old.block, weight);
            self.map.replaced = rules::kept_until_next_program(old.block);
        }
        self.map.set_spot(leaf, spot);
        self.exchange(leaf, differs, before, page);
        self.map.give(before, None);
        self.map.give(page, Some(leaf));
        self.map.note_clean(leaf);
        for open in self.opens.iter_mut().flatten() {
            open.rely_on(spot);
        }
        Ok(())
    }

    /// Replaces the references of a leaf's old page and of its dirty entries by those of its new page.
    fn exchange(&mut self, leaf: Leaf, differs: Differs, before: Cached, page: Cached) {
        let (first, sectors) = self.shape.sectors_of(leaf);
        if !rules::changes_counts(self.is_counted(leaf)) {
            return self.leave_to_page(first, SectorCount::new(sectors));
        }
        let of = |sector: Sector| sector.get().wrapping_sub(first.get());
        match differs {
            Differs::Anywhere => {
                for at in 0..sectors {
                    self.exchange_one(first + SectorCount::new(at), at, before, page);
                }
            }
            Differs::Entries(trimmed) => {
                for sector in trimmed.within(first, sectors) {
                    self.exchange_one(sector, of(sector), before, page);
                }
                let count = SectorCount::new(sectors);
                let Self { table, map, shape, blocks, .. } = self;
                table.show_run(first, count, |sector, entry| {
                    if entry.old == Old::Counted
                        && let Mapped::At(place) = map.get(before, of(sector))
                    {
                        blocks.lose(shape.block_of(place), 1);
                    }
                });
                table.remove_run(first, count);
            }
        }
    }

    /// Removes the dirty entries of a leaf, with their references: those of its page are counted later.
    fn leave_to_page(&mut self, first: Sector, count: SectorCount) {
        let Self { table, shape, blocks, .. } = self;
        table.show_run(first, count, |_, entry| blocks.release(shape.block_of(entry.place), 1));
        table.remove_run(first, count);
    }

    /// Does the same for one sector.
    fn exchange_one(&mut self, sector: Sector, at: u32, before: Cached, page: Cached) {
        let entry = self.table.take(sector);
        self.exchange_entry(entry, at, before, page);
    }

    /// Does the same for one sector whose entry was removed from the table.
    fn exchange_entry(&mut self, entry: Option<Entry>, at: u32, before: Cached, page: Cached) {
        let (old, new) = (self.map.get(before, at), self.map.get(page, at));
        // The count stays: either nothing changes, or the entry's reference becomes the page's.
        let stays = entry.map_or(old, |entry| Mapped::At(entry.place)) == new;
        if let Mapped::At(place) = new
            && !stays
        {
            self.blocks.refer(self.shape.block_of(place), 1);
        }
        if let Some(entry) = entry
            && !stays
        {
            self.blocks.lose(self.shape.block_of(entry.place), 1);
        }
        let counted = entry.map_or(!stays, |entry| entry.old == Old::Counted);
        if counted {
            self.release_at(old);
        }
    }

    /// Returns the number of programs after which an epoch should end: twice as many bound what a mount by every block
    /// reads. With anchors such mounts are rare, and fewer map pages are written for them.
    fn epoch_programs(&self) -> u64 {
        let tables = if self.shape.has_anchors() { 12 } else { 3 };
        (tables * u64::from(self.shape.table_entries)).max(16 * u64::from(self.shape.leaves))
    }

    /// Ends the epoch when it is due. Entries of the previous one are flushed first, one leaf per host page.
    pub(crate) fn turn_epoch(&mut self) -> Result<(), Fault<D::Error>> {
        if self.flash.stamp().get() < self.epoch.due {
            return Ok(());
        }
        if !self.table.may_move_horizon()
            && let Some(sector) = self.table.next_old()
        {
            let (leaf, _) = self.shape.leaf_of(sector);
            return self.write_leaf(leaf);
        }
        self.begin_epoch();
        Ok(())
    }

    /// Begins an epoch. No entry of the previous one may be left.
    pub(crate) fn begin_epoch(&mut self) {
        self.rely();
        let now = self.flash.stamp();
        self.epoch.horizon = rules::horizon_of_epoch(self.epoch.begun, now);
        self.epoch.begun = now;
        self.epoch.due = self.epoch.begun.get() + self.epoch_programs();
        self.table.begin_epoch();
    }

    /// Continues after a mount: every entry counts as one of the previous epoch, whatever its age. So the age of the
    /// horizon decides when the epoch ends; otherwise none would ever end if power failed often.
    pub(crate) fn resume_epoch(&mut self) {
        let repeated = self.suspect.map(|suspect| suspect.first);
        self.epoch.begun = rules::epoch_after_mount(self.flash.stamp(), repeated);
        self.epoch.due = self.epoch.horizon.get().saturating_add(2 * self.epoch_programs());
        self.table.begin_epoch();
    }
}

#[cfg(test)]
mod tests {
    use ftl_iface::BlockStore;

    use super::*;
    use crate::paged::PagedConfig;
    use crate::paged::plan::shape::Area;
    use crate::paged::small_store::{chip, config, formatted, memory};

    #[test]
    fn the_block_of_a_map_page_is_opened_last_right_after_the_page_is_replaced() {
        let (chip, config) = (chip("tiny-slc"), PagedConfig { anchor_blocks: 0, ..config(32) });
        let mut ram = memory(&chip, &config);
        let mut ftl = formatted(chip, &config, &mut ram);
        let leaf = Leaf::new(0);
        let replaced = loop {
            ftl.write(Sector::new(0), &[1; 1024]).expect("written");
            let before = ftl.map.spot(leaf);
            ftl.write_leaf(leaf).expect("written");
            if let Some(before) = before
                && ftl.blocks.is_free(before.block)
            {
                break before.block;
            }
        };
        // The others are worn more.
        for block in ftl.blocks.all().filter(|block| *block != replaced) {
            ftl.blocks.set_wear(block, 100);
        }
        while ftl.blocks.free(Area::Main) > 1 {
            ftl.open_block(Stream::Host).expect("a block is free");
            assert!(ftl.blocks.is_free(replaced));
        }
        ftl.open_block(Stream::Host).expect("a block is free");
    }
}
