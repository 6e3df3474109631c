//! Reliance: a torn program may corrupt the pages that share its cells, so pages that are relied upon are marked, and
//! pages that could corrupt them are skipped.

use ftl_iface::PageIndex;

use crate::bugs::{Bug, planted};

/// A page is programmed only if a torn program would corrupt none of the first pages of its block, which are relied
/// upon.
#[inline]
pub(crate) fn may_program(mut endangered: impl Iterator<Item = PageIndex>, relied: u16) -> bool {
    planted(Bug::ForgetWordLines) || !endangered.any(|page| page.get() < relied)
}

/// What the host has written is relied upon when it is acknowledged.
#[inline]
pub(crate) fn must_rely_on_acknowledged() -> bool {
    !planted(Bug::RelyLate)
}

/// The erase of a block destroys the old copies, so the new ones are relied upon from then on.
#[inline]
pub(crate) fn must_rely_before_erase() -> bool {
    !planted(Bug::EraseUnrelied)
}

/// The mark of a bad block may destroy the old copies, so the new ones are relied upon from then on.
#[inline]
pub(crate) fn must_rely_before_mark() -> bool {
    !planted(Bug::MarkUnrelied)
}

/// A map page gives up the old places, so the pages at the new ones are relied upon. If no pages share cells, none
/// needs to be marked.
#[inline]
pub(crate) fn must_rely_on_mapped(shares_cells: bool) -> bool {
    shares_cells && !planted(Bug::ForgetUnrelied)
}

/// A page that was programmed again after a failure is relied upon: the failed one may be readable for a while, so no
/// later torn program must corrupt this one.
#[inline]
pub(crate) fn must_rely_on_rewrite(tried: u32) -> bool {
    tried > 0 && !planted(Bug::RepeatUnrelied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_could_corrupt_a_relied_one_is_skipped() {
        let endangers = |pages: &'static [u16]| pages.iter().copied().map(PageIndex::new);
        assert!(may_program(endangers(&[]), 8));
        assert!(may_program(endangers(&[8, 9]), 8));
        assert!(!may_program(endangers(&[9, 7]), 8));
    }
}
