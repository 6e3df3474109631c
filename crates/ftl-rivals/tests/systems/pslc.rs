//! The cache in SLC mode: its phases, its size, and what it does when the host is idle.

use ftl_iface::{
    BlockStore, Cause, Counters, Mode, NoProbe, PageCount, Probe, Region, Sector, SectorCount,
    Verb, Work,
};
use ftl_rivals::Rival;
use ftl_rivals::kit::Mapped;
use ftl_rivals::pslc::{self, Pslc, PslcConfig, WhenFull};
use nand_model::{Chip, Content};

use crate::world::{self, WHEN_FULL};

/// Seventy blocks of 16 pages of 2 KiB, or of eight in SLC mode.
fn chip() -> Chip {
    Chip::new(&world::part("tiny", 12, 70), Content::Bytes).unwrap()
}

/// Pages of the disk: eight tenths of what the blocks hold.
const PAGES: u32 = 896;
const HALF: SectorCount = SectorCount::new(70 * 16);
const CAPACITY: SectorCount = SectorCount::new(2 * PAGES);

/// Half of the blocks without data, beside two that are always there.
fn config(when_full: WhenFull) -> PslcConfig {
    world::pslc_config(when_full, CAPACITY, 1, [0, 500])
}

fn empty(config: &PslcConfig) -> Mapped<Chip, NoProbe, Pslc> {
    pslc::new(chip(), NoProbe, config).unwrap()
}

fn write<P: Probe>(store: &mut Mapped<Chip, P, Pslc>, page: u32) {
    store.write(Sector::new(2 * page), &[7; 2048]).unwrap();
}

fn figure(store: &impl Rival, name: &str) -> f64 {
    store.figures().into_iter().find(|(known, _)| *known == name).map(|(_, value)| value).unwrap()
}

/// What a page of a fill came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    Cached,
    Past,
    CachedAfterFolding,
    PastAfterFolding,
}

/// What each page of a fill in order came to.
fn fill(store: &mut Mapped<Chip, NoProbe, Pslc>) -> Vec<Came> {
    let came = |page| {
        let names = ["pages_past_the_cache", "waits_for_the_cache"];
        let before = names.map(|name| figure(store, name));
        write(store, page);
        store.check().unwrap();
        match [0, 1].map(|at| figure(store, names[at]) > before[at]) {
            [false, false] => Came::Cached,
            [true, false] => Came::Past,
            [false, true] => Came::CachedAfterFolding,
            [true, true] => Came::PastAfterFolding,
        }
    };
    (0..PAGES).map(came).collect()
}

fn first(pages: &[Came], of: impl Fn(Came) -> bool) -> usize {
    pages.iter().position(|page| of(*page)).unwrap_or(pages.len())
}

#[test]
fn a_fill_has_three_phases() {
    for (when_full, late) in
        [(WhenFull::Beside, Came::PastAfterFolding), (WhenFull::Direct, Came::CachedAfterFolding)]
    {
        let pages = fill(&mut empty(&config(when_full)));
        let past = first(&pages, |page| page == Came::Past);
        let folding = first(&pages, |page| page == late);
        // Half of 63 blocks, two of them always there, and one more than those kept free on each side.
        assert!((240..=272).contains(&past), "{past} {folding}");
        assert!(pages[..past].iter().all(|page| *page == Came::Cached), "{pages:?}");
        // Then all blocks but those of the cache, and those kept free.
        assert!((past + 540..=past + 576).contains(&folding), "{past} {folding}");
        // What is left goes one way alone, while the cache is folded.
        let same = if late == Came::PastAfterFolding { Came::Past } else { Came::Cached };
        let rest = past + first(&pages[past..], |page| page != Came::Past);
        assert!((rest..rest + 16).contains(&folding), "a block that was open: {rest} {folding}");
        let rest = &pages[rest..];
        assert!(rest.iter().all(|page| [same, late].contains(page)), "{rest:?}");
        let folds = rest.iter().filter(|page| **page == late).count();
        assert!(folds >= 3, "{folds} of {}", rest.len());
    }
}

