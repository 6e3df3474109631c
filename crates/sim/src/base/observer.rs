//! Who watches a run: hears how far it is and what is worth a note, and may stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One who watches a run. It is called on the thread that began the run; `()` watches nothing.
pub trait Observer {
    /// How far the run is, from 0 to 1, if that is known; and the requests so far.
    fn at(&self, fraction: Option<f64>, requests: u64) {
        let _ = (fraction, requests);
    }

    /// It has ended.
    fn done(&self) {}

    /// Something that is worth knowing beside the result, in a sentence.
    fn note(&self, sentence: &str) {
        let _ = sentence;
    }

    /// By which it is stopped.
    fn stop(&self) -> Stop {
        Stop::default()
    }
}

impl Observer for () {}

/// Stops runs. Its clones are one and the same, on any thread: a run looks at it between requests.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks the runs to stop. What they measured so far is their result.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether they should stop.
    #[inline]
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
