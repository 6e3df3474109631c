//! Every state that both header blocks can come into by power cuts while blocks are listed, as far as the contract goes:
//! a header is left, and names every block that was listed.

use std::collections::BTreeSet;

use super::{Entered, HeaderState, List, found_listed, to_mend};
use crate::layout::Stamp;

/// Blocks that may fail and cannot be marked.
const LISTED: u16 = 1;
const PAGES: usize = LISTED as usize + 2;

/// What a page reads as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Read {
    Erased,
    Copy(u64),
    Listed,
    Dead,
}

/// Whether it goes on to read so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    Firmly,
    Unstable,
}

type Cells = (Read, Held);
type Both = [[Cells; PAGES]; 2];

const ERASED: Cells = (Read::Erased, Held::Firmly);
const DEAD: Cells = (Read::Dead, Held::Firmly);

/// A device: its headers, and how many blocks it must name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Device {
    both: Both,
    noted: u16,
}

/// What a mount takes a header for.
fn state(pages: [Cells; PAGES]) -> HeaderState {
    let copy = |read| match read {
        Read::Copy(stamp) => Some(Stamp::new(stamp)),
        Read::Erased | Read::Listed | Read::Dead => None,
    };
    let rest = pages.iter().skip(1).map(|(read, _)| *read);
    let count = rest.clone().take_while(|read| *read == Read::Listed).count();
    let end = rest.clone().nth(count);
    let list = List {
        count: count as u16,
        ended: end.is_some_and(|read| read != Read::Erased),
        copy: end.and_then(copy),
    };
    HeaderState { first: copy(pages[0].0), list }
}

fn states(both: Both) -> [Option<HeaderState>; 2] {
    both.map(|pages| Some(state(pages)))
}

/// What a mount knows of failed blocks.
fn listed(both: Both) -> u16 {
    both.map(|pages| state(pages).list.count).into_iter().max().unwrap_or(0)
}

fn set(both: Both, number: usize, page: usize, cells: Cells) -> Both {
    let mut both = both;
    both[number][page] = cells;
    both
}

/// Each unstable page dies or goes on.
fn aged(both: Both) -> Vec<Both> {
    let mut all = vec![both];
    for at in 0..2 * PAGES {
        let (number, page) = (at / PAGES, at % PAGES);
        if both[number][page].1 == Held::Unstable {
            all.extend(all.clone().into_iter().map(|one| set(one, number, page, DEAD)));
        }
    }
    all
}

/// What a cut in the erase of a page's block leaves of it.
fn half_erased((read, held): Cells) -> Vec<Cells> {
    let as_before = if matches!(read, Read::Dead | Read::Erased) { held } else { Held::Unstable };
    let mut left = vec![(read, held), (read, as_before), ERASED, DEAD];
    left.dedup();
    left
}

/// What a cut in the program of a page leaves.
fn half_programmed(read: Read) -> [Cells; 4] {
    [ERASED, (read, Held::Firmly), (read, Held::Unstable), DEAD]
}

/// Rewrites a header. Notes what each cut leaves, and returns what is there without one.
fn rewrite(both: Both, number: usize, listed: u16, cut: &mut Vec<Both>) -> Both {
    let mut erased = vec![both];
    for page in 0..PAGES {
        let left = half_erased(both[number][page]);
        let of =
            |one: Both| left.clone().into_iter().map(move |cells| set(one, number, page, cells));
        erased = erased.into_iter().flat_map(of).collect();
    }
    cut.extend(erased);
    let stamps = both.iter().flatten().filter_map(|(read, _)| match read {
        Read::Copy(stamp) => Some(*stamp),
        Read::Erased | Read::Listed | Read::Dead => None,
    });
    let next = stamps.max().unwrap_or(0) + 1;
    let list = (0..listed).map(|_| Read::Listed);
    let content = [Read::Copy(next)].into_iter().chain(list).chain([Read::Copy(next + 1)]);
    let mut both = both;
    both[number] = [ERASED; PAGES];
    for (page, read) in content.enumerate() {
        // HYBRID.md has what a copy may cost that ends a list, is torn, and reads well for a while.
        let ends_list = listed > 0 && page == usize::from(listed) + 1;
        let is_left = |cells: &Cells| !ends_list || *cells != (read, Held::Unstable);
        let half = half_programmed(read).into_iter().filter(is_left);
        cut.extend(half.map(|cells| set(both, number, page, cells)));
        both[number][page] = (read, Held::Firmly);
    }
    both
}

