//! Ctrl-C: the first time, a run stops and reports its results so far; the second time, the program ends at once.
//!
//! One rule for all commands: exit code 130, and files are complete or absent. Only `serve`, which Ctrl-C ends in the
//! ordinary way, exits with 0.

use std::sync::{LazyLock, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use sim::Stop;

use super::{exit, notes};

/// When the first request came, if one did.
static FIRST: OnceLock<Instant> = OnceLock::new();

/// What runs look at.
static STOP: LazyLock<Stop> = LazyLock::new(Stop::default);

/// Requests within this time are one: `timeout` signals a program, and then its group.
const TOGETHER: Duration = Duration::from_millis(200);

/// Installs the handler. If that fails, Ctrl-C ends the program at once.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| match FIRST.get() {
        Some(first) if first.elapsed() > TOGETHER => std::process::exit(exit::INTERRUPTED.into()),
        Some(_) => {}
        None => {
            FIRST.get_or_init(Instant::now);
            STOP.request();
            thread::spawn(tell_if_it_takes_long);
        }
    });
}

/// A step that cannot be interrupted, such as a cut of a large device, may take a while.
fn tell_if_it_takes_long() {
    thread::sleep(Duration::from_secs(2));
    notes::tell("stopping after the step under way; Ctrl-C again ends the program at once");
}

/// By which Ctrl-C stops runs.
pub(crate) fn stop() -> Stop {
    STOP.clone()
}

/// Whether the run should stop.
pub(crate) fn is_requested() -> bool {
    STOP.is_requested()
}
