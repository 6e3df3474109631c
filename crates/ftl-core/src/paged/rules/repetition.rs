//! The page that may be torn: the one programmed last before a mount, or one that was programmed again after a
//! failure.

use ftl_iface::Sector;

use crate::bugs::{Bug, planted};
use crate::layout::Stamp;
use crate::paged::flash::Seen;
use crate::paged::plan::address::{Mapped, Place, Spot};

/// The page programmed last before a mount is not relied upon before it is repeated: a power cut may have damaged it,
/// although it can be read.
#[inline]
pub(crate) fn must_repeat_youngest() -> bool {
    !planted(Bug::TrustYoungest)
}

/// The host is served when the repeated page is proved, and not before: the repetition may be torn in turn.
#[inline]
pub(crate) fn must_prove_repetition() -> bool {
    !planted(Bug::ServeUnproved)
}

/// The blocks of all attempts at a page stay until the proof: one of them may have been acknowledged, and only that one
/// is sure to be good.
#[inline]
pub(crate) fn must_keep_attempt(attempt: Stamp, first: Stamp) -> bool {
    attempt >= first && !planted(Bug::ForgetFirst)
}

/// The blocks to which a map page refers that is to be repeated do not count as free before that, whatever the state
/// before the page says.
#[inline]
pub(crate) fn place_to_keep(of_page: Mapped) -> Option<Place> {
    match of_page {
        Mapped::At(place) if !planted(Bug::ForgetPlaces) => Some(place),
        _ => None,
    }
}

/// Entries that fitted into the table, and no longer do, show that what a map page replaced was erased since or has
/// become unreadable. So the mount counts on that page, whether others can be read or not.
#[inline]
pub(crate) fn must_count_on_page(no_longer_fits: bool, unreadable: Option<Spot>) -> bool {
    no_longer_fits && (unreadable.is_none() || !planted(Bug::DoubtNeeded))
}

/// A copy that a map page refers to, and that lies behind the horizon, was in a page of its leaf before. If the one
/// that a mount has found is older than the copy, that page is gone.
#[inline]
pub(crate) fn was_in_page_before(copied: Stamp, found: Stamp, horizon: Stamp) -> bool {
    copied <= horizon && copied > found && !planted(Bug::DoubtAcknowledged)
}

/// A map page that a mount counts on is repeated all the same. The page before it may have died by itself, and been
/// erased by the repetition before this one; and of several attempts only the first may have been acknowledged.
#[inline]
pub(crate) fn must_repeat_counted() -> bool {
    !planted(Bug::TrustCounted)
}

/// The previous copy of a sector that is repeated holds its block as long as it can be read: the erase of a block that
/// cannot be read may have been cut, and with nothing else in it the block may be needed for the repetition.
#[inline]
pub(crate) fn still_holds(seen: Seen<'_>, slot: u16, sector: Sector) -> bool {
    match seen {
        Seen::Page(page) => page.slot(slot).copy_of() == Some(sector),
        Seen::Unreadable => planted(Bug::HoldUnreadable),
        Seen::Erased => false,
    }
}

/// A part of a repeated page is not the page: the one that it is a part of is looked for.
#[inline]
pub(crate) fn must_look_for_whole(is_part: bool) -> bool {
    is_part && !planted(Bug::TrustPart)
}

/// A repetition says what it repeats: if it is torn, a mount ignores everything since the first attempt.
#[inline]
pub(crate) fn first_attempt_told(first: Stamp, next: Stamp) -> Stamp {
    if planted(Bug::HideRepetition) { next } else { first }
}

/// A page that is programmed again after a failure is a repetition of the failed one, which may read well for a while:
/// a mount must not rely on that while the new one may be torn.
#[inline]
pub(crate) fn is_rewrite_a_repetition() -> bool {
    !planted(Bug::HideRewrite)
}

/// If a map page is dead that others were programmed after, the leaves whose page is the last of its block are written
/// anew. The program of one may have failed, and the dead page be what was programmed in its place. The failed one
/// reads well today, and what the host is told from now on must not depend on it.
#[inline]
pub(crate) fn must_renew_last_pages(has_gap: bool) -> bool {
    has_gap && !planted(Bug::KeepFirstAttempt)
}

/// The last map page of the repair after a power cut is proved, if it took the place of another. As long as a mount
/// doubts it, the blocks that it freed are in use: if few others are free, none may be left to repeat it.
#[inline]
pub(crate) fn must_prove_map_page(freed_some: bool) -> bool {
    freed_some && !planted(Bug::DoubtRenewed)
}

/// The host is told of a page that was programmed again after a failure when it is proved.
#[inline]
pub(crate) fn must_prove_rewrite() -> bool {
    !planted(Bug::TrustRewrite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_previous_copy_of_a_sector_that_cannot_be_read_holds_no_block() {
        assert!(!still_holds(Seen::Unreadable, 0, Sector::new(3)));
        assert!(!still_holds(Seen::Erased, 0, Sector::new(3)));
    }

    #[test]
    fn for_a_part_the_whole_page_is_looked_for() {
        assert!(must_look_for_whole(true) && !must_look_for_whole(false));
    }
}
