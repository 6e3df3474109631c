//! The hardware of a rival, if the device lacks it or differs.

use ftl_iface::{BlockCount, Geometry, PageCount, Region, RegionGeometry};
use nand_model::datasheet;
use nand_model::part::{Nanos, Part, RegionPart, SlcMode, Timing};

use crate::base::Failure;
use crate::input::device::Setup;

/// The chips of Chang's Table 1, which supply a region that a device lacks.
const BORROWED: [(Region, &str); 2] = [(Region::Slc, "k9f2g08u0a"), (Region::Mlc, "k9gag08u0m")];

/// A region of the device, or the one of Table 1 if it has none: its shape and its figures.
fn region_or_borrowed(
    part: &Part,
    region: Region,
) -> Result<(RegionGeometry, RegionPart), Failure> {
    let of = |part: &Part| Some((*part.geometry.region(region)?, part.region(region)?.clone()));
    if let Some(own) = of(part) {
        return Ok(own);
    }
    let (_, name) = BORROWED[region as usize];
    let borrowed = datasheet::builtin(name)?;
    of(&borrowed).ok_or_else(|| Failure::Unfit(format!("{name} has no {region} region")))
}

/// Blocks of that shape for the device's capacity, spare space included.
fn as_many(part: &Part, shape: &RegionGeometry) -> RegionGeometry {
    let home = part.geometry.mlc().or(part.geometry.slc());
    let bytes = home.map_or(0, RegionGeometry::capacity_bytes);
    let blocks = bytes.div_ceil(shape.block_bytes());
    RegionGeometry { blocks: BlockCount::new(u32::try_from(blocks).unwrap_or(u32::MAX)), ..*shape }
}

/// The whole capacity with the device's SLC figures, on the dies of the memory that it replaces.
pub(super) fn slc_alone(part: &Part) -> Result<Part, Failure> {
    let (shape, figures) = region_or_borrowed(part, Region::Slc)?;
    let layout = match &part.mlc {
        Some(mlc) => mlc.layout,
        None => figures.layout,
    };
    let figures = RegionPart { layout, ..figures };
    let geometry = Geometry::new(Some(as_many(part, &shape)), None);
    let geometry = geometry.map_err(|error| Failure::Unfit(error.to_string()))?;
    Ok(Part { geometry, slc: Some(figures), mlc: None, ..part.clone() })
}

/// The whole capacity with the device's MLC figures.
pub(super) fn mlc_alone(part: &Part) -> Result<Part, Failure> {
    let (shape, figures) = region_or_borrowed(part, Region::Mlc)?;
    let shape = if part.geometry.mlc().is_some() { shape } else { as_many(part, &shape) };
    let geometry = Geometry::new(None, Some(shape));
    let geometry = geometry.map_err(|error| Failure::Unfit(error.to_string()))?;
    Ok(Part { geometry, slc: None, mlc: Some(figures), ..part.clone() })
}

/// The size of the SLC for a device without one, as a share of its capacity: about that of Chang's devices.
const SLC_SHARE: u64 = 64;

/// The fewest blocks of an SLC that a rival can work with.
const SLC_BLOCKS_MIN: u64 = 16;

/// The device with both regions; a missing one comes from Table 1.
pub(super) fn both(setup: &Setup) -> Result<Part, Failure> {
    let part = &setup.part;
    if part.geometry.slc().is_some() && part.geometry.mlc().is_some() {
        return Ok(part.clone());
    }
    let (slc, slc_figures) = region_or_borrowed(part, Region::Slc)?;
    let (mlc, mlc_figures) = region_or_borrowed(part, Region::Mlc)?;
    let mlc = if part.geometry.mlc().is_some() { mlc } else { as_many(part, &mlc) };
    let bytes = setup.log_bytes.unwrap_or(mlc.capacity_bytes() / SLC_SHARE);
    let blocks = (bytes / slc.block_bytes()).max(SLC_BLOCKS_MIN);
    let blocks = BlockCount::new(u32::try_from(blocks).unwrap_or(u32::MAX));
    let geometry = Geometry::new(Some(RegionGeometry { blocks, ..slc }), Some(mlc));
    let geometry = geometry.map_err(|error| Failure::Unfit(error.to_string()))?;
    Ok(Part { geometry, slc: Some(slc_figures), mlc: Some(mlc_figures), ..part.clone() })
}

/// The part with an SLC mode for its MLC blocks. If its file has none, a page in SLC mode takes the time per byte of
/// the device's SLC, or of Table 1's, as in Chang's comparison with Kgil's density control.
pub(super) fn with_slc_mode(mut part: Part, device: &Part) -> Result<Part, Failure> {
    let (slc, figures) = region_or_borrowed(device, Region::Slc)?;
    if let (Some(shape), Some(mlc)) = (part.geometry.mlc().copied(), &mut part.mlc) {
        let as_large = |time: Nanos| {
            let (page, slc_page) = (shape.page_bytes.get(), slc.page_bytes.get());
            Nanos::new((time * u64::from(page)).get().div_ceil(slc_page.into()))
        };
        mlc.slc_mode.get_or_insert(SlcMode {
            pages_per_block: PageCount::new(shape.pages_per_block.get() / shape.cell.bits()),
            timing: Timing {
                read: as_large(figures.timing.read),
                program: as_large(figures.timing.program),
                ..mlc.timing
            },
            endurance: figures.endurance,
        });
    }
    Ok(part)
}
