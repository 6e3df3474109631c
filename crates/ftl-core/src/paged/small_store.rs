//! A small page store, for the tests beside the code.

use ftl_iface::{Bytes, NandDevice, SectorCount};
use nand_model::{Chip, Content, datasheet};

use super::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan};
use crate::probe::NoProbe;

/// Returns a chip of a few blocks.
pub(crate) fn chip(part: &str) -> Chip {
    Chip::new(&datasheet::builtin(part).expect("it is built in"), Content::Bytes).expect("a chip")
}

/// Returns a configuration with so many sectors of 1 KiB.
pub(crate) fn config(sectors: u32) -> PagedConfig {
    let (sector_bytes, capacity) = (Bytes::new(1024), Some(SectorCount::new(sectors)));
    PagedConfig { sector_bytes, capacity, ..PagedConfig::SMALL }
}

pub(crate) fn memory(chip: &Chip, config: &PagedConfig) -> OwnedPagedRam {
    OwnedPagedRam::for_plan(&PagedPlan::new(chip.geometry(), config).expect("a plan"))
}

pub(crate) fn formatted<'ram, D: NandDevice>(
    device: D,
    config: &PagedConfig,
    ram: &'ram mut OwnedPagedRam,
) -> PageFtl<'ram, D> {
    PageFtl::format(device, config, ram.lend(), 7, NoProbe).expect("a format")
}

pub(crate) fn mounted<'ram, D: NandDevice>(
    device: D,
    config: &PagedConfig,
    ram: &'ram mut OwnedPagedRam,
) -> PageFtl<'ram, D> {
    PageFtl::mount(device, config, ram.lend(), NoProbe).expect("a mount")
}
