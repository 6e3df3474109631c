//! Ctrl-C: the first time, a run stops and reports its results so far; the second time, the program ends at once.
//!
//! One rule for all commands: exit code 130, and files are complete or absent.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// The exit code that shells report for a program ended by Ctrl-C: 128 plus the signal's number, 2.
pub(crate) const EXIT_CODE: u8 = 130;

/// Installs the handler. If that fails, Ctrl-C ends the program at once.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(EXIT_CODE.into());
        }
    });
}

/// Whether the run should stop.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
