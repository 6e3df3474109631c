//! A comparison with the truth, on a device whose pages become unreadable while it is compared.

use crate::subject::Mounted;
use crate::truth::{Truth, Wrong};

/// Compares with all that is known of unreadable pages. If the comparison itself finds more, that is told, and the
/// comparison is repeated from the truth before: the recovery wrote a page that became unreadable itself, or nothing
/// else records one.
pub(crate) fn compare_told(
    truth: &mut Truth,
    ftl: &mut dyn Mounted,
    mut compare: impl FnMut(&mut Truth, &mut dyn Mounted) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    loop {
        let unreadable_pages = ftl.device().unreadable_pages();
        unreadable_pages.tell(truth);
        let known = unreadable_pages.changes();
        let mut compared = truth.clone();
        let outcome = compare(&mut compared, ftl);
        if ftl.device().unreadable_pages().changes() == known {
            *truth = compared;
            return outcome;
        }
    }
}
