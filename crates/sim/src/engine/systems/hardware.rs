//! The hardware of a system: total time, energy and price, and the wear and operations of each part.

use std::collections::BTreeMap;

use ftl_iface::{Block, Bytes, Mode, Operations, Region};
use nand_model::part::{Nanos, Part};
use nand_model::{Chip, Energy, Time};

use super::prices::Prices;
use crate::base::show;
use crate::engine::result::PartResult;

/// The state of a system's hardware at a moment. A run's result is the difference of two states.
#[derive(Clone, Debug)]
pub struct Hardware {
    /// The device's name.
    pub device: String,
    /// Whether its operations overlap.
    pub time: Time,
    /// When the last operation ends.
    pub at_rest: Nanos,
    /// The energy of all parts.
    pub energy: Energy,
    /// The price of all parts.
    pub dollars: f64,
    /// Whose prices these are.
    pub prices: Prices,
    /// Every memory.
    pub parts: Vec<PartState>,
}

/// The state of a memory at a moment.
#[derive(Clone, Debug)]
pub struct PartState {
    /// Its name in results: `slc` and `mlc` are the regions of a NAND device.
    pub name: &'static str,
    /// Its size.
    pub bytes: u64,
    /// The bytes worn by one program; `None` if writes cause no wear.
    pub page_bytes: u64,
    /// Cycles of each block.
    pub wear: Vec<u32>,
    /// The cycles that each endures; `None` if that is not told.
    pub endurance: Option<u32>,
    /// Its operations.
    pub operations: Operations,
    /// Bytes that are programmed, and not erased since.
    pub programmed: u64,
    /// The same for each block, in pages; empty if pages are not programmed block by block.
    pub filled: Vec<u16>,
}

impl PartState {
    /// The blocks in which a first page was programmed, so far: each of them was erased since, or will be.
    pub fn begun(&self) -> u64 {
        let erased: u64 = self.wear.iter().copied().map(u64::from).sum();
        erased + self.filled.iter().filter(|pages| **pages > 0).count() as u64
    }

    /// Whether it takes writes before the large memory does.
    pub fn is_front(&self) -> bool {
        self.name != part_name(Region::Mlc)
    }
}

/// The name of a region's part.
pub const fn part_name(region: Region) -> &'static str {
    match region {
        Region::Slc => "slc",
        Region::Mlc => "mlc",
    }
}

/// The name of the part for blocks of the MLC region in SLC mode.
pub const SLC_MODE: &str = "slc-mode";

/// The name of the disk behind the flash.
pub(super) const DISK: &str = "disk";

/// Pages that are programmed in each of a region's blocks, as far as these have that mode.
pub(super) fn filled(chip: &Chip, region: Region, mode: Mode) -> Vec<u16> {
    chip.part().geometry.region(region).map_or_else(Vec::new, |shape| {
        let blocks = (0..shape.blocks.get()).map(|index| Block::new(region, index));
        blocks
            .map(|block| if chip.mode(block) == mode { chip.next_page(block) } else { 0 })
            .collect()
    })
}

/// The bytes of these pages.
pub(super) fn programmed(filled: &[u16], page: Bytes) -> u64 {
    let pages: u64 = filled.iter().copied().map(u64::from).sum();
    pages * u64::from(page.get())
}

impl Hardware {
    /// A NAND device alone, with the operations of its regions.
    pub(super) fn of_chip(chip: &Chip, operations: impl Fn(Region) -> Operations) -> Self {
        let part = chip.part();
        let regions = Region::ALL.into_iter().filter_map(|region| {
            let shape = part.geometry.region(region)?;
            let filled = filled(chip, region, Mode::Full);
            Some(PartState {
                name: part_name(region),
                bytes: shape.capacity_bytes(),
                page_bytes: shape.page_bytes.get().into(),
                wear: chip.erase_counts(region).collect(),
                endurance: part.region(region).map(|figures| figures.endurance),
                operations: operations(region),
                programmed: programmed(&filled, shape.page_bytes),
                filled,
            })
        });
        let stats = chip.stats();
        Self {
            device: part.name.clone(),
            time: chip.time(),
            at_rest: stats.elapsed,
            energy: stats.energy(),
            dollars: part.cost_dollars(),
            prices: Prices::of(part),
            parts: regions.collect(),
        }
    }

    /// The part of that name, if there is one.
    pub fn part(&self, name: &str) -> Option<&PartState> {
        self.parts.iter().find(|part| part.name == name)
    }
}

/// Whether the device has all these memories in these sizes.
pub fn has_all(part: &Part, parts: &BTreeMap<String, PartResult>) -> bool {
    memories(parts).all(|(name, memory)| {
        let region = Region::ALL.into_iter().find(|region| part_name(*region) == name);
        let shape = region.and_then(|region| part.geometry.region(region));
        shape.is_some_and(|shape| shape.capacity_bytes() == memory.bytes)
    })
}

/// Only physical memories count: blocks in SLC mode belong to the MLC.
fn memories(parts: &BTreeMap<String, PartResult>) -> impl Iterator<Item = (&String, &PartResult)> {
    parts.iter().filter(|(name, _)| *name != SLC_MODE)
}

/// Memories and their sizes, in words.
pub fn hardware_name(parts: &BTreeMap<String, PartResult>) -> String {
    let names = memories(parts).map(|(name, part)| format!("{name} {}", show::about(part.bytes)));
    names.collect::<Vec<_>>().join(", ")
}
