//! The whole way: FTL, driver, SPI bytes, cells with bad blocks, and power that goes between operations.

use ftl_core::{Config, Ftl, NoProbe, OwnedRam, RamPlan};
use ftl_iface::{BlockCount, BlockStore, Bytes, Geometry, Region, Sector, SectorCount};
use ftl_spi_nand::model::{SpiNandModel, Times};
use ftl_spi_nand::{Part, SpiNand, parts};
use nand_model::faults::FaultInjector;
use nand_model::{Chip, Content, datasheet};

type Cells = FaultInjector<Chip>;

const SECTOR: usize = 2048;
const CAPACITY: u32 = 1200;
/// A slow bus, on which few polls are sent while the chip is busy.
const HERTZ: u32 = 8_000_000;
const KEY: u32 = 0x5EED;

/// The part with fewer blocks, so that the FTL soon collects garbage.
fn small(part: &Part) -> Part {
    let slc = *part.geometry.slc().unwrap();
    let slc = ftl_iface::RegionGeometry { blocks: BlockCount::new(48), ..slc };
    Part { geometry: Geometry::new(Some(slc), None).unwrap(), ..*part }
}

fn config() -> Config {
    Config {
        sector_bytes: Bytes::new(SECTOR as u32),
        capacity: Some(SectorCount::new(CAPACITY)),
        mapping_cache_entries: 8,
        ..Config::one_region(8)
    }
}

/// What a sector holds after the write with that number.
fn content(sector: u32, version: u32) -> [u8; SECTOR] {
    let mut data = [0; SECTOR];
    for (at, byte) in data.iter_mut().enumerate() {
        *byte = (at as u32 ^ sector.rotate_left(3) ^ version.wrapping_mul(0x9E37)) as u8;
    }
    data[..4].copy_from_slice(&sector.to_le_bytes());
    data[4..8].copy_from_slice(&version.to_le_bytes());
    data
}

#[test]
fn what_is_written_through_the_bus_is_there_after_each_loss_of_power() {
    static ALL: [Part; 6] = parts::ALL;
    for part in &ALL {
        let part = small(part);
        let figures = nand_model::part::Part {
            geometry: part.geometry,
            ..datasheet::builtin("spi-nand-1g").unwrap()
        };
        let mut cells: Cells = FaultInjector::new(Chip::new(&figures, Content::Bytes).unwrap(), 9);
        cells.factory_bad_by_seed(Region::Slc, BlockCount::new(2));
        let (config, mut cells) = (config(), Some(cells));
        let plan = RamPlan::new(&part.geometry, &config).unwrap();
        let mut dice = fastrand::Rng::with_seed(77);
        let mut versions = vec![0; CAPACITY as usize];
        let mut version = 0;
        for life in 0..4 {
            let mut cache = [0; 2048 + 128];
            let model = SpiNandModel::new(
                &part,
                cells.take().unwrap(),
                Times::GD5F1GQ4UA,
                HERTZ,
                &mut cache,
            );
            let nand = SpiNand::new(model.unwrap(), std::slice::from_ref(&part)).unwrap();
            let mut memory = OwnedRam::for_plan(&plan);
            let mut ftl = if life == 0 {
                Ftl::format(nand, &config, memory.lend(), KEY, NoProbe).unwrap()
            } else {
                Ftl::mount(nand, &config, memory.lend(), NoProbe)
                    .unwrap_or_else(|why| panic!("{}, life {life}: {why}", part.name))
            };
            let mut data = [0; SECTOR];
            for sector in 0..CAPACITY {
                ftl.read(Sector::new(sector), &mut data).unwrap();
                let expected = match versions[sector as usize] {
                    0 => [0; SECTOR],
                    version => content(sector, version),
                };
                assert!(data == expected, "{}, life {life}, sector {sector}", part.name);
            }
            for _ in 0..700 {
                let sector = if dice.bool() { dice.u32(0..40) } else { dice.u32(0..CAPACITY) };
                version += 1;
                ftl.write(Sector::new(sector), &content(sector, version)).unwrap();
                versions[sector as usize] = version;
            }
            // Power goes: the FTL's memory is lost, the chip forgets its registers.
            let (nand, _) = ftl.into_parts();
            cells = Some(nand.release().into_cells());
        }
    }
}
