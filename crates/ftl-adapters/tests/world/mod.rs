//! A small device with an FTL, whose power can be cut between operations; and a store in memory that remembers what it
//! was asked.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::convert::Infallible;

use ftl_core::{Config, Ftl, NoProbe, OwnedRam, RamPlan};
use ftl_iface::{
    BlockCount, BlockStore, Bytes, NandDevice, PageCount, Sector, SectorCount, StoreReadError,
    StoreWriteError, Work,
};
use nand_model::faults::FaultInjector;
use nand_model::{Chip, Content, datasheet};

pub(crate) const SECTOR: usize = 2048;
/// Sectors of the device: 4 MiB.
pub(crate) const CAPACITY: u32 = 2048;

pub(crate) type Device = FaultInjector<Chip>;

/// The device, alive from one boot to the next.
pub(crate) struct World {
    device: Option<Device>,
    config: Config,
    formatted: bool,
}

impl World {
    pub(crate) fn new() -> Self {
        let mut part = datasheet::builtin("spi-nand-1g").unwrap();
        let slc = *part.geometry.slc().unwrap();
        let slc = ftl_iface::RegionGeometry { blocks: BlockCount::new(64), ..slc };
        part.geometry = ftl_iface::Geometry::new(Some(slc), None).unwrap();
        let device = FaultInjector::new(Chip::new(&part, Content::Bytes).unwrap(), 5);
        let config = Config {
            sector_bytes: Bytes::new(SECTOR as u32),
            capacity: Some(SectorCount::new(CAPACITY)),
            ..Config::one_region(12)
        };
        Self { device: Some(device), config, formatted: false }
    }

    /// Boots, runs, and lets power go: all that was in memory is lost.
    pub(crate) fn with_ftl<T>(
        &mut self,
        run: impl FnOnce(&mut Ftl<'_, Device, NoProbe>, &mut [u8]) -> T,
    ) -> T {
        let device = self.device.take().unwrap();
        let plan = RamPlan::new(device.geometry(), &self.config).unwrap();
        let mut memory = OwnedRam::for_plan(&plan);
        let mut ftl = if self.formatted {
            Ftl::mount(device, &self.config, memory.lend(), NoProbe).unwrap()
        } else {
            Ftl::format(device, &self.config, memory.lend(), 0xADA9, NoProbe).unwrap()
        };
        self.formatted = true;
        let result = run(&mut ftl, &mut [0; SECTOR]);
        self.device = Some(ftl.into_parts().0);
        result
    }

    pub(crate) fn capacity_of<T>(&mut self, ask: impl FnOnce(&Ftl<'_, Device, NoProbe>) -> T) -> T {
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
