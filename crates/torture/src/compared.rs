//! A comparison with the truth, on a device whose pages become unreadable while it is compared.

use crate::subject::Mounted;
use crate::truth::{Truth, Wrong};

/// Compares with all that is known of injuries. What a comparison itself finds out is told, and it is repeated from the
/// truth before: the recovery wrote a page that became unreadable itself, or nothing else records one.
pub(crate) fn compare_told(
    truth: &mut Truth,
    ftl: &mut dyn Mounted,
    mut compare: impl FnMut(&mut Truth, &mut dyn Mounted) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    loop {
        let injured = ftl.device().injured();
        injured.tell(truth);
        let known = injured.changes();
        let mut compared = truth.clone();
        let outcome = compare(&mut compared, ftl);
        if ftl.device().injured().changes() == known {
            *truth = compared;
            return outcome;
        }
    }
}
