//! A progress bar on standard error: progress, speed and remaining time. If standard error is not a terminal, a line
//! now and then.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sim::{Observer, Stop, show};

use crate::base::terminal::Terminal;

/// The bar's length: it shows tenths of a percent.
const STEPS: u32 = 1_000;

/// At most 60 columns wide, for millions of requests.
const TEMPLATE: &str = "{bar:10} {percent:>3} %  {msg}, {eta} left";

/// The time between two lines, and before the first: short commands say nothing.
const PAUSE: Duration = Duration::from_secs(30);

/// The lines of a command that takes long, in place of a bar.
pub(crate) struct Lines {
    due: Mutex<Instant>,
}

impl Lines {
    /// None so far.
    pub(crate) fn new() -> Self {
        Self { due: Mutex::new(Instant::now() + PAUSE) }
    }

    /// A line, if the bar is hidden and the last line was long ago.
    pub(crate) fn tell(&self, bar: &ProgressBar, line: impl FnOnce() -> String) {
        if bar.is_hidden() && self.is_due(Instant::now()) {
            eprintln!("{}", line());
        }
    }

    fn is_due(&self, now: Instant) -> bool {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = now >= *due;
        if is_due {
            *due = now + PAUSE;
        }
        is_due
    }
}

/// A bar, or lines.
pub(crate) struct Bar {
    drawing: ProgressBar,
    lines: Lines,
    start: Instant,
}

impl Bar {
    /// A bar, if standard error is a terminal, else lines.
    pub(crate) fn new() -> Self {
        Self::on(ProgressDrawTarget::stderr(), Instant::now())
    }

    fn on(target: ProgressDrawTarget, start: Instant) -> Self {
        let bar = ProgressBar::with_draw_target(Some(STEPS.into()), target);
        // The template is the program's own; a test draws it.
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        Self { drawing: bar, lines: Lines::new(), start }
    }
}

impl Observer for Bar {
    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)] // A bar has a thousand steps.
    fn at(&self, fraction: Option<f64>, requests: u64) {
        let seconds = self.start.elapsed().max(Duration::from_millis(1)).as_secs_f64();
        let rate = (requests as f64 / seconds) as u64;
        let message = || format!("{} requests, {}/s", show::count(requests), show::count(rate));
        self.lines.tell(&self.drawing, || match fraction {
            Some(fraction) => format!("{}, {}", show::percent(fraction), message()),
            None => message(),
        });
        if self.drawing.is_hidden() {
            return;
        }
        self.drawing.set_message(message());
        self.drawing.set_position((fraction.unwrap_or(0.0) * f64::from(STEPS)) as u64);
    }

    fn done(&self) {
        self.drawing.finish_and_clear();
    }

    fn note(&self, sentence: &str) {
        Terminal.note(sentence);
    }

    fn stop(&self) -> Stop {
        Terminal.stop()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal that keeps what is written to it.
    #[derive(Clone, Debug, Default)]
    struct Screen(Arc<Mutex<String>>);

    impl Screen {
        fn put(&self, text: &str) {
            self.0.lock().unwrap().push_str(text);
        }
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            200
        }
        fn move_cursor_up(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }
        fn write_line(&self, line: &str) -> std::io::Result<()> {
            self.put(line);
            self.put("\n");
            Ok(())
        }
        fn write_str(&self, text: &str) -> std::io::Result<()> {
            self.put(text);
            Ok(())
        }
        fn clear_line(&self) -> std::io::Result<()> {
            self.put("\n");
            Ok(())
        }
        fn flush(&self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_comes_now_and_then() {
        let (lines, start) = (Lines::new(), Instant::now());
        let due: Vec<bool> =
            [0, 29, 31, 32, 60, 62].map(|at| lines.is_due(start + Duration::from_secs(at))).into();
        assert_eq!(due, [false, false, true, false, false, true]);
    }

    #[test]
    fn the_bar_fits_60_columns_for_hundreds_of_millions_of_requests() {
        let screen = Screen::default();
        let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
        let progress =
            Bar::on(target, Instant::now().checked_sub(Duration::from_secs(120)).unwrap());
        progress.at(Some(0.5), 999_999_999);
        progress.drawing.tick();
        let drawn = screen.0.lock().unwrap().clone();
        let longest = drawn.lines().map(|line| line.trim_end().chars().count()).max();
        assert!(drawn.contains("999,999,999 requests, 8,"), "{drawn:?}");
        assert!(longest.is_some_and(|columns| (40..=60).contains(&columns)), "{drawn:?}");
    }
}
