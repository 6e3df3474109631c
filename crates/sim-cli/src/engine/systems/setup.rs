//! The device on which systems are built.

use std::collections::BTreeMap;

use ftl_core::layout::SECTORS_MAX;
use ftl_iface::Region;
use nand_model::Time;
use nand_model::part::Part;

use super::hardware::{SLC_MODE, part_name};
use crate::base::show;
use crate::engine::result::PartResult;

/// The device on which systems are built.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The device, with the requested capacity and SLC size.
    pub part: Part,
    /// The requested size of the log, on a device of one region.
    pub log_bytes: Option<u64>,
    /// Whether the device's channels, dies and planes work at the same time.
    pub time: Time,
    /// What its memories store of the host's data.
    pub kept: Stored,
}

/// What a simulated memory stores of a sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stored {
    /// A stamp, by which a replay verifies its reads.
    #[default]
    Stamps,
    /// Every byte, for hosts that read it back.
    Bytes,
}

impl Setup {
    /// Whether the device has all these memories in these sizes.
    pub(crate) fn has_all(&self, parts: &BTreeMap<String, PartResult>) -> bool {
        memories(parts).all(|(name, part)| {
            let region = Region::ALL.into_iter().find(|region| part_name(*region) == name);
            let shape = region.and_then(|region| self.part.geometry.region(region));
            shape.is_some_and(|shape| shape.capacity_bytes() == part.bytes)
        })
    }
}

/// Only physical memories count: blocks in SLC mode belong to the MLC.
fn memories(parts: &BTreeMap<String, PartResult>) -> impl Iterator<Item = (&String, &PartResult)> {
    parts.iter().filter(|(name, _)| *name != SLC_MODE)
}

/// Memories and their sizes, in words.
pub(crate) fn hardware_name(parts: &BTreeMap<String, PartResult>) -> String {
    let names = memories(parts).map(|(name, part)| format!("{name} {}", show::about(part.bytes)));
    names.collect::<Vec<_>>().join(", ")
}

/// The largest capacity that can be requested: the FTLs can number only so many blocks, and reserve some of them.
pub(crate) fn largest_capacity(part: &Part) -> u64 {
    let most = u64::from(part.sector_bytes.get()) * u64::from(SECTORS_MAX);
    // A hundredth less, for the reserved blocks, and rounded.
    let most = most / 10 * 9;
    let round = (256 << 20).min(1 << most.max(1).ilog2().saturating_sub(3));
    (most / round * round).max(1)
}
