//! Opening a block: one without references is erased. The last resort of a device without such a block is one of which
//! nothing can be read, although something refers to it.
//!
//! If power fails right after a block is erased, and a page dies by itself, the next mount may go by an older copy,
//! whose place was in that block. A power cut may tear the first page of the block, too. What was there is lost,
//! whatever happens to the block.

use ftl_iface::NandDevice;

use crate::error::Fault;
use crate::flash::Erasure;
use crate::paged::flash::{Seen, Weak};
use crate::paged::plan::address::{BlockNumber, Spot};
use crate::paged::plan::shape::Area;
use crate::paged::rules;
use crate::paged::tables::blocks::Worn;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{IdleStep, Open, Stream};
use crate::probe::{Cause, Probe};

/// So many blocks of each area wait to be opened that need no erase any more, if the host is idle for long enough.
const READY: usize = 4;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Opens a block for a stream: one without references, or in need one that holds nothing.
    pub(super) fn open_block(&mut self, stream: Stream) -> Result<(), Fault<D::Error>> {
        match self.open_free(stream) {
            Err(Fault::ReadOnly) => self.open_unreadable(stream),
            done => done,
        }
    }

    /// Erases and opens a block without references.
    #[inline(never)]
    fn open_free(&mut self, stream: Stream) -> Result<(), Fault<D::Error>> {
        let area = self.area_of(stream);
        let worn = if self.is_leveling(area) { Worn::Most } else { Worn::Least };
        if rules::must_rely_before_erase() {
            self.rely_on_what_freed();
        }
        while let Some(block) = self.next_listed(area, worn)? {
            if self.blocks.is_ready(block) || self.erase_free(area, block)? == Erasure::Done {
                self.blocks.times.bear(block, self.blocks.times.now());
                self.blocks.times.note_stream(block, stream);
                self.record_block(block);
                self.blocks.open(block);
                self.presume_opened(block);
                self.note_opened(area, block);
                self.opens[stream as usize] = Some(Open::erased(block));
                return Ok(());
            }
        }
        Err(Fault::ReadOnly)
    }

    /// Erases a block without references, unless it was not used since the format.
    fn erase_free(&mut self, area: Area, block: BlockNumber) -> Result<Erasure, Fault<D::Error>> {
        for victim in &mut self.victims {
            *victim = victim.filter(|victim| victim.block != block);
        }
        let first = Spot { block, page: 0 };
        let is_erased = self.blocks.is_new(block)
            || rules::may_trust_first_page() && self.flash.look(first, Cause::Gc)? == Seen::Erased;
        if !is_erased && self.flash.erase(block, Cause::Gc)? == Erasure::Failed {
            self.blocks.failed += 1;
            self.retire(block)?;
            return Ok(Erasure::Failed);
        }
        self.blocks.wear_down(block);
        self.note_erase(area);
        self.flash.weak.forget(Weak::Block(block));
        Ok(Erasure::Done)
    }

    /// Erases a block while the host is idle, so that the write that opens it does not take the time.
    pub(crate) fn erase_ahead(&mut self) -> Result<IdleStep, Fault<D::Error>> {
        let Some(block) = self.next_to_erase() else { return Ok(IdleStep::NothingToDo) };
        if rules::must_rely_before_erase() {
            self.rely_on_what_freed();
        }
        if self.erase_free(self.shape.area_of(block), block)? == Erasure::Done {
            self.blocks.make_ready(block);
            self.record_block(block);
        }
        Ok(IdleStep::Done)
    }

    /// Returns the block to erase next while the host is idle: one that the last anchor lists, and that is not the last
    /// choice to open. There is none while that anchor may be torn or out of date, so a device that is switched on and
    /// off without a write is not worn.
    pub(crate) fn next_to_erase(&self) -> Option<BlockNumber> {
        if self.is_pending() || !self.anchors.stands() || !self.anchors.has_room() {
            return None;
        }
        let is_erased =
            |block: &BlockNumber| self.blocks.is_ready(*block) || self.blocks.is_new(*block);
        [Area::Fast, Area::Main].into_iter().find_map(|area| {
            let listed = || self.listed_but(area, self.map.replaced);
            let others = listed().filter(|block| !is_erased(block));
            let next = self.blocks.pick(others, Worn::Least);
            next.filter(|_| listed().filter(is_erased).count() < READY)
        })
    }

    /// Marks a block without references as bad.
    pub(crate) fn retire(&mut self, block: BlockNumber) -> Result<(), Fault<D::Error>> {
        if rules::must_rely_before_mark() {
            self.rely();
        }
        self.blocks.retire(block);
        self.blocks.retired = self.blocks.retired.saturating_add(1);
        self.record_block(block);
        self.flash.mark_bad(block)
    }

    /// Opens a block of which nothing can be read, although something refers to it.
    #[cold]
    #[inline(never)]
    fn open_unreadable(&mut self, stream: Stream) -> Result<(), Fault<D::Error>> {
        let area = self.area_of(stream);
        // Where blocks are free, anchors stand in the way of opening one.
        if self.blocks.free(area) > 0 {
            return Err(Fault::ReadOnly);
        }
        let block = self.unreadable_block(area)?.ok_or(Fault::ReadOnly)?;
        let references = self.blocks.references(block);
        // An anchor lists free blocks alone.
        self.blocks.release(block, references);
        let opened = self.open_free(stream);
        if rules::must_count_opened() {
            self.blocks.refer(block, references);
        }
        opened
    }

    /// Finds such a block of an area.
    fn unreadable_block(&mut self, area: Area) -> Result<Option<BlockNumber>, Fault<D::Error>> {
        let most = self.shape.references_most(area);
        for block in self.blocks.of(area) {
            if self.blocks.may_be_unreadable(block, most)
                && rules::may_open_in_need(self.has_leaf(block))
                && self.is_unreadable(block)?
            {
                return Ok(Some(block));
            }
        }
        Ok(None)
    }

    /// Whether the page of a leaf is in the block.
    fn has_leaf(&self, block: BlockNumber) -> bool {
        let mut spots = self.map.leaves().filter_map(|leaf| self.map.spot(leaf));
        spots.any(|spot| spot.block == block)
    }

    fn is_unreadable(&mut self, block: BlockNumber) -> Result<bool, Fault<D::Error>> {
        for page in 0..self.shape.area_at(block).pages {
            if let Seen::Page(_) = self.flash.look(Spot { block, page }, Cause::Gc)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use ftl_iface::{BlockStore, PageCount, Region, Sector};
    use nand_model::{Chip, FaultInjector};

    use super::*;
    use crate::paged::PagedConfig;
    use crate::paged::plan::address::Leaf;
    use crate::paged::small_store::{chip, config, formatted, memory, mounted};

    fn erases(ftl: &PageFtl<'_, Chip>) -> u32 {
        Region::ALL.iter().flat_map(|region| ftl.device().erase_counts(*region)).sum()
    }

    /// After a mount and so much idle work: the blocks of the fast area that are ready, and what opening one erases.
    fn ready_after(budget: u32) -> (usize, u32) {
        let (chip, small) = (chip("tiny"), config(64));
        let config = PagedConfig { dirty_entries: 64, anchor_blocks: 2, ..small };
        let mut ram = memory(&chip, &config);
        let mut ftl = formatted(chip, &config, &mut ram);
        for turn in 0..200 {
            ftl.write(Sector::new(turn % 64), &[turn as u8; 1024]).expect("written");
        }
        let chip = ftl.device().clone();
        let mut ram = memory(&chip, &config);
        let mut ftl = mounted(chip, &config, &mut ram);
        assert_eq!(ftl.next_to_erase(), None, "nothing was written since the mount");
        ftl.write(Sector::new(0), &[1; 1024]).expect("written");
        assert_eq!(ftl.maintain(PageCount::new(budget)).map(|_| ftl.check()), Ok(Ok(())));
        let is_ready = |block: &BlockNumber| ftl.blocks.is_ready(*block);
        let ready = ftl.blocks.of(Area::Fast).filter(is_ready).count();
        let before = erases(&ftl);
        assert_eq!(ftl.open_block(Stream::Hot), Ok(()));
        (ready, erases(&ftl) - before)
    }

    #[test]
    fn a_block_that_idle_work_has_erased_is_opened_without_an_erase() {
        assert_eq!(ready_after(0), (0, 1));
        assert_eq!(ready_after(1_000), (READY, 0));
    }

    /// The last block, to which something refers, is opened if so many of its pages became unreadable and a leaf's page
    /// is none of them.
    fn opens_with_unreadable(dead: u16, leaf: Option<Leaf>) {
        let (chip, config) = (chip("tiny-slc"), PagedConfig { anchor_blocks: 0, ..config(32) });
        let mut ram = memory(&chip, &config);
        let device = FaultInjector::new(chip, 7);
        let mut ftl = formatted(device, &config, &mut ram);
        let mut blocks = ftl.blocks.of(Area::Main);
        let last = blocks.next().expect("there are blocks");
        for block in blocks {
            ftl.blocks.retire(block);
        }
        for page in 0..dead {
            let page = ftl.shape.main.page(Spot { block: last, page });
            ftl.device_mut().lose(page);
        }
        ftl.blocks.refer(last, 2);
        if let Some(leaf) = leaf {
            ftl.map.set_spot(leaf, Spot { block: last, page: 0 });
            assert_eq!(ftl.open_block(Stream::Host), Err(Fault::ReadOnly));
            return;
        }
        assert_eq!(ftl.open_block(Stream::Host), Ok(()));
        let open = ftl.opens[Stream::Host as usize].expect("it is open");
        assert_eq!((open.block, ftl.blocks.references(last)), (last, 2));
        // It is open now, and nothing else is left.
        assert_eq!(ftl.open_block(Stream::Copies), Err(Fault::ReadOnly));
    }

    #[test]
    fn in_need_a_block_that_holds_nothing_is_opened_and_what_refers_to_it_is_counted() {
        opens_with_unreadable(0, None);
        opens_with_unreadable(1, None);
        opens_with_unreadable(3, None);
        opens_with_unreadable(1, Some(Leaf::new(0)));
    }
}
