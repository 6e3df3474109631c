//! Hints: what hosts expect to live about as long is put together.

use crate::paged_wear::on;
use crate::world;

use ftl_core::paged::{PagedConfig, Streams};
use ftl_core::probe::{Cause, Counters, Verb};
use ftl_iface::{BlockStore, Bytes, Cell, Lifetime, Region, Sector, SectorCount};
use nand_model::Stamp;

use world::{devices, region};

const BYTES: u32 = 512;
const SECTORS: u32 = 4 * 2_000;

/// Pages programmed.
#[derive(Debug)]
struct Programs {
    host: u64,
    /// With the copies.
    all: u64,
}

/// Two writers, each of which rewrites its half in order, the first one four times as fast. Each says that of its data.
fn two_writers(streams: Streams, [quick, slow]: [Lifetime; 2]) -> Programs {
    let geometry = devices::geometry(Some(region(Cell::Slc, 160, 16, 2048)), None);
    let config = PagedConfig {
        sector_bytes: Bytes::new(BYTES),
        capacity: Some(SectorCount::new(SECTORS)),
        streams,
        ..PagedConfig::SMALL
    };
    on(geometry, &config, |ftl| {
        let half = SECTORS / 2;
        let (mut next, mut newest) = ([0, 0], vec![0; SECTORS as usize]);
        let pages = |probe: &Counters, cause| -> u64 {
            let of = |region| probe.operations(region, Verb::Program, cause);
            of(Region::Slc) + of(Region::Mlc)
        };
        for turn in 0..5 * u64::from(SECTORS) / 4 {
            let writer = usize::from(turn % 5 == 4);
            let first = writer as u32 * half + next[writer];
            next[writer] = (next[writer] + 4) % half;
            let version = turn as u32 + 1;
            let mut data = vec![0; 4 * BYTES as usize];
            for (sector, at) in data.chunks_exact_mut(BYTES as usize).zip(first..) {
                Stamp::new(version).write_to(sector);
                newest[at as usize] = version;
            }
            let lifetime = [quick, slow][writer];
            ftl.write_hinted(Sector::new(first), &data, lifetime).expect("written");
        }
        ftl.check().expect("every invariant holds");
        for (sector, version) in (0..).zip(newest) {
            let mut data = vec![0; BYTES as usize];
            ftl.read(Sector::new(sector), &mut data).expect("read");
            assert_eq!(Stamp::read_from(&data), (version > 0).then(|| Stamp::new(version)));
        }
        let probe = ftl.probe();
        Programs {
            host: pages(probe, Cause::Host),
            all: pages(probe, Cause::Host) + pages(probe, Cause::Gc),
        }
    })
}

#[test]
fn two_writers_who_say_how_long_their_data_lives_leave_nothing_to_copy() {
    for streams in [Streams::Two, Streams::ByLifetime] {
        for hints in [
            [Lifetime::Short, Lifetime::Long],
            [Lifetime::Short, Lifetime::Extreme],
            [Lifetime::Medium, Lifetime::Extreme],
        ] {
            let Programs { host, all } = two_writers(streams, hints);
            assert!(all * 50 < host * 51, "{streams:?}, {hints:?}: {all} for {host}");
        }
        let none = two_writers(streams, [Lifetime::Unknown; 2]);
        let same = two_writers(streams, [Lifetime::Short; 2]);
        for mixed in [none, same] {
            assert!(mixed.all * 50 > mixed.host * 52, "{streams:?}: {mixed:?}");
        }
    }
}

#[test]
fn a_single_stream_takes_all() {
    let hinted = two_writers(Streams::One, [Lifetime::Short, Lifetime::Extreme]);
    let none = two_writers(Streams::One, [Lifetime::Unknown; 2]);
    assert_eq!(hinted.all, none.all);
}

/// Pages in the fast area of a device of both cells, after writes of so many sectors in order, which say that they live
/// so long.
fn entered(count: u32, lifetime: Lifetime) -> u64 {
    let geometry = devices::geometry(
        Some(region(Cell::Slc, 80, 16, 2048)),
        Some(region(Cell::Mlc, 500, 16, 4096)),
    );
    let config = PagedConfig {
        sector_bytes: Bytes::new(BYTES),
        capacity: Some(SectorCount::new(4 * SECTORS)),
        streams: Streams::ByLifetime,
        ..PagedConfig::SMALL
    };
    on(geometry, &config, |ftl| {
        for turn in 0..40 {
            let mut data = vec![0; (count * BYTES) as usize];
            data.chunks_exact_mut(BYTES as usize)
                .for_each(|one| Stamp::new(turn + 1).write_to(one));
            ftl.write_hinted(Sector::new(turn * count), &data, lifetime).expect("written");
        }
        ftl.check().expect("every invariant holds");
        ftl.probe().operations(Region::Slc, Verb::Program, Cause::Host)
    })
}

#[test]
fn what_lives_long_enters_the_fast_area_only_where_it_fills_no_page_of_the_main_one() {
    // 128 sectors are 64 KiB: more than any filter takes for small, whatever the host says.
    assert_eq!(Lifetime::ALL.map(|lifetime| entered(128, lifetime)), [0; 5]);
    // Eight sectors fill a page of the main area, and are small; one does not fill it.
    let small = entered(8, Lifetime::Unknown);
    assert!(small > 0);
    assert_eq!([entered(8, Lifetime::Short), entered(8, Lifetime::Medium)], [small; 2]);
    assert_eq!([entered(8, Lifetime::Long), entered(8, Lifetime::Extreme)], [0, 0]);
    assert_eq!(entered(1, Lifetime::Extreme), 40);
}
