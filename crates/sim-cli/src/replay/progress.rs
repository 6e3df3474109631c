//! A bar on standard error: how far the run is, how fast, how long it will take. None where nobody sees it.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::show;

/// The bar's length: a tenth of a percent is the least that is seen.
const STEPS: u32 = 1_000;

/// At most 60 columns wide, for millions of requests.
const TEMPLATE: &str = "{bar:10} {percent:>3} %  {msg}, {eta} left";

/// A bar, or none.
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
}

impl Progress {
    /// A bar, if standard error is a terminal.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(STEPS.into()), ProgressDrawTarget::stderr());
        // The template is the program's own; a test draws it.
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        Self { bar, start: Instant::now() }
    }

    /// None, whoever looks: for runs of which others tell.
    pub(crate) fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), start: Instant::now() }
    }

    /// Shows how far the run is, from 0 to 1, and how many requests that is.
    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)] // A bar has a thousand steps.
    pub(crate) fn at(&self, fraction: Option<f64>, requests: u64) {
        if self.bar.is_hidden() {
            return;
        }
        let seconds = self.start.elapsed().max(Duration::from_millis(1)).as_secs_f64();
        let rate = (requests as f64 / seconds) as u64;
        self.bar.set_message(format!(
            "{} requests, {}/s",
            show::count(requests),
            show::count(rate)
        ));
        self.bar.set_position((fraction.unwrap_or(0.0) * f64::from(STEPS)) as u64);
    }

    /// Takes the bar away.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_can_be_drawn() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
        let progress = Progress::new();
        progress.at(Some(0.5), 10);
        progress.done();
    }
}
