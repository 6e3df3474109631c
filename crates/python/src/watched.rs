//! Work on a thread of its own, without the interpreter's lock, while the caller's thread hears of progress and of
//! Ctrl-C.

use std::collections::HashSet;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use sim::{Failure, Observer, Stop};
use torture::Watcher;

use crate::failed::{Note, TandemError, in_python, raised};
use crate::quiet;

/// How often the caller looks up: often enough for a bar and for Ctrl-C, and too seldom to be felt.
const TICK: Duration = Duration::from_millis(50);

/// What is known of a run while it runs.
#[derive(Default)]
struct State {
    /// From 0 to 1, if that is known; and how many requests, runs or cuts.
    at: (Option<f64>, u64),
    notes: Vec<String>,
    /// What was raised in Python code that the run has called.
    raised: Option<PyErr>,
    is_over: bool,
}

/// Between the thread that works and the one that watches.
#[derive(Default)]
pub(crate) struct Watch {
    state: Mutex<State>,
    over: Condvar,
    stop: Stop,
}

impl Watch {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets how far the work is.
    pub(crate) fn set(&self, fraction: Option<f64>, done: u64) {
        self.state().at = (fraction, done);
    }

    /// Takes what Python code raised, which ends the run. The first one counts.
    pub(crate) fn raise(&self, error: PyErr) {
        self.state().raised.get_or_insert(error);
        self.stop.request();
    }

    /// Whether the run is to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_requested()
    }

    /// Waits a while for the end.
    fn wait(&self) -> bool {
        let state = self.state();
        let waited = self.over.wait_timeout_while(state, TICK, |state| !state.is_over);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_over
    }

    fn end(&self) {
        self.state().is_over = true;
        self.over.notify_all();
    }
}

impl Observer for Watch {
    fn at(&self, fraction: Option<f64>, requests: u64) {
        self.set(fraction, requests);
    }

    fn note(&self, sentence: &str) {
        self.state().notes.push(sentence.into());
    }

    fn stop(&self) -> Stop {
        self.stop.clone()
    }
}

impl Watcher for Watch {
    fn tried(&self, cuts: u64) {
        self.state().at.1 += cuts;
    }

    fn goes_on(&self) -> bool {
        !self.is_stopped()
    }
}

/// The watch of one of several runs, of whose progress nothing is told.
pub(crate) struct QuietWatch<'a>(pub(crate) &'a Watch);

impl Observer for QuietWatch<'_> {
    fn note(&self, sentence: &str) {
        self.0.note(sentence);
    }

    fn stop(&self) -> Stop {
        self.0.stop()
    }
}

/// Does the work, and tells `progress` how far it is: it is called with a share, or `None`, and a count. What it
/// raises, or what a signal raises, ends the work.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    watch: &Watch,
    work: impl FnOnce(&Watch) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let (mut teller, mut ended_by) = (Reported::default(), None);
    let outcome = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let outcome = catch_unwind(AssertUnwindSafe(|| work(watch)));
            watch.end();
            outcome
        });
        loop {
            let is_over = py.detach(|| watch.wait());
            if let Err(error) = teller.tell(py, watch, progress) {
                watch.stop.request();
                ended_by.get_or_insert(error);
            }
            if is_over {
                break py.detach(|| worker.join());
            }
        }
    });
    if let Some(error) = ended_by.or_else(|| watch.state().raised.take()) {
        return Err(error);
    }
    match outcome {
        Ok(Ok(outcome)) => outcome.map_err(|failure| raised(&failure)),
        Ok(Err(panic)) | Err(panic) => Err(panicked(panic.as_ref())),
    }
}

/// The exception of a panic, which is a defect of the simulator.
fn panicked(panic: &(dyn std::any::Any + Send)) -> PyErr {
    let said = quiet::words(panic).unwrap_or("it stopped");
    TandemError::new_err(format!("a defect of the simulator: {said}"))
}

/// What the caller was told.
#[derive(Default)]
struct Reported {
    told: Option<(Option<f64>, u64)>,
    notes: HashSet<String>,
}

impl Reported {
    /// Tells what is new.
    fn tell(
        &mut self,
        py: Python<'_>,
        watch: &Watch,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        py.check_signals()?;
        let (at, notes) = {
            let mut state = watch.state();
            (state.at, std::mem::take(&mut state.notes))
        };
        for note in notes {
            if self.notes.insert(note.clone()) {
                let text = CString::new(in_python(&note)).unwrap_or_default();
                PyErr::warn(py, &py.get_type::<Note>(), &text, 2)?;
            }
        }
        if let Some(progress) = progress
            && self.told.replace(at) != Some(at)
        {
            progress.call1(at)?;
        }
        Ok(())
    }
}
