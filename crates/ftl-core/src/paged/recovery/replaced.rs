//! What the map page to be repeated (the *suspect*) has replaced. That may be gone: erased, where a mount by anchors
//! found the suspect acknowledged, or was cut in its repetition; or dead. Then a mount that reads every block cannot go
//! by the state before the suspect. It counts on the suspect, and repeats it.

use ftl_iface::{NandDevice, SectorCount};

use crate::error::Fault;
use crate::paged::flash::Seen;
use crate::paged::plan::address::{Leaf, Mapped};
use crate::paged::rules;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{Suspect, What};
use crate::probe::{Cause, Probe};

/// What the page to be repeated has replaced.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replaced {
    /// Nothing shows that it is not there.
    There,
    /// It was erased, or has become unreadable: the mount counts on the page to be repeated.
    Gone,
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Finds out whether the mount has the state before the page to be repeated.
    pub(super) fn replaced(&mut self) -> Result<Replaced, Fault<D::Error>> {
        let Some(Suspect { what: What::Map(leaf), .. }) = self.suspect else {
            return Ok(Replaced::There);
        };
        // Everything before it fitted into the table when it was written.
        let is_smaller = self.shape.table_entries < self.formatted_entries;
        let no_longer_fits = self.has_rest() && !is_smaller;
        if rules::must_count_on_page(no_longer_fits, self.unreadable) {
            return Ok(Replaced::Gone);
        }
        self.replaced_page(leaf)
    }

    /// Looks for entries of the page to be repeated that the page before it must have had.
    fn replaced_page(&mut self, leaf: Leaf) -> Result<Replaced, Fault<D::Error>> {
        let Some(found) = self.leaf_stamp(leaf)? else { return Ok(Replaced::There) };
        if self.epoch.horizon <= found {
            return Ok(Replaced::There);
        }
        let (first, sectors) = self.shape.sectors_of(leaf);
        for at in 0..sectors {
            let Mapped::At(place) = self.map.entry(self.buffer, at) else { continue };
            let sector = first + SectorCount::new(at);
            // What the leaf's page says; the table has what is younger than the horizon.
            if self.mapped(sector, Cause::Mount)? == Mapped::At(place) {
                continue;
            }
            let (spot, slot) = self.shape.spot(place);
            let copied = match self.flash.look(spot, Cause::Mount)? {
                Seen::Page(page) if page.slot(slot).copy_of() == Some(sector) => page.tag().stamp,
                _ => continue,
            };
            if rules::was_in_page_before(copied, found, self.epoch.horizon) {
                return Ok(Replaced::Gone);
            }
        }
        Ok(Replaced::There)
    }
}

#[cfg(test)]
mod tests {
    use ftl_iface::{BlockStore, Sector};
    use nand_model::{Chip, FaultInjector, Fork};

    use super::*;
    use crate::flash::Erasure;
    use crate::layout::Stamp;
    use crate::paged::flash::PagedKind;
    use crate::paged::plan::address::{BlockNumber, Spot};
    use crate::paged::program::flush::Differs;
    use crate::paged::program::page::Written;
    use crate::paged::small_store::{chip, config, formatted, memory, mounted};
    use crate::paged::{OwnedPagedRam, PagedConfig};

    const SECTORS: u32 = 32;
    const LEAF: Leaf = Leaf::new(0);

    /// Returns the block of the leaf's page before this one, if nothing refers to it.
    fn block_before(ftl: &mut PageFtl<'_, Chip>, newest: Stamp) -> Option<BlockNumber> {
        let mut before: Option<(Stamp, BlockNumber)> = None;
        for block in ftl.blocks.all() {
            for page in 0..ftl.shape.area_at(block).pages {
                let seen = ftl.flash.look(Spot { block, page }, Cause::Mount);
                if let Some(tag) = seen.expect("the chip works").tag()
                    && tag.kind.is_map()
                    && tag.stamp < newest
                {
                    before = before.max(Some((tag.stamp, block)));
                }
            }
        }
        before.map(|(_, block)| block).filter(|block| ftl.blocks.is_free(*block))
    }

    fn data_of(turn: u32) -> [u8; 1024] {
        [turn as u8; 1024]
    }

    fn erase_anchors(ftl: &mut PageFtl<'_, Chip>) {
        for block in 0..ftl.shape.anchor_blocks() {
            let _ = ftl.erase_ring_block(block).expect("the chip works");
        }
    }

