//! Whether a part's figures can be simulated at all.

use ftl_iface::{Region, RegionGeometry};

use crate::content::ContentError;
use crate::part::{Layout, Nanos, Part, RegionPart};

/// Why a chip cannot be made of a part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChipError {
    /// The geometry has a region whose times and endurance are not given.
    #[error("the part \"{part}\" has an {region} region but no figures for it: give its timing")]
    NoFigures {
        /// The part's name.
        part: String,
        /// The region.
        region: Region,
    },
    /// No channel, die or plane, or more planes than a die can have.
    #[error(
        "the part \"{part}\" is laid out without a channel, a die or a plane, or with too many: \
         give 1 to 65536 dies of 1 to 64 planes"
    )]
    Layout {
        /// The part's name.
        part: String,
    },
    /// A time that no device takes: sums of such times would not fit.
    #[error(
        "the part \"{part}\" has {region} operations of more than an hour, or more than a \
         millisecond a byte: give shorter times"
    )]
    Times {
        /// The part's name.
        part: String,
        /// The region.
        region: Region,
    },
    /// A page or a block larger than any device's.
    #[error(
        "the part \"{part}\" has {region} pages of more than 1 MiB, or blocks of more than \
         128 MiB: give smaller ones"
    )]
    Size {
        /// The part's name.
        part: String,
        /// The region.
        region: Region,
    },
    /// An SLC mode of a region of one bit a cell, or with more pages than a bit of each cell holds.
    #[error(
        "the part \"{part}\" gives {region} blocks an SLC mode that their cells do not have: \
         give fewer pages, or no mode"
    )]
    SlcMode {
        /// The part's name.
        part: String,
        /// The region.
        region: Region,
    },
    /// Pages cannot be kept that way.
    #[error(transparent)]
    Content(#[from] ContentError),
}

pub(super) fn layout(part: &Part) -> Result<(), ChipError> {
    /// Far beyond any device; keeps a damaged figure from asking for all memory.
    const DIES_MAX: u64 = 1 << 16;
    let possible = |layout: Layout| {
        let dies = u64::from(layout.channels) * u64::from(layout.dies_per_channel);
        // The planes at work in a die are the bits of a u64.
        (1..=DIES_MAX).contains(&dies) && (1..=64).contains(&layout.planes_per_die)
    };
    if part.layouts().all(possible) {
        Ok(())
    } else {
        Err(ChipError::Layout { part: part.name.clone() })
    }
}

pub(super) fn figures(
    part: &Part,
    region: Region,
    shape: &RegionGeometry,
    figures: &RegionPart,
) -> Result<(), ChipError> {
    const HOUR: Nanos = Nanos::from_micros(3_600_000_000);
    const PICOS_PER_BYTE_MAX: u64 = 1_000_000_000;
    const PAGE_MAX: u32 = 1 << 20;
    const BLOCK_MAX: u64 = 128 << 20;
    let timing = figures.timing;
    let longest = timing.read.max(timing.program).max(timing.erase);
    if longest > HOUR || timing.bus_picos_per_byte > PICOS_PER_BYTE_MAX {
        return Err(ChipError::Times { part: part.name.clone(), region });
    }
    if let Some(mode) = figures.slc_mode {
        let (bits, pages) = (shape.cell.bits(), mode.pages_per_block.get());
        let most = if bits > 1 { shape.pages_per_block.get().div_ceil(bits) } else { 0 };
        let longest = mode.timing.read.max(mode.timing.program).max(mode.timing.erase);
        if pages == 0 || pages > most || longest > HOUR {
            return Err(ChipError::SlcMode { part: part.name.clone(), region });
        }
    }
    let largest = shape.page_bytes.max(shape.spare_bytes).get();
    let block = u64::from(shape.pages_per_block.get())
        * (u64::from(shape.page_bytes.get()) + u64::from(shape.spare_bytes.get()));
    if largest > PAGE_MAX || block > BLOCK_MAX {
        return Err(ChipError::Size { part: part.name.clone(), region });
    }
    Ok(())
}
