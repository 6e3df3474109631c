//! From a file's keys to a [`Part`]: whether they agree with each other.

use ftl_iface::{
    BlockCount, Bytes, Cell, Geometry, GeometryError, PageCount, PageIndex, Pairing, Region,
    RegionGeometry,
};

use super::sheet::{LayoutSheet, PairingSheet, RegionSheet, Sheet, SlcModeSheet};
use crate::part::{Ecc, Layout, Nanos, Part, Power, RegionPart, SlcMode, Timing, kept_table};

/// A key and what is wrong with it.
pub(super) struct Objection {
    pub(super) key: String,
    pub(super) reason: String,
}

impl Objection {
    fn new(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { key: key.into(), reason: reason.into() }
    }

    fn of_region(region: Region, key: &str, reason: impl Into<String>) -> Self {
        Self::new(format!("{}.{key}", section(region)), reason)
    }
}

/// The most channels, or dies of a channel: far above any controller's. A chip has up to 65,536 dies.
const DIES_MAX: u32 = 256;

/// The most planes of a die.
const PLANES_MAX: u32 = 64;

/// The largest page: far above any chip's, and small enough for a buffer on a host.
const PAGE_BYTES_MAX: u64 = 1 << 20;

/// The smallest sector, that of every disk interface.
const SECTOR_BYTES_MIN: u64 = 512;

/// The device that a file describes, once its keys are found to agree.
pub(super) fn part(sheet: Sheet) -> Result<Part, Objection> {
    check_name(&sheet.name)?;
    check_price_source(sheet.price_source.as_deref())?;
    let shared = sheet.layout.as_ref().map(|layout| parallel("layout", layout)).transpose()?;
    let layout = shared.unwrap_or(Layout::SINGLE);
    let own = |region, sheet: Option<&RegionSheet>| {
        sheet.map_or(Ok(None), |sheet| own_layout(region, sheet))
    };
    let own = [own(Region::Slc, sheet.slc.as_ref())?, own(Region::Mlc, sheet.mlc.as_ref())?];
    let [slc_width, mlc_width] = own.map(|own| own.unwrap_or(layout).stripe_width());
    let slc_shape = sheet.slc.as_ref().map(|slc| shape(Region::Slc, slc, slc_width)).transpose()?;
    let mlc_shape = sheet.mlc.as_ref().map(|mlc| shape(Region::Mlc, mlc, mlc_width)).transpose()?;
    let geometry = Geometry::new(slc_shape, mlc_shape).map_err(geometry_objection)?;
    let [slc_own, mlc_own] = own;
    let slc = sheet.slc.map(|slc| region(Region::Slc, &slc, slc_own)).transpose()?;
    let mlc = sheet.mlc.map(|mlc| region(Region::Mlc, &mlc, mlc_own)).transpose()?;
    let sector_bytes = sector(sheet.sector, &geometry)?;
    check_exported(sheet.exported, sheet.sector, &geometry)?;
    Ok(Part {
        name: sheet.name,
        title: sheet.title,
        geometry,
        slc,
        mlc,
        layout,
        power: Power {
            supply_millivolts: sheet.power.supply,
            active_microamps: sheet.power.active,
            standby_microamps: sheet.power.standby,
        },
        exported_bytes: sheet.exported,
        sector_bytes,
        price_source: sheet.price_source,
    })
}

/// The section that describes the region.
const fn section(region: Region) -> &'static str {
    match region {
        Region::Slc => "slc",
        Region::Mlc => "mlc",
    }
}

fn check_name(name: &str) -> Result<(), Objection> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.is_empty() && name.chars().all(plain) {
        return Ok(());
    }
    Err(Objection::new("name", "a name has lower-case letters, digits and dashes alone: rename it"))
}

fn check_price_source(source: Option<&str>) -> Result<(), Objection> {
    let says_something =
        |source: &str| !source.trim().is_empty() && !source.contains(char::is_control);
    if source.is_none_or(says_something) {
        return Ok(());
    }
    let reason = "it says whose the prices are in one line, as in \"distributor's list (2026)\", or is left out";
    Err(Objection::new("price_source", reason))
}

