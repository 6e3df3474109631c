//! Every state that both header blocks can come into by power cuts, as far as the contract goes: one header is left.

use std::collections::BTreeSet;

use super::{Copies, CopyRead, HeaderState, to_mend};
use crate::cells::{self, Held, set};
use crate::layout::Stamp;

type Cells = cells::Cells<CopyRead>;
type Both = cells::Both<CopyRead, 2>;

/// What a mount takes it for.
fn state([first, second]: [Cells; 2]) -> HeaderState {
    HeaderState::of(first.0, second.0)
}

fn aged(both: Both) -> Vec<Both> {
    cells::aged(both, CopyRead::Other)
}

/// What a cut in the erase of a page's block leaves of it.
fn half_erased((read, held): Cells) -> [Cells; 5] {
    let as_before = if read == CopyRead::Other { held } else { Held::Unstable };
    [
        (read, held),
        (read, as_before),
        (CopyRead::Erased, Held::Firmly),
        (CopyRead::Erased, Held::Unstable),
        (CopyRead::Other, Held::Firmly),
    ]
}

/// What a cut in the program of a copy leaves.
fn half_programmed(stamp: Stamp) -> [Cells; 5] {
    [
        (CopyRead::Erased, Held::Firmly),
        (CopyRead::Erased, Held::Unstable),
        (CopyRead::Own(stamp), Held::Firmly),
        (CopyRead::Own(stamp), Held::Unstable),
        (CopyRead::Other, Held::Firmly),
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
        CopyRead::Own(stamp) => Some(*stamp),
        CopyRead::Erased | CopyRead::Other => None,
    });
    let next = stamps.max().unwrap_or(Stamp::ZERO).next();
    let mut both = both;
    both[number] = [(CopyRead::Erased, Held::Firmly); 2];
    for (page, stamp) in [(0, next), (1, next.next())] {
        cut.extend(half_programmed(stamp).map(|cells| set(both, number, page, cells)));
        both[number][page] = (CopyRead::Own(stamp), Held::Firmly);
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
    let stamps: BTreeSet<CopyRead> = both.iter().flatten().map(|(read, _)| *read).collect();
    let copies = stamps.iter().filter(|read| matches!(read, CopyRead::Own(_)));
    let ranks: Vec<(CopyRead, Stamp)> = copies.copied().zip((1..).map(Stamp::new)).collect();
    let rank = |read| ranks.iter().find(|(one, _)| *one == read).map(|(_, rank)| *rank);
    both.map(|block| block.map(|(read, held)| (rank(read).map_or(read, CopyRead::Own), held)))
}

#[test]
fn no_number_of_cuts_leaves_no_header() {
    let copy = |stamp| (CopyRead::Own(Stamp::new(stamp)), Held::Firmly);
    let start = [[copy(1), copy(2)], [copy(3), copy(4)]];
    let mut met = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(both) = open.pop() {
        let mut ends = Vec::new();
        lives(both, &mut ends);
        for end in ends.into_iter().flat_map(aged).map(renumbered) {
            let is_left = end.iter().flatten().any(|(read, _)| matches!(read, CopyRead::Own(_)));
            assert!(is_left, "{both:?} becomes {end:?}");
            if met.insert(end) {
                open.push(end);
            }
        }
    }
    assert!(met.len() > 100, "{} states", met.len());
}
