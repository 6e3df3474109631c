//! How large a device may be made.

use ftl_core::layout::SECTORS_MAX;
use nand_model::part::Part;

/// The largest capacity that can be requested: the FTLs can number only so many blocks, and reserve some of them.
pub(crate) fn largest_capacity(part: &Part) -> u64 {
    let most = u64::from(part.sector_bytes.get()) * u64::from(SECTORS_MAX);
    // A hundredth less, for the reserved blocks, and rounded.
    let most = most / 10 * 9;
    let round = (256 << 20).min(1 << most.max(1).ilog2().saturating_sub(3));
    (most / round * round).max(1)
}