fn shape(region: Region, sheet: &RegionSheet, width: u32) -> Result<RegionGeometry, Objection> {
    let object = |key, reason: String| Objection::of_region(region, key, reason);
    let cell = match (region, sheet.cell) {
        (_, Some(cell)) => cell,
        (Region::Slc, None) => Cell::Slc,
        (Region::Mlc, None) => {
            return Err(object("cell", "it is missing: give \"mlc\" or \"tlc\"".into()));
        }
    };
    if sheet.page > PAGE_BYTES_MAX {
        return Err(object("page", "no page is larger than 1MiB: give less".into()));
    }
    if sheet.spare > sheet.page {
        return Err(object(
            "spare",
            "it is larger than the page: give the bytes of one page".into(),
        ));
    }
    if !sheet.pages_per_block.is_multiple_of(width) {
        let reason = format!(
            "a striped block has as many pages on each of its {width} planes: give a multiple"
        );
        return Err(object("pages_per_block", reason));
    }
    let pairing = pairing(cell, sheet).map_err(|reason| object("pairing", reason))?;
    Ok(RegionGeometry {
        cell,
        blocks: BlockCount::new(sheet.blocks),
        pages_per_block: PageCount::new(sheet.pages_per_block),
        page_bytes: Bytes::new(sheet.page as u32),
        spare_bytes: Bytes::new(sheet.spare as u32),
        pairing: striped(pairing, PageCount::new(sheet.pages_per_block), width),
    })
}

/// The scheme, if it fits the cell. The geometry checks that cells of several bits have one.
fn pairing(cell: Cell, sheet: &RegionSheet) -> Result<Pairing, String> {
    match &sheet.pairing {
        PairingSheet::Named(Pairing::None) => Ok(Pairing::None),
        PairingSheet::Named(scheme) => {
            let bits = if *scheme == Pairing::Adjacent3 { 3 } else { 2 };
            if cell != Cell::Slc && cell.bits() != bits {
                return Err(format!(
                    "the scheme is for cells of {bits} bits, and these have {}: name another or \
                     list the word lines",
                    cell.bits()
                ));
            }
            Ok(*scheme)
        }
        PairingSheet::Table(lines) => {
            check_table(lines, cell, sheet.pages_per_block)?;
            Ok(Pairing::Table(kept_table(lines)))
        }
    }
}

/// The scheme of a block whose pages go over that many planes by turns: pages share cells with others of their plane
/// alone.
fn striped(pairing: Pairing, pages: PageCount, width: u32) -> Pairing {
    // What no block can have is the geometry's to refuse.
    if width == 1 || pairing == Pairing::None || pages.get() > u32::from(u16::MAX) {
        return pairing;
    }
    let on_plane = PageCount::new(pages.get() / width);
    let line = |page: u32| {
        let own = PageIndex::new((page / width) as u16);
        let first = pairing.endangered(own, on_plane).next().unwrap_or(own);
        (u32::from(first.get()) * width + page % width) as u16
    };
    let lines: Vec<u16> = (0..pages.get()).map(line).collect();
    Pairing::Table(kept_table(&lines))
}

fn check_table(lines: &[u16], cell: Cell, pages_per_block: u32) -> Result<(), String> {
    if lines.len() > pages_per_block as usize {
        return Err(format!(
            "the table lists {} pages and a block has {pages_per_block}: list one word line a page",
            lines.len()
        ));
    }
    if lines.is_empty() {
        return Err("the table gives no page its word line: list one word line a page".into());
    }
    let mut held = vec![0_u32; 1 << 16];
    for (page, line) in lines.iter().enumerate() {
        let pages = &mut held[usize::from(*line)];
        *pages += 1;
        if *pages > cell.bits() {
            return Err(format!(
                "word line {line} is given one page too many at page {page}: a word line of {} \
                 cells holds {}",
                cell.name(),
                cell.bits()
            ));
        }
    }
    Ok(())
}

fn region(
    region: Region,
    sheet: &RegionSheet,
    layout: Option<Layout>,
) -> Result<RegionPart, Objection> {
    let object = |key, reason: &str| Err(Objection::of_region(region, key, reason));
    for (key, time) in [("read", sheet.read), ("program", sheet.program), ("erase", sheet.erase)] {
        if time == Nanos::ZERO {
            return object(key, "an operation takes time: give more than 0");
        }
    }
    if sheet.ecc_codeword == 0 || !sheet.page.is_multiple_of(sheet.ecc_codeword) {
        return object(
            "ecc_codeword",
            "a page is a whole number of codewords: give a divisor of it",
        );
    }
    let Ok(correctable_bits) = u16::try_from(sheet.ecc_bits) else {
        return object("ecc_bits", "no code corrects more than 65535 bits: give less");
    };
    if sheet.factory_bad_blocks_max >= sheet.blocks {
        return object("factory_bad_blocks_max", "no block would be good: give less than `blocks`");
    }
    Ok(RegionPart {
        timing: Timing {
            read: sheet.read,
            program: sheet.program,
            erase: sheet.erase,
            bus_picos_per_byte: sheet.bus_per_byte,
        },
        endurance: sheet.endurance,
        // A divisor of the page, which fits.
        ecc: Ecc { correctable_bits, codeword_bytes: sheet.ecc_codeword as u32 },
        factory_bad_blocks_max: BlockCount::new(sheet.factory_bad_blocks_max),
        dollars_per_gib: sheet.dollars_per_gib,
        slc_mode: sheet.slc_mode.as_ref().map(|mode| slc_mode(region, sheet, mode)).transpose()?,
        layout,
    })
}

