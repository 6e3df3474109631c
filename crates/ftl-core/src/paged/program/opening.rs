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
use crate::paged::tables::under_way::{Open, Stream};
use crate::probe::{Cause, Probe};

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
            for victim in &mut self.victims {
                *victim = victim.filter(|victim| victim.block != block);
            }
            match self.erase_to_open(block)? {
                Erasure::Done => {
                    let wear = self.blocks.wear(block).saturating_add(1);
                    self.blocks.set_wear(block, wear);
                    self.blocks.times.bear(block, self.blocks.times.now());
                    self.blocks.times.note_stream(block, stream);
                    self.record_block(block);
                    self.blocks.open(block);
                    self.note_opened(area, block);
                    self.note_erase(area);
                    self.flash.weak.forget(Weak::Block(block));
                    self.opens[stream as usize] = Some(Open::erased(block));
                    return Ok(());
                }
                Erasure::Failed => {
                    self.blocks.failed += 1;
                    self.retire(block)?;
                }
            }
        }
        Err(Fault::ReadOnly)
    }

    /// Erases a block without references, unless it is known to be erased.
    fn erase_to_open(&mut self, block: BlockNumber) -> Result<Erasure, Fault<D::Error>> {
        if self.blocks.is_erased(block) {
            return Ok(Erasure::Done);
        }
        let first = Spot { block, page: 0 };
        if rules::may_trust_first_page() && self.flash.look(first, Cause::Gc)? == Seen::Erased {
            return Ok(Erasure::Done);
        }
        self.flash.erase(block, Cause::Gc)
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
    use nand_model::FaultInjector;

    use super::*;
    use crate::paged::PagedConfig;
    use crate::paged::plan::address::Leaf;
    use crate::paged::small_store::{chip, config, formatted, memory};

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
