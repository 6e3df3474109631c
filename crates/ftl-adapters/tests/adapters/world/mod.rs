//! A small device with an FTL, whose power can be cut in any program or erase; and a store in memory that remembers
//! what it was asked.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;

use ftl_core::{Config, Ftl, NoProbe, OwnedRam, RamPlan};
use ftl_iface::{
    BlockCount, BlockStore, Bytes, Cell as Cells, Geometry, NandDevice, PageCount, Pairing,
    RegionGeometry, Sector, SectorCount, StoreReadError, StoreWriteError, Work,
};
use nand_model::faults::FaultInjector;
use nand_model::power::{Cut, PowerCut};
use nand_model::tracer::Tracer;
use nand_model::{Chip, Content, datasheet};

pub(crate) const SECTOR: usize = 2048;
/// Sectors of the device: 4 MiB.
pub(crate) const CAPACITY: u32 = 2048;

/// The cells, their faults, and who counts the operations that power failed in.
type Traced = Tracer<FaultInjector<Chip>, Box<dyn FnMut(&str)>>;
pub(crate) type Device = PowerCut<Traced>;

/// Operations that power failed in, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Torn {
    pub(crate) programs: u32,
    pub(crate) erases: u32,
}

/// The device, alive from one boot to the next.
pub(crate) struct World {
    device: Option<Traced>,
    config: Config,
    formatted: bool,
    torn: Rc<Cell<Torn>>,
}

fn region(cell: Cells, blocks: u32, pages: u32, pairing: Pairing) -> RegionGeometry {
    RegionGeometry {
        cell,
        blocks: BlockCount::new(blocks),
        pages_per_block: PageCount::new(pages),
        page_bytes: Bytes::new(2048),
        spare_bytes: Bytes::new(64),
        pairing,
    }
}

impl World {
    /// An SPI NAND: one region of 8 MiB.
    pub(crate) fn new() -> Self {
        let slc = region(Cells::Slc, 64, 64, Pairing::None);
        let geometry = Geometry::new(Some(slc), None).unwrap();
        Self::of("spi-nand-1g", geometry, Config::one_region(12))
    }

    /// A small SLC region beside MLC whose pages share cells: a cut ruins those, too.
    pub(crate) fn hybrid() -> Self {
        let slc = region(Cells::Slc, 16, 32, Pairing::None);
        let mlc = region(Cells::Mlc, 80, 64, Pairing::Distance3);
        let geometry = Geometry::new(Some(slc), Some(mlc)).unwrap();
        Self::of("tiny", geometry, Config { mapping_cache_entries: 8, ..Config::HYBRID })
    }

    fn of(part: &str, geometry: Geometry, config: Config) -> Self {
        let part = nand_model::part::Part { geometry, ..datasheet::builtin(part).unwrap() };
        let config = Config {
            sector_bytes: Bytes::new(SECTOR as u32),
            capacity: Some(SectorCount::new(CAPACITY)),
            ..config
        };
        let torn = Rc::new(Cell::new(Torn::default()));
        let count = Rc::clone(&torn);
        let sink = move |line: &str| {
            if line.contains("power failed") {
                let mut torn = count.get();
                torn.programs += u32::from(line.contains("program"));
                torn.erases += u32::from(line.contains("erase "));
                count.set(torn);
            }
        };
        let cells = FaultInjector::new(Chip::new(&part, Content::Bytes).unwrap(), 5);
        let device = Some(Tracer::new(cells, Box::new(sink) as Box<dyn FnMut(&str)>));
        Self { device, config, formatted: false, torn }
    }

    /// What power failed in so far.
    pub(crate) fn torn(&self) -> Torn {
        self.torn.get()
    }

    /// Boots, runs, and lets power go: all that was in memory is lost.
    pub(crate) fn with_ftl<T>(
        &mut self,
        run: impl FnOnce(&mut Ftl<'_, &mut Device, NoProbe>, &mut [u8]) -> T,
    ) -> T {
        self.with_cut(Cut::never(), run).unwrap()
    }

    /// Boots, and runs until power fails. `None`: it failed during the boot.
    pub(crate) fn with_cut<T>(
        &mut self,
        cut: Cut,
        run: impl FnOnce(&mut Ftl<'_, &mut Device, NoProbe>, &mut [u8]) -> T,
    ) -> Option<T> {
        let mut device = PowerCut::new(self.device.take().unwrap(), cut);
        let plan = RamPlan::new(device.geometry(), &self.config).unwrap();
        let mut memory = OwnedRam::for_plan(&plan);
        let ftl = if self.formatted {
            Ftl::mount(&mut device, &self.config, memory.lend(), NoProbe)
        } else {
            Ftl::format(&mut device, &self.config, memory.lend(), 0xADA9, NoProbe)
        };
        let outcome = match ftl {
            Ok(mut ftl) => {
                self.formatted = true;
                Some(run(&mut ftl, &mut [0; SECTOR]))
            }
            Err(error) => {
                assert!(!device.is_on(), "with power on it does not mount: {error}");
                None
            }
        };
        self.device = Some(device.into_inner());
        outcome
    }

    pub(crate) fn capacity_of<T>(
        &mut self,
        ask: impl FnOnce(&Ftl<'_, &mut Device, NoProbe>) -> T,
    ) -> T {
        self.with_ftl(|ftl, _| ask(ftl))
    }
}

/// A store in memory that writes down what it is asked.
pub(crate) struct Memory {
    pub(crate) data: Vec<u8>,
    pub(crate) asked: Vec<(char, u32, usize)>,
    pub(crate) read_only_from: Option<u32>,
}

impl Memory {
    pub(crate) fn new(sectors: usize) -> Self {
        Self { data: vec![0; sectors * SECTOR], asked: Vec::new(), read_only_from: None }
    }
}

impl BlockStore for Memory {
    type Error = Infallible;

    fn sector_bytes(&self) -> Bytes {
        Bytes::new(SECTOR as u32)
    }

    fn capacity(&self) -> SectorCount {
        SectorCount::new((self.data.len() / SECTOR) as u32)
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<Infallible>> {
        self.asked.push(('R', first.get(), data.len() / SECTOR));
        let at = first.get() as usize * SECTOR;
        data.copy_from_slice(&self.data[at..at + data.len()]);
        Ok(())
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<Infallible>> {
        self.asked.push(('W', first.get(), data.len() / SECTOR));
        if self.read_only_from.is_some_and(|from| first.get() >= from) {
            return Err(StoreWriteError::ReadOnly);
        }
        let at = first.get() as usize * SECTOR;
        self.data[at..at + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn trim(
        &mut self,
        first: Sector,
        count: SectorCount,
    ) -> Result<(), StoreWriteError<Infallible>> {
        self.asked.push(('T', first.get(), count.as_usize()));
        let at = first.get() as usize * SECTOR;
        self.data[at..at + count.as_usize() * SECTOR].fill(0);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreWriteError<Infallible>> {
        self.asked.push(('F', 0, 0));
        Ok(())
    }

    fn maintain(&mut self, _: PageCount) -> Result<Work, StoreWriteError<Infallible>> {
        Ok(Work::Done)
    }
}
