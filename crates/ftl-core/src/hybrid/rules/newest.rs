//! The newest copy of a sector after a mount, the log's or the chain's: entries of the log are proved.

use crate::bugs::{Bug, planted};
use crate::layout::Slot;

/// After a mount the log's copy is compared with the chain's, by their stamps, before either is used.
#[inline]
pub(crate) fn must_compare(has_chain: bool) -> bool {
    has_chain && !planted(Bug::ForgetStamps)
}

/// A later write to the chain would have removed an entry that was made since the mount. So such an entry is newer than
/// all that the chain has, even if the page there cannot be read, and may have any stamp.
#[inline]
pub(crate) fn is_entry_sure(is_of_this_mount: bool) -> bool {
    is_of_this_mount && !planted(Bug::DoubtNewEntries)
}

/// A trim in the chain has its stamp, too, and may be newer than the log's copy.
#[inline]
pub(crate) fn does_trim_count() -> bool {
    !planted(Bug::ForgetTrimStamps)
}

/// A slot that a fold marked as elsewhere is no copy: the log had the newest one.
#[inline]
pub(crate) fn is_elsewhere(slot: Slot) -> bool {
    matches!(slot, Slot::Elsewhere(_)) && !planted(Bug::ForgetElsewhere)
}

/// An unreadable page of the log was torn only if nothing can be read behind it in the block: all pages up to this one
/// are asked.
#[inline]
pub(crate) fn end_of_pages_behind(page: u16, pages: u16) -> u16 {
    if planted(Bug::AskNextPageOnly) { pages.min(page + 2) } else { pages }
}

/// Two unreadable pages in the log's last block do not show that its erase was begun: it was not if the block has the
/// newest copy of a sector.
#[inline]
pub(crate) fn may_be_whole_by_copies() -> bool {
    !planted(Bug::DistrustTail)
}

/// Neighbours tell the age of a page that cannot be read, so it, too, may show that the erase of its block was not
/// begun.
#[inline]
pub(crate) fn does_unreadable_page_show() -> bool {
    !planted(Bug::AskReadablePages)
}

/// An entry of the tail is proved before its sector is copied within the log: the copy of a stale one would be newer
/// than what the chain has.
#[inline]
pub(crate) fn must_prove_before_reclaim(is_unproved: bool) -> bool {
    is_unproved && !planted(Bug::KeepUnproved)
}

/// The same holds for a weak page of the log: its sectors are proved before they are copied.
#[inline]
pub(crate) fn must_prove_before_refresh(is_unproved: bool) -> bool {
    is_unproved && !planted(Bug::RefreshUnproved)
}

/// A checkpoint records which entries are not proved yet, and a mount goes on from there.
#[inline]
pub(crate) fn must_go_on_proving() -> bool {
    !planted(Bug::ForgetUnproved)
}

#[cfg(test)]
mod tests {
    use ftl_iface::Sector;

    use super::*;

    #[test]
    fn a_slot_marked_as_elsewhere_is_no_copy() {
        let sector = Sector::new(3);
        assert!(is_elsewhere(Slot::Elsewhere(sector)));
        // A hole counts: it says that the sector was absent.
        assert!(!is_elsewhere(Slot::Hole(sector)) && !is_elsewhere(Slot::Holds(sector)));
    }
}