#[test]
fn a_cache_that_is_folded_at_once_has_two_phases() {
    let pages = fill(&mut empty(&config(WhenFull::Fold)));
    let folding = first(&pages, |page| page == Came::CachedAfterFolding);
    assert!((240..=272).contains(&folding), "{folding}");
    let ways = [Came::Cached, Came::CachedAfterFolding];
    assert!(pages.iter().all(|page| ways.contains(page)), "{pages:?}");
}

#[test]
fn the_cache_shrinks_as_the_disk_fills_and_recovers_when_idle() {
    for when_full in WHEN_FULL {
        let mut store = empty(&config(when_full));
        let mut sizes = Vec::new();
        for tenth in 0..10 {
            (tenth * PAGES / 10..(tenth + 1) * PAGES / 10).for_each(|page| write(&mut store, page));
            while store.maintain(PageCount::new(3)).unwrap() == Work::Left {}
            assert!(figure(&store, "cache_blocks") <= 1.0, "{when_full:?}");
            sizes.push(figure(&store, "cache_blocks_most"));
            // What comes next enters the cache again.
            let past = figure(&store, "pages_past_the_cache");
            write(&mut store, 0);
            assert!(figure(&store, "pages_past_the_cache") <= past, "{when_full:?}");
        }
        assert!(sizes.is_sorted_by(|one, next| one > next), "{when_full:?}: {sizes:?}");
        assert!(sizes[9] < 0.25 * sizes[0], "{sizes:?}");
    }
}

#[test]
fn so_many_pages_are_folded_for_each_hundred_that_go_past() {
    for (percent, folded) in [(0, 0), (25, 50), (100, 200)] {
        let config = PslcConfig { fold_percent: percent, ..config(WhenFull::Beside) };
        let mut counters = Counters::default();
        {
            let mut store = pslc::new(chip(), &mut counters, &config).unwrap();
            let past = (0..PAGES).scan((), |(), page| {
                write(&mut store, page);
                Some(figure(&store, "pages_past_the_cache"))
            });
            assert_eq!(past.take_while(|past| *past <= 200.0).last(), Some(200.0));
        }
        let moved = counters.operations(Region::Mlc, Verb::Program, Cause::WriteBack);
        assert!(moved.abs_diff(folded) <= 2, "{percent} %: {moved}");
    }
}

#[test]
fn a_cache_in_slc_mode_takes_every_write_and_is_emptied_when_idle() {
    for (lanes, when_full) in [1, 2].into_iter().flat_map(|lanes| WHEN_FULL.map(|how| (lanes, how)))
    {
        let config = world::pslc_config(when_full, HALF, lanes, [50, 500]);
        let mut store = pslc::new(chip(), NoProbe, &config).unwrap();
        world::live(&mut store, 11, 4_000, |store| store.check().unwrap());
        store.settle().unwrap();
        store.check().unwrap();
        assert!(store.ram_bytes() > 0);
        // An idle disk has nothing but what is being filled in its cache.
        assert!(store.units().area(0).blocks_in(Mode::Slc) <= lanes);
    }
}

#[test]
fn the_first_writes_to_a_cache_take_slc_programs_alone_and_the_later_ones_wait() {
    let config = world::pslc_config(WhenFull::Fold, HALF, 1, [100, 0]);
    let mut counters = Counters::default();
    {
        let mut store = pslc::new(chip(), &mut counters, &config).unwrap();
        let mut dice = fastrand::Rng::with_seed(5);
        world::write_at_random(&mut store, 2, 48, &mut dice);
    }
    assert_eq!(counters.operations(Region::Mlc, Verb::Program, Cause::Host), 48);
    assert_eq!(counters.total(Region::Mlc, Verb::Program), 48, "seven blocks of eight pages");
}
