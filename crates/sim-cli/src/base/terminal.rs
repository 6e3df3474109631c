//! The terminal as one who watches runs: its notes go to standard error, and Ctrl-C stops it.

use sim::{Observer, Stop};

use super::{interrupt, notes};

/// Watches without a bar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal;

impl Observer for Terminal {
    fn note(&self, sentence: &str) {
        notes::tell(sentence);
    }

    fn stop(&self) -> Stop {
        interrupt::stop()
    }
}
