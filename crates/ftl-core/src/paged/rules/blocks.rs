//! Blocks: when one may be emptied, erased or used again.

use crate::bugs::{Bug, planted};

/// A block is erased before it is used unless it is known to be: one whose first page reads as erased may have been cut
/// in its erase.
#[inline]
pub(crate) fn may_trust_first_page() -> bool {
    planted(Bug::TrustErased)
}

/// A block in which a program failed is not used again.
#[inline]
pub(crate) fn must_give_up_failed() -> bool {
    !planted(Bug::ReuseFailed)
}

/// Of a victim's page every slot with the newest copy of a sector is copied.
#[inline]
pub(crate) fn must_copy(is_newest: bool, slot: u16, slots: u16) -> bool {
    let is_dropped = planted(Bug::DropLastSlot) && slot + 1 == slots && slots > 1;
    is_newest && !is_dropped
}

/// A victim stays until the copies of its valid data are programmed: while RAM has the last of it, nothing else does.
#[inline]
pub(crate) fn must_stay(references: u16, in_ram: u16) -> bool {
    !(planted(Bug::EraseFirst) && references == in_ram)
}

/// The block whose data filled up a page of copies is the next victim, unless it held nothing any more and was opened
/// for that page: its pages are new, and were not examined.
#[inline]
pub(crate) fn is_next_victim(may_be_victim: bool) -> bool {
    may_be_victim || planted(Bug::KeepOpenedVictim)
}

/// Where a page of copies goes is decided before the first copy is taken. What is released meanwhile may free a block
/// of the area that was not chosen, whose page takes less.
#[inline]
pub(crate) fn is_stream_decided() -> bool {
    !planted(Bug::DecideStreamAnew)
}

/// A block has sectors, whatever it was opened for, if it has more references than its map pages count for. Emptying it
/// frees space in the fast area.
#[inline]
pub(crate) fn has_sectors(references: u32, of_leaves: u32) -> bool {
    references > of_leaves && !planted(Bug::BelieveStream)
}

/// With few free blocks, the block that begins with a repetition takes what any stream programs.
#[inline]
pub(crate) fn may_share_repetition(free: u32, few: u32) -> bool {
    free <= few && !planted(Bug::OpenBeside)
}

/// A new place takes the place of one old one, which loses one reference: a block is free when it has none.
#[inline]
pub(crate) fn references_replaced(counted: u16) -> u16 {
    if planted(Bug::ReleaseTwice) && counted > 1 { 2 } else { 1 }
}

/// A block is not opened in need if the page of a leaf is there, though it cannot be read: what is programmed in its
/// place would pass for a younger page of the leaf, and the entries that took its place in a mount be left out.
#[inline]
pub(crate) fn may_open_in_need(has_leaf: bool) -> bool {
    !has_leaf || planted(Bug::OpenLeaf)
}

/// What refers to a block that is opened in need still does: it is released one by one, and must be counted.
#[inline]
pub(crate) fn must_count_opened() -> bool {
    !planted(Bug::ForgetBlank)
}

/// A block is emptied for wear leveling when it is worn less than the one opened last by more than the threshold, and
/// as many blocks were opened since the last time.
#[inline]
pub(crate) fn is_leveling_due(apart: u16, opened: u16, threshold: u16) -> bool {
    apart > threshold && opened >= threshold || planted(Bug::LevelInNeed)
}

/// When a request waits for a block, no block is emptied for wear leveling: that may free none.
#[inline]
pub(crate) fn may_level(is_in_need: bool) -> bool {
    !is_in_need || planted(Bug::LevelInNeed)
}

/// A block that is known to be free is presumed to be in use from when it is opened: what it takes may be mapped by map
/// pages that are not counted yet.
#[inline]
pub(crate) fn must_presume(is_known: bool) -> bool {
    is_known && !planted(Bug::KnowForEver)
}

/// What changes in a map page that a mount has not counted yet changes no count: the page is counted as it is then.
#[inline]
pub(crate) fn changes_counts(is_counted: bool) -> bool {
    is_counted || planted(Bug::CountTwice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leveling_is_due_by_wear_and_by_its_pace() {
        assert!(is_leveling_due(33, 32, 32));
        assert!(!is_leveling_due(32, 32, 32) && !is_leveling_due(33, 31, 32));
    }
}
