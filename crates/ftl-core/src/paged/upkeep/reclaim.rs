//! Garbage collection: the valid data of a victim is copied, page by page, until the victim has no references.

use ftl_iface::NandDevice;

use super::copies::{CopiesPage, Page};
use crate::error::Fault;
use crate::paged::flash::Weak;
use crate::paged::plan::address::{BlockNumber, Leaf, Spot};
use crate::paged::plan::config::Victims;
use crate::paged::plan::feature::Feature;
use crate::paged::plan::shape::Area;
use crate::paged::program::opens::LAST_BLOCKS;
use crate::paged::rules;
use crate::paged::tables::candidates::{Judge, MapCost};
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{Neighbour, Victim};
use crate::probe::{Cause, Probe};

/// Map pages that a step writes when the table has no space for a victim's entries.
pub(crate) const FLUSHED: u32 = 2;

/// The result of a step of garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Something was done.
    Done,
    /// Space was made in the table for a victim's entries.
    Prepared,
    /// No victim would free space.
    NoVictim,
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Makes space for a host page, for its entries, and for further pages that these may need.
    pub(crate) fn make_room(&mut self) -> Result<(), Fault<D::Error>> {
        self.count_some()?;
        self.make_blocks()?;
        self.turn_epoch()?;
        self.make_entries(self.shape.slots_max().into())?;
        self.count_if_short()?;
        self.make_blocks()
    }

    /// Returns the area that is short of free blocks, if any.
    pub(crate) fn short_area(&self, beyond: u32) -> Option<Area> {
        let fast = self.shape.has_fast() && self.is_short(Area::Fast, beyond);
        // Emptying blocks of one area takes space in the other, so a nearly full main area comes first.
        if fast && (self.blocks.free(Area::Main) > LAST_BLOCKS || self.blocks.free(Area::Fast) < 2)
        {
            return Some(Area::Fast);
        }
        self.is_short(Area::Main, beyond).then_some(Area::Main).or(fast.then_some(Area::Fast))
    }

    /// Whether an area has at most this many free blocks beyond its reserve.
    pub(crate) const fn is_short(&self, area: Area, beyond: u32) -> bool {
        self.blocks.free(area) <= self.shape.reserve(area) + beyond
    }

    /// Frees blocks until every area has one more than its reserve.
    fn make_blocks(&mut self) -> Result<(), Fault<D::Error>> {
        if self.counting.is_some() {
            return Ok(());
        }
        match self.short_area(0) {
            None => return Ok(()),
            Some(Area::Main) if self.open_blocks_do() => return Ok(()),
            Some(_) => {}
        }
        self.waited = self.waited.saturating_add(1);
        self.win_blocks()
    }

    #[inline(never)]
    fn win_blocks(&mut self) -> Result<(), Fault<D::Error>> {
        // This many steps would empty every block of the device twice.
        let map = self.shape.map_area();
        let slots =
            u32::from(self.shape.main.pages.max(map.pages)) * u32::from(self.shape.slots_max());
        for _ in 0..self.shape.blocks().saturating_mul(slots * 2).saturating_add(64) {
            let Some(area) = self.short_area(0) else { return Ok(()) };
            // The search for a victim closes full blocks, and one of those may have been free.
            if self.reclaim_step(area)? == Step::NoVictim && self.is_short(area, 0) {
                break;
            }
        }
        Err(Fault::ReadOnly)
    }

    /// Copies one page of data out of an area's victim.
    pub(crate) fn reclaim_step(&mut self, area: Area) -> Result<Step, Fault<D::Error>> {
        debug_assert!(self.counting.is_none(), "a block with data may seem to have none");
        // A mark may destroy pages.
        let failed = self.blocks.failed_and_empty(area);
        if let Some(block) = failed.filter(|block| Some(*block) != self.map.replaced) {
            self.retire(block)?;
            return Ok(Step::Done);
        }
        let begun = self.victims[area as usize];
        let chosen = match begun.or_else(|| self.choose(area)) {
            // Old pointers in map pages still count as references until the map pages are rewritten.
            None if !self.table.is_empty() => {
                self.flush_fullest()?;
                return Ok(Step::Done);
            }
            None if self.is_short(area, 0) => self.full_but_not_of_map(area),
            chosen => chosen,
        };
        let Some(victim) = chosen else { return Ok(Step::NoVictim) };
        self.victims[area as usize] = Some(victim);
        let mut flushed = 0;
        while flushed < FLUSHED && self.prepares_for(victim) {
            self.flush_fullest()?;
            flushed += 1;
        }
        if flushed > 0 {
            return Ok(Step::Prepared);
        }
        self.make_entries(self.shape.slots_max().into())?;
        // A map page written for this may have released the victim's last reference and opened its block.
        if let Some(victim) = self.victims[area as usize] {
            self.empty_some(area, victim)?;
        }
        Ok(Step::Done)
    }

    /// Whether space for all entries of a victim must be made before its first page is copied. A map page written
    /// between copies costs the pages that could corrupt them, because those are skipped.
    fn prepares_for(&self, victim: Victim) -> bool {
        let begins = (victim.page, victim.slot) == (0, 0);
        let copied = u32::from(self.blocks.references(victim.block));
        begins
            && self.shape.guards_area(&self.shape.main)
            && self.table.len() + copied > self.shape.table_entries
    }

    /// Returns the next victim, if any block would free space.
    fn choose(&mut self, area: Area) -> Option<Victim> {
        // If a request has to wait, only the freed space counts.
        let need = self.is_short(area, 0) && !(area == Area::Main && self.open_blocks_do());
        if need {
            self.close_full(area);
        }
        let begun = self.begun(area).map(|victim| victim.block);
        if !need && let Some(block) = self.next_weak(area).filter(|block| begun != Some(*block)) {
            self.flash.weak.noted.count_refreshed();
            return Some(self.victim_of(area, block));
        }
        if rules::may_level(need)
            && let Some(block) = self.next_to_level(area)
        {
            let victim = self.victim_of(area, block);
            return Some(Victim { cause: Cause::WearLeveling, ..victim });
        }
        let victims = if need { Victims::Greedy } else { self.config.victims };
        // Without a block to spare, what takes more than it frees comes last.
        let few = self.shape.few_entries.filter(|_| need);
        let map_cost = few.map_or(MapCost::Free, MapCost::OneFor);
        let mut judge = Judge { victims, area, shape: self.shape.area(area), begun, map_cost };
        let candidates = self.candidates.get_mut(area as usize)?;
        let mut best = candidates.best(&mut self.blocks, judge);
        if best.is_none() {
            judge.victims = Victims::Greedy;
            best = candidates.best(&mut self.blocks, judge);
        }
        let block = best?;
        self.note_lifetime(block);
        Some(self.victim_of(area, block))
    }

    /// Returns a block of the fast area that counts as full of map pages, and has sectors as well or instead: a mount
    /// may know a block by what it held before.
    #[cold]
    #[inline(never)]
    fn full_but_not_of_map(&mut self, area: Area) -> Option<Victim> {
        if area != Area::Fast {
            return None;
        }
        let of_leaves = |block: BlockNumber| {
            let in_it = |leaf: &Leaf| self.map.spot(*leaf).is_some_and(|spot| spot.block == block);
            self.map.leaves().filter(in_it).count() as u32 * u32::from(self.leaf_weight())
        };
        let mut blocks = self.blocks.of(area).filter(|block| self.blocks.may_be_victim(*block));
        let block = blocks.find(|block| {
            let references = self.blocks.references(*block);
            rules::has_sectors(references.into(), of_leaves(*block))
        });
        block.map(|block| self.victim_of(area, block))
    }

    /// Whether weak blocks wait, and there are free blocks for their copies. A device that is full has only its
    /// reserve; one block of that is enough, because the weak block is freed for it.
    #[inline]
    pub(crate) fn may_refresh(&self) -> bool {
        let has_reserve = |area| self.blocks.free(area) >= self.shape.reserve(area);
        Feature::Refresh.is_built()
            && self.flash.weak.noted.waits()
            && has_reserve(Area::Main)
            && (!self.shape.has_fast() || has_reserve(Area::Fast))
    }

    /// Returns the weak block that is to be emptied next, if it is in this area.
    pub(crate) fn next_weak(&self, area: Area) -> Option<BlockNumber> {
        match self.flash.weak.noted.next() {
            Some(Weak::Block(block)) if self.may_refresh() && self.shape.area_of(block) == area => {
                Some(block).filter(|block| self.blocks.may_be_victim(*block))
            }
            _ => None,
        }
    }

    /// Returns a block as a victim.
    pub(crate) fn victim_of(&mut self, area: Area, block: BlockNumber) -> Victim {
        let stream = self.stream_of_copies(block);
        let cause = if area == Area::Fast { Cause::WriteBack } else { Cause::Gc };
        if area == Area::Main {
            let full = self.shape.main.copied_slots;
            self.effort.note(self.blocks.references(block).into(), full);
        }
        let before = Neighbour::Obsolete;
        Victim { block, page: 0, slot: 0, before, salvaged: 0, stream, cause }
    }

    /// Fills a page with valid data of the victim, and programs it.
    fn empty_some(&mut self, area: Area, mut victim: Victim) -> Result<(), Fault<D::Error>> {
        let pages = self.shape.area(area).pages;
        if victim.page >= pages {
            return self.salvage_step(area, victim);
        }
        let (mut copies, from) = (self.begin_copies(victim.stream), victim.page);
        if let Some(leaf) = self.gather_page(&mut victim, &mut copies)?
            && copies.filled == 0
        {
            (victim.page, victim.slot) = (victim.page + 1, 0);
            self.victims[area as usize] = Some(victim);
            self.note_won(area, victim.page - from);
            return self.write_leaf(leaf);
        }
        self.victims[area as usize] = Some(victim);
        let mut next = None;
        if copies.filled > 0 {
            if !rules::must_stay(self.blocks.references(victim.block), copies.filled) {
                let _ = self.flash.erase(victim.block, Cause::Gc)?;
            }
            let own = copies.filled;
            next = self.fill_up(area, victim, &mut copies)?;
            let second = next.map_or(victim.block, |next| next.block);
            self.put_copies(victim, (own, second), copies)?;
        }
        let mut passed = victim.page - from;
        if self.blocks.references(victim.block) == 0 {
            let is_next =
                |next: &Victim| rules::is_next_victim(self.blocks.may_be_victim(next.block));
            self.victims[area as usize] = next.filter(is_next);
            passed = pages - from + next.map_or(0, |next| next.page);
        }
        self.note_won(area, passed);
        Ok(())
    }

    /// Copies a victim's valid data into the page buffer until that is full, or has all of it, or the next page is the
    /// map page of the leaf that is returned. What has no space in the buffer would be read once more for the next.
    fn gather_page(
        &mut self,
        victim: &mut Victim,
        copies: &mut CopiesPage,
    ) -> Result<Option<Leaf>, Fault<D::Error>> {
        let (pages, others) = (self.shape.area_at(victim.block).pages, copies.filled);
        while victim.page < pages
            && !copies.is_full()
            && self.blocks.references(victim.block) > copies.filled - others
        {
            let spot = Spot { block: victim.block, page: victim.page };
            match self.gather(victim, spot, copies)? {
                Page::Finished => (victim.page, victim.slot) = (victim.page + 1, 0),
                Page::Full => break,
                Page::Leaf(leaf) => return Ok(Some(leaf)),
            }
        }
        Ok(None)
    }

    /// Fills the page with a victim's last data with data of the next victim, when blocks are short: otherwise emptying
    /// a block of few pages would free no space.
    fn fill_up(
        &mut self,
        area: Area,
        last: Victim,
        copies: &mut CopiesPage,
    ) -> Result<Option<Victim>, Fault<D::Error>> {
        let is_last = self.blocks.references(last.block) == copies.filled;
        if !is_last || copies.is_full() || !self.is_short(Area::Main, 0) {
            return Ok(None);
        }
        let Some(mut next) = self.choose(area).filter(|next| !self.prepares_for(*next)) else {
            return Ok(None);
        };
        self.gather_page(&mut next, copies)?;
        Ok(Some(next))
    }

    /// Notes that this many further pages of a victim hold no valid data.
    const fn note_won(&mut self, area: Area, pages: u16) {
        if matches!(area, Area::Fast) {
            self.fast_balance = self.fast_balance.saturating_add_unsigned(pages);
        }
    }
}

