//! Programs, erases, checkpoints and headers.

use crate::bugs::{Bug, planted};
use crate::layout::{Kind, Stamp};
use crate::probe::Cause;

/// Every page is programmed before it is acknowledged.
#[inline]
pub(crate) fn must_program(cause: Cause, stamp: Stamp) -> bool {
    let is_sixteenth = cause == Cause::Host && stamp.get().is_multiple_of(16);
    !(planted(Bug::AcknowledgeBeforeProgram) && is_sixteenth)
}

/// A block in which a program failed is marked bad instead of being erased.
#[inline]
pub(crate) fn must_retire(is_failing: bool) -> bool {
    is_failing && !planted(Bug::ReuseFailing)
}

/// The seal of a checkpoint is broken before the first erase, because the checkpoint is valid only until something
/// changes.
#[inline]
pub(crate) fn must_break_seals_first(may_be_sealed: bool) -> bool {
    may_be_sealed && !planted(Bug::EraseUnderSeal)
}

/// Every place that may hold a seal is erased to break it.
#[inline]
pub(crate) fn must_break_seal(may_be_there: bool) -> bool {
    may_be_there && !planted(Bug::TrustOldSeal)
}

/// A header block ends with a second copy of its header.
#[inline]
pub(crate) fn kind_of_second_copy() -> Kind {
    if planted(Bug::OneHeaderCopy) { Kind::Bad } else { Kind::Header }
}

/// Headers are mended before anything else is changed: the list of a torn header may name a failed block today and be
/// unreadable tomorrow. As long as nothing has changed, a mount that trusts the block finds what it held when power
/// failed.
#[inline]
pub(crate) fn must_mend_headers_first() -> bool {
    !planted(Bug::MendListLate)
}

/// Where either header may be torn, both stay until one of them is.
#[inline]
pub(crate) fn must_wait_in_doubt() -> bool {
    !planted(Bug::MendInDoubt)
}

/// A header that is missing or torn is rewritten before the host is served.
#[inline]
pub(crate) fn must_mend_headers() -> bool {
    !planted(Bug::LeaveHeaderTorn)
}
