//! The free blocks that may be opened before the next anchor. An anchor lists them, so that a mount knows where to look
//! for what was programmed after it.

use ftl_iface::NandDevice;

use crate::error::Fault;
use crate::paged::plan::address::BlockNumber;
use crate::paged::plan::anchor_page::LISTED;
use crate::paged::plan::shape::Area;
use crate::paged::tables::store::PageFtl;
use crate::probe::Probe;

/// Adds a block to the list while there is space.
fn put(listed: &mut [Option<BlockNumber>; LISTED], count: &mut usize, block: BlockNumber) {
    if let Some(cell) = listed.get_mut(*count) {
        *cell = Some(block);
        *count += 1;
    }
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Lists the blocks that may be opened before the next anchor, first those that are listed and still free.
    pub(super) fn list_blocks(&mut self) -> Result<(), Fault<D::Error>> {
        for area in [Area::Fast, Area::Main] {
            if area == Area::Fast && !self.shape.has_fast() {
                continue;
            }
            let mut listed = [None; LISTED];
            let mut count = 0;
            let before = self.anchors.listed.get(area as usize).copied().unwrap_or_default();
            for block in before.into_iter().flatten() {
                if self.blocks.is_free(block) {
                    put(&mut listed, &mut count, block);
                }
            }
            // If all free blocks are listed, there is nothing to search for.
            while count < LISTED.min(self.blocks.free(area) as usize)
                && let Some(block) = self.blocks.next_free(area, &listed)
            {
                if self.anchors.unsure && self.flash.is_bad(block)? {
                    self.blocks.retire(block);
                    self.blocks.failed += 1;
                    continue;
                }
                put(&mut listed, &mut count, block);
            }
            if let Some(kept) = self.anchors.listed.get_mut(area as usize) {
                *kept = listed;
            }
        }
        Ok(())
    }
}
