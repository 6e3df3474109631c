//! Counting the references to each block in a mount.

use ftl_iface::{NandDevice, SectorCount};

use crate::error::Fault;
use crate::paged::rules;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{Suspect, What};
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Counts the references to each block.
    pub(crate) fn count_references(&mut self) -> Result<(), Fault<D::Error>> {
        self.blocks.clear_references();
        for dirty in self.table.entries() {
            self.blocks.count(self.shape.block_of(dirty.entry.place), 1);
        }
        let weight = self.leaf_weight();
        self.map.begin_proof();
        for leaf in self.map.leaves() {
            let Some(spot) = self.map.spot(leaf) else { continue };
            self.blocks.count(spot.block, weight);
            let page = self.map.load(&mut self.flash, leaf, Cause::Mount)?;
            let (first, sectors) = self.shape.sectors_of(leaf);
            let Self { table, map, shape, blocks, .. } = self;
            let mut count = |from, to| {
                for place in map.places(page, from..to) {
                    blocks.count(shape.block_of(place), 1);
                }
            };
            let mut from = 0;
            table.show_run(first, SectorCount::new(sectors), |sector, _| {
                let dirty = (sector - first).get();
                count(from, dirty);
                from = dirty + 1;
            });
            count(from, sectors);
        }
        self.map.end_proof();
        self.pin_places();
        self.blocks.count_free();
        Ok(())
    }

    /// Pins the blocks to which a map page refers that is to be repeated.
    pub(crate) fn pin_places(&mut self) {
        let Some(Suspect { what: What::Map(leaf), .. }) = self.suspect else { return };
        for at in 0..self.shape.sectors_of(leaf).1 {
            if let Some(place) = rules::place_to_keep(self.map.entry(self.buffer, at)) {
                self.blocks.pin(self.shape.block_of(place));
            }
        }
    }
}
