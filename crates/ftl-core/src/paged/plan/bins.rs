//! How many bins of cells the table of dirty entries has.

use crate::quotient;

/// The cells of a bin.
pub(crate) const BIN: usize = 16;
/// The low bits of a sector, which a cell has: all sectors of a bin have the same upper half.
pub(crate) const LOW_BITS: u32 = 16;
/// The most neighbours that share their cells among one bin fewer, when a bin is needed.
pub(crate) const NEIGHBOURS: usize = 5;
/// The cells in use that make a bin full enough: with fewer on average, some neighbours save a bin.
const HELD: u32 = 13;

/// Returns how many bins surely take this many cells, of a device with this many sectors.
///
/// If five neighbours save none, they hold 65 cells or more, 4 · 16 + 1: thirteen each. At the end of a span, one to
/// four bins are left that hold too few for that by less than one bin.
pub(crate) const fn bins_for(cells: u32, sectors: u32) -> u32 {
    let spans = quotient::ceil(sectors, 1 << LOW_BITS);
    let spans = if spans < cells { spans } else { cells };
    quotient::ceil(cells, HELD) + spans + 1
}
