//! What a mount finds on flash.

use crate::bugs::{Bug, planted};
use crate::layout::Stamp;
use crate::paged::flash::PagedKind;

/// Of the copies of a sector the newest counts, whichever the mount meets last.
#[inline]
pub(crate) fn copy_counts(copy: Stamp, newest: Stamp) -> bool {
    copy >= newest || planted(Bug::TakeLastTag)
}

/// Of the pages of a leaf the newest counts, whichever the mount meets last.
#[inline]
pub(crate) fn leaf_page_counts(page: Stamp, newest: Stamp) -> bool {
    page > newest || planted(Bug::TakeLastLeaf)
}

/// What is not younger than the horizon is in map pages: a tag of that age tells of a place that may be reused.
#[inline]
pub(crate) fn is_behind_horizon(tag: Stamp, horizon: Stamp) -> bool {
    tag <= horizon && !planted(Bug::TakeOldTags)
}

/// A map page has all that was written to its range before it, so older tags of its range are obsolete. If the page
/// cannot be read any more, they count.
#[inline]
pub(crate) fn is_in_leaf_page(tag: Stamp, page: Option<Stamp>) -> bool {
    page > Some(tag) && !planted(Bug::TakeOldTags)
}

/// A block that is not full has young tags for all that a mount knows: no last page shows their age.
#[inline]
pub(crate) fn may_have_young_tags(last: Option<Stamp>, horizon: Stamp) -> bool {
    last.map_or(!planted(Bug::SkipOpenBlocks), |last| last > horizon)
}

/// Map pages may follow in any block that begins with one, or with a repetition or its proof.
#[inline]
pub(crate) fn may_hold_map(first: PagedKind) -> bool {
    first.may_begin_map() && !(planted(Bug::MissMapBehind) && first.is_sectors())
}

/// A pass over the tags counts only if no page that it took for the newest one died meanwhile: the next older one may
/// have been passed over for it.
#[inline]
pub(crate) fn pass_counts(is_whole: bool) -> bool {
    is_whole || planted(Bug::TrustStalePass)
}

/// A proof behind the last map page has no horizon: it is that page's.
#[inline]
pub(crate) fn has_proof_a_horizon() -> bool {
    planted(Bug::AskProof)
}

/// The horizon of a map page that the mount gives up does not count: it would show that other pages are gone.
#[inline]
pub(crate) fn horizon_without(before: Stamp, of_page: Stamp) -> Stamp {
    if planted(Bug::KeepHorizon) { of_page } else { before }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Stamp = Stamp::new(4);
    const YOUNG: Stamp = Stamp::new(7);

    #[test]
    fn the_newest_copy_counts() {
        assert!(copy_counts(YOUNG, OLD) && !copy_counts(OLD, YOUNG));
        // The scan meets the copy that it has taken once more.
        assert!(copy_counts(OLD, OLD));
        assert!(leaf_page_counts(YOUNG, OLD) && !leaf_page_counts(OLD, YOUNG));
    }

    #[test]
    fn a_tag_that_a_map_page_has_is_obsolete() {
        assert!(is_behind_horizon(OLD, OLD) && !is_behind_horizon(YOUNG, OLD));
        assert!(is_in_leaf_page(OLD, Some(YOUNG)) && !is_in_leaf_page(YOUNG, Some(OLD)));
        assert!(!is_in_leaf_page(OLD, None), "the page is gone, and the tag is all that is left");
    }

    #[test]
    fn a_block_without_a_last_page_has_young_tags() {
        assert!(may_have_young_tags(None, YOUNG));
        assert!(may_have_young_tags(Some(YOUNG), OLD) && !may_have_young_tags(Some(OLD), OLD));
    }

    #[test]
    fn a_pass_counts_only_if_nothing_died_meanwhile() {
        assert!(pass_counts(true) && !pass_counts(false));
    }

    #[test]
    fn the_horizon_of_a_page_that_is_given_up_does_not_count() {
        assert_eq!(horizon_without(OLD, YOUNG), OLD);
    }
}
