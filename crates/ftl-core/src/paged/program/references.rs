//! Counting the references to each block after a mount.
//!
//! Those of dirty entries, and the map pages themselves, are counted from RAM; the entries of map pages need a read
//! each. A mount that knows some free blocks by the last anchor leaves these reads to later: each host page counts some
//! leaves, and idle work the others. Meanwhile
//!
//! - every block is presumed to be in use, but those that are known to be free,
//! - no garbage is collected: what the host writes goes to those blocks, and all is counted before an area is down to
//!   the last few of them,
//! - what changes in a leaf that was not counted yet changes no count.

use ftl_iface::{NandDevice, SectorCount};

use crate::error::Fault;
use crate::paged::plan::address::{BlockNumber, Leaf};
use crate::paged::plan::anchor_page::{Listed, take_off};
use crate::paged::plan::shape::Area;
use crate::paged::rules;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::{Counting, Suspect, What};
use crate::probe::{Cause, Probe};
use crate::quotient::ceil;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Counts the references to each block.
    pub(crate) fn count_references(&mut self) -> Result<(), Fault<D::Error>> {
        self.begin_to_count(Listed::default());
        self.count_rest()
    }

    /// Counts what needs no read. What map pages refer to is counted later, if enough blocks are known to be free.
    pub(crate) fn begin_to_count(&mut self, known: Listed) {
        let counting = Counting { next: Leaf::new(0), known };
        self.blocks.presume_used(&counting);
        for dirty in self.table.entries() {
            self.blocks.refer(self.shape.block_of(dirty.entry.place), 1);
        }
        let weight = self.leaf_weight();
        for leaf in self.map.leaves() {
            if let Some(spot) = self.map.spot(leaf) {
                self.blocks.refer(spot.block, weight);
            }
        }
        self.map.begin_proof();
        self.pin_places();
        self.blocks.count_free();
        self.counting = Some(counting);
    }

    /// Counts what each host page pays for, so that all is counted when it has filled a block; or all, if hardly any
    /// block is known to be free.
    pub(crate) fn count_some(&mut self) -> Result<(), Fault<D::Error>> {
        let Some(Counting { next, .. }) = self.counting else { return Ok(()) };
        let left = self.shape.leaves - next.get();
        let pages = u32::from(self.shape.main.pages).saturating_sub(self.flash.programs());
        let due = if self.knows_enough_free() { ceil(left, pages.max(1)) } else { left };
        self.count_leaves(due)
    }

    /// Counts all that is left, unless enough blocks are known to be free.
    pub(crate) fn count_if_short(&mut self) -> Result<(), Fault<D::Error>> {
        if self.knows_enough_free() { Ok(()) } else { self.count_rest() }
    }

    /// Counts all that is left.
    pub(crate) fn count_rest(&mut self) -> Result<(), Fault<D::Error>> {
        self.count_leaves(self.shape.leaves)
    }

    /// Whether every area has more blocks that are known to be free than it must keep.
    fn knows_enough_free(&self) -> bool {
        let enough = |area| self.blocks.free(area) > self.shape.kept_uncounted(area);
        enough(Area::Main) && (!self.shape.has_fast() || enough(Area::Fast))
    }

    /// Counts the next leaves, at most so many.
    pub(crate) fn count_leaves(&mut self, most: u32) -> Result<(), Fault<D::Error>> {
        let Some(counting) = self.counting else { return Ok(()) };
        let next = counting.next;
        let end = self.shape.leaves.min(next.get().saturating_add(most));
        for leaf in next.get()..end {
            self.count_leaf(Leaf::new(leaf))?;
            self.map.prove(leaf + 1);
            if let Some(counting) = &mut self.counting {
                counting.next = Leaf::new(leaf + 1);
            }
        }
        if end == self.shape.leaves {
            self.counting = None;
            self.blocks.presume_no_more(&counting);
        }
        Ok(())
    }

    /// Counts the entries of a leaf's page, but those that dirty entries take the place of.
    fn count_leaf(&mut self, leaf: Leaf) -> Result<(), Fault<D::Error>> {
        if self.map.spot(leaf).is_none() {
            return Ok(());
        }
        let page = self.map.load(&mut self.flash, leaf, Cause::Mount)?;
        let (first, sectors) = self.shape.sectors_of(leaf);
        let Self { table, map, shape, blocks, .. } = self;
        let mut count = |from, to| {
            for place in map.places(page, from..to) {
                blocks.refer(shape.block_of(place), 1);
            }
        };
        let mut from = 0;
        table.show_run(first, SectorCount::new(sectors), |sector, _| {
            let dirty = (sector - first).get();
            count(from, dirty);
            from = dirty + 1;
        });
        count(from, sectors);
        Ok(())
    }

    /// Presumes a block that is opened to be in use, like all others that are not known to be free: what it takes may
    /// be mapped by leaves that are not counted.
    pub(super) fn presume_opened(&mut self, block: BlockNumber) {
        let Some(counting) = &mut self.counting else { return };
        if rules::must_presume(!counting.presumes(block)) {
            take_off(&mut counting.known, block);
            self.blocks.refer(block, 1);
        }
    }

    /// Whether what a leaf's page refers to is counted.
    #[inline]
    pub(crate) fn is_counted(&self, leaf: Leaf) -> bool {
        self.counting.is_none_or(|counting| leaf < counting.next)
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
    use alloc::vec;
    use alloc::vec::Vec;

    use ftl_iface::{BlockStore, Bytes, PageCount, Sector, Work};
    use nand_model::{Chip, Fork};

    use super::*;
    use crate::paged::PagedConfig;
    use crate::paged::flash::Extent;
    use crate::paged::plan::address::{Leaf, Mapped};
    use crate::paged::small_store::{chip, config, formatted, memory, mounted};
    use crate::paged::tables::under_way::Stream;

    const SECTORS: u32 = 32;
    const LEAF: Leaf = Leaf::new(0);

    /// A host that knows what it wrote last to each sector, on a device with many map pages.
    struct Host {
        truth: Vec<u16>,
        dice: u32,
    }

    impl Host {
        const SECTORS: u32 = 12_000;

        fn new() -> Self {
            Self { truth: vec![0; Self::SECTORS as usize], dice: 1 }
        }

        fn config() -> PagedConfig {
            let capacity = Some(SectorCount::new(Self::SECTORS));
            PagedConfig {
                sector_bytes: Bytes::new(2048),
                dirty_entries: 512,
                capacity,
                ..PagedConfig::SMALL
            }
        }

        fn sector(&mut self) -> u32 {
            self.dice = self.dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (self.dice >> 8) % Self::SECTORS
        }

        fn write(&mut self, ftl: &mut PageFtl<'_, Chip>, sector: u32) {
            let version = self.truth[sector as usize] + 1;
            let data: Vec<u8> = version.to_le_bytes().repeat(1024);
            ftl.write(Sector::new(sector), &data).expect("written");
            self.truth[sector as usize] = version;
        }

        fn trim(&mut self, ftl: &mut PageFtl<'_, Chip>, first: u32) {
            let count = 50.min(Self::SECTORS - first);
            ftl.trim(Sector::new(first), SectorCount::new(count)).expect("trimmed");
            self.truth[first as usize..(first + count) as usize].fill(0);
        }

        fn check(&self, ftl: &mut PageFtl<'_, Chip>) {
            ftl.check().expect("every invariant holds");
            for (sector, version) in (0..).zip(&self.truth) {
                let mut data = [0xFF; 2048];
                ftl.read(Sector::new(sector), &mut data).expect("it is readable");
                assert_eq!(data[..2], version.to_le_bytes(), "sector {sector}");
            }
        }
    }

    /// A device that was used, and lost power.
    fn used(host: &mut Host) -> Chip {
        let (chip, config) = (chip("spi-nand-1g"), Host::config());
        let mut ram = memory(&chip, &config);
        let mut ftl = formatted(chip, &config, &mut ram);
        for sector in 0..Host::SECTORS {
            host.write(&mut ftl, sector);
        }
        for _ in 0..3_000 {
            let sector = host.sector();
            host.write(&mut ftl, sector);
        }
        ftl.device_mut().fork()
    }

    #[test]
    fn what_a_mount_leaves_uncounted_is_counted_while_the_host_writes() {
        let (mut host, config) = (Host::new(), Host::config());
        let chip = used(&mut host);
        let mut ram = memory(&chip, &config);
        let mut ftl = mounted(chip, &config, &mut ram);
        assert!(ftl.counting.is_some());
        let mut writes = 0;
        while ftl.counting.is_some() {
            let sector = host.sector();
            host.write(&mut ftl, sector);
            // In leaves that are counted, and in others.
            let leaf = ftl.shape.leaf_of(Sector::new(sector)).0;
            match writes % 4 {
                1 => host.trim(&mut ftl, sector),
                2 => ftl.write_leaf(leaf).expect("written"),
                _ => {}
            }
            if writes % 8 == 0 {
                ftl.check().expect("every invariant holds");
            }
            writes += 1;
        }
        assert!(writes > 8, "{writes}");
        host.check(&mut ftl);
        for _ in 0..3_000 {
            let sector = host.sector();
            host.write(&mut ftl, sector);
        }
        host.check(&mut ftl);
    }

    #[test]
    fn a_block_that_a_mount_knows_to_be_free_is_free() {
        let (mut host, config) = (Host::new(), Host::config());
        let chip = used(&mut host);
        let mut ram = memory(&chip, &config);
        let mut ftl = mounted(chip, &config, &mut ram);
        let mut opened = 0;
        for _ in 0..200 {
            let sector = host.sector();
            host.write(&mut ftl, sector);
            // Then the map refers to the block, and no dirty entry does.
            ftl.write_leaf(ftl.shape.leaf_of(Sector::new(sector)).0).expect("written");
            let listed = ftl.anchors.listed;
            let chip = ftl.device_mut().fork();
            let mut ram = memory(&chip, &config);
            let mut ftl = mounted(chip, &config, &mut ram);
            let Some(Counting { known, .. }) = ftl.counting else { continue };
            opened += usize::from(known != listed);
            ftl.count_rest().expect("the chip works");
            for block in known.iter().flatten().flatten() {
                assert!(ftl.blocks.is_free(*block), "{block:?}");
            }
        }
        assert!(opened > 20, "{opened}");
    }

    #[test]
    fn a_block_that_is_filled_before_the_map_is_counted_stays() {
        // Blocks of the fast area have a third of the pages.
        let chip = chip("tlc-pslc");
        let bytes = Bytes::new(4096);
        let config = PagedConfig { sector_bytes: bytes, ..PagedConfig::LARGE };
        let mut ram = memory(&chip, &config);
        let mut ftl = formatted(chip, &config, &mut ram);
        let last = ftl.shape.end().get() - 900;
        let data = vec![1; 20 * bytes.as_usize()];
        for sector in (last..last + 900).step_by(20) {
            ftl.write(Sector::new(sector), &data).expect("written");
        }
        ftl.stop().expect("stopped");
        let chip = ftl.device_mut().fork();
        let mut ram = memory(&chip, &config);
        let mut ftl = mounted(chip, &config, &mut ram);
        let write = |ftl: &mut PageFtl<'_, Chip>, sector| {
            ftl.write(Sector::new(sector), &data[..bytes.as_usize()]).expect("written");
        };
        let pages = ftl.shape.map_area().pages;
        for sector in last..last + u32::from(pages) {
            write(&mut ftl, sector);
        }
        let filled = ftl.opens[Stream::Hot as usize].expect("it is open").block;
        // The page of their leaf is written.
        ftl.trim(Sector::new(last + 800), SectorCount::new(1)).expect("trimmed");
        write(&mut ftl, last + u32::from(pages));
        assert_ne!(ftl.opens[Stream::Hot as usize].map(|open| open.block), Some(filled));
        assert!(ftl.counting.is_some() && !ftl.blocks.is_free(filled));
    }

    #[test]
    fn idle_work_counts_what_a_mount_leaves_uncounted() {
        let (mut host, config) = (Host::new(), Host::config());
        let chip = used(&mut host);
        let mut ram = memory(&chip, &config);
        let mut ftl = mounted(chip, &config, &mut ram);
        let leaves = ftl.shape.leaves;
        assert_eq!(ftl.maintain(PageCount::new(leaves - 1)), Ok(Work::Left));
        assert!(ftl.counting.is_some());
        ftl.maintain(PageCount::new(1)).expect("it works");
        assert!(ftl.counting.is_none());
        host.check(&mut ftl);
    }

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
