//! Ctrl-C: the first time, a run stops and says what it has done; the second time, the program ends at once.
//!
//! One rule for all commands: exit code 130, and files are whole or not there.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// What a shell reports of a program that Ctrl-C ended: 128 and the signal's number, 2.
pub(crate) const EXIT_CODE: u8 = 130;

/// Begins to listen. Where that is not possible, Ctrl-C ends the program as it would without.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(EXIT_CODE.into());
        }
    });
}

/// Whether the run shall stop.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
