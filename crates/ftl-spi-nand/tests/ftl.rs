//! The whole way: FTL, driver, SPI bytes, cells with bad blocks, and power that goes between operations and in them.

use ftl_core::{Config, Ftl, NoProbe, OwnedRam, RamPlan};
use ftl_iface::{
    BlockCount, BlockStore, Bytes, Geometry, Region, Sector, SectorCount, StoreWriteError,
};
use ftl_spi_nand::model::{SpiNandModel, Times};
use ftl_spi_nand::wire::Command;
use ftl_spi_nand::{Part, SpiNand, parts};
use nand_model::faults::FaultInjector;
use nand_model::power::{Cut, PowerCut};
use nand_model::{Chip, Content, datasheet};

type Cells = FaultInjector<Chip>;
/// How a life begins.
#[derive(Clone, Copy)]
enum Begin {
    Format,
    Mount,
}

type Store<'s, 'ram> = Ftl<'ram, SpiNand<'s, SpiNandModel<'s, PowerCut<Cells>>>>;

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

/// The same, or zeros before the first write.
fn sector_of(sector: u32, version: u32) -> [u8; SECTOR] {
    if version == 0 { [0; SECTOR] } else { content(sector, version) }
}

/// The cells of a part, with two blocks that are bad from the factory on.
fn cells(part: &Part) -> Cells {
    let figures = nand_model::part::Part {
        geometry: part.geometry,
        ..datasheet::builtin("spi-nand-1g").unwrap()
    };
    let mut cells: Cells = FaultInjector::new(Chip::new(&figures, Content::Bytes).unwrap(), 9);
    cells.factory_bad_by_seed(Region::Slc, BlockCount::new(2));
    cells
}

#[test]
fn what_is_written_through_the_bus_is_there_after_each_loss_of_power() {
    static ALL: [Part; 6] = parts::ALL;
    for part in &ALL {
        let part = small(part);
        let (config, mut cells) = (config(), Some(cells(&part)));
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
                let expected = sector_of(sector, versions[sector as usize]);
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

/// A device that lives on from one loss of power to the next, and the truth of what was written.
struct World {
    part: Part,
    cells: Option<Cells>,
    /// What each sector holds, by version; zero was never written.
    versions: Vec<u32>,
    /// The write that power failed in, by sector and version.
    in_flight: Option<(u32, u32)>,
    version: u32,
    dice: fastrand::Rng,
}

impl World {
    fn new(part: Part) -> Self {
        let (cells, dice) = (Some(cells(&part)), fastrand::Rng::with_seed(5));
        let versions = vec![0; CAPACITY as usize];
        Self { part, cells, versions, in_flight: None, version: 0, dice }
    }

    /// Switches power on, and off at that cut or when `live` is through. Says whether it was at the cut.
    fn with_power(
        &mut self,
        cut: Cut,
        begin: Begin,
        live: impl FnOnce(&mut Self, &mut Store<'_, '_>),
    ) -> bool {
        let (config, part) = (config(), self.part);
        let plan = RamPlan::new(&part.geometry, &config).unwrap();
        let (mut memory, mut cache) = (OwnedRam::for_plan(&plan), [0; 2048 + 128]);
        let cells = PowerCut::new(self.cells.take().unwrap(), cut);
        let model = SpiNandModel::new(&part, cells, Times::W25N01GV, HERTZ, &mut cache).unwrap();
        let nand = SpiNand::new(model, std::slice::from_ref(&part)).unwrap();
        let mut ftl = match begin {
            Begin::Format => Ftl::format(nand, &config, memory.lend(), KEY, NoProbe).unwrap(),
            Begin::Mount => Ftl::mount(nand, &config, memory.lend(), NoProbe).unwrap(),
        };
        live(self, &mut ftl);
        let model = ftl.into_parts().0.release();
        assert!(model.tally().of(Command::PageRead).count > 0, "it went another way than the bus");
        let cells = model.into_cells();
        let cut = !cells.is_on();
        self.cells = Some(cells.into_inner());
        cut
    }

    /// Writes until power fails.
    fn write(&mut self, ftl: &mut Store<'_, '_>) {
        loop {
            let dice = &mut self.dice;
            let sector = if dice.bool() { dice.u32(0..40) } else { dice.u32(0..CAPACITY) };
            self.version += 1;
            match ftl.write(Sector::new(sector), &content(sector, self.version)) {
                Ok(()) => self.versions[sector as usize] = self.version,
                Err(StoreWriteError::Device(_)) => {
                    self.in_flight = Some((sector, self.version));
                    return;
                }
                Err(why) => panic!("{}: {why}", self.part.name),
            }
        }
    }

    /// Compares every sector with the truth. The one in flight may be as before or as it was to be.
    fn compare(&mut self, ftl: &mut Store<'_, '_>) {
        let mut data = [0; SECTOR];
        for sector in 0..CAPACITY {
            let before = self.versions[sector as usize];
            ftl.read(Sector::new(sector), &mut data).unwrap();
            let flying = self.in_flight.filter(|(flying, _)| *flying == sector);
            match flying {
                Some((_, version)) if data == sector_of(sector, version) => {
                    self.versions[sector as usize] = version;
                }
                _ => assert!(data == sector_of(sector, before), "{}, {sector}", self.part.name),
            }
        }
        self.in_flight = None;
    }
}

#[test]
fn power_that_fails_inside_operations_behind_the_bus_loses_nothing_acknowledged() {
    const LIVES: u64 = 24;
    static ALL: [Part; 6] = parts::ALL;
    for part in &ALL {
        let mut world = World::new(small(part));
        world.with_power(Cut::never(), Begin::Format, |_, _| {});
        for life in 0..LIVES {
            let cut = Cut::seeded(world.dice.u64(0..300), life);
            assert!(world.with_power(cut, Begin::Mount, World::write), "{}: no cut", part.name);
            world.with_power(Cut::never(), Begin::Mount, World::compare);
        }
    }
}
