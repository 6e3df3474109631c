//! Bursts: large writes enter the fast area while it has space, and leave it while the host pauses.

use crate::world;

use ftl_core::config::Endurance;
use ftl_core::paged::{Bursts, OwnedPagedRam, PageFtl, PagedConfig, PagedPlan};
use ftl_core::probe::{Cause, Counters, Verb};
use ftl_iface::{BlockStore, Bytes, Cell, PageCount, Region, Sector, SectorCount, Work};
use nand_model::Stamp;

use world::{KEY, devices, part, region};

const BYTES: u32 = 512;
/// Sectors of a large write: more than any filter takes for small.
const LARGE: usize = 128;
const ENDURES: Endurance = Endurance { fast: 100_000, main: 5_000 };

/// The host's behaviour between two writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    /// It waits until no idle work is left.
    Pauses,
    /// Nothing.
    Hurries,
}

/// Programs of the host's large writes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Programs {
    fast: u64,
    main: u64,
}

/// Writes the device once in large writes, with pauses or without, and reads it back.
fn written_once(bursts: Bursts, host: Host) -> Programs {
    let geometry = devices::geometry(
        Some(region(Cell::Slc, 64, 16, 1024)),
        Some(region(Cell::Mlc, 400, 16, 2048)),
    );
    let config = PagedConfig {
        sector_bytes: Bytes::new(BYTES),
        capacity: Some(SectorCount::new(20_480)),
        bursts,
        ..PagedConfig::SMALL
    };
    let plan = PagedPlan::new(&geometry, &config).expect("the configuration fits");
    let mut ram = OwnedPagedRam::for_plan(&plan);
    let chip = devices::stamped(&part(geometry), &plan);
    let ftl = PageFtl::format(chip, &config, ram.lend(), KEY, Counters::default());
    let mut ftl = ftl.expect("formatted");

    let requests = ftl.capacity().get() / LARGE as u32;
    for request in 0..requests {
        let mut data = vec![0; LARGE * BYTES as usize];
        for (at, sector) in data.chunks_exact_mut(BYTES as usize).enumerate() {
            stamp(request, at).write_to(sector);
        }
        ftl.write(Sector::new(request * LARGE as u32), &data).expect("written");
        while host == Host::Pauses
            && ftl.maintain(PageCount::new(8)).expect("idle work") == Work::Left
        {}
        ftl.check().expect("every invariant holds");
    }
    for request in 0..requests {
        let mut data = vec![0; LARGE * BYTES as usize];
        ftl.read(Sector::new(request * LARGE as u32), &mut data).expect("read");
        for (at, sector) in data.chunks_exact(BYTES as usize).enumerate() {
            assert_eq!(Stamp::read_from(sector), Some(stamp(request, at)));
        }
    }
    let host = |region| ftl.probe().operations(region, Verb::Program, Cause::Host);
    Programs { fast: host(Region::Slc), main: host(Region::Mlc) }
}

fn stamp(request: u32, at: usize) -> Stamp {
    Stamp::new(request * LARGE as u32 + at as u32 + 1)
}

#[test]
fn with_pauses_large_writes_enter_the_fast_area() {
    let without = written_once(Bursts::ToMain, Host::Pauses);
    assert_eq!(without.fast, 0, "bursts are off: {without:?}");
    let with = written_once(Bursts::ToFast(ENDURES), Host::Pauses);
    assert_eq!(with.main, 0, "the fast area has room after each pause: {with:?}");
    assert_eq!(with.fast, 2 * without.main, "its pages are half as large");
}

#[test]
fn without_pauses_they_fill_what_is_free_and_no_more() {
    let all = written_once(Bursts::ToMain, Host::Hurries).main;
    let with = written_once(Bursts::ToFast(ENDURES), Host::Hurries);
    let room = 64 * 16;
    assert!((room / 2..room * 3 / 4).contains(&with.fast), "{with:?} of {room}");
    assert_eq!(with.fast / 2 + with.main, all);
}

#[test]
fn they_wear_the_fast_area_no_faster_than_its_endurance_allows() {
    // Both areas have the same endurance, so the fast area may lead the main one by at most a mean cycle.
    let even = Endurance { fast: 1_000, main: 1_000 };
    let with = written_once(Bursts::ToFast(even), Host::Pauses);
    assert!(with.main > with.fast, "{with:?}");
    assert!(with.fast > 64 * 16, "{with:?}");
}
