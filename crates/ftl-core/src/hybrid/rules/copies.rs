//! Rescue copies: of the page programmed last before a mount, and of one that failed to program.

use ftl_iface::Sector;

use crate::bugs::{Bug, planted};
use crate::flash::Seen;
use crate::hybrid::address::{BlockNumber, ChainBlock};
use crate::layout::{Kind, Slot};

/// The page programmed last before a mount is copied before anything relies on it, if it may hold the only copy of what
/// the host has written.
#[inline]
pub(crate) fn must_copy_youngest(kind: Kind) -> bool {
    kind.is_content() && !planted(Bug::ForgetYoungest)
}

/// What was copied is written again to its chains.
#[inline]
pub(crate) fn must_write_again(is_secured: bool) -> bool {
    is_secured && !planted(Bug::ForgetRescued)
}

/// A copy stays until all of it is written again.
#[inline]
pub(crate) fn must_keep_copy() -> bool {
    !planted(Bug::EraseRescuedEarly)
}

/// A copy of which a page cannot be read does not count, as its erase may have begun. For the same reason one that
/// counts is copied to a fresh block before anything is programmed.
#[inline]
pub(crate) fn may_trust_half_erased() -> bool {
    planted(Bug::BelieveOldCopy)
}

/// The commit of a copy may be torn itself, so the copy counts only if the proof behind it was begun: before, nothing
/// has relied on it.
#[inline]
pub(crate) fn is_proved(proof: Seen<'_, Kind>) -> bool {
    !proof.is_erased() || planted(Bug::TrustCommit)
}

/// The commit of a copy of a fold's last page names the data block: with the copy that block is valid, whatever happens
/// to the page.
#[inline]
pub(crate) fn fold_ended_by(named: Slot) -> Option<ChainBlock> {
    match named {
        Slot::Elsewhere(number) if !planted(Bug::ForgetEndedFold) => {
            Some(ChainBlock::new(number.get() as BlockNumber))
        }
        _ => None,
    }
}

/// A copy of a page that trimmed a sector concerns its chain as one of its data does.
#[inline]
pub(crate) fn sector_concerned(slot: Slot) -> Option<Sector> {
    if planted(Bug::ForgetCopiedTrims) { slot.copy_of() } else { slot.place_of() }
}

/// A device that is read-only before a copy is written again reads from the copy.
#[inline]
pub(crate) fn must_read_copies(has_copies: bool) -> bool {
    has_copies && !planted(Bug::ForgetCopiesAtEnd)
}

/// What the log holds and the hash table has no cell for is copied, and written to its chains: it was a page lost that
/// made it valid again, and a mount does not give up.
#[inline]
pub(crate) fn must_copy_unmapped() -> bool {
    !planted(Bug::GiveUpAtFullTable)
}

/// A page that failed to program is copied before space for it is freed elsewhere: a mount would take it for an
/// acknowledged page. Within a recovery everything that is written has a copy already.
#[inline]
pub(crate) fn must_copy_failed(has_failed: bool, has_copy: bool) -> bool {
    has_failed && !has_copy && !planted(Bug::BelieveFailedPage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_names_the_block_of_a_finished_fold() {
        let named = Sector::new(9);
        assert_eq!(fold_ended_by(Slot::Elsewhere(named)), Some(ChainBlock::new(9)));
        assert_eq!(fold_ended_by(Slot::Empty), None);
    }

    #[test]
    fn a_trim_concerns_its_chain() {
        let sector = Sector::new(9);
        assert_eq!(sector_concerned(Slot::Hole(sector)), Some(sector));
        assert_eq!(sector_concerned(Slot::Empty), None);
    }

    #[test]
    fn a_failed_page_is_copied_once() {
        assert!(must_copy_failed(true, false));
        assert!(!must_copy_failed(true, true) && !must_copy_failed(false, false));
    }
}
