//! More dirty entries than the table takes. A mount finds them if its table is smaller than that of the mount before,
//! or if a map page is gone whose entries come back: then the table holds the entries of the first sectors, and the
//! *rest* is entered here, part by part, when the page to be repeated is on flash: the leaves of each part are written,
//! which empties the table for the next one.
//!
//! Until then no block counts as free that holds the newest copy of one of its sectors, no anchor is valid, and the
//! host is not served.

use ftl_iface::{NandDevice, Sector, SectorCount};

use crate::error::Fault;
use crate::paged::flash::PagedKind;
use crate::paged::plan::address::{Leaf, Mapped};
use crate::paged::program::flush::Differs;
use crate::paged::program::page::Written;
use crate::paged::rules;
use crate::paged::tables::dirty::Dirty;
use crate::paged::tables::store::PageFtl;
use crate::probe::{Cause, Probe};

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Enters the rest.
    pub(crate) fn enter_rest(&mut self) -> Result<(), Fault<D::Error>> {
        if rules::must_enter_rest(self.has_rest()) {
            match self.write_parts() {
                Err(Fault::ReadOnly) => {
                    self.read_only = true;
                    self.blocks.unpin_all();
                    self.enter_part()?;
                }
                done => done?,
            }
            self.resume_epoch();
        }
        self.thin_table()
    }

    /// Leaves no more entries in the table than the bound of a request allows for.
    fn thin_table(&mut self) -> Result<(), Fault<D::Error>> {
        let most = self.shape.table_entries + u32::from(self.shape.slots_max());
        for _ in self.map.leaves() {
            if self.read_only || self.table.len() <= most {
                break;
            }
            match self.flush_fullest() {
                Err(Fault::ReadOnly) => self.read_only = true,
                done => done?,
            }
        }
        Ok(())
    }

    /// Writes the leaves of one part after the other, up to the one that fits into the table.
    fn write_parts(&mut self) -> Result<(), Fault<D::Error>> {
        loop {
            self.blocks.unpin_all();
            self.enter_part()?;
            if !self.has_rest() {
                return Ok(());
            }
            let (last, within) = self.shape.leaf_of(self.part.end);
            for leaf in self.map.leaves().take_while(|leaf| *leaf < last) {
                if self.map.dirty(leaf) > 0 {
                    self.write_leaf(leaf)?;
                }
            }
            if within > 0 {
                self.write_large_leaf(last)?;
            }
        }
    }

    /// Fills the table with as many entries as it takes. Those of leaves written since are in their pages.
    pub(crate) fn enter_part(&mut self) -> Result<(), Fault<D::Error>> {
        self.empty_table(Sector::new(0), self.shape.end());
        self.replay_all()?;
        if self.has_rest() {
            let end = self.part.end;
            self.pin_rest()?;
            self.empty_table(Sector::new(0), end);
            self.replay()?;
        }
        self.count_references()
    }

    /// Whether a device that takes no more writes has left a sector to the rest.
    pub(crate) fn is_in_rest(&self, sector: Sector) -> bool {
        self.read_only && rules::may_be_in_rest(self.part.holds(sector))
    }

    /// Fills the table with the entries from a sector on, to read it. Nothing is written any more.
    #[cold]
    #[inline(never)]
    pub(crate) fn enter_part_from(&mut self, sector: Sector) -> Result<(), Fault<D::Error>> {
        self.empty_table(sector, self.shape.end());
        self.replay()?;
        self.count_references()
    }

    /// Pins the blocks that hold the newest copies of sectors in the rest. The mount gives up leaves of the rest here,
    /// before anything is programmed.
    fn pin_rest(&mut self) -> Result<(), Fault<D::Error>> {
        while rules::must_pin_rest(self.has_rest()) {
            self.empty_table(self.part.end, self.shape.end());
            self.replay_all()?;
            self.pin_entries();
        }
        Ok(())
    }

    fn pin_entries(&mut self) {
        for dirty in self.table.entries() {
            self.blocks.pin(self.shape.block_of(dirty.entry.place));
        }
    }

    /// Writes the page of a leaf that has more entries than the table takes.
    fn write_large_leaf(&mut self, leaf: Leaf) -> Result<(), Fault<D::Error>> {
        let (first, sectors) = self.shape.sectors_of(leaf);
        // Its entries are in no table when its page takes the place of the old one.
        self.pin_entries();
        self.empty_table(first, first);
        self.count_references()?;
        let before = self.map.load(&mut self.flash, leaf, Cause::Mount)?;
        let page = self.map.vacate(Some(before));
        self.map.copy(before, page);
        let (mut from, end) = (first, first + SectorCount::new(sectors));
        while from < end {
            self.empty_table(from, end);
            self.replay()?;
            for Dirty { sector, entry, .. } in self.table.entries() {
                self.map.set(page, sector.get() - first.get(), Mapped::At(entry.place));
            }
            from = self.part.end;
        }
        self.rely();
        self.empty_table(first, first);
        self.install((leaf, Written::New(PagedKind::Map)), Differs::Anywhere, before, page)
    }
}

#[cfg(test)]
mod tests {
    use ftl_iface::BlockStore;

    use super::*;
    use crate::paged::small_store::{chip, config, formatted, memory};

    #[test]
    fn a_device_that_takes_no_more_writes_looks_for_the_sectors_of_the_rest() {
        let (chip, config) = (chip("tiny-slc"), config(32));
        let mut ram = memory(&chip, &config);
        let mut ftl = formatted(chip, &config, &mut ram);
        for sector in 0..8 {
            ftl.write(Sector::new(sector), &[sector as u8; 1024]).expect("written");
        }
        ftl.read_only = true;
        ftl.empty_table(Sector::new(0), Sector::new(2));
        ftl.replay().expect("the chip works");
        assert!(ftl.table.get(Sector::new(5)).is_none());
        for sector in (0..8).rev() {
            let mut data = [0xFF; 1024];
            ftl.read(Sector::new(sector), &mut data).expect("it is readable");
            assert_eq!(data, [sector as u8; 1024]);
        }
    }
}
