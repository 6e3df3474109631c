//! Headers, and a format.

use crate::bugs::{Bug, planted};

/// A format erases the ring of anchors and every block: a tag's check alone would take one page of an earlier format in
/// 65,536 for one of this.
#[inline]
pub(crate) fn must_erase_all_in_format() -> bool {
    !planted(Bug::TrustOldFormat)
}

/// A header is complete by a second copy that can be read. One that cannot shows nothing: an erase of the block may
/// have failed.
#[inline]
pub(crate) fn does_unread_copy_complete() -> bool {
    planted(Bug::CompleteUnread)
}

/// A header that is not complete can be read, so it stays unless the other one is sure to.
#[inline]
pub(crate) fn may_rewrite(is_other_complete: bool) -> bool {
    is_other_complete || planted(Bug::LoseLastHeader)
}

/// The headers are rewritten one after the other, so that one of them stays.
#[inline]
pub(crate) fn must_keep_one_header() -> bool {
    !planted(Bug::HeadersAtOnce)
}
