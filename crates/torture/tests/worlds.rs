//! Random worlds: some hundred of them in each test run; `./ci torture` runs thousands.

use torture::worlds::{Choice, Kept, Reported, Worlds, worlds};
use torture::{FtlName, Unwatched};

fn lived(first: u64, number: u64, kept: Option<Kept>) -> Worlds {
    let choice = Choice {
        ftl: FtlName::Hybrid,
        seeds: first..first + number,
        kept,
        broken_max: 1,
        told: Reported::Shrunk,
    };
    worlds(&choice, &Unwatched).expect("worlds can be drawn")
}

#[test]
fn nothing_is_lost_in_random_worlds_and_no_device_is_stuck() {
    let outcome = lived(1_000, 200, None);
    let told: Vec<String> = outcome.broken.iter().map(ToString::to_string).collect();
    assert_eq!(told, [] as [&str; 0]);
    assert_eq!((outcome.worlds, outcome.lives), (200, 200 * 60));
    assert!(outcome.tally.total().tried > 8_000, "{:?}", outcome.tally.total());
    let rows = torture::Fate::ROWS.iter().enumerate();
    let unseen: Vec<&str> = rows
        .filter(|(row, _)| outcome.tally.by_fate(*row).tried == 0)
        .map(|(_, row)| *row)
        .collect();
    assert_eq!(unseen, [] as [&str; 0], "fates that no world met");
}

/// Each showed a cause of its own, once in ten thousand worlds or less: copies that displaced each other, a page of a
/// half-erased block that was taken for an intact one, a torn entry taken for the end of a list, a corrupted page that
/// replaced a failed one, a map that became stale during a proof, and copies trusted while they were being erased. The
/// next five lose pages by themselves: an entry overridden by an older page, two pages in a row, and full hash tables.
/// In the next, an unreadable page of a chain put a new entry of the log in doubt; then a second fold was erased before
/// the first; and two took a tail of the log with two lost pages for half erased.
const BROKEN_ONCE: [u64; 19] = [
    4_176, 5_524, 5_997, 11_571, 20_065, 27_987, 36_411, 38_859, 42_248, 505_008, 1_478, 700_925,
    701_258, 701_951, 709_689, 3_130_266, 3_124_156, 3_060_948, 3_081_188,
];

#[test]
fn worlds_in_which_a_promise_was_broken_once_are_whole() {
    let broken = BROKEN_ONCE.iter().flat_map(|seed| lived(*seed, 1, None).broken);
    let told: Vec<String> = broken.map(|broken| broken.to_string()).collect();
    assert_eq!(told, [] as [&str; 0]);
}

#[test]
fn a_world_is_the_same_each_time_and_a_part_of_it_is_lived_alone() {
    assert_eq!(lived(7, 1, None).tally, lived(7, 1, None).tally);
    let kept = "0:1-3/5:1r".parse().expect("a line");
    let part = lived(7, 1, Some(kept));
    assert_eq!((part.worlds, part.lives), (1, 2));
}
