//! What an anchor covers: the records of what was programmed, and the stamps of what may follow it.

use ftl_iface::{NandDevice, Sector};

use crate::layout::Stamp;
use crate::paged::flash::PagedKind;
use crate::paged::plan::address::{BlockNumber, Spot};
use crate::paged::plan::anchor_page::programs_between;
use crate::paged::tables::map;
use crate::paged::tables::records::Record;
use crate::paged::tables::store::PageFtl;
use crate::probe::Probe;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Records the content of a programmed page.
    pub(crate) fn record_page(&mut self, spot: Spot, kind: PagedKind) {
        if !self.shape.has_anchors() {
            return;
        }
        if kind.is_map() {
            if let Some(leaf) = map::leaf_named(self.flash.held(0)) {
                self.anchors
                    .record(Record::Written(leaf.get(), self.shape.map_area().page_number(spot)));
            }
            return;
        }
        self.record_slots(spot, |ftl, slot| ftl.flash.held(slot).copy_of().map(Sector::get));
    }

    /// Records the sectors in a page's slots, as runs.
    pub(crate) fn record_slots(&mut self, spot: Spot, held: impl Fn(&Self, u16) -> Option<u32>) {
        let area = self.shape.area_at(spot.block);
        let (slots, first) = (area.slots, area.place(spot, 0).get());
        let capacity = self.shape.capacity.get();
        let mut slot = 0;
        while slot < slots {
            let begun = slot;
            slot += 1;
            let Some(sector) = held(self, begun).filter(|sector| *sector < capacity) else {
                continue;
            };
            let end = slots.min(begun + Record::RUN_MAX);
            while slot < end
                && let Some(next) = held(self, slot)
                && next == sector + u32::from(slot - begun)
                && next < capacity
            {
                slot += 1;
            }
            let (place, count) = (first + u32::from(begun), u32::from(slot - begun));
            self.anchors.record(Record::Sectors(place, sector, count));
        }
    }

    /// Records that a block was erased or is bad.
    pub(crate) fn record_block(&mut self, block: BlockNumber) {
        if self.shape.has_anchors() {
            let known = (!self.blocks.is_bad(block)).then(|| self.blocks.known(block));
            self.anchors.record(Record::Block(block.get(), known));
        }
    }

    /// Returns the number of programs after which an anchor is due.
    pub(super) fn anchor_programs(&self) -> u64 {
        programs_between(self.anchors.page.len())
    }

    /// Returns the most stamps that an anchor may cover.
    pub(crate) fn anchor_span(&self) -> u64 {
        4 * self.anchor_programs() + 64
    }

    /// Raises the stamp beyond those that an anchor with this one covers.
    pub(super) fn pass_stamps_after(&mut self, anchor: Stamp) {
        let newest = Stamp::new(anchor.get() + self.anchor_span());
        self.flash.raise_stamp(newest);
    }
}
