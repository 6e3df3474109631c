//! Every state that both header blocks can come into by power cuts while a block is listed, as far as the contract
//! goes: a header is left, and names every block that was listed.

use std::collections::BTreeSet;

use super::mend::{found_listed, older_of_whole, to_mend};
use super::{HeaderState, List};
use crate::cells::{self, Held, set};
use crate::hybrid::flash::failed::Entered;
use crate::layout::Stamp;

/// Pages of a header block that lists a block.
const PAGES: usize = 3;

/// What a page reads as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Read {
    Erased,
    Copy(u64),
    Listed,
    Dead,
}

type Cells = cells::Cells<Read>;
type Both = cells::Both<Read, PAGES>;

const ERASED: Cells = (Read::Erased, Held::Firmly);
const DEAD: Cells = (Read::Dead, Held::Firmly);

/// A device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Device {
    both: Both,
    /// How many blocks its headers must name.
    noted: u16,
    /// How many may fail in all that cannot be marked.
    fail: u16,
}

impl Device {
    fn with(self, both: Both) -> Self {
        Self { both, ..self }
    }
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

fn aged(both: Both) -> Vec<Both> {
    cells::aged(both, Read::Dead)
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
fn rewrite(device: Device, number: usize, listed: u16, cut: &mut Vec<Device>) -> Device {
    let mut both = device.both;
    let mut erased = vec![both];
    for (page, cells) in both[number].into_iter().enumerate() {
        let left = half_erased(cells);
        let of =
            |one: Both| left.clone().into_iter().map(move |cells| set(one, number, page, cells));
        erased = erased.into_iter().flat_map(of).collect();
    }
    cut.extend(erased.into_iter().map(|both| device.with(both)));
    let stamps = both.iter().flatten().filter_map(|(read, _)| match read {
        Read::Copy(stamp) => Some(*stamp),
        Read::Erased | Read::Listed | Read::Dead => None,
    });
    let next = stamps.max().unwrap_or(0) + 1;
    let list = (0..listed).map(|_| Read::Listed);
    let content = [Read::Copy(next)].into_iter().chain(list).chain([Read::Copy(next + 1)]);
    both[number] = [ERASED; PAGES];
    for (page, read) in content.enumerate() {
        // HYBRID.md has what such a copy may cost where blocks are listed, if it is torn and reads well for a while.
        let is_second = page == usize::from(listed) + 1;
        let is_left =
            |cells: &Cells| !(is_second && device.fail > 0 && *cells == (read, Held::Unstable));
        let half = half_programmed(read).into_iter().filter(is_left);
        cut.extend(half.map(|cells| device.with(set(both, number, page, cells))));
        both[number][page] = (read, Held::Firmly);
    }
    device.with(both)
}

/// Mends headers, as a life that knows of so many blocks.
fn mended(device: Device, listed: u16, cut: &mut Vec<Device>) -> Vec<Device> {
    let mut all = vec![device];
    for _ in 0..2 {
        let step = |device: Device| match to_mend(states(device.both), listed) {
            Some(number) => rewrite(device, number.into(), listed, cut),
            None => device,
        };
        let older =
            |device: Device| aged(device.both).into_iter().map(move |both| device.with(both));
        all = all.into_iter().flat_map(older).map(step).collect();
    }
    all
}

fn is_noted(device: Device, listed: u16) -> bool {
    listed == 0 || found_listed(states(device.both), listed) == Entered::Listed
}

/// What a life can leave.
fn lives(device: Device, ends: &mut Vec<Device>) {
    let listed = listed(device.both);
    let mut cut = Vec::new();
    for device in mended(device, listed, &mut cut) {
        assert!(device.fail == 0 || is_noted(device, listed), "{device:?} cannot be written");
        if listed < device.fail {
            // One more block fails.
            for one in mended(device, listed + 1, &mut cut) {
                assert!(is_noted(one, listed + 1), "{device:?} cannot be written");
                ends.push(Device { noted: listed + 1, ..one });
            }
        }
        ends.push(device);
        if let Some(older) = older_of_whole(states(device.both), listed) {
            let older = usize::from(older);
            let once = rewrite(device, older, listed, &mut cut);
            ends.push(rewrite(once, 1 - older, listed, &mut cut));
        }
    }
    ends.append(&mut cut);
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
    device.with(both)
}

/// Goes through every state of a device on which so many blocks fail that cannot be marked. Returns their number.
fn states_with(fail: u16) -> usize {
    let copy = |stamp| (Read::Copy(stamp), Held::Firmly);
    let header = |stamp| [copy(stamp), copy(stamp + 1), ERASED];
    let start = Device { both: [header(1), header(3)], noted: 0, fail };
    let mut met = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(device) = open.pop() {
        let mut ends = Vec::new();
        lives(device, &mut ends);
        let aged = |end: Device| aged(end.both).into_iter().map(move |both| end.with(both));
        for end in ends.into_iter().flat_map(aged).map(renumbered) {
            let is_left = end.both.iter().flatten().any(|(read, _)| matches!(read, Read::Copy(_)));
            assert!(is_left, "{device:?} becomes {end:?}");
            assert!(listed(end.both) >= end.noted, "{device:?} becomes {end:?}");
            if met.insert(end) {
                open.push(end);
            }
        }
    }
    met.len()
}

#[test]
fn no_number_of_cuts_leaves_no_header() {
    let states = states_with(0);
    assert!(states > 100, "{states}");
}

#[test]
fn no_number_of_cuts_forgets_a_block_or_leaves_a_device_that_cannot_be_written() {
    let states = states_with(1);
    assert!(states > 100, "{states}");
}
