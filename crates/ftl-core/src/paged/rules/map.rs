//! Map pages, and the horizon.

use crate::bugs::{Bug, planted};
use crate::layout::Stamp;
use crate::paged::plan::address::BlockNumber;

/// A map page is intact if its check is that of its content.
#[inline]
pub(crate) fn is_intact(stored: Option<u32>, check: u32) -> bool {
    stored == Some(check) || planted(Bug::TrustTornMap)
}

/// A map page gets every dirty entry of its range, those of the fast area, too: older tags of its range do not count.
#[inline]
pub(crate) fn takes_fast_entries() -> bool {
    !planted(Bug::LeaveOutFast)
}

/// A map page gets the new place of a sector whose old one no block counts any more: that block may be reused.
#[inline]
pub(crate) fn takes_released_entries() -> bool {
    !planted(Bug::KeepReleased)
}

/// A trim removes the addresses from the map page, not only from RAM.
#[inline]
pub(crate) fn must_trim_on_flash() -> bool {
    !planted(Bug::TrimInRam)
}

/// A map page is programmed after the data to which it points.
#[inline]
pub(crate) fn is_data_first() -> bool {
    !planted(Bug::MapFirst)
}

/// The horizon moves when no dirty entry of the previous epoch is left: a mount reads no tags behind it.
#[inline]
pub(crate) fn may_move_horizon(entries_left: u32) -> bool {
    entries_left == 0 || planted(Bug::MoveHorizonEarly)
}

/// A dirty entry stays of its epoch however often its sector is written. So before the horizon passes a copy, its map
/// page is written: a copy behind the horizon that is newer than its map page shows that another one is gone.
#[inline]
pub(crate) fn keeps_epoch() -> bool {
    !planted(Bug::RenewEpoch)
}

/// The horizon lies at the beginning of the epoch that ends: what was written since may not be in map pages.
#[inline]
pub(crate) fn horizon_of_epoch(begun: Stamp, end: Stamp) -> Stamp {
    if planted(Bug::BeginLate) { end } else { begun }
}

/// After a mount the epoch begins before the page to be repeated: its entries are dirty. If the repetition dies later,
/// the first attempt, behind the horizon, would seem to show that a map page is gone.
#[inline]
pub(crate) fn epoch_after_mount(now: Stamp, repeated: Option<Stamp>) -> Stamp {
    match repeated {
        Some(first) if !planted(Bug::BeginBehind) => first.before(1),
        _ => now,
    }
}

/// The block of a map page that was replaced is not erased before something is programmed after the page that replaced
/// it: a power cut would leave a mount with neither page, but with one that is older.
#[inline]
pub(crate) fn kept_until_next_program(replaced: BlockNumber) -> Option<BlockNumber> {
    if planted(Bug::EraseReplaced) { None } else { Some(replaced) }
}
