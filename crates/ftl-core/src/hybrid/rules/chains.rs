//! The blocks of a chain, and free ones.

use crate::bugs::{Bug, planted};
use crate::layout::Stamp;

/// The blocks of a chain follow each other by age, as their first readable pages tell it.
#[inline]
pub(crate) fn is_before(other: Option<Stamp>, block: Option<Stamp>) -> bool {
    (other <= block) != planted(Bug::ReverseChains)
}

/// What follows the removed first block of a chain is not known to be a data block.
#[inline]
pub(crate) fn is_data_behind(first_was_data: bool) -> bool {
    first_was_data && planted(Bug::KeepDataMark)
}

/// After a power cut the last log block of a chain takes no more pages: those that read as erased may have been begun.
#[inline]
pub(crate) fn must_seal(has_log: bool) -> bool {
    has_log && !planted(Bug::FillOpenChainBlock)
}

/// A block that is alone in its chain is looked at again if a copy is written again there: it may count by a last page
/// that was torn and has corrupted others, and after a second power cut that page is no longer the one programmed last.
#[inline]
pub(crate) fn must_doubt_rescued_blocks() -> bool {
    !planted(Bug::TrustTornSwitch)
}

/// A free block that reads as erased may have been cut in its erase: after a power cut it is erased again before it is
/// used.
#[inline]
pub(crate) fn must_erase_chain_block(is_suspect: bool) -> bool {
    is_suspect && !planted(Bug::TrustFreeBlocks)
}

/// A page that reads as erased ends a log block only if it is none that may have been skipped because of the pages that
/// share its cells.
#[inline]
pub(crate) fn may_be_skipped(is_later_of_word_line: bool) -> bool {
    is_later_of_word_line && !planted(Bug::StopAtLeftOutPage)
}

/// While a log block in which a program failed is in use, one block fewer may fail in a request. So its chain is folded
/// soon, as long as there is a block to fold onto.
#[inline]
pub(crate) fn must_fold_failing_chain(has_free_block: bool) -> bool {
    has_free_block && !planted(Bug::LeaveFailingChain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_sorted_by_age() {
        let [old, young] = [4, 7].map(|stamp| Some(Stamp::new(stamp)));
        assert!(is_before(old, young) && !is_before(young, old));
        // Nothing of it can be read any more: it is as old as can be.
        assert!(is_before(None, old));
    }
}
