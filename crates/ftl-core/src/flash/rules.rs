//! The door to the device: a rule of safety that both FTLs have. `docs/RULES.md` lists it.

use crate::bugs::{Bug, planted};

/// A device whose driver has failed is asked for nothing more: nobody knows what it did.
#[inline]
pub(super) fn may_be_asked(has_failed: bool) -> bool {
    !has_failed || planted(Bug::AskDeadDevice)
}
