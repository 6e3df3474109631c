//! History: large writes that replace recently written data enter the fast area, as long as they are replaced there.

use crate::world;

use ftl_core::config::PairedPages;
use ftl_core::paged::{History, OwnedPagedRam, PageFtl, PagedConfig, PagedPlan};
use ftl_core::probe::{Cause, Counters, Verb};
use ftl_iface::{BlockStore, Bytes, Cell, Region, Sector, SectorCount};
use nand_model::Stamp;

use world::{Dice, KEY, devices, part, region};

const BYTES: u32 = 512;
/// Sectors of a large write: more than any filter takes for small.
const LARGE: u32 = 132;

/// Pages programmed by the host's large writes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Programs {
    fast: u64,
    main: u64,
}

/// Does random large writes over this many positions, one phase after the other, on a device whose fast area holds
/// eleven of them. Returns the programs of the last phase.
fn repeated(history: History, phases: &[u32]) -> Programs {
    let geometry = devices::geometry(
        Some(region(Cell::Slc, 64, 16, 1024)),
        Some(region(Cell::Mlc, 2000, 16, 2048)),
    );
    let config = PagedConfig {
        sector_bytes: Bytes::new(BYTES),
        capacity: Some(SectorCount::new(20_480)),
        history,
        // Every page of a block is used.
        paired_pages: PairedPages::Accept,
        ..PagedConfig::SMALL
    };
    let plan = PagedPlan::new(&geometry, &config).expect("the configuration fits");
    let mut ram = OwnedPagedRam::for_plan(&plan);
    let chip = devices::stamped(&part(geometry), &plan);
    let ftl = PageFtl::format(chip, &config, ram.lend(), KEY, Counters::default());
    let mut ftl = ftl.expect("formatted");

    let most = phases.iter().copied().max().expect("a phase");
    let mut newest = vec![0; most as usize];
    let mut dice = Dice::new(3);
    let mut before = [0, 0];
    let mut version = 0;
    for places in phases {
        before = host_pages(ftl.probe());
        for _ in 0..1500 {
            version += 1;
            let place = dice.below(*places);
            let mut data = vec![0; (LARGE * BYTES) as usize];
            data.chunks_exact_mut(BYTES as usize)
                .for_each(|sector| Stamp::new(version).write_to(sector));
            ftl.write(Sector::new(place * LARGE), &data).expect("written");
            newest[place as usize] = version;
        }
        ftl.check().expect("every invariant holds");
    }
    for (place, version) in (0..).zip(newest) {
        let mut data = vec![0; (LARGE * BYTES) as usize];
        ftl.read(Sector::new(place * LARGE), &mut data).expect("read");
        for sector in data.chunks_exact(BYTES as usize) {
            let expected = (version > 0).then(|| Stamp::new(version));
            assert_eq!(Stamp::read_from(sector).filter(|_| version > 0), expected);
        }
    }
    let [fast, main] = host_pages(ftl.probe());
    Programs { fast: fast - before[0], main: main - before[1] }
}

/// Returns the pages programmed by host writes, in the fast area and in the main one.
fn host_pages(probe: &Counters) -> [u64; 2] {
    [Region::Slc, Region::Mlc].map(|region| probe.operations(region, Verb::Program, Cause::Host))
}

#[test]
fn what_is_replaced_soon_enters_the_fast_area() {
    let ignored = repeated(History::Ignored, &[4]);
    assert_eq!(ignored.fast, 0, "{ignored:?}");
    let heeded = repeated(History::Heeded, &[4]);
    assert!(heeded.main * 20 < ignored.main, "{heeded:?}");
    // Every page of the main area is full; a page of the fast area holds half as much.
    assert_eq!(heeded.fast / 2 + heeded.main, ignored.main);
}

/// All replaced data died young, so without the exclusion nearly half of the writes would enter.
#[test]
fn what_is_not_replaced_there_stays_out() {
    let ignored = repeated(History::Ignored, &[24]);
    let heeded = repeated(History::Heeded, &[24]);
    assert_eq!(heeded.fast / 2 + heeded.main, ignored.main);
    assert!(heeded.main * 10 > ignored.main * 9, "{heeded:?}");
    assert!(heeded.fast > 0, "{heeded:?}");
}

#[test]
fn what_was_kept_out_enters_when_it_is_replaced_soon() {
    let heeded = repeated(History::Heeded, &[24, 4, 4]);
    assert!(heeded.fast > 0 && heeded.main * 5 < 33 * 1500, "{heeded:?}");
}
