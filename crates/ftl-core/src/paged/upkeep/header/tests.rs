//! Every state that both header blocks can come into by power cuts, as far as the contract goes: one header is left.

use std::collections::BTreeSet;

use super::{Copies, HeaderState, to_mend};
use crate::layout::Stamp;

/// What a page reads as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Read {
    Erased,
    Copy(u64),
    Dead,
}

/// Whether it goes on to read so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    Firmly,
    Unstable,
}

type Cells = (Read, Held);
type Both = [[Cells; 2]; 2];

/// What a mount takes it for.
fn state([first, second]: [Cells; 2]) -> HeaderState {
    let finished = |stamp, copies| HeaderState::Finished { stamp: Stamp::new(stamp), copies };
    match (first.0, second.0) {
        (Read::Copy(stamp), Read::Copy(_)) => finished(stamp, Copies::Both),
        (Read::Copy(_), Read::Erased) => HeaderState::Unfinished,
        (Read::Copy(stamp), Read::Dead) | (_, Read::Copy(stamp)) => finished(stamp, Copies::One),
        (Read::Erased | Read::Dead, _) => HeaderState::Missing,
    }
}

fn set(both: Both, number: usize, page: usize, cells: Cells) -> Both {
    let mut both = both;
    both[number][page] = cells;
    both
}

/// Each unstable page dies or goes on.
fn aged(both: Both) -> Vec<Both> {
    let mut all = vec![both];
    for at in 0..4 {
        let (number, page) = (at / 2, at % 2);
        if both[number][page].1 == Held::Unstable {
            let dead = (Read::Dead, Held::Firmly);
            all.extend(all.clone().into_iter().map(|one| set(one, number, page, dead)));
        }
    }
    all
}

/// What a cut in the erase of a page's block leaves of it.
fn half_erased((read, held): Cells) -> [Cells; 5] {
    let as_before = if read == Read::Dead { held } else { Held::Unstable };
    [
        (read, held),
        (read, as_before),
        (Read::Erased, Held::Firmly),
        (Read::Erased, Held::Unstable),
        (Read::Dead, Held::Firmly),
    ]
}

/// What a cut in the program of a copy leaves.
fn half_programmed(stamp: u64) -> [Cells; 5] {
    [
        (Read::Erased, Held::Firmly),
        (Read::Erased, Held::Unstable),
        (Read::Copy(stamp), Held::Firmly),
        (Read::Copy(stamp), Held::Unstable),
        (Read::Dead, Held::Firmly),
    ]
}

/// Rewrites a header. Notes what each cut leaves, and returns what is there without one.
fn rewrite(both: Both, number: usize, cut: &mut Vec<Both>) -> Both {
    for first in half_erased(both[number][0]) {
        for second in half_erased(both[number][1]) {
            cut.push(set(set(both, number, 0, first), number, 1, second));
        }
    }
    let stamps = both.iter().flatten().filter_map(|(read, _)| match read {
        Read::Copy(stamp) => Some(*stamp),
        Read::Erased | Read::Dead => None,
    });
    let next = stamps.max().unwrap_or(0) + 1;
    let mut both = both;
    both[number] = [(Read::Erased, Held::Firmly); 2];
    for (page, stamp) in [(0, next), (1, next + 1)] {
        cut.extend(half_programmed(stamp).map(|cells| set(both, number, page, cells)));
        both[number][page] = (Read::Copy(stamp), Held::Firmly);
    }
    both
}

/// What a life can leave that mends the headers, and then may refresh them.
fn lives(both: Both, ends: &mut Vec<Both>) {
    let mut mended = aged(both);
    for _ in 0..2 {
        mended = mended
            .into_iter()
            .flat_map(|both| match to_mend(both.map(state)) {
                Some(number) => aged(rewrite(both, number.into(), ends)),
                None => vec![both],
            })
            .collect();
    }
    for both in mended {
        ends.push(both);
        let whole = |found| matches!(found, HeaderState::Finished { copies: Copies::Both, .. });
        let [zeroth, first] = both.map(state);
        if whole(zeroth) && whole(first) {
            let older = usize::from(first < zeroth);
            let once = rewrite(both, older, ends);
            let twice = rewrite(once, 1 - older, ends);
            ends.push(twice);
        }
    }
}

/// Numbers the stamps from 1 on, so that states are met again.
fn renumbered(both: Both) -> Both {
    let stamps: BTreeSet<Read> = both.iter().flatten().map(|(read, _)| *read).collect();
    let copies = stamps.iter().filter(|read| matches!(read, Read::Copy(_)));
    let ranks: Vec<(Read, u64)> = copies.copied().zip(1..).collect();
    let rank = |read| ranks.iter().find(|(one, _)| *one == read).map(|(_, rank)| *rank);
    both.map(|block| block.map(|(read, held)| (rank(read).map_or(read, Read::Copy), held)))
}

#[test]
fn no_number_of_cuts_leaves_no_header() {
    let copy = |stamp| (Read::Copy(stamp), Held::Firmly);
    let start = [[copy(1), copy(2)], [copy(3), copy(4)]];
    let mut met = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(both) = open.pop() {
        let mut ends = Vec::new();
        lives(both, &mut ends);
        for end in ends.into_iter().flat_map(aged).map(renumbered) {
            let is_left = end.iter().flatten().any(|(read, _)| matches!(read, Read::Copy(_)));
            assert!(is_left, "{both:?} becomes {end:?}");
            if met.insert(end) {
                open.push(end);
            }
        }
    }
    assert!(met.len() > 100, "{} states", met.len());
}
