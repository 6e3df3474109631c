//! The last resort of a device without a free block: one that is erased although something refers to it.
//!
//! A block is erased when nothing refers to it. If power fails then, and a page dies by itself, the next mount may go by an
//! older page of the map, or by an older copy, whose place was in that block. What was there is lost, whatever happens to
//! the block.

use ftl_iface::NandDevice;

use crate::error::Fault;
use crate::paged::flash::Seen;
use crate::paged::plan::address::{BlockNumber, Spot};
use crate::paged::plan::shape::Area;
use crate::paged::rules;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::Stream;
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Opens a block that is erased although something refers to it.
    #[cold]
    #[inline(never)]
    pub(super) fn open_blank(&mut self, stream: Stream) -> Result<(), Fault<D::Error>> {
        let block = self.blank_block(self.area_of(stream))?.ok_or(Fault::ReadOnly)?;
        let references = self.blocks.references(block);
        // An anchor lists free blocks alone.
        self.blocks.release(block, references);
        let opened = self.open_free(stream);
        if rules::must_count_blank() {
            self.blocks.refer(block, references);
        }
        opened
    }

    /// Finds a block of an area that is erased although something refers to it.
    fn blank_block(&mut self, area: Area) -> Result<Option<BlockNumber>, Fault<D::Error>> {
        for block in self.blocks.of(area) {
            if self.blocks.is_at_rest(block) && self.is_blank(block)? {
                return Ok(Some(block));
            }
        }
        Ok(None)
    }

    fn is_blank(&mut self, block: BlockNumber) -> Result<bool, Fault<D::Error>> {
        for page in 0..self.shape.area_at(block).pages {
            if self.flash.look(Spot { block, page }, Cause::Gc)? != Seen::Erased {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
