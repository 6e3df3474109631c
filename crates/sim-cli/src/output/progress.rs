//! A progress bar on standard error: progress, speed and remaining time. None if standard error is not a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sim::{Observer, Stop, show};

use crate::base::terminal::Terminal;

/// The bar's length: it shows tenths of a percent.
const STEPS: u32 = 1_000;

/// At most 60 columns wide, for millions of requests.
const TEMPLATE: &str = "{bar:10} {percent:>3} %  {msg}, {eta} left";

/// A bar, or none.
pub(crate) struct Bar {
    bar: ProgressBar,
    start: Instant,
}

impl Bar {
    /// A bar, if standard error is a terminal.
    pub(crate) fn new() -> Self {
        Self::on(ProgressDrawTarget::stderr(), Instant::now())
    }

    fn on(target: ProgressDrawTarget, start: Instant) -> Self {
        let bar = ProgressBar::with_draw_target(Some(STEPS.into()), target);
        // The template is the program's own; a test draws it.
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        Self { bar, start }
    }
}

impl Observer for Bar {
    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)] // A bar has a thousand steps.
    fn at(&self, fraction: Option<f64>, requests: u64) {
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

    fn done(&self) {
        self.bar.finish_and_clear();
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
    fn the_bar_fits_60_columns_for_hundreds_of_millions_of_requests() {
        let screen = Screen::default();
        let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
        let progress =
            Bar::on(target, Instant::now().checked_sub(Duration::from_secs(120)).unwrap());
        progress.at(Some(0.5), 999_999_999);
        progress.bar.tick();
        let drawn = screen.0.lock().unwrap().clone();
        let longest = drawn.lines().map(|line| line.trim_end().chars().count()).max();
        assert!(drawn.contains("999,999,999 requests, 8,"), "{drawn:?}");
        assert!(longest.is_some_and(|columns| (40..=60).contains(&columns)), "{drawn:?}");
    }
}
