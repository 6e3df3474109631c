//! The exit code of each end.

use sim::Failure;

/// The exit code that shells report for a program ended by Ctrl-C: 128 plus the signal's number, 2.
pub(crate) const INTERRUPTED: u8 = 130;

/// The exit code: 1 for a violation, 2 for bad input, 130 for a run that Ctrl-C stopped.
pub(crate) const fn code(failure: &Failure) -> u8 {
    match failure {
        Failure::Violation(_) => 1,
        Failure::Interrupted(_) => INTERRUPTED,
        _ => 2,
    }
}
