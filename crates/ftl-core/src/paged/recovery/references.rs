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

#[cfg(test)]
mod tests {
    use ftl_iface::{BlockStore, Sector};

    use super::*;
    use crate::paged::flash::Extent;
    use crate::paged::plan::address::{Leaf, Mapped};
    use crate::paged::small_store::{chip, config, formatted, memory};

    const SECTORS: u32 = 32;
    const LEAF: Leaf = Leaf::new(0);

    #[test]
    fn blocks_that_only_the_page_to_be_repeated_points_to_are_not_free() {
        let (chip, config) = (chip("tiny-slc"), config(SECTORS));
        let mut ram = memory(&chip, &config);
        let mut ftl = formatted(chip, &config, &mut ram);
        for sector in 0..SECTORS {
            ftl.write(Sector::new(sector), &[sector as u8; 1024]).expect("written");
        }
        ftl.write_leaf(LEAF).expect("written");
        // As a mount finds it that has this page, and none before it.
        let spot = ftl.map.spot(LEAF).expect("it has a page");
        let first = ftl.stamp_at(spot).expect("the chip works").expect("it is readable");
        let page = ftl.map.load(&mut ftl.flash, LEAF, Cause::Mount).expect("it is readable");
        ftl.buffer[..ftl.map.bytes(page).len()].copy_from_slice(ftl.map.bytes(page));
        let (what, extent, origin) = (What::Map(LEAF), Extent::Whole, Some(spot));
        ftl.suspect = Some(Suspect { spot, what, first, extent, origin });
        ftl.settled = false;
        ftl.map.clear();
        ftl.count_references().expect("the chip works");
        for at in 0..SECTORS {
            let Mapped::At(place) = ftl.map.entry(ftl.buffer, at) else { panic!("{at}") };
            assert!(!ftl.blocks.is_free(ftl.shape.block_of(place)), "{at}");
        }
        ftl.settle().expect("it is writable");
        ftl.check().expect("every invariant holds");
        for sector in 0..SECTORS {
            let mut data = [0; 1024];
            ftl.read(Sector::new(sector), &mut data).expect("it is readable");
            assert_eq!(data, [sector as u8; 1024]);
        }
    }
}
