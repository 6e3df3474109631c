//! Chips and configurations from bytes: mostly good ones, sometimes with a figure that means nothing.

use ftl_c::{Geometry, Pages, Region};
use torture::script::Script;

use crate::face::Face;

/// The most pages of a chip, so that an input takes milliseconds.
const PAGES_MAX: u64 = 800;

/// The least blocks of a chip: some are lent to an examination.
const BLOCKS_MIN: u32 = 8;

/// The most sectors of a device, for the same reason.
const SECTORS_MAX: u32 = 400;

const NONE: Region = Region {
    blocks: 0,
    pages_per_block: 0,
    page_bytes: 0,
    spare_bytes: 0,
    cell_bits: 0,
    pairing: 0,
};

const fn slc(blocks: u32, pages_per_block: u32, page_bytes: u32) -> Region {
    // 12 bytes for the tag and 4 for each sector of the least size.
    let spare_bytes = 12 + 4 * (page_bytes / 512);
    let pairing = Pages::Unpaired as u32;
    Region { blocks, pages_per_block, page_bytes, spare_bytes, cell_bits: 1, pairing }
}

const fn mlc(blocks: u32, pages_per_block: u32, page_bytes: u32, pairing: Pages) -> Region {
    let cell_bits = if matches!(pairing, Pages::Adjacent3) { 3 } else { 2 };
    let plain = slc(blocks, pages_per_block, page_bytes);
    Region { cell_bits, pairing: pairing as u32, ..plain }
}

/// One region of each kind and both, one sector a page and several, each pairing.
const CHIPS: [Geometry; 7] = [
    Geometry { slc: slc(24, 8, 512), mlc: NONE },
    Geometry { slc: slc(32, 16, 512), mlc: NONE },
    Geometry { slc: slc(20, 8, 1024), mlc: NONE },
    Geometry { slc: slc(12, 8, 512), mlc: mlc(18, 16, 1024, Pages::Distance3) },
    Geometry { slc: NONE, mlc: mlc(24, 16, 1024, Pages::Adjacent2) },
    Geometry { slc: slc(10, 8, 512), mlc: mlc(18, 12, 512, Pages::Adjacent3) },
    Geometry { slc: NONE, mlc: mlc(28, 16, 512, Pages::Distance6) },
];

/// A figure that means something elsewhere, or nothing.
fn figure(source: &mut Script<'_>, now: u32) -> u32 {
    match source.below(8) {
        0 => now.wrapping_add(1),
        1 => now.wrapping_sub(1),
        2 => 0,
        3 => 1 + source.below(8),
        4 => 1 << source.below(32),
        5 => u32::MAX - source.below(3),
        6 => source.below(1 << 16),
        _ => u32::from(source.byte()) << 24 | source.below(1 << 16),
    }
}

pub(crate) fn geometry(source: &mut Script<'_>) -> Geometry {
    let mut geometry = CHIPS[source.below(CHIPS.len() as u32) as usize];
    let more = source.below(16);
    for region in [&mut geometry.slc, &mut geometry.mlc] {
        if region.blocks > 0 {
            region.blocks += more % 5;
        }
    }
    if more == 15 {
        let region =
            if source.byte().is_multiple_of(2) { &mut geometry.slc } else { &mut geometry.mlc };
        let field = match source.below(6) {
            0 => &mut region.blocks,
            1 => &mut region.pages_per_block,
            2 => &mut region.page_bytes,
            3 => &mut region.spare_bytes,
            4 => &mut region.cell_bits,
            _ => &mut region.pairing,
        };
        *field = figure(source, *field);
    }
    geometry
}

/// Whether a chip of that shape is small enough to be played, and has a few blocks at all.
pub(crate) fn is_playable(geometry: &Geometry) -> bool {
    let is_small = |region: &Region| {
        region.page_bytes <= 4096 && region.spare_bytes <= 4096 && region.blocks <= 64
    };
    let pages = |region: &Region| u64::from(region.blocks) * u64::from(region.pages_per_block);
    let Geometry { slc, mlc } = geometry;
    let has_some = slc.blocks.saturating_add(mlc.blocks) >= BLOCKS_MIN;
    has_some && is_small(slc) && is_small(mlc) && pages(slc).saturating_add(pages(mlc)) <= PAGES_MAX
}

/// A usual configuration, with a capacity that leaves more or less to spare.
pub(crate) fn config<F: Face>(geometry: &Geometry, source: &mut Script<'_>) -> F::Config {
    let mut config = F::usual(geometry, u32::from(source.byte()));
    let regions = [&geometry.slc, &geometry.mlc].into_iter().filter(|region| region.blocks > 0);
    let page = regions.map(|region| region.page_bytes).min().unwrap_or(512);
    let sector = if source.byte().is_multiple_of(2) { page.min(4096) } else { 512 };
    let main = if geometry.mlc.blocks > 0 { geometry.mlc } else { geometry.slc };
    let bytes = main.blocks.wrapping_mul(main.pages_per_block).wrapping_mul(main.page_bytes);
    let share = bytes / sector.max(1) / 32 * (8 + source.below(16));
    let mut fields = F::fields(&mut config);
    (*fields[0], *fields[1]) = (sector, share.clamp(1, SECTORS_MAX));
    config
}

/// The same with some other fields.
pub(crate) fn changed<F: Face>(mut config: F::Config, source: &mut Script<'_>) -> F::Config {
    let mut fields = F::fields(&mut config);
    for _ in 0..source.below(4) {
        let at = source.below(fields.len() as u32) as usize;
        *fields[at] = figure(source, *fields[at]);
    }
    config
}
