//! A device in the state after a host wrote it once in order, without those writes.
//!
//! The result of such writes is known in advance as long as none goes to the log: each chain block, in order, holds the
//! logical block of its own number, page after page in place. So the chip gets a formula instead of millions of
//! programs, and stores nothing of a block before something else is written to it.

use std::sync::Arc;

use ftl_core::Config;
use ftl_core::hybrid::shape::{Area, HEADER_BLOCKS, Shape};
use ftl_core::layout::{self, FormatKey, Kind, Slots, Stamp as Moment, Tag};
use ftl_iface::{Page, Pairing, Sector, SectorCount};
use nand_model::{Chip, Preset, Stamp};

use crate::base::Failure;
use crate::engine::host;

/// The content of the pages.
#[derive(Debug)]
pub(super) struct Filled {
    chain: Area,
    key: FormatKey,
    /// The FTL's stamp of the first page.
    first: u64,
}

/// Erases of a chain block so far: that of the format.
const WEAR: u32 = 1;

impl Filled {
    /// The content after the format, which has used a stamp for each header and one for the end of each list of bad
    /// blocks.
    pub(super) fn new(shape: &Shape, key: u32) -> Self {
        let first = 2 * u64::from(HEADER_BLOCKS) + 1;
        Self { chain: shape.chain, key: FormatKey::new(key), first }
    }

    /// The page's number, counted over all chain blocks.
    #[inline]
    fn number(&self, page: Page) -> u32 {
        let block = page.block().index() - self.chain.first;
        block * u32::from(self.chain.pages) + u32::from(page.index().get())
    }

    #[inline]
    fn sector(&self, page: Page, slot: u32) -> Sector {
        Sector::new(self.number(page) * u32::from(self.chain.slots) + slot)
    }
}

impl Preset for Filled {
    #[inline]
    fn spare(&self, page: Page, spare: &mut [u8]) {
        let (tagged, rest) = spare.split_at_mut(layout::tag_bytes(self.chain.slots));
        let (first, count) = (self.sector(page, 0), self.chain.slots);
        layout::put_slots(tagged, Slots::Run { first, at: 0, count });
        let stamp = Moment::new(self.first + u64::from(self.number(page)));
        layout::put_tag(tagged, &Tag { kind: Kind::ChainInPlace, stamp, note: WEAR }, self.key);
        if !rest.is_empty() {
            rest.fill(0xFF);
        }
    }

    #[inline]
    fn stamp(&self, page: Page, sector: u32) -> Stamp {
        host::first_stamp(self.sector(page, sector).get())
    }
}

/// Fills the first sectors of a device that was just formatted with that key, as many as [`sectors`] returned.
pub(super) fn fill(
    chip: &mut Chip,
    shape: &Shape,
    key: u32,
    count: SectorCount,
) -> Result<(), Failure> {
    let first = shape.chain.first;
    let blocks = first..first + count.get() / shape.sectors_per_block;
    let preset = chip.preset(shape.chain.region, blocks, Arc::new(Filled::new(shape, key)));
    preset.map_err(|error| Failure::Violation(format!("the device could not be filled: {error}")))
}

/// How many sectors, from the first on, the formula covers: whole chain blocks, and whole requests of `at_once`
/// sectors, the size in which a host writes them. None if the log might take any of these requests, or backups of their
/// paired pages.
pub(super) fn sectors(shape: &Shape, config: &Config, at_once: SectorCount) -> SectorCount {
    let (capacity, at_once) = (shape.capacity.get(), at_once.get());
    let block = shape.sectors_per_block.get();
    let mut step = block;
    while !step.is_multiple_of(at_once) && step < capacity {
        step += block;
    }
    let filled = capacity / step * step;
    let limits = config.filter.limits(config.sector_bytes);
    let hot = match (shape.log, limits) {
        (None, _) => 0,
        (Some(_), Some([_, largest])) => largest.get().div_ceil(config.sector_bytes.get()),
        (Some(_), None) => u32::MAX,
    };
    let last = (capacity - filled) % at_once;
    let is_hot = |request| 0 < request && request <= hot;
    let guarded = shape.guarded != Pairing::None;
    let told = step.is_multiple_of(at_once) && !is_hot(at_once) && !is_hot(last) && !guarded;
    if told { SectorCount::new(filled) } else { SectorCount::ZERO }
}

#[cfg(test)]
mod tests {
    use ftl_core::config::{FilterChoice, LogRegion, PairedPages};
    use ftl_core::hybrid::ram::OwnedRam;
    use ftl_core::{Ftl, NoProbe, RamPlan};
    use ftl_iface::{Block, BlockStore, Bytes, NandDevice, PageIndex};
    use nand_model::Content;
    use nand_model::part::Part;

    use super::super::ours;
    use super::*;
    use crate::engine::host::PREPARED_AT_ONCE;
    use crate::input::device::DeviceChoice;

    const KEY: u32 = 3;

    fn new(part: &Part, config: &Config, plan: &RamPlan) -> Chip {
        let spare_kept = Bytes::new(layout::tag_bytes(plan.shape().chain.slots) as u32);
        let content = Content::Stamps { sector: config.sector_bytes, spare_kept };
        Chip::new(part, content).unwrap()
    }

