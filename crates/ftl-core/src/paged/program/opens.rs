//! Open blocks: the next page of each that can be programmed, and their end.

use ftl_iface::{NandDevice, PageIndex};

use crate::bugs::{Bug, planted};
use crate::paged::plan::address::BlockNumber;
use crate::paged::plan::shape::AreaShape;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{Open, Stream};
use crate::probe::Probe;

/// Returns the next page of an open block whose program cannot corrupt a page that is relied upon.
#[inline(never)]
fn next_safe(area: &AreaShape, open: Open) -> u16 {
    let endangers = |page: u16| {
        let mut others = area.pairing.endangered(PageIndex::new(page), area.page_count());
        others.any(|other| other.get() < open.relied)
    };
    let mut pages = open.next..area.pages;
    let safe = pages.find(|page| planted(Bug::ForgetWordLines) || !endangers(*page));
    safe.unwrap_or(area.pages)
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Returns the next page of a stream's open block that can be programmed.
    pub(crate) fn safe_page(&self, stream: Stream, open: Open) -> Option<u16> {
        let area = self.shape_of(stream);
        let guards = area.shares_cells() && self.guards();
        let page = if guards { next_safe(area, open) } else { open.next };
        Some(page).filter(|page| *page < area.pages)
    }

    /// Closes a stream's block, in which a program has failed.
    pub(crate) fn give_up_block(&mut self, stream: Stream, block: BlockNumber) {
        self.blocks.failed += 1;
        if !planted(Bug::ReuseFailed) {
            self.blocks.fail(block);
        }
        self.close(stream);
    }

    /// Closes a stream's block.
    pub(crate) fn close(&mut self, stream: Stream) {
        if let Some(open) = self.opens[stream as usize].take() {
            self.blocks.close(open.block);
        }
    }
}
