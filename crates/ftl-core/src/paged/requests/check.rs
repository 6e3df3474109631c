//! The invariants, each as a named function. Only tests call them, between all steps.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use ftl_iface::{NandDevice, Sector, SectorCount};

use crate::check::{Checked, Violation, ensure};
use crate::layout::Slot;
use crate::paged::flash::Seen;
use crate::paged::plan::address::{BlockNumber, Mapped, Spot};
use crate::paged::plan::shape::Area;
use crate::paged::tables::dirty::{Dirty, Old};
use crate::paged::tables::map::leaf_named;
use crate::paged::tables::store::PageFtl;
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Checks every invariant.
    pub fn check(&mut self) -> Checked {
        self.settle_if_possible()?;
        self.blocks_count_their_references()?;
        self.free_blocks_are_counted()?;
        self.open_blocks_are_not_free()?;
        self.ready_blocks_are_erased()?;
        self.victims_are_not_open()?;
        self.blocks_that_failed_are_out_of_use()?;
        self.what_is_done_again_is_proved()?;
        self.listed_blocks_are_listed_once()?;
        self.the_directory_leads_to_map_pages()?;
        self.every_sector_is_where_the_map_says()?;
        self.dirty_entries_are_younger_than_their_map_page()?;
        self.dirty_entries_are_younger_than_the_horizon()
    }

    /// The reference count of each block matches the table, the map pages and the directory.
    fn blocks_count_their_references(&mut self) -> Checked {
        let mut counts: Vec<u32> = vec![0; self.shape.blocks() as usize];
        let mut count = |spot: Spot, many: u32| {
            if let Some(cell) = counts.get_mut(spot.block.get() as usize) {
                *cell += many;
            }
        };
        for dirty in self.table.entries() {
            count(self.shape.spot(dirty.entry.place).0, 1);
            let (leaf, _) = self.shape.leaf_of(dirty.sector);
            ensure(self.map.dirty(leaf) > 0, || format!("{leaf:?} counts no dirty entry"))?;
        }
        for leaf in self.map.leaves() {
            let Some(spot) = self.map.spot(leaf) else { continue };
            count(spot, self.leaf_weight().into());
            if !self.is_counted(leaf) {
                continue;
            }
            let page = self.map.load(&mut self.flash, leaf, Cause::Scrub)?;
            let (first, sectors) = self.shape.sectors_of(leaf);
            for (sector, at) in first.run(SectorCount::new(sectors)).zip(0..) {
                let released =
                    self.table.get(sector).is_some_and(|entry| entry.old == Old::Released);
                if let (Mapped::At(place), false) = (self.map.get(page, at), released) {
                    count(self.shape.spot(place).0, 1);
                }
            }
        }
        for (block, counted) in self.blocks.all().zip(counts) {
            let known = self.blocks.references(block);
            let counted = counted + u32::from(self.presumes(block));
            // The references of an unreadable map page stay counted.
            ensure(u32::from(known) == counted || self.blocks.is_bad(block), || {
                format!("{block:?} has {counted} references and counts {known}")
            })?;
        }
        Ok(())
    }

    /// Whether a reference to a block is presumed until all are counted.
    fn presumes(&self, block: BlockNumber) -> bool {
        self.counting.is_some_and(|counting| counting.presumes(block))
    }

    /// The number of free blocks is as counted.
    fn free_blocks_are_counted(&mut self) -> Checked {
        for area in [Area::Fast, Area::Main] {
            if area == Area::Fast && !self.shape.has_fast() {
                continue;
            }
            let free = self.blocks.of(area).filter(|block| self.blocks.is_free(*block)).count();
            let counted = self.blocks.free(area);
            ensure(free == counted as usize, || {
                format!("{free} blocks of {area:?} are free, and {counted} are counted")
            })?;
        }
        Ok(())
    }

    /// What idle work has erased is free, and still erased.
    fn ready_blocks_are_erased(&mut self) -> Checked {
        for block in self.blocks.all().filter(|block| self.blocks.is_ready(*block)) {
            let first = self.flash.look(Spot { block, page: 0 }, Cause::Scrub)?;
            ensure(self.blocks.is_free(block) && first == Seen::Erased, || {
                format!("{block:?} is ready to be opened and holds {first:?}")
            })?;
        }
        Ok(())
    }

    /// A failed block takes no more pages: it is bad, or is marked bad as soon as it has no references.
    fn blocks_that_failed_are_out_of_use(&mut self) -> Checked {
        let spent =
            |block: &BlockNumber| self.blocks.is_bad(*block) || self.blocks.is_failing(*block);
        let spent = self.blocks.all().filter(spent).count();
        let failed = self.blocks.failed;
        ensure(spent == failed as usize, || {
            format!("{failed} blocks have failed, and {spent} are out of use")
        })
    }

    /// The page programmed last is not a repetition: a proof follows each repetition.
    fn what_is_done_again_is_proved(&mut self) -> Checked {
        for open in self.opens.into_iter().flatten().filter(|open| open.next > 0) {
            let spot = Spot { block: open.block, page: open.next - 1 };
            let Some(tag) = self.flash.look(spot, Cause::Scrub)?.tag() else { continue };
            ensure(
                !tag.kind.is_repeated() || tag.stamp < self.flash.stamp() || self.read_only,
                || format!("{spot:?} was done again, and nothing proves that it was acknowledged"),
            )?;
        }
        Ok(())
    }

    /// The last anchor lists each block once, and for its own area.
    fn listed_blocks_are_listed_once(&mut self) -> Checked {
        for (area, listed) in [Area::Fast, Area::Main].into_iter().zip(self.anchors.listed) {
            for (at, block) in listed.iter().enumerate().filter(|(_, block)| block.is_some()) {
                let earlier = listed.get(..at).unwrap_or(&[]);
                let fits = block.is_some_and(|block| self.shape.area_of(block) == area);
                ensure(fits && !earlier.contains(block), || {
                    format!("{block:?} is listed wrongly")
                })?;
            }
        }
        Ok(())
    }

    /// No open block is opened again, and no two streams share one.
    fn open_blocks_are_not_free(&mut self) -> Checked {
        let open: Vec<_> = self.opens.iter().flatten().map(|open| open.block).collect();
        for (at, block) in open.iter().enumerate() {
            ensure(!self.blocks.is_free(*block), || format!("{block:?} is open and free"))?;
            let earlier = open.get(..at).unwrap_or(&[]);
            ensure(!earlier.contains(block), || format!("{block:?} is open twice"))?;
        }
        Ok(())
    }

    /// No victim is an open block.
    fn victims_are_not_open(&self) -> Checked {
        for victim in self.victims.iter().flatten() {
            let is_open = self.opens.iter().flatten().any(|open| open.block == victim.block);
            ensure(!is_open, || format!("{:?} is emptied and open", victim.block))?;
        }
        Ok(())
    }

    /// Each directory entry points to a map page of its leaf.
    fn the_directory_leads_to_map_pages(&mut self) -> Checked {
        for leaf in self.map.leaves() {
            let Some(spot) = self.map.spot(leaf) else { continue };
            let (fits, found) = match self.flash.look(spot, Cause::Scrub)? {
                Seen::Unreadable => {
                    return Err(Violation(format!("Uncorrectable: {spot:?}, a map page")));
                }
                Seen::Erased => (false, None),
                Seen::Page(page) => {
                    let fits = page.kind.is_map() && leaf_named(page.slot(0)) == Some(leaf);
                    (fits, Some(page.tag()))
                }
            };
            ensure(fits, || format!("{spot:?} is not the map page of {leaf:?} but {found:?}"))?;
        }
        Ok(())
    }

    /// The slot to which a sector is mapped holds that sector, unless its map page is unreadable; and its block is in
    /// use, whether that map page is counted or not.
    fn every_sector_is_where_the_map_says(&mut self) -> Checked {
        for number in 0..self.shape.capacity.get() {
            let sector = Sector::new(number);
            let Mapped::At(place) = self.lookup(sector)? else { continue };
            let (spot, slot) = self.shape.spot(place);
            ensure(!self.blocks.is_free(spot.block), || {
                format!("{sector} is mapped to {spot:?}, whose block counts as free")
            })?;
            let held = match self.flash.look(spot, Cause::Scrub)? {
                Seen::Unreadable => {
                    return Err(Violation(format!("Uncorrectable: {spot:?} with {sector}")));
                }
                Seen::Erased => Slot::Empty,
                Seen::Page(page) => page.slot(slot),
            };
            ensure(held.copy_of() == Some(sector), || {
                format!("Uncorrectable, or wrong: {sector} is mapped to {spot:?}, {slot}: {held:?}")
            })?;
        }
        Ok(())
    }

    /// A dirty entry's tag is younger than the map page of its leaf, so a mount finds it.
    fn dirty_entries_are_younger_than_their_map_page(&mut self) -> Checked {
        let all: Vec<Dirty> = self.table.entries().collect();
        for Dirty { sector, entry, .. } in all {
            let (leaf, _) = self.shape.leaf_of(sector);
            let (spot, _) = self.shape.spot(entry.place);
            let Some(tag) = self.flash.look(spot, Cause::Scrub)?.tag() else { continue };
            let Some(map) = self.map.spot(leaf) else { continue };
            let Some(page) = self.flash.look(map, Cause::Scrub)?.tag() else { continue };
            ensure(tag.stamp > page.stamp, || {
                format!("{sector} is dirty, and its map page is younger than its tag")
            })?;
        }
        Ok(())
    }

    /// A dirty entry's tag is younger than the horizon, so a mount reads it.
    fn dirty_entries_are_younger_than_the_horizon(&mut self) -> Checked {
        let all: Vec<Dirty> = self.table.entries().collect();
        for Dirty { sector, entry, .. } in all {
            let (spot, _) = self.shape.spot(entry.place);
            let Some(tag) = self.flash.look(spot, Cause::Scrub)?.tag() else { continue };
            let horizon = self.epoch.horizon;
            ensure(tag.stamp > horizon, || {
                format!("{sector} is dirty since {:?}, beyond the horizon {horizon:?}", tag.stamp)
            })?;
        }
        Ok(())
    }
}