    /// A device that was formatted and then filled.
    fn filled(part: &Part, config: &Config, plan: &RamPlan) -> (Chip, u32) {
        let mut chip = new(part, config, plan);
        let mut memory = OwnedRam::for_plan(plan);
        Ftl::format(&mut chip, config, memory.lend(), KEY, NoProbe).unwrap();
        let at_once = SectorCount::new(PREPARED_AT_ONCE / config.sector_bytes.get());
        let count = sectors(plan.shape(), config, at_once);
        fill(&mut chip, plan.shape(), KEY, count).unwrap();
        (chip, count.get() / plan.shape().sectors_per_block)
    }

    /// A device that was formatted and then written in order.
    fn written(part: &Part, config: &Config, plan: &RamPlan) -> Chip {
        let mut chip = new(part, config, plan);
        let mut memory = OwnedRam::for_plan(plan);
        let sector = config.sector_bytes.as_usize();
        let mut ftl = Ftl::format(&mut chip, config, memory.lend(), KEY, NoProbe).unwrap();
        let sectors = ftl.capacity().get();
        let at_once = PREPARED_AT_ONCE as usize / sector;
        let mut data = vec![0; at_once * sector];
        for first in (0..sectors).step_by(at_once) {
            let count = at_once.min((sectors - first) as usize);
            for (data, sector) in data.chunks_mut(sector).zip(first..) {
                host::first_stamp(sector).write_to(data);
            }
            ftl.write(Sector::new(first), &data[..count * sector]).unwrap();
        }
        chip
    }

    /// A page's content: its sectors' first bytes, and its spare area.
    fn content(chip: &mut Chip, block: Block, page: u16, sector: usize) -> (Vec<u8>, Vec<u8>) {
        let shape = *chip.geometry().region(block.region()).unwrap();
        let mut data = vec![0; shape.page_bytes.as_usize()];
        let mut spare = vec![0; shape.spare_bytes.as_usize()];
        chip.read(block.page(PageIndex::new(page)), Bytes::ZERO, &mut data, &mut spare).unwrap();
        let heads = data.chunks(sector).flat_map(|sector| &sector[..Stamp::BYTES.as_usize()]);
        (heads.copied().collect(), spare)
    }

    /// Checks that the filled device equals the written one, as far as it is filled; returns how much that is.
    fn compare(part: &Part, config: &Config) -> u32 {
        let plan = RamPlan::new(&part.geometry, config).unwrap();
        let shape = plan.shape();
        let (mut filled, blocks) = filled(part, config, &plan);
        let mut written = written(part, config, &plan);
        let sector = config.sector_bytes.as_usize();
        for number in 0..blocks {
            let block = Block::new(shape.chain.region, shape.chain.first + number);
            let state = |chip: &Chip| (chip.erase_count(block), chip.next_page(block));
            assert_eq!(state(&filled), state(&written), "{}: {block}", part.name);
            for page in 0..shape.chain.pages {
                let filled = content(&mut filled, block, page, sector);
                let written = content(&mut written, block, page, sector);
                assert_eq!(filled, written, "{}: {block}, page {page}", part.name);
            }
        }
        // Nothing entered the log.
        let log = shape.log.map_or(0..0, |log| log.first..log.first + log.block_count().get());
        let mut log = log.map(|at| Block::new(shape.meta.region, at));
        assert!(blocks == 0 || log.all(|at| written.next_page(at) == 0), "{}", part.name);
        blocks
    }

    fn part(device: &str, capacity: u64) -> Part {
        let capacity = Some(capacity);
        let args = DeviceChoice { device: device.into(), capacity, slc: None, parallel: false };
        args.setup().unwrap().part
    }

    /// Whole requests of the preparation's, and half of one.
    const CAPACITY: u64 = (128 << 20) + (256 << 10);

    #[test]
    fn a_filled_device_is_the_one_that_a_host_wrote_through() {
        for device in ["c1", "c3", "k9gag08u0m", "spi-nand-1g"] {
            let part = part(device, CAPACITY);
            let both = part.geometry.slc().is_some() && part.geometry.mlc().is_some();
            let log = if both { LogRegion::SlcRegion } else { LogRegion::FirstBlocks(4) };
            assert!(compare(&part, &Config { log, ..ours::base(&part) }) > 0, "{device}");
            let plain = if both { part.with_slc_bytes(0).unwrap() } else { part };
            let log = LogRegion::None;
            assert!(compare(&plain, &Config { log, ..ours::base(&plain) }) > 0, "{device}");
        }
        // Blocks of 12 MiB, which are not a power of two times a request.
        let part = part("tlc-pslc", 4 * CAPACITY);
        assert!(compare(&part, &Config { log: LogRegion::SlcRegion, ..ours::base(&part) }) > 0);
    }

    #[test]
    fn a_device_is_not_filled_where_the_log_might_take_part() {
        let part = part("c3", CAPACITY);
        let by_size = Config { log: LogRegion::SlcRegion, ..ours::base(&part) };
        let accepts_all = Config { filter: FilterChoice::AcceptAll, ..by_size };
        assert_eq!(compare(&part, &accepts_all), 0);
        let guards = Config { paired_pages: PairedPages::Guard, ..by_size };
        assert_eq!(compare(&part, &guards), 0);
        // The last request, of 64 KiB, is no larger than hot ones may be.
        let hot_end = self::part("c3", (128 << 20) + (64 << 10));
        let by_size = Config { log: LogRegion::SlcRegion, ..ours::base(&hot_end) };
        assert_eq!(compare(&hot_end, &by_size), 0);
    }
}
