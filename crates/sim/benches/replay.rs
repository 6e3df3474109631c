//! How long a replay takes by itself, and with each system below it: processor time of the thread that serves, without
//! what is written before.
//!
//! - *`meter`*: operations on a chip, alone and with the meter between. The difference is the meter's.
//! - *`host`*: requests to a store that keeps stamps in memory and nothing else. What is measured is the host's:
//!   sectors stamped and compared, and requests tallied.
//! - *`system`*: what each system does with a request, its chip included, on 1 GiB of C3 after it was written once.

use std::convert::Infallible;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_main};
use ftl_core::paged::{PagedConfig, PagedPlan};
use ftl_iface::{
    Block, BlockStore, Bytes, NandDevice, PageCount, PageIndex, Region, Sector, SectorCount,
    StoreReadError, StoreWriteError, Work,
};
use ftl_rivals::Rival;
use nand_model::{Chip, Stamp};
use sim::engine::systems::own::Memory;
use sim::engine::systems::{self, Given, Meter, Metered, Session, StoreShape, on_shared};
use sim::{Chosen, DeviceChoice, Failure, Options, Setup, Workload};

/// Blocks that the bench of the meter programs and reads, again and again.
const BLOCKS: u32 = 64;

/// Pages of them.
const PAGES: u16 = 128;

const SOUND: &str = "the chip never fails";

/// Operations on every page of some blocks: an erase of each block, a program and a read of each page.
fn round(device: &mut impl NandDevice<Error = Infallible>, data: &mut [u8], spare: &mut [u8]) {
    for block in (0..BLOCKS).map(|index| Block::new(Region::Mlc, index)) {
        device.erase(block).expect(SOUND);
        for page in (0..PAGES).map(|index| block.page(PageIndex::new(index))) {
            device.program(page, data, spare).expect(SOUND);
            device.read(page, Bytes::ZERO, data, spare).expect(SOUND);
            black_box(&data[0]);
        }
    }
}

/// What it takes for that many operations, in rounds.
fn rounds(operations: u64, mut round: impl FnMut()) -> Duration {
    let of_round = u64::from(BLOCKS) * (1 + 2 * u64::from(PAGES));
    let (start, count) = (Instant::now(), operations.div_ceil(of_round));
    (0..count).for_each(|_| round());
    share(start.elapsed(), operations, count * of_round)
}

/// The time of a part, where the time of the whole was measured.
fn share(whole: Duration, part: u64, of: u64) -> Duration {
    Duration::from_nanos((whole.as_nanos() * u128::from(part) / u128::from(of)) as u64)
}

fn meter(criterion: &mut Criterion) {
    let part = DeviceChoice::named("c3").setup().expect("c3 is built in").part;
    let config = PagedConfig { sector_bytes: part.sector_bytes, ..PagedConfig::LARGE };
    let plan = PagedPlan::new(&part.geometry, &config).expect("the page store fits c3");
    let shape = part.geometry.mlc().expect("c3 has an MLC region");
    let mut data = vec![0; shape.page_bytes.as_usize()];
    for (sector, stamp) in data.chunks_mut(part.sector_bytes.as_usize()).zip(1..) {
        Stamp::new(stamp).write_to(sector);
    }
    let mut spare = vec![0xFF; shape.spare_bytes.as_usize()];
    let mut chip = Chip::new(&part, systems::page_stamps(&plan)).expect("c3 can be simulated");
    chip.pack(Region::Mlc);
    let meter = Meter::new();
    let mut group = criterion.benchmark_group("meter");
    group.throughput(Throughput::Elements(1));
    group.bench_function("an operation on the chip alone", |bencher| {
        bencher.iter_custom(|count| rounds(count, || round(&mut chip, &mut data, &mut spare)));
    });
    let mut metered = Metered::of_pages(&mut chip, plan.shape(), &meter);
    group.bench_function("an operation with the meter between", |bencher| {
        bencher.iter_custom(|count| rounds(count, || round(&mut metered, &mut data, &mut spare)));
    });
    group.finish();
}

