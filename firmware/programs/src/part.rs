//! The shapes of the chips, and the configurations that the programs run on them.

use ftl_core::paged::PagedConfig;
use ftl_core::{Config, IndexConfig, WriteBackConfig};
use ftl_iface::{
    BlockCount, Bytes, Cell, Geometry, PageCount, Pairing, RegionGeometry, SectorCount,
};
use ftl_spi_nand::Part;

/// The geometry of these regions, in a `const`: what is impossible stops the build.
const fn geometry(slc: Option<RegionGeometry>, mlc: Option<RegionGeometry>) -> Geometry {
    match Geometry::new(slc, mlc) {
        Ok(geometry) => geometry,
        Err(_) => panic!("no chip has that shape"),
    }
}

/// An SPI NAND of so many blocks: pages of 2 KiB, 64 a block, with 16 spare bytes that its ECC protects.
const fn spi_nand(blocks: u32) -> Geometry {
    let slc = RegionGeometry {
        cell: Cell::Slc,
        blocks: BlockCount::new(blocks),
        pages_per_block: PageCount::new(64),
        page_bytes: Bytes::new(2048),
        spare_bytes: Bytes::new(16),
        pairing: Pairing::None,
    };
    geometry(Some(slc), None)
}

/// A 1-Gbit SPI NAND, as `devices/spi-nand-1g.toml` describes it (Winbond W25N01GV).
pub const SPI_NAND_1G: Geometry = spi_nand(1024);

/// The same with half the blocks (Winbond W25N512GV).
pub const SPI_NAND_512M: Geometry = spi_nand(512);

/// A few blocks of SLC and MLC, as `devices/tiny.toml` describes them, and some more: the page store needs them.
pub const TINY: Geometry = geometry(
    Some(RegionGeometry {
        cell: Cell::Slc,
        blocks: BlockCount::new(12),
        pages_per_block: PageCount::new(8),
        page_bytes: Bytes::new(1024),
        spare_bytes: Bytes::new(32),
        pairing: Pairing::None,
    }),
    Some(RegionGeometry {
        cell: Cell::Mlc,
        blocks: BlockCount::new(20),
        pages_per_block: PageCount::new(16),
        page_bytes: Bytes::new(2048),
        spare_bytes: Bytes::new(64),
        pairing: Pairing::Distance3,
    }),
);

/// Sectors that either FTL exports on the tiny chip.
pub const TINY_SECTORS: u32 = 320;

/// The page store on the tiny chip.
pub const TINY_PAGED: PagedConfig = PagedConfig {
    sector_bytes: Bytes::new(1024),
    capacity: Some(SectorCount::new(TINY_SECTORS)),
    dirty_entries: 128,
    cached_leaves: 3,
    anchor_blocks: 3,
    ..PagedConfig::SMALL
};

/// The hybrid on the tiny chip.
pub const TINY_HYBRID: Config = Config {
    sector_bytes: Bytes::new(1024),
    capacity: Some(SectorCount::new(TINY_SECTORS)),
    mapping_cache_entries: 4,
    ..Config::HYBRID
};

/// The rules by which data leave the log of a chip of one region. Its chains are no slower than its log, and a sector
/// that is hot still need not follow its chain out of it.
const ONE_REGION: WriteBackConfig =
    WriteBackConfig { follow_log_blocks: false, ..Config::HYBRID.write_back };

/// Sectors that Dhara exports on the 1-Gbit chip at a GC ratio of 4, and so do ours.
pub const EXPORTED: u32 = 47_824;

/// Four fifths of them, which the host uses where we are measured beside it.
pub const BESIDE_DHARA: u32 = 38_259;

/// The page store on the 1-Gbit chip in 24 KiB of RAM, with anchors for quick mounts.
pub const PAGED: PagedConfig =
    PagedConfig { capacity: Some(SectorCount::new(EXPORTED)), ..PagedConfig::SMALL };

/// The same in 16 KiB: a quarter of the entries, and no anchors, so that a mount reads every block. The buffers of
/// three pages and the tables of the blocks alone take 12 KiB.
pub const PAGED_SMALL: PagedConfig = PagedConfig { dirty_entries: 240, anchor_blocks: 0, ..PAGED };

/// The 1-Gbit chip in 24 KiB of RAM: 64 blocks of log, 16 cached chains, as many entries in the hash table as then fit.
/// It exports as many sectors as Dhara does on this chip at a GC ratio of 4.
pub const SPLIT: Config = Config {
    capacity: Some(SectorCount::new(EXPORTED)),
    index: IndexConfig { entries: Some(2_900), ..Config::HYBRID.index },
    write_back: ONE_REGION,
    mapping_cache_entries: 2,
    chain_sketch_halves: 2,
    ..Config::one_region(64)
};

/// The 512-Mbit chip in 8 KiB of RAM: 4 blocks of log with 128 entries in the hash table, one cached chain. So small a
/// log turns often, and would stand idle if it had to wear no faster than the chains.
pub const SMALL: Config = Config {
    capacity: Some(SectorCount::new(23_912)),
    index: IndexConfig { entries: Some(128), ..Config::HYBRID.index },
    mapping_cache_entries: 1,
    throttle: false,
    write_back: ONE_REGION,
    ..Config::one_region(4)
};

/// A small SPI NAND that answers as a W25N01GV does: 24 blocks of 16 pages of 512 bytes.
pub const SPI_PLAIN: Part = {
    let winbond = ftl_spi_nand::parts::W25N01GV;
    let Ok(geometry) = Part::shape(24, 16, 512, winbond.spare_runs) else {
        panic!("no chip has that shape")
    };
    Part { geometry, ..winbond }
};

/// Sectors that either FTL exports on it.
pub const SPI_SECTORS: u32 = 144;

/// The page store on it.
pub const SPI_PAGED: PagedConfig = PagedConfig {
    sector_bytes: Bytes::new(512),
    capacity: Some(SectorCount::new(SPI_SECTORS)),
    dirty_entries: 96,
    anchor_blocks: 3,
    ..PagedConfig::SMALL
};

/// The hybrid on it: a log of six blocks.
pub const SPI_HYBRID: Config = Config {
    sector_bytes: Bytes::new(512),
    capacity: Some(SectorCount::new(SPI_SECTORS)),
    mapping_cache_entries: 4,
    free_blocks_low: 2,
    ..Config::one_region(6)
};
