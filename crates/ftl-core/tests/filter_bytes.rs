//! The filter's limits are bytes: which writes enter the log does not depend on the sectors that the FTL maps in.

use ftl_core::hybrid::ram::OwnedRam;
use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedConfig, PagedPlan};
use ftl_core::probe::Counters;
use ftl_core::{Config, Ftl, RamPlan};
use ftl_iface::{BlockStore, Bytes, Cell, Geometry, Sector, SectorCount};
use nand_model::{Chip, Content};

use crate::world;

use world::{KEY, part, region};

/// Sector sizes that fit into pages of two and of four kilobytes.
const SECTORS: [u32; 3] = [512, 1024, 2048];

const WRITES: u32 = 900;

/// Returns a chip with a small SLC beside an MLC region, with the page sizes of the paper's devices.
fn chip(sector: u32) -> Chip {
    let slc = region(Cell::Slc, 24, 64, 2048);
    let mlc = region(Cell::Mlc, 40, 128, 4096);
    let geometry = Geometry::new(Some(slc), Some(mlc)).expect("both regions");
    let content = Content::Stamps { sector: Bytes::new(sector), spare_kept: Bytes::new(128) };
    Chip::new(&part(geometry), content).expect("a possible part")
}

/// Does writes of this many bytes, each to other sectors.
fn write_all(ftl: &mut impl BlockStore, sector: u32, bytes: u32) {
    let data = vec![0; bytes as usize];
    for at in 0..WRITES {
        let first = Sector::new(at % 200 * (bytes / sector));
        ftl.write(first, &data).unwrap_or_else(|_| panic!("write {at}"));
    }
}

/// Returns how many of the writes went to the hybrid's log.
fn log_writes_of_hybrid(sector: u32, bytes: u32) -> u64 {
    let config = Config {
        sector_bytes: Bytes::new(sector),
        throttle: false,
        index: ftl_core::config::IndexConfig { entries: Some(8000), ..Config::HYBRID.index },
        ..Config::HYBRID
    };
    let chip = chip(sector);
    let plan = RamPlan::new(chip_geometry(&chip), &config).expect("a plan");
    let mut memory = OwnedRam::for_plan(&plan);
    let mut ftl = Ftl::format(chip, &config, memory.lend(), KEY, Counters::default())
        .unwrap_or_else(|_| panic!("formatted"));
    write_all(&mut ftl, sector, bytes);
    ftl.probe().fast_writes
}

/// Returns how many of the writes went to the page store's fast area.
fn log_writes_of_pages(sector: u32, bytes: u32) -> u64 {
    let config = PagedConfig {
        sector_bytes: Bytes::new(sector),
        capacity: Some(SectorCount::new(14 * (128 * 4096 / sector))),
        dirty_entries: 5000,
        ..PagedConfig::SMALL
    };
    let chip = chip(sector);
    let plan = PagedPlan::new(chip_geometry(&chip), &config).expect("a plan");
    let mut memory = OwnedPagedRam::for_plan(&plan);
    let mut ftl = PageFtl::format(chip, &config, memory.lend(), KEY, Counters::default())
        .unwrap_or_else(|_| panic!("formatted"));
    write_all(&mut ftl, sector, bytes);
    ftl.probe().fast_writes
}

fn chip_geometry(chip: &Chip) -> &Geometry {
    ftl_iface::NandDevice::geometry(chip)
}

#[test]
fn writes_of_4_kib_enter_the_log_and_those_of_8_do_not_in_whatever_sectors() {
    for sector in SECTORS {
        let hybrid = [4096, 8192].map(|bytes| log_writes_of_hybrid(sector, bytes));
        assert_eq!(hybrid, [u64::from(WRITES), 0], "hybrid, sectors of {sector} bytes");
        let paged = [4096, 8192].map(|bytes| log_writes_of_pages(sector, bytes));
        assert_eq!(paged, [u64::from(WRITES), 0], "page store, sectors of {sector} bytes");
    }
}
