//! Folds, and whether one was finished.

use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::hybrid::address::ChainBlock;
use crate::layout::{Kind, Stamp};

/// The first page of a fold is programmed before its chain takes a log block: the new data block must be older than
/// that one, because a mount decides by age which overrides the other.
#[inline]
pub(crate) fn must_program_at_once() -> bool {
    !planted(Bug::BeginFoldLate)
}

/// The frozen blocks stay until the last page of the fold is programmed: they are its sources.
#[inline]
pub(crate) fn must_keep_frozen(is_last_page: bool) -> bool {
    !(is_last_page && planted(Bug::EraseFrozenEarly))
}

/// A fold does not take the log's copy of a sector of which a younger log block has one, too: that one would override
/// the new data block. Nor does it where the write-back rule leaves copies in the log.
#[inline]
pub(crate) fn must_leave_in_log(is_touched: bool, collects: bool) -> bool {
    is_touched && !planted(Bug::CollectTouched) || !collects
}

/// A copy that was made within the log meanwhile is younger than what the fold took, and a mount will choose it. So it
/// keeps its entry.
#[inline]
pub(crate) fn must_keep_entries(is_folding: bool) -> bool {
    is_folding && !planted(Bug::CollectCopies)
}

/// A fold that leaves sectors in the log records that the log holds some of its chain.
#[inline]
pub(crate) fn is_in_log(leaves_logged: bool) -> bool {
    leaves_logged && !planted(Bug::ForgetLogged)
}

/// A fold whose program failed is begun again before its target is marked bad, which may destroy other pages of it: a
/// mount sees by the first page of the new target that the old fold was not finished. Only the last block is needed
/// itself.
#[inline]
pub(crate) fn must_begin_again_first(is_last_block: bool) -> bool {
    !is_last_block && !planted(Bug::MarkBeforeFold)
}

/// A device that has failed for good is asked for nothing more, and its error is the one to tell.
#[inline]
pub(crate) fn must_be_told<E>(fault: &Fault<E>) -> bool {
    matches!(fault, Fault::Device(_)) && !planted(Bug::HideDriverError)
}

/// A fold is void if another of its chain was begun after its last page: its program had failed, although the page may
/// be readable.
#[inline]
pub(crate) fn is_begun_again(last_page: Stamp, other: Stamp) -> bool {
    last_page < other && !planted(Bug::TrustFailedFold)
}

/// A fold that was begun because another had failed is erased last. The other may look complete, also when its erase
/// was cut or has failed, and the first page of this one alone shows a mount that it is not.
#[inline]
pub(crate) fn erased_last(second_fold: Option<ChainBlock>) -> Option<ChainBlock> {
    if planted(Bug::EraseSecondFold) { None } else { second_fold }
}

/// A fold is finished by its last page, or by a copy of that.
#[inline]
pub(crate) fn is_ended_by_copy(has_copy: bool, kind: Kind) -> bool {
    has_copy || kind == Kind::Data && planted(Bug::ForgetFoldsLastPage)
}

/// A data block without its last page is an interrupted fold, even if no other block of its chain is left: those that
/// it froze may have held only pages that power cuts left unstable, and that have died since.
#[inline]
pub(crate) fn is_interrupted(kind: Kind, filled: u16, pages: u16) -> bool {
    kind == Kind::Data && filled < pages && !planted(Bug::TrustFoldAlone)
}

/// A data block that is the oldest of its chain leads it, as the blocks that its fold froze are erased, or will be.
/// But not if it was begun after a copy that is still to be written again: that fold may be the one interrupted.
#[inline]
pub(crate) fn may_lead_alone(block: Stamp, copied: Option<Stamp>) -> bool {
    copied.is_none_or(|copied| block < copied) || planted(Bug::TrustFoldAlone)
}

/// The target of a fold whose last page failed is marked bad even if it is the last block. That page may read well for
/// a while, and the block then looks like a finished fold, also after a cut in its erase.
#[inline]
pub(crate) fn may_look_finished(failed_page: Option<u16>, pages: u16) -> bool {
    failed_page.is_some_and(|page| page + 1 == pages) && !planted(Bug::EraseFailedFold)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Stamp = Stamp::new(4);
    const YOUNG: Stamp = Stamp::new(7);

    #[test]
    fn a_fold_begun_after_the_copy_does_not_lead() {
        assert!(may_lead_alone(OLD, None) && may_lead_alone(OLD, Some(YOUNG)));
        assert!(!may_lead_alone(YOUNG, Some(OLD)));
    }

    #[test]
    fn only_a_failed_last_page_makes_a_block_look_finished() {
        assert!(may_look_finished(Some(7), 8));
        assert!(!may_look_finished(Some(6), 8) && !may_look_finished(None, 8));
    }

    #[test]
    fn what_is_touched_stays_in_the_log() {
        assert!(must_leave_in_log(true, true) && must_leave_in_log(false, false));
        assert!(!must_leave_in_log(false, true));
    }
}