/// Mends headers, as a life that knows of so many blocks.
fn mended(both: Both, listed: u16, cut: &mut Vec<Both>) -> Vec<Both> {
    let mut all = vec![both];
    for _ in 0..2 {
        let step = |both: Both| match to_mend(states(both), listed) {
            Some(number) => rewrite(both, number.into(), listed, cut),
            None => both,
        };
        all = all.into_iter().flat_map(aged).map(step).collect();
    }
    all
}

fn is_noted(both: Both, listed: u16) -> bool {
    listed == 0 || found_listed(states(both), listed) == Entered::Listed
}

/// What a life can leave.
fn lives(device: Device, ends: &mut Vec<Device>) {
    let Device { both, noted } = device;
    let listed = listed(both);
    let mut cut = Vec::new();
    for both in mended(both, listed, &mut cut) {
        if is_noted(both, listed) && listed < LISTED {
            // One more block fails.
            for both in mended(both, listed + 1, &mut cut) {
                let noted = if is_noted(both, listed + 1) { listed + 1 } else { noted };
                ends.push(Device { both, noted });
            }
        }
        ends.push(device_of(both, noted));
        let whole = |found: HeaderState| found.is_whole(listed);
        let [zeroth, first] = both.map(state);
        if whole(zeroth) && whole(first) {
            let older = usize::from(first.stamp() < zeroth.stamp());
            let once = rewrite(both, older, listed, &mut cut);
            let twice = rewrite(once, 1 - older, listed, &mut cut);
            ends.push(device_of(twice, noted));
        }
    }
    ends.extend(cut.into_iter().map(|both| device_of(both, noted)));
}

fn device_of(both: Both, noted: u16) -> Device {
    Device { both, noted }
}

/// Numbers the stamps from 1 on, so that states are met again.
fn renumbered(device: Device) -> Device {
    let stamps: BTreeSet<Read> = device.both.iter().flatten().map(|(read, _)| *read).collect();
    let copies = stamps.iter().filter(|read| matches!(read, Read::Copy(_)));
    let ranks: Vec<(Read, u64)> = copies.copied().zip(1..).collect();
    let rank = |read| ranks.iter().find(|(one, _)| *one == read).map(|(_, rank)| *rank);
    let both = device
        .both
        .map(|pages| pages.map(|(read, held)| (rank(read).map_or(read, Read::Copy), held)));
    Device { both, ..device }
}

#[test]
fn no_number_of_cuts_leaves_no_header_or_forgets_a_block() {
    let copy = |stamp| (Read::Copy(stamp), Held::Firmly);
    let header = |stamp| [copy(stamp), copy(stamp + 1), ERASED];
    let start = Device { both: [header(1), header(3)], noted: 0 };
    let mut met = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(device) = open.pop() {
        let mut ends = Vec::new();
        lives(device, &mut ends);
        let aged = |end: Device| aged(end.both).into_iter().map(move |both| Device { both, ..end });
        for end in ends.into_iter().flat_map(aged).map(renumbered) {
            let is_left = end.both.iter().flatten().any(|(read, _)| matches!(read, Read::Copy(_)));
            assert!(is_left, "{device:?} becomes {end:?}");
            assert!(listed(end.both) >= end.noted, "{device:?} becomes {end:?}");
            if met.insert(end) {
                open.push(end);
            }
        }
    }
    assert!(met.len() > 500, "{} states", met.len());
}
