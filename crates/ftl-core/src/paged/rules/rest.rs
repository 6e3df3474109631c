//! More dirty entries than a mount's table takes: the rest.

use crate::bugs::{Bug, planted};

/// The rest is entered, too, before the host is served.
#[inline]
pub(crate) fn must_enter_rest(has_rest: bool) -> bool {
    has_rest && !planted(Bug::ForgetRest)
}

/// No block counts as free that holds the newest copy of a sector of the rest.
#[inline]
pub(crate) fn must_pin_rest(has_rest: bool) -> bool {
    has_rest && !planted(Bug::FreeRest)
}

/// A device that lacks the blocks for the rest writes no map page: one would be without the rest's entries.
#[inline]
pub(crate) fn may_write_pages(is_read_only: bool) -> bool {
    !is_read_only || planted(Bug::WriteBesideRest)
}

/// A device that takes no more writes looks for a sector of which its table has no entry: it may be in the rest.
#[inline]
pub(crate) fn may_be_in_rest(is_in_part: bool) -> bool {
    !is_in_part && !planted(Bug::LoseRest)
}
