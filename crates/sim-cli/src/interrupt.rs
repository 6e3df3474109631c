//! Ctrl-C: the first time, a run stops and tells what it has; the second time, the program ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// What a shell reports of a program that Ctrl-C ended: 128 and the signal's number, 2.
const ENDED_BY_CTRL_C: i32 = 130;

/// Begins to listen. Where that is not possible, Ctrl-C ends the program as it would without.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(ENDED_BY_CTRL_C);
        }
    });
}

/// Whether the run shall stop.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
