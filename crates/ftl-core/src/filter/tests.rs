use super::*;
use proptest::prelude::*;

const PERIOD: u32 = FilterConfig::PERIOD;

/// A filter whose sectors have 512 bytes, with limits in sectors.
fn filter(initial: u32, largest: u32) -> SizeFilter {
    let [initial, largest] = [initial, largest].map(|sectors| Bytes::new(sectors * 512));
    let sector = Bytes::new(512);
    SizeFilter::new(FilterConfig { initial, largest, sector, period: PERIOD })
}

/// A workload: sizes and how many of 100 writes have them.
type Mix = Vec<(u32, u32)>;

/// Writes one period of a workload, its sizes well mixed, and returns the threshold after it.
fn period(filter: &mut SizeFilter, mix: &Mix) -> u32 {
    for at in 0..PERIOD {
        // 37 is prime to 100, so that each hundred writes hold each share exactly, in a scattered
        // order.
        let mut ticket = at * 37 % 100;
        let size = mix.iter().find(|(_, share)| {
            let drawn = ticket < *share;
            ticket = ticket.saturating_sub(*share);
            drawn
        });
        filter.note_write(SectorCount::new(size.expect("the shares add up to 100").0));
    }
    filter.threshold().get()
}

fn after(periods: usize, filter: &mut SizeFilter, mix: &Mix) -> u32 {
    (0..periods).map(|_| period(filter, mix)).last().expect("at least one period")
}

fn hot(filter: &SizeFilter, size: u32) -> bool {
    filter.is_hot(SectorCount::new(size))
}

#[test]
fn a_new_filter_has_the_initial_threshold_but_never_one_above_the_largest() {
    assert_eq!(filter(8, 64).threshold().get(), 8);
    assert_eq!(filter(128, 64).threshold().get(), 64);
    let mut empty = filter(8, 64);
    empty.recompute();
    assert_eq!(empty.threshold().get(), 8, "an empty histogram says nothing");
}

#[test]
fn the_same_bytes_are_hot_in_whatever_sectors_they_are_counted() {
    let sizes = [4096, 16_384, 65_536, 131_072, 524_288, 1 << 20];
    let judged = |sector: u32| {
        let (initial, largest) = (Bytes::new(4096), Bytes::new(65_536));
        let bytes = Bytes::new(sector);
        let mut filter =
            SizeFilter::new(FilterConfig { initial, largest, sector: bytes, period: PERIOD });
        let mut seen = vec![sizes.map(|size| hot(&filter, size / sector))];
        for mix in [
            [(4096, 68), (65_536, 32)],
            [(16_384, 50), (524_288, 50)],
            [(65_536, 9), (1 << 20, 91)],
        ] {
            let mix = mix.map(|(size, share)| (size / sector, share)).to_vec();
            seen.push(sizes.map(|size| {
                period(&mut filter, &mix);
                hot(&filter, size / sector)
            }));
        }
        seen
    };
    let paper = judged(512);
    for sector in [1024, 2048, 4096] {
        assert_eq!(judged(sector), paper, "sectors of {sector} bytes");
    }
    assert_eq!(paper[0], [true, false, false, false, false, false], "before anything was seen");
}

#[test]
fn nothing_moves_before_the_period_is_over() {
    let mut filter = filter(1, 64);
    (1..PERIOD).for_each(|_| filter.note_write(SectorCount::new(8)));
    filter.note_write(SectorCount::ZERO);
    assert_eq!(filter.threshold().get(), 1);
    filter.note_write(SectorCount::new(8));
    assert_eq!(filter.threshold().get(), 8);
}

#[test]
fn the_papers_workload_gives_the_papers_threshold() {
    for initial in [1, 8, 16] {
        let mut filter = filter(initial, 64);
        assert_eq!(period(&mut filter, &vec![(8, 68), (128, 32)]), 8);
        assert!(hot(&filter, 8) && !hot(&filter, 9) && !hot(&filter, 128));
    }
}

#[test]
fn a_workload_of_one_small_size_is_hot_whatever_that_size() {
    for size in 1..=64 {
        let mut filter = filter(1, 64);
        period(&mut filter, &vec![(size, 100)]);
        assert!(hot(&filter, size), "{size} sectors against {}", filter.threshold());
    }
}

#[test]
fn a_workload_of_one_large_size_is_cold_and_small_writes_stay_hot() {
    for size in [65, 95, 96, 128, 1024, 5000] {
        let mut filter = filter(8, 64);
        after(20, &mut filter, &vec![(size, 100)]);
        assert!(!hot(&filter, size), "{size} sectors against {}", filter.threshold());
        assert_eq!(filter.threshold().get(), 8);
    }
}

#[test]
fn strays_below_the_one_size_written_do_not_shut_it_out() {
    let mut filter = filter(1, 64);
    assert_eq!(period(&mut filter, &vec![(1, 5), (8, 95)]), 8);
}

#[test]
fn rare_small_writes_among_large_ones_are_hot() {
    let mut filter = filter(1, 64);
    assert_eq!(period(&mut filter, &vec![(8, 1), (256, 99)]), 8);
}

