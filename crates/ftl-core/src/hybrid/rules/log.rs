//! The circular log, at run time and after a mount.

use crate::bugs::{Bug, planted};
use crate::flash::Seen;
use crate::hybrid::address::LogBlock;
use crate::layout::Kind;

/// Blocks behind the ring's head are older than all up to it, so what they hold overrides no entry of those.
#[inline]
pub(crate) fn is_up_to_head(block: LogBlock, head: LogBlock) -> bool {
    block <= head && !planted(Bug::ForgetCircle)
}

/// Of a block without a summary, the last page is mapped as any page of the log. A backup at the log's end is not: it
/// is a copy of a page of a chain.
#[inline]
pub(crate) fn may_be_mapped(last: Kind) -> bool {
    last == Kind::Log && !planted(Bug::ForgetHeldPage) || planted(Bug::MapBackups)
}

/// If a page of the log cannot be read, the other pages of its block tell whether it is newer: so many are asked.
#[inline]
pub(crate) fn pages_that_tell(pages: u16) -> u16 {
    if planted(Bug::OverrideUnreadable) { 0 } else { pages }
}

/// Of a block with a torn summary, the tags of its pages are read.
#[inline]
pub(crate) fn is_torn_summary_void() -> bool {
    !planted(Bug::TrustTornSummary)
}

/// A free block of the log that reads as erased may have been cut in its erase: after a power cut it is erased again
/// before it is programmed.
#[inline]
pub(crate) fn must_erase_log_block(is_suspect: bool) -> bool {
    is_suspect && !planted(Bug::TrustFreeLogBlocks)
}

/// After a power cut the log's head takes no more pages: those that read as erased may have been begun.
#[inline]
pub(crate) fn must_close_head() -> bool {
    !planted(Bug::FillOpenHead)
}

/// A head closed after a power cut gets a summary only if its last page was copied just now. Otherwise an earlier mount
/// may have been cut in the summary.
#[inline]
pub(crate) fn may_write_summary(is_copied_now: bool) -> bool {
    is_copied_now || planted(Bug::RepeatSummary)
}

/// A page of a summary that does not read as erased shows that the summary was begun: it is not programmed once more.
#[inline]
pub(crate) fn shows_begun_summary(page: Seen<'_, Kind>) -> bool {
    !page.is_erased() && !planted(Bug::RepeatFailedSummary)
}

/// Every slot of the tail is looked at, those of its last page, too, before the tail is erased.
#[inline]
pub(crate) fn slots_of_tail(codes: &[u32], slots: u16) -> &[u32] {
    let from = if planted(Bug::DropTailEarly) { slots.into() } else { 0 };
    codes.get(from..).unwrap_or(&[])
}

/// After a failed program in the log, space in the log is requested again: the failed page took some.
#[inline]
pub(crate) fn may_stay_in_log(has_room: bool) -> bool {
    has_room || planted(Bug::AskForRoomOnce)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_the_log_is_mapped_and_a_backup_is_not() {
        assert!(may_be_mapped(Kind::Log));
        assert!(!may_be_mapped(Kind::Backup) && !may_be_mapped(Kind::Summary));
    }

    #[test]
    fn only_an_erased_page_of_a_summary_was_not_begun() {
        assert!(!shows_begun_summary(Seen::Erased));
        assert!(shows_begun_summary(Seen::Unreadable));
    }
}
