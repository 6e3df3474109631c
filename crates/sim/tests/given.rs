//! A system that is made while the program runs: it owns its device, and is measured like any other.

use std::convert::Infallible;
use std::sync::Arc;

use ftl_iface::{
    Block, BlockStore, Bytes, Cause, PageCount, PageIndex, Region, Sector, SectorCount,
    StoreReadError, StoreWriteError, Work,
};
use ftl_rivals::Rival;
use nand_model::part::Nanos;
use sim::engine::systems::own::Memory;
use sim::engine::systems::{Given, Session, Shared, StoreShape, on_shared};
use sim::input::device::{Fill, Setup};
use sim::{Chosen, DeviceChoice, Failure, Op, Options, Request, Workload};

/// A log that is never cleaned: every sector goes to the next page.
struct Log {
    device: Shared,
    wish: StoreShape,
    places: Vec<Option<u32>>,
    next: u32,
}

impl Log {
    fn page(&self, number: u32) -> ftl_iface::Page {
        let pages = self.device.geometry().slc().expect("an SLC").pages_per_block.get();
        Block::new(Region::Slc, number / pages).page(PageIndex::new((number % pages) as u16))
    }
}

impl BlockStore for Log {
    type Error = Infallible;

    fn sector_bytes(&self) -> Bytes {
        self.wish.sector
    }

    fn capacity(&self) -> SectorCount {
        self.wish.capacity
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<Infallible>> {
        let sectors = data.chunks_mut(self.wish.sector.as_usize());
        for (number, data) in (first.get()..).zip(sectors) {
            let Some(place) = self.places[number as usize] else { continue };
            let read = self.device.read(self.page(place), Bytes::new(0), data, Cause::Host);
            read.expect("a chip without faults");
        }
        Ok(())
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<Infallible>> {
        let sectors = data.chunks(self.wish.sector.as_usize());
        for (number, data) in (first.get()..).zip(sectors) {
            let page = self.page(self.next);
            if page.index().get() == 0 {
                self.device.erase(page.block(), Cause::Gc).expect("a chip without faults");
            }
            self.device.program(page, data, Cause::Host).expect("a chip without faults");
            self.places[number as usize] = Some(self.next);
            self.next += 1;
        }
        Ok(())
    }

    fn trim(&mut self, _: Sector, _: SectorCount) -> Result<(), StoreWriteError<Infallible>> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreWriteError<Infallible>> {
        Ok(())
    }

    fn maintain(&mut self, _: PageCount) -> Result<Work, StoreWriteError<Infallible>> {
        Ok(Work::Done)
    }
}

impl Rival for Log {
    fn settle(&mut self) -> Result<(), StoreWriteError<Infallible>> {
        Ok(())
    }

    fn ram_bytes(&self) -> u64 {
        7
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        vec![("pages_used", self.next.into())]
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

#[derive(Debug)]
struct Logs;

impl Given for Logs {
    fn uses_slc(&self) -> bool {
        false
    }

    fn run(&self, setup: &Setup, session: &mut dyn Session) -> Result<(), Failure> {
        on_shared(Memory::Slc, setup, session, |device, wish| {
            let places = vec![None; wish.capacity.as_usize()];
            Ok(Log { device, wish, places, next: 0 })
        })
    }
}

#[test]
fn a_given_system_is_measured_like_any_other() {
    let part = DeviceChoice::named("tiny").setup().unwrap().part;
    let setup = Setup { fill: Fill::Nothing, ..Setup::of(part) };
    let request = |at: u64| {
        Request::new(Nanos::ZERO, if at < 20 { Op::Write } else { Op::Read }, at % 20 * 1024, 1024)
    };
    let workload = Workload::of_requests("mine", (0..40).map(request).collect()).unwrap();
    let log = Chosen::given("log", Arc::new(Logs)).unwrap();
    let result = sim::run(&workload, &Options::default(), &setup, &log, &()).unwrap();
    assert_eq!((result.system.as_str(), result.verified_reads), ("log", 20));
    // Of 20 pages of 200 us, three began a block of 8 and were preceded by an erase of 1.5 ms.
    assert_eq!((result.write_us.p50, result.write_us.max), (Some(200.0), Some(1_700.0)));
    assert_eq!((result.read_us.mean, result.slc.erases), (Some(25.0), 3));
    assert_eq!((result.response_by_cause_us.writes.host, result.ram_bytes), (4_000.0, 7));
    assert!((result.response_by_cause_us.writes.reclaim - 4_500.0).abs() < 1e-9);
    assert_eq!(result.figures["pages_used"].to_string(), "20");
    assert!(Chosen::given("hybrid", Arc::new(Logs)).is_err());
}
