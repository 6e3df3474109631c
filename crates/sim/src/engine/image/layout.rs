//! Where in the file the next chip and the next journal go: never over what the headers name.

use super::format::{BEHIND, GRAIN};
use super::store::Extent;

/// The smallest room of a journal, on small devices and on all others.
const JOURNAL_LEAST: (u64, u64) = (16 << 20, 256 << 20);

/// The room of a journal of a device of that capacity, whose chip takes so many bytes now: when it is used up the chip
/// is written again, which should be rare beside it.
pub(super) fn journal_bytes(capacity: u64, chip: u64) -> u64 {
    let least = capacity.saturating_mul(2).clamp(JOURNAL_LEAST.0, JOURNAL_LEAST.1);
    chip.saturating_mul(2).max(least).next_multiple_of(GRAIN)
}

/// The end of all that is in use.
fn end(used: &[Extent]) -> u64 {
    let ends = used.iter().map(|extent| extent.end()).chain([BEHIND]);
    ends.max().unwrap_or(BEHIND).next_multiple_of(GRAIN)
}

/// The first place with that many bytes that are not in use.
pub(super) fn place(used: &[Extent], bytes: u64) -> Extent {
    let ends = used.iter().map(|extent| extent.end().next_multiple_of(GRAIN));
    let free = |at: &u64| {
        let wanted = Extent { at: *at, bytes };
        used.iter().all(|other| wanted.end() <= other.at || other.end() <= *at)
    };
    let at = ends.chain([BEHIND]).filter(free).min().unwrap_or_else(|| end(used));
    Extent { at, bytes }
}

/// The gaps between what is in use.
pub(super) fn gaps(used: &[Extent]) -> Vec<Extent> {
    let mut used = used.to_vec();
    used.sort_unstable_by_key(|extent| extent.at);
    let (mut gaps, mut at) = (Vec::new(), BEHIND);
    for extent in used {
        if extent.at > at {
            gaps.push(Extent { at, bytes: extent.at - at });
        }
        at = at.max(extent.end().next_multiple_of(GRAIN));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn extent(at: u64, bytes: u64) -> Extent {
        Extent { at, bytes }
    }

    #[test]
    fn what_is_new_goes_to_the_first_gap_that_holds_it() {
        let used = [extent(8192, 5000), extent(40960, 4096)];
        assert_eq!(place(&used, 4096), extent(16384, 4096));
        assert_eq!(place(&used, 24576), extent(16384, 24576));
        assert_eq!(place(&used, 24577), extent(45056, 24577));
        assert_eq!(place(&[], 1), extent(8192, 1));
        assert_eq!(place(&[extent(20480, 1)], 12288), extent(8192, 12288));
        assert_eq!(gaps(&used), [extent(16384, 24576)]);
        assert_eq!(gaps(&[extent(20480, 1)]), [extent(8192, 12288)]);
        assert_eq!((end(&used), end(&[])), (45056, 8192));
    }

    #[test]
    fn the_file_stays_as_long_as_a_few_chips_however_often_it_is_replaced() {
        let (chip, journal) = (1_000_000, journal_bytes(0, 1_000_000));
        for worked in [0, 300_000, journal] {
            let mut used = vec![extent(BEHIND, chip)];
            for _ in 0..100 {
                let next = place(&used, chip.next_multiple_of(GRAIN) + journal);
                let log = extent(next.at + chip.next_multiple_of(GRAIN), worked);
                used = vec![extent(next.at, chip), log];
                assert!(end(&used) < 4 * (chip + journal), "{worked}");
            }
        }
    }
}