    /// Writes and stops until the page before the leaf's newest one can be erased, and erases it and all anchors.
    /// Garbage collection may erase it as soon as a mount by anchors has trusted the stop.
    fn without_page_before(chip: Chip, ram: &mut OwnedPagedRam) -> (Chip, Spot, u32) {
        let mut ftl = formatted(chip, &config(SECTORS), ram);
        let (spot, last) = (0..10_000)
            .find_map(|turn| {
                ftl.write(Sector::new(turn % SECTORS), &data_of(turn)).expect("written");
                ftl.stop().expect("stopped");
                let spot = ftl.map.spot(LEAF)?;
                let newest = ftl.stamp_at(spot).expect("the chip works")?;
                let before = block_before(&mut ftl, newest)?;
                assert_eq!(ftl.flash.erase(before, Cause::Gc), Ok(Erasure::Done));
                Some((spot, turn))
            })
            .expect("one in a few map pages is the first of its block");
        erase_anchors(&mut ftl);
        (ftl.device_mut().fork(), spot, last)
    }

    #[test]
    fn a_page_counts_whose_predecessor_was_erased_when_the_anchors_are_gone() {
        let (chip, config) = (chip("tiny-slc"), config(SECTORS));
        let mut ram = memory(&chip, &config);
        let (chip, spot, last) = without_page_before(chip, &mut ram);
        let mut ftl = mounted(chip, &config, &mut ram);
        assert_eq!(ftl.map.spot(LEAF), Some(spot));
        assert!(ftl.suspect.is_some(), "that page may have died, and been erased since");
        ftl.settle().expect("it is writable");
        ftl.check().expect("every invariant holds");
        let mut data = [0; 1024];
        ftl.read(Sector::new(last % SECTORS), &mut data).expect("it is readable");
        assert_eq!(data, data_of(last));
    }

    #[test]
    fn a_page_counts_whose_predecessor_is_unreadable_when_the_entries_no_longer_fit() {
        let sectors = 44;
        let config = PagedConfig { dirty_entries: 32, anchor_blocks: 0, ..config(sectors) };
        let chip = chip("tiny-slc");
        let mut ram = memory(&chip, &config);
        let mut device = FaultInjector::new(chip, 7);
        let mut ftl = formatted(&mut device, &config, &mut ram);
        let mut spots = Vec::new();
        for turn in 0..sectors {
            ftl.write(Sector::new(turn), &data_of(turn)).expect("written");
            spots.extend(ftl.map.spot(LEAF));
        }
        ftl.write_leaf(LEAF).expect("written");
        let last = ftl.map.spot(LEAF).expect("it has a page");
        let shape = ftl.shape;
        assert!(!spots.contains(&last) && sectors > shape.table_most);
        for spot in spots {
            device.lose(shape.area_at(spot.block).page(spot));
        }
        let mut ftl = mounted(&mut device, &config, &mut ram);
        assert_eq!(ftl.map.spot(LEAF), Some(last));
        ftl.settle().expect("it is writable");
        ftl.check().expect("every invariant holds");
        let mut data = [0; 1024];
        for turn in 0..sectors {
            ftl.read(Sector::new(turn), &mut data).expect("it is readable");
            assert_eq!(data, data_of(turn));
        }
    }

    #[test]
    fn a_repetition_of_such_a_page_is_repeated_once_more() {
        let (chip, config) = (chip("tiny-slc"), config(SECTORS));
        let mut ram = memory(&chip, &config);
        let (chip, spot, _) = without_page_before(chip, &mut ram);
        let mut ftl = mounted(chip, &config, &mut ram);
        let first = ftl.stamp_at(spot).expect("the chip works").expect("it is readable");
        let before = ftl.map.load(&mut ftl.flash, LEAF, Cause::Mount).expect("it is readable");
        let page = ftl.map.vacate(Some(before));
        ftl.map.copy(before, page);
        let again = Written::Again(PagedKind::RepeatedMap, first);
        ftl.install((LEAF, again), Differs::Anywhere, before, page).expect("programmed");
        erase_anchors(&mut ftl);
        let (chip, repetition) = (ftl.device_mut().fork(), ftl.map.spot(LEAF));
        let mut ftl = mounted(chip, &config, &mut ram);
        let suspect = ftl.suspect.expect("it may be torn");
        assert_eq!((Some(suspect.spot), suspect.origin), (repetition, Some(spot)));
        ftl.settle().expect("it is writable");
        ftl.check().expect("every invariant holds");
    }
}
