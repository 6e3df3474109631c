//! Blocks fail under the systems that need no mode of them: nothing is lost, and when no block is left, writes are
//! refused and everything can be read.

use std::collections::HashMap;

use ftl_iface::{
    BlockStore, Bytes, NandDevice, NoProbe, Region, Sector, SectorCount, StoreWriteError,
};
use ftl_rivals::kit::{Mapped, Policy, Victims};
use ftl_rivals::{Rival, Unfit, ahdm, combo, ko, page_map};
use nand_model::faults::Chance;
use nand_model::{Chip, Content, FaultInjector};

mod world;

type Faulty = FaultInjector<Chip>;

const SECTOR: Bytes = Bytes::new(1024);
const CAPACITY: SectorCount = SectorCount::new(400);
/// Of a write: a page of the device, so that it is done whole or not at all.
const AT_ONCE: u32 = 2;

/// A small chip one in so many of whose programs and erases fail.
fn chip() -> Faulty {
    let chip = Chip::new(&world::part("tiny", 40, 60), Content::Bytes).unwrap();
    let mut faulty = FaultInjector::new(chip, 9);
    faulty.fail_programs(Chance::one_in(400));
    faulty.fail_erases(Chance::one_in(60));
    faulty
}

/// Writes at random until the store refuses to.
fn wear_out<R: Policy<Faulty, NoProbe>>(
    name: &str,
    store: Result<Mapped<Faulty, NoProbe, R>, Unfit>,
) {
    let mut store = store.unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut dice = fastrand::Rng::with_seed(4);
    let mut truth: HashMap<u32, u8> = HashMap::new();
    let mut written = 0;
    loop {
        let range = if dice.bool() { CAPACITY.get() / 10 } else { CAPACITY.get() };
        let first = dice.u32(0..range / AT_ONCE) * AT_ONCE;
        let content = dice.u8(..);
        match store.write(Sector::new(first), &[content; 2048]) {
            Ok(()) => drop(truth.insert(first, content)),
            Err(StoreWriteError::ReadOnly) => break,
            Err(error) => panic!("{name}, write {written}: {error}"),
        }
        written += 1;
        assert!(written < 1_000_000, "{name}: no block is left, and it goes on");
        if written % 50 == 0 {
            store.check().unwrap_or_else(|error| panic!("{name}, write {written}: {error}"));
        }
    }
    store.check().unwrap_or_else(|error| panic!("{name}, at the end: {error}"));
    for first in (0..CAPACITY.get()).step_by(AT_ONCE as usize) {
        let mut data = [0x5A; 2048];
        store.read(Sector::new(first), &mut data).unwrap();
        let must = truth.get(&first).copied().unwrap_or(0);
        assert_eq!(data, [must; 2048], "{name}, sector {first}");
    }
    assert!(written > 1_000, "{name} gave up after {written} writes");
    // Blocks that failed are marked, so that another driver leaves them alone.
    let mut device = chip();
    let marked = |device: &mut Faulty, region: Region| {
        let blocks = device.geometry().region(region).map_or(0, |shape| shape.blocks.get());
        (0..blocks).filter(|at| device.is_bad(ftl_iface::Block::new(region, *at)).unwrap()).count()
    };
    assert_eq!(Region::ALL.map(|region| marked(&mut device, region)), [0, 0]);
    let mut device = store.into_device();
    assert!(Region::ALL.map(|region| marked(&mut device, region)).iter().sum::<usize>() > 3);
}

#[test]
fn blocks_fail_until_none_is_left_and_every_sector_reads_as_it_was_written_last() {
    let (sector, capacity, lanes) = (SECTOR, CAPACITY, 1);
    for victims in [Victims::Greedy, Victims::Cat] {
        let config = page_map::Config { region: Region::Mlc, victims, sector, capacity, lanes };
        wear_out("page-mlc", page_map::new(chip(), NoProbe, &config));
    }
    let config = ko::Config { sector, capacity, lanes, short: SectorCount::new(4), threshold: 2 };
    wear_out("ko", ko::new(chip(), NoProbe, &config));
    let config = combo::Config { sector, capacity, lanes, hot_percent: 50 };
    wear_out("combo", combo::new(chip(), NoProbe, &config));
    let (threshold, endurance) = (ahdm::Threshold::Adaptive(2), [100_000, 5_000]);
    let config = ahdm::Config { sector, capacity, lanes, threshold, warm: 4, endurance };
    wear_out("ahdm", ahdm::new(chip(), NoProbe, &config));
}