#[test]
fn neighbouring_classes_are_one_heap_as_far_as_it_may_be_hot() {
    assert_eq!(period(&mut filter(1, 64), &vec![(8, 40), (16, 60)]), 16);
    assert_eq!(period(&mut filter(1, 64), &vec![(64, 40), (128, 60)]), 64);
}

#[test]
fn two_heaps_below_the_initial_threshold_are_both_small() {
    let mix = vec![(1, 20), (8, 70), (16, 5), (128, 5)];
    assert_eq!(period(&mut filter(8, 64), &mix), 8);
    // A filter that was not told so believes the split.
    assert_eq!(period(&mut filter(1, 64), &mix), 1);
}

#[test]
fn a_class_of_sizes_between_the_powers_stands_for_their_mean() {
    assert_eq!(period(&mut filter(1, 64), &vec![(5, 70), (128, 30)]), 5);
    assert_eq!(period(&mut filter(1, 64), &vec![(3, 70), (128, 30)]), 4);
    assert_eq!(period(&mut filter(1, 50), &vec![(48, 100)]), 50);
}

#[test]
fn where_most_writes_are_of_two_large_sizes_the_few_small_ones_are_hot() {
    assert_eq!(period(&mut filter(1, 64), &vec![(8, 4), (128, 48), (1024, 48)]), 8);
}

/// How many periods the threshold may need after a change. Each halves the weight of what was
/// before; after five the old workload holds less than a sixteenth of all weight, and is strays.
const PERIODS_TO_MOVE: usize = 6;

/// How often the threshold may move on its way from one workload to the next.
const MOVES: usize = 3;

/// Workloads of one size or two, the smaller of which may be hot.
fn workloads() -> Vec<Mix> {
    let sizes = || (0..11).map(|exponent| 1 << exponent);
    let one = sizes().filter(|size| *size <= 64).map(|size| vec![(size, 100)]);
    let pairs = sizes().flat_map(|small| sizes().map(move |large| (small, large)));
    let two = pairs
        .filter(|(small, large)| *small <= 64 && small < large)
        .flat_map(|(small, large)| [10, 50, 68].map(|n| vec![(small, n), (large, 100 - n)]));
    one.chain(two).collect()
}

#[test]
fn a_changed_workload_moves_the_threshold_within_the_stated_periods_and_it_stays() {
    let workloads = workloads();
    let settled: Vec<u32> =
        workloads.iter().map(|mix| after(12, &mut filter(4, 64), mix)).collect();
    let mut worst = (0, 0);
    for (before, start) in workloads.iter().zip(&settled) {
        let mut warm = filter(4, 64);
        assert_eq!(after(6, &mut warm, before), *start, "{before:?}");
        for (now, end) in workloads.iter().zip(&settled) {
            let mut filter = warm;
            let mut path = vec![*start];
            path.extend((0..12).map(|_| period(&mut filter, now)));
            let needed = path.iter().rposition(|at| at != end).map_or(0, |last| last + 1);
            let moves = path.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!(
                needed <= PERIODS_TO_MOVE && moves <= MOVES,
                "{before:?} to {now:?}: {path:?} instead of {end}"
            );
            worst = (worst.0.max(needed), worst.1.max(moves));
        }
    }
    assert_eq!(worst, (PERIODS_TO_MOVE, MOVES), "the stated bounds are reached");
}

#[test]
fn small_writes_that_stopped_are_remembered_until_their_last_count_fades() {
    let mut filter = filter(4, 64);
    after(6, &mut filter, &vec![(16, 100)]);
    // Just under 2,000 counts are halved to nothing in eleven periods.
    assert_eq!(after(10, &mut filter, &vec![(512, 100)]), 16);
    assert_eq!(after(1, &mut filter, &vec![(512, 100)]), 4);
}

#[test]
fn chance_does_not_move_the_threshold_of_a_steady_workload() {
    let mut filter = filter(4, 64);
    let mut random = 1_u64;
    for at in 0..200 * PERIOD {
        // Knuth's MMIX generator: its upper bits are random enough to draw from.
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let size =
            [1, 2, 8, 8, 8, 8, 8, 8, 16, 64, 128, 128, 128, 256][(random >> 33) as usize % 14];
        filter.note_write(SectorCount::new(size));
        assert_eq!(filter.threshold().get(), if at + 1 < PERIOD { 4 } else { 8 }, "write {at}");
    }
}

proptest! {
    #[test]
    fn a_write_above_the_largest_is_never_hot_whatever_was_seen(
        sizes in prop::collection::vec(prop_oneof![0_u32..200, any::<u32>()], 1..200),
        initial in any::<u32>(),
        largest in 0_u32..2_000_000,
        power in 0_u32..6,
        period in 0_u32..50,
    ) {
        let sector = Bytes::new(512 << power);
        let most = SectorCount::new(largest.div_ceil(sector.get()));
        let [initial, largest] = [initial, largest].map(Bytes::new);
        let mut filter = SizeFilter::new(FilterConfig { initial, largest, sector, period });
        for size in sizes {
            filter.note_write(SectorCount::new(size));
            prop_assert!(filter.threshold() <= most);
        }
    }
}
