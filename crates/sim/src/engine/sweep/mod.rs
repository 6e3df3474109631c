//! Sweeps: a plan's runs, on all cores, and their results.
//!
//! # Modules
//!
//! - `plan`: from TOML to runs. `run`: one run. `folder`: the folder of results. `names`: their names. `rows`: the
//!   results that are there.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::base::{Failure, Observer};
use crate::engine::replay;
use crate::engine::result::RunResult;

mod folder;
mod names;
mod plan;
mod rows;
mod run;

pub use folder::Folder;
pub use plan::Plan;
pub use rows::{Collected, Collection, Row, beside, read, rows};
pub use run::Run;

/// A failed run, by its position among those that were to be done.
pub type FailedRun = (usize, Failure);

/// Does these runs, so many at a time, or one for each core. Of each, `done` gets the result, if the run was not
/// stopped before its end; that may fail, too. A failed run does not stop the others.
pub fn work(
    left: &[&Run],
    jobs: Option<NonZeroUsize>,
    observer: &(impl Observer + Sync),
    done: impl Fn(&Run, Option<RunResult>) -> Result<(), Failure> + Sync,
) -> Vec<FailedRun> {
    let jobs = jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let stop = observer.stop();
    let worker = || {
        while !stop.is_requested() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(run) = left.get(number) else { break };
            let outcome = one(run, observer);
            let (result, failure) = match outcome {
                Ok(result) => (result, None),
                Err(failure) => (None, Some(failure)),
            };
            let failure = failure.or(done(run, result).err());
            if let Some(failure) = failure {
                failures.lock().unwrap_or_else(PoisonError::into_inner).push((number, failure));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.min(left.len()) {
            scope.spawn(worker);
        }
    });
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort_by_key(|(number, _)| *number);
    failures
}

/// The result of a run; `None` if it was stopped, and is left for later.
fn one(run: &Run, observer: &dyn Observer) -> Result<Option<RunResult>, Failure> {
    let replayed = run.requests().and_then(|requests| {
        replay::run(&requests, &run.options, &run.setup, &run.system, observer)
    });
    match replayed {
        Err(Failure::Interrupted(_)) => Ok(None),
        replayed => replayed.map(|result| (!result.partial).then_some(result)),
    }
}

/// The result of a sweep: that of its worst run.
pub fn ended(left: &[&Run], failures: Vec<FailedRun>) -> Result<(), Failure> {
    let count = failures.len();
    let mut reasons = String::new();
    let mut violated = false;
    for (number, failure) in failures {
        violated |= matches!(failure, Failure::Violation(_));
        let run = left[number];
        let place = [run.system.name.as_str(), " on ", &run.device, ", ", &run.trace].concat();
        reasons += &["\n  ", &place, ": ", &failure.to_string()].concat();
    }
    let summary = format!("{count} of {} runs failed:{reasons}", left.len());
    match (count, violated) {
        (0, _) => Ok(()),
        (_, true) => Err(Failure::Violation(summary)),
        (_, false) => Err(Failure::Arguments(summary)),
    }
}