/// The dies of the region's own, if it has any.
fn own_layout(region: Region, sheet: &RegionSheet) -> Result<Option<Layout>, Objection> {
    let section = format!("{}.layout", section(region));
    sheet.layout.as_ref().map(|layout| parallel(&section, layout)).transpose()
}

/// The region's SLC mode, once it is found to be one.
fn slc_mode(
    region: Region,
    sheet: &RegionSheet,
    mode: &SlcModeSheet,
) -> Result<SlcMode, Objection> {
    let object = |key: &str, reason: String| {
        Err(Objection::of_region(region, &format!("slc_mode.{key}"), reason))
    };
    let bits = sheet.cell.unwrap_or(Cell::Slc).bits();
    if bits == 1 {
        let reason = "cells of one bit have no other mode: leave the section out".into();
        return object("pages_per_block", reason);
    }
    let most = sheet.pages_per_block.div_ceil(bits);
    if mode.pages_per_block > most {
        let reason = format!("one bit of {bits} is left: give {most} or less");
        return object("pages_per_block", reason);
    }
    for (key, time) in [("read", mode.read), ("program", mode.program), ("erase", mode.erase)] {
        if time == Nanos::ZERO {
            return object(key, "an operation takes time: give more than 0".into());
        }
    }
    Ok(SlcMode {
        pages_per_block: PageCount::new(mode.pages_per_block),
        timing: Timing {
            read: mode.read,
            program: mode.program,
            erase: mode.erase,
            bus_picos_per_byte: sheet.bus_per_byte,
        },
        endurance: mode.endurance,
    })
}

fn sector(bytes: u64, geometry: &Geometry) -> Result<Bytes, Objection> {
    let smallest_page = Region::ALL
        .iter()
        .filter_map(|region| geometry.region(*region))
        .map(|shape| u64::from(shape.page_bytes.get()))
        .min()
        .unwrap_or(SECTOR_BYTES_MIN);
    if !bytes.is_power_of_two() || !(SECTOR_BYTES_MIN..=smallest_page).contains(&bytes) {
        return Err(Objection::new(
            "sector",
            format!(
                "give a power of two from {SECTOR_BYTES_MIN}B to the smallest page, {smallest_page}B"
            ),
        ));
    }
    Ok(Bytes::new(bytes as u32))
}

fn check_exported(bytes: u64, sector: u64, geometry: &Geometry) -> Result<(), Objection> {
    // An MLC region holds all of the host's data in the end; the SLC region before it adds nothing to the size.
    let home = geometry.mlc().or(geometry.slc()).map_or(0, RegionGeometry::capacity_bytes);
    if bytes == 0 || !bytes.is_multiple_of(sector) || bytes > home {
        return Err(Objection::new(
            "exported",
            format!("give a whole number of sectors within the {home}B that the device holds"),
        ));
    }
    Ok(())
}

fn parallel(section: &str, sheet: &LayoutSheet) -> Result<Layout, Objection> {
    for (key, count, max) in [
        ("channels", sheet.channels, DIES_MAX),
        ("dies_per_channel", sheet.dies_per_channel, DIES_MAX),
        ("planes_per_die", sheet.planes_per_die, PLANES_MAX),
    ] {
        if count > max {
            let reason = format!("no device has more than {max}: give less");
            return Err(Objection::new(format!("{section}.{key}"), reason));
        }
    }
    Ok(Layout {
        channels: sheet.channels,
        dies_per_channel: sheet.dies_per_channel,
        planes_per_die: sheet.planes_per_die,
        stripe: sheet.stripe,
    })
}

/// The key to mend, for what the geometry itself finds impossible.
fn geometry_objection(error: GeometryError) -> Objection {
    let reason = error.to_string();
    match error {
        GeometryError::NoBlocks(region) | GeometryError::TooManyPages(region) => {
            Objection::of_region(region, "blocks", reason)
        }
        GeometryError::PagesPerBlock(region, _) => {
            Objection::of_region(region, "pages_per_block", reason)
        }
        GeometryError::PageBytes(region, _) => Objection::of_region(region, "page", reason),
        GeometryError::Pairing(region, _) => Objection::of_region(region, "pairing", reason),
        GeometryError::SlcRegionStoresMoreBits(_) => Objection::new("slc.cell", reason),
        GeometryError::MlcRegionStoresOneBit => Objection::new("mlc.cell", reason),
        _ => Objection::new("", reason),
    }
}
