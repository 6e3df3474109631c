//! Parts and pages that several test files share.
#![allow(dead_code)] // Each test file uses some of them.

use ftl_iface::{
    Block, BlockCount, Bytes, Cell, Corrected, Geometry, NandDevice, Page, PageCount, PageIndex,
    Pairing, ReadError, Region, RegionGeometry,
};
use nand_model::part::{Ecc, Layout, Nanos, Part, Power, RegionPart, Timing};
use nand_model::{Chip, Content};

/// Round figures that are easy to add up by hand. Times in microseconds: (read, program, erase).
pub(crate) fn figures(micros: (u64, u64, u64), bus_picos_per_byte: u64) -> RegionPart {
    RegionPart {
        timing: Timing {
            read: Nanos::from_micros(micros.0),
            program: Nanos::from_micros(micros.1),
            erase: Nanos::from_micros(micros.2),
            bus_picos_per_byte,
        },
        endurance: 3_000,
        ecc: Ecc { correctable_bits: 8, codeword_bytes: 512 },
        factory_bad_blocks_max: BlockCount::new(2),
        dollars_per_gib: 1.0,
        slc_mode: None,
        layout: None,
    }
}

pub(crate) fn slc_shape() -> RegionGeometry {
    RegionGeometry {
        cell: Cell::Slc,
        blocks: BlockCount::new(8),
        pages_per_block: PageCount::new(4),
        page_bytes: Bytes::new(512),
        spare_bytes: Bytes::new(16),
        pairing: Pairing::None,
    }
}

pub(crate) fn mlc_shape() -> RegionGeometry {
    RegionGeometry {
        cell: Cell::Mlc,
        blocks: BlockCount::new(16),
        pages_per_block: PageCount::new(8),
        page_bytes: Bytes::new(1024),
        spare_bytes: Bytes::new(32),
        pairing: Pairing::Distance3,
    }
}

/// One chip in two modes: 8 SLC and 16 MLC blocks. SLC 25/200/1500 us, MLC 50/800/1500 us, no bus time.
pub(crate) fn hybrid() -> Part {
    part(Some(slc_shape()), Some(mlc_shape()), 0, Layout::SINGLE)
}

pub(crate) fn part(
    slc: Option<RegionGeometry>,
    mlc: Option<RegionGeometry>,
    bus_picos_per_byte: u64,
    layout: Layout,
) -> Part {
    Part {
        name: "test".into(),
        title: "A part of the tests".into(),
        geometry: Geometry::new(slc, mlc).unwrap(),
        slc: slc.map(|_| figures((25, 200, 1_500), bus_picos_per_byte)),
        mlc: mlc.map(|_| figures((50, 800, 1_500), bus_picos_per_byte)),
        layout,
        power: Power { supply_millivolts: 3_300, active_microamps: 15_000, standby_microamps: 10 },
        exported_bytes: 0,
        sector_bytes: Bytes::new(512),
        price_source: None,
    }
}

pub(crate) const STAMPS: Content =
    Content::Stamps { sector: Bytes::new(512), spare_kept: Bytes::new(8) };

pub(crate) fn chip() -> Chip {
    Chip::new(&hybrid(), Content::Bytes).unwrap()
}

pub(crate) fn stamp_chip() -> Chip {
    Chip::new(&hybrid(), STAMPS).unwrap()
}

pub(crate) fn slc(block: u32) -> Block {
    Block::new(Region::Slc, block)
}

pub(crate) fn mlc(block: u32) -> Block {
    Block::new(Region::Mlc, block)
}

pub(crate) fn page(block: Block, page: u16) -> Page {
    block.page(PageIndex::new(page))
}

/// Programs a page with one byte throughout, spare too.
pub(crate) fn program<D: NandDevice>(device: &mut D, page: Page, byte: u8) {
    try_program(device, page, byte).unwrap();
}

pub(crate) fn try_program<D: NandDevice>(
    device: &mut D,
    page: Page,
    byte: u8,
) -> Result<(), ftl_iface::ProgramError<D::Error>> {
    let shape = *device.geometry().region(page.region()).unwrap();
    let data = vec![byte; shape.page_bytes.as_usize()];
    let spare = vec![byte; shape.spare_bytes.as_usize()];
    device.program(page, &data, &spare)
}

/// A whole page with its spare area, behind one another.
pub(crate) fn read<D: NandDevice>(
    device: &mut D,
    page: Page,
) -> Result<(Vec<u8>, Corrected), ReadError<D::Error>> {
    let shape = *device.geometry().region(page.region()).unwrap();
    let mut bytes = vec![0xA5; (shape.page_bytes + shape.spare_bytes).as_usize()];
    let (data, spare) = bytes.split_at_mut(shape.page_bytes.as_usize());
    let corrected = device.read(page, Bytes::ZERO, data, spare)?;
    Ok((bytes, corrected))
}

/// The byte that all of a page reads as.
pub(crate) fn byte<D: NandDevice>(device: &mut D, page: Page) -> u8 {
    let (bytes, _) = read(device, page).unwrap();
    assert!(bytes.iter().all(|byte| *byte == bytes[0]), "{page} reads as several bytes");
    bytes[0]
}