#[cfg(test)]
mod tests {
    use core::ops::Range;

    use ftl_iface::{
        BlockCount, BlockStore, Bytes, Geometry, PageCount, RegionGeometry, Sector, SectorCount,
    };
    use nand_model::part::Part;
    use nand_model::{Chip, Content, datasheet};

    use super::*;
    use crate::paged::PagedConfig;
    use crate::paged::plan::address::Mapped;
    use crate::paged::small_store::{config, formatted, memory};
    use crate::paged::tables::under_way::Stream;

    type Store<'ram> = PageFtl<'ram, Chip>;

    /// In a block of single-bit cells: eight pages of two.
    const SECTORS: u32 = 16;

    /// Does something with a page store that was just formatted.
    fn with_store(part: &Part, act: impl FnOnce(&mut Store<'_>)) {
        let chip = Chip::new(part, Content::Bytes).expect("a chip");
        let config = PagedConfig { sector_bytes: Bytes::new(512), anchor_blocks: 0, ..config(64) };
        let mut ram = memory(&chip, &config);
        act(&mut formatted(chip, &config, &mut ram));
    }

    fn write(ftl: &mut Store<'_>, sectors: Range<u32>, turn: u8) {
        for sector in sectors.step_by(2) {
            ftl.write(Sector::new(sector), &[turn; 1024]).expect("written");
        }
    }

    fn block_of(ftl: &mut Store<'_>, sector: u32) -> BlockNumber {
        let mapped = ftl.lookup(Sector::new(sector)).expect("the map can be read");
        let Mapped::At(place) = mapped else { panic!("{sector} is {mapped:?}") };
        ftl.shape.block_of(place)
    }

    /// Writes two blocks, and again all their sectors but the first ones. The map page still refers to the old copies.
    /// Returns the block that has the newest copies of the first sectors, and the one that has none.
    fn write_twice(ftl: &mut Store<'_>, once: u32) -> (BlockNumber, BlockNumber) {
        write(ftl, 0..2 * SECTORS, 1);
        // The second block is the better victim.
        write(ftl, SECTORS..SECTORS + 2, 2);
        for _ in 0..SECTORS / 2 {
            ftl.write_leaf(Leaf::new(0)).expect("a map page");
        }
        let blocks = (block_of(ftl, 0), block_of(ftl, 2 * SECTORS - 1));
        let page = ftl.map.cached(Leaf::new(0)).expect("it was just written");
        ftl.map.give(page, None);
        write(ftl, once..2 * SECTORS, 3);
        // Until every open block is full.
        let full = |ftl: &Store<'_>| Stream::ALL.into_iter().all(|stream| !ftl.has_room(stream));
        let mut next = 3 * SECTORS;
        while !full(ftl) {
            write(ftl, next..next + 2, 3);
            next += 2;
        }
        blocks
    }

    /// Leaves so many free blocks in an area, and no better victims than the two.
    fn leave(ftl: &mut Store<'_>, area: Area, free: u32) {
        for block in ftl.blocks.of(area) {
            if ftl.blocks.is_free(block) && ftl.blocks.free(area) > free {
                ftl.blocks.retire(block);
            }
        }
        ftl.close_full(area);
        let map = ftl.map.spot(Leaf::new(0)).expect("it was written").block;
        ftl.blocks.leave_alone(map);
    }

    fn assert_kept(ftl: &mut Store<'_>, once: u32) {
        for sector in 0..2 * SECTORS {
            let mut data = [0; 512];
            ftl.read(Sector::new(sector), &mut data).expect("it is readable");
            assert_eq!(data, [if sector < once { 1 } else { 3 }; 512], "{sector}");
        }
    }

    #[test]
    fn a_next_victim_that_was_opened_for_the_copies_is_none() {
        let part = datasheet::builtin("tiny-slc").expect("it is built in");
        with_store(&part, |ftl| {
            let (last, stale) = write_twice(ftl, 1);
            leave(ftl, Area::Main, 0);
            let victim = ftl.victim_of(Area::Main, last);
            ftl.empty_some(Area::Main, victim).expect("copied");
            assert_eq!(block_of(ftl, 0), stale);
            assert_eq!(ftl.victims, [None; 2]);
            let _ = ftl.reclaim_step(Area::Main);
            assert_kept(ftl, 1);
        });
    }

    #[test]
    fn copies_go_where_their_page_was_begun() {
        let part = datasheet::builtin("tiny").expect("it is built in");
        // So much that nothing is written back meanwhile.
        let part = part.with_slc_bytes(1 << 20).expect("blocks of 8 KiB");
        with_store(&part, |ftl| {
            let (last, stale) = write_twice(ftl, 3);
            leave(ftl, Area::Fast, 1);
            leave(ftl, Area::Main, 2);
            let victim = ftl.victim_of(Area::Fast, last);
            ftl.empty_some(Area::Fast, victim).expect("copied");
            let to = block_of(ftl, 0);
            assert_eq!(ftl.shape.area_of(to), Area::Main);
            assert!(ftl.blocks.is_free(stale), "there would have been space in the fast area");
            assert_kept(ftl, 3);
        });
    }

    #[test]
    fn in_need_a_full_block_that_is_not_of_map_pages_is_a_victim() {
        let part = datasheet::builtin("tiny").expect("it is built in");
        with_store(&part, |ftl| {
            write(ftl, 0..SECTORS, 1);
            write(ftl, SECTORS..SECTORS + 2, 1);
            let full = block_of(ftl, 0);
            assert_eq!(u32::from(ftl.blocks.references(full)), SECTORS);
            ftl.blocks.times.note_stream(full, Stream::Map);
            ftl.write_leaf(Leaf::new(0)).expect("a map page");
            while !ftl.is_short(Area::Fast, 0) {
                let mut blocks = ftl.blocks.of(Area::Fast);
                let free = blocks.find(|block| ftl.blocks.is_free(*block)).expect("one is free");
                ftl.blocks.retire(free);
            }
            assert_eq!(ftl.reclaim_step(Area::Fast), Ok(Step::Done));
            assert!(u32::from(ftl.blocks.references(full)) < SECTORS);
        });
    }

    /// A table of 128 entries for a hundred leaves: each sector that is copied takes nearly a map page of its own, so
    /// most victims take more blocks than they free.
    #[test]
    fn a_small_table_and_many_leaves_do_not_use_up_the_reserve() {
        const USED: u32 = 51_000;
        let mut part = datasheet::builtin("tiny-slc").expect("it is built in");
        let slc = RegionGeometry {
            blocks: BlockCount::new(840),
            pages_per_block: PageCount::new(32),
            ..*part.geometry.slc().expect("it has one")
        };
        part.geometry = Geometry::new(Some(slc), None).expect("a chip may have that shape");
        let chip = Chip::new(&part, Content::Bytes).expect("a chip");
        let config = PagedConfig {
            sector_bytes: Bytes::new(512),
            capacity: Some(SectorCount::new(USED)),
            dirty_entries: 128,
            anchor_blocks: 0,
            ..PagedConfig::SMALL
        };
        let mut ram = memory(&chip, &config);
        let mut ftl = formatted(chip, &config, &mut ram);
        assert_eq!(ftl.shape.few_entries.map(u16::from), Some(1));
        for at in 0..USED / 2 {
            write(&mut ftl, 2 * at..2 * at + 2, 1);
        }
        let mut dice = 1_u32;
        for _ in 0..2 * USED {
            dice = dice.wrapping_mul(0x915F_77F5).wrapping_add(1);
            let at = dice / 8 % (USED / 2);
            write(&mut ftl, 2 * at..2 * at + 2, 2);
        }
    }
}
