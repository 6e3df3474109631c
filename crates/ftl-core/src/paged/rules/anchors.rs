//! Anchors: the mount by them, and their writing.

use crate::bugs::{Bug, planted};
use crate::layout::Stamp;
use crate::paged::flash::Seen;

/// An unreadable page behind an anchor may have been a later one, so the anchor is not trusted.
#[inline]
pub(crate) fn may_be_out_of_date(hidden: Option<u16>) -> bool {
    hidden.is_some() && !planted(Bug::TrustOlderAnchor)
}

/// The records of every anchor from the base on are applied, not those of the last one alone.
#[inline]
pub(crate) fn replay_start<S>(base: S, last: S) -> S {
    if planted(Bug::ReplayLate) { last } else { base }
}

/// A base that cannot be read in its place is gone. Elsewhere an anchor with its number may be left, whose program
/// failed: its records begin earlier, and end too early.
#[inline]
pub(crate) fn lacks_base(is_missing: bool) -> bool {
    is_missing && !planted(Bug::SeekBase)
}

/// What is left in a bad block of the ring is of an earlier turn, and tells nothing.
#[inline]
pub(crate) fn ring_block_counts(is_bad: bool) -> bool {
    !is_bad || planted(Bug::ReplayBadRing)
}

/// When no anchor is left, the numbers of the next ones go on from the last stamp: what is left of earlier anchors must
/// not seem to follow them.
#[inline]
pub(crate) fn numbers_go_on_from(last: Stamp) -> Stamp {
    if planted(Bug::ReplayBadRing) { Stamp::ZERO } else { last }
}

/// A page that could be read when it was listed, and no longer can, tells of no sectors: nothing else says what it
/// held.
#[inline]
pub(crate) fn tells_of_sectors(seen: &Seen<'_>) -> bool {
    seen.is_page() || planted(Bug::KeepFailedRead)
}

/// A table takes the entries of the page to be repeated, too.
#[inline]
pub(crate) fn has_space_for_repetition(to_come: u32, vacant: u32) -> bool {
    to_come <= vacant || planted(Bug::FillSmallTable)
}

/// An anchor behind which nothing was programmed may be torn, and is written again before anything else.
#[inline]
pub(crate) fn must_repeat_anchor(anchor: Stamp, last: Option<Stamp>) -> bool {
    last.is_none_or(|last| last <= anchor) && !planted(Bug::TrustLastAnchor)
}

/// While a page is to be repeated or entries are to be entered, the state in RAM is not complete, and an anchor of it
/// is void.
#[inline]
pub(crate) fn pending_voids_anchor(is_pending: bool) -> bool {
    is_pending && !planted(Bug::AnchorUnsettled)
}

/// No anchor is written between a failed program and its repetition, or else it is void: a mount by it would not read
/// the failed page, but a later mount that reads every block might.
#[inline]
pub(crate) fn failure_voids_anchor(has_failed: bool) -> bool {
    has_failed && !planted(Bug::AnchorFailing)
}

/// An anchor records only pages that are relied upon.
#[inline]
pub(crate) fn must_rely_on_records() -> bool {
    !planted(Bug::AnchorUnrelied)
}

/// The walk passes over pages that are not told: they are not relied upon.
#[inline]
pub(crate) fn may_walk(is_untold: bool) -> bool {
    !is_untold || planted(Bug::WalkUntold)
}

/// A walk is complete when what it passed over is told: at the latest by the anchor after the last part of it.
#[inline]
pub(crate) fn completes_walk(had_ended: bool, leaves_untold: bool) -> bool {
    had_ended || !leaves_untold || planted(Bug::EndWalkEarly)
}

/// An anchor whose program failed may be readable, and a mount may apply it for the one that stands, which has the same
/// number. If that one tells more, the base comes no earlier.
#[inline]
pub(crate) fn must_begin_anew(has_failed: bool) -> bool {
    has_failed && !planted(Bug::TellMore)
}

/// A mount looks only into blocks that are open or listed, so an anchor tells all that is in closed blocks.
#[inline]
pub(crate) fn must_tell_closed(closed: bool) -> bool {
    closed && !planted(Bug::LeaveClosed)
}

/// In open blocks there may be pages that the last anchor left untold; in listed ones, of which the erase may have been
/// torn, older pages count for nothing.
#[inline]
pub(crate) fn untold_from(origin: Stamp, anchor: Stamp) -> Stamp {
    if planted(Bug::MissUntold) { anchor } else { origin }
}

/// Only a block that the last anchor lists is opened: a mount by that anchor looks into no other one.
#[inline]
pub(crate) fn must_be_listed() -> bool {
    !planted(Bug::OpenUnlisted)
}

/// The block of the last anchor stands until another anchor does, unless a block is known that shows that it may be out
/// of date; that block stands, then.
#[inline]
pub(crate) fn must_stand(block: u16, last: Option<u16>, doubtful: Option<u16>) -> bool {
    doubtful.or(last) == Some(block) && !planted(Bug::EraseLastAnchor)
}

/// What the last anchor leaves untold may be lost: what it had freed is in use then.
#[inline]
pub(crate) fn may_lose_untold(tells_all: bool) -> bool {
    !tells_all && !planted(Bug::FreeByUntold)
}

/// A block that was opened since the last anchor may be in use, though the anchor lists it as free: map pages written
/// since may refer to it.
#[inline]
pub(crate) fn may_be_in_use(is_opened: bool) -> bool {
    is_opened && !planted(Bug::KnowOpened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_of_the_ring_stands() {
        let standing =
            |last, doubtful| (0..4).filter(|block| must_stand(*block, last, doubtful)).collect();
        let cases: [(_, _, Vec<u16>); 4] = [
            (None, None, vec![]),
            (Some(1), None, vec![1]),
            (Some(1), Some(2), vec![2]),
            (None, Some(2), vec![2]),
        ];
        for (last, doubtful, stands) in cases {
            let found: Vec<u16> = standing(last, doubtful);
            assert_eq!(found, stands, "{last:?} {doubtful:?}");
        }
    }

    #[test]
    fn an_anchor_that_nothing_follows_is_written_again() {
        let follows = |last| !must_repeat_anchor(Stamp::new(5), last);
        assert!(!follows(None) && !follows(Some(Stamp::new(4))) && follows(Some(Stamp::new(6))));
    }

    #[test]
    fn a_walk_that_passed_over_untold_pages_is_complete_with_the_next_anchor() {
        assert!(!completes_walk(false, true) && completes_walk(true, true));
        assert!(completes_walk(false, false));
    }
}