/// A store that keeps what stamps take of each sector.
struct Stamps {
    wish: StoreShape,
    kept: Vec<[u8; Stamp::BYTES.as_usize()]>,
}

impl BlockStore for Stamps {
    type Error = Infallible;

    fn sector_bytes(&self) -> Bytes {
        self.wish.sector
    }

    fn capacity(&self) -> SectorCount {
        self.wish.capacity
    }

    fn read(&mut self, first: Sector, data: &mut [u8]) -> Result<(), StoreReadError<Infallible>> {
        let sectors = data.chunks_exact_mut(self.wish.sector.as_usize());
        for (sector, kept) in sectors.zip(&self.kept[first.get() as usize..]) {
            sector[..kept.len()].copy_from_slice(kept);
        }
        Ok(())
    }

    fn write(&mut self, first: Sector, data: &[u8]) -> Result<(), StoreWriteError<Infallible>> {
        let sectors = data.chunks_exact(self.wish.sector.as_usize());
        for (sector, kept) in sectors.zip(&mut self.kept[first.get() as usize..]) {
            kept.copy_from_slice(&sector[..Stamp::BYTES.as_usize()]);
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

impl Rival for Stamps {
    fn settle(&mut self) -> Result<(), StoreWriteError<Infallible>> {
        Ok(())
    }

    fn ram_bytes(&self) -> u64 {
        0
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

#[derive(Debug)]
struct InMemory;

impl Given for InMemory {
    fn uses_slc(&self) -> bool {
        false
    }

    fn run(&self, setup: &Setup, session: &mut dyn Session) -> Result<(), Failure> {
        on_shared(Memory::Mlc, setup, session, |_, wish| {
            let kept = vec![[0; Stamp::BYTES.as_usize()]; wish.capacity.as_usize()];
            Ok(Stamps { wish, kept })
        })
    }
}

/// A gibibyte of C3, which is written before.
fn gibibyte() -> Setup {
    let choice = DeviceChoice { capacity: Some(1 << 30), ..DeviceChoice::named("c3") };
    choice.setup().expect("c3 is built in")
}

/// The processor time of the system's thread for so many requests of that workload.
fn served(requests: u64, load: &str, system: &Chosen, setup: &Setup) -> Duration {
    // Fewer would say more of the beginning than of the requests.
    let most = requests.max(20_000);
    let workload = Workload::synthetic(&format!("{load}requests={most}")).expect("a workload");
    let result = sim::run(&workload, &Options::default(), setup, system, &());
    let busy = result.expect("no system violates anything").busy_s;
    share(Duration::from_secs_f64(busy), requests, most)
}

fn host(criterion: &mut Criterion) {
    let (setup, memory) = (gibibyte(), Chosen::given("in memory", Arc::new(InMemory)));
    let memory = memory.expect("a name that no system has");
    let mut group = criterion.benchmark_group("host");
    group.throughput(Throughput::Elements(1)).sample_size(10);
    let page = "synth:uniform?footprint=64MiB&size=4KiB&reads";
    for (name, load) in [
        ("a write of two sectors", format!("{page}=0&")),
        ("a read of two sectors, compared", format!("{page}=100&")),
        ("a write of 64 sectors", "synth:sequential?size=128KiB&reads=0&".into()),
        ("a read of 64 sectors, compared", "synth:sequential?size=128KiB&reads=100&".into()),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|requests| served(requests, &load, &memory, &setup));
        });
    }
    group.finish();
}

fn systems(criterion: &mut Criterion) {
    let setup = gibibyte();
    let mut group = criterion.benchmark_group("system");
    group.throughput(Throughput::Elements(1)).sample_size(10);
    for name in systems::names() {
        let system = Chosen::parse(name).expect("a name from the list");
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|requests| served(requests, "synth:ntfs-1?", &system, &setup));
        });
    }
    group.finish();
}

#[allow(missing_docs)] // The macro makes the function, and gives it no room for a sentence.
mod group {
    criterion::criterion_group!(benches, super::meter, super::host, super::systems);
}
criterion_main!(group::benches);
