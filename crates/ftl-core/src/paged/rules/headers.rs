//! Headers, and a format.

use crate::bugs::{Bug, planted};

/// A format erases the ring of anchors and every block: a tag's check alone would take one page of an earlier format in
/// 65,536 for one of this.
#[inline]
pub(crate) fn must_erase_all_in_format() -> bool {
    !planted(Bug::TrustOldFormat)
}

/// A second copy counts if it can be read. One that cannot shows nothing: an erase of the block may have failed.
#[inline]
pub(crate) fn does_unread_copy_complete() -> bool {
    planted(Bug::CompleteUnread)
}

/// A header of which the second copy alone can be read still counts: while the other one is being rewritten there may
/// be no more.
#[inline]
pub(crate) fn does_second_copy_count() -> bool {
    !planted(Bug::IgnoreSecondCopy)
}

/// A header of which one copy can be read stays unless the other one is sure to.
#[inline]
pub(crate) fn must_keep_last_header() -> bool {
    !planted(Bug::LoseLastHeader)
}

/// Where either header may be torn, both stay until one of them is.
#[inline]
pub(crate) fn must_wait_in_doubt() -> bool {
    !planted(Bug::HeadersInDoubt)
}

/// The headers are rewritten one after the other, so that one of them stays.
#[inline]
pub(crate) fn must_keep_one_header() -> bool {
    !planted(Bug::HeadersAtOnce)
}
