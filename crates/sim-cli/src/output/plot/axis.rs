//! Axes: from values to positions on a line, and the positions of ticks.

use sim::show;

/// Ticks that a linear axis aims at.
const TICKS: f64 = 5.0;

/// The most powers that a logarithmic axis shows; with more, some are skipped.
const POWERS_MOST: u32 = 9;

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Linear, ticks at round decimal numbers.
    Linear,
    /// Linear, ticks at round binary numbers: for sizes.
    Binary,
    /// Logarithmic, ticks at powers of ten.
    Log10,
    /// Logarithmic, ticks at powers of two: for sizes that double.
    Log2,
}

/// An axis: what it shows, and how.
#[derive(Clone, Debug)]
pub struct Axis {
    pub(super) label: String,
    scale: Scale,
    shown: fn(f64) -> String,
    from: Option<f64>,
    to: Option<f64>,
}

impl Axis {
    /// An axis of plain numbers.
    pub fn linear(label: impl Into<String>) -> Self {
        Self::new(label, Scale::Linear, number)
    }

    /// A logarithmic axis of plain numbers.
    pub fn log(label: impl Into<String>) -> Self {
        Self::new(label, Scale::Log10, number)
    }

    /// A logarithmic axis of sizes, in bytes.
    pub fn bytes(label: impl Into<String>) -> Self {
        Self::new(label, Scale::Log2, bytes)
    }

    /// A linear axis of offsets, in bytes.
    pub fn addresses(label: impl Into<String>) -> Self {
        Self::new(label, Scale::Binary, bytes)
    }

    /// A logarithmic axis of times, in microseconds.
    pub fn times(label: impl Into<String>) -> Self {
        Self::new(label, Scale::Log10, micros)
    }

    /// A linear axis of times, in microseconds.
    pub fn durations(label: impl Into<String>) -> Self {
        Self::new(label, Scale::Linear, micros)
    }

    /// An axis of any kind.
    pub fn new(label: impl Into<String>, scale: Scale, shown: fn(f64) -> String) -> Self {
        Self { label: label.into(), scale, shown, from: None, to: None }
    }

    /// Sets the start of the axis, whatever the values are.
    #[must_use]
    pub const fn from(mut self, value: f64) -> Self {
        self.from = Some(value);
        self
    }

    /// Sets the end of the axis, whatever the values are.
    #[must_use]
    pub const fn to(mut self, value: f64) -> Self {
        self.to = Some(value);
        self
    }

    /// The axis with ends wide enough for these values.
    pub(super) fn fitted(&self, values: impl Iterator<Item = f64>) -> Fitted {
        let usable = |value: &f64| value.is_finite() && (!self.is_log() || *value > 0.0);
        let (mut low, mut high) = values
            .filter(usable)
            .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            (low, high) = (1.0, 2.0); // There is nothing to show.
        }
        low = self.from.unwrap_or(low);
        high = self.to.unwrap_or(high);
        if low >= high {
            let around = if self.is_log() { low } else { low.abs().max(1.0) };
            (low, high) = if self.is_log() { (low / 2.0, low * 2.0) } else { (low, low + around) };
        }
        if self.is_log() {
            let ticks = self.powers(low, high);
            return Fitted { low, high, ticks, is_log: true, shown: self.shown };
        }
        // A linear axis ends at a tick, unless its end is set.
        let step = self.step(low, high);
        let low = self.from.unwrap_or((low / step).floor() * step);
        let high = self.to.unwrap_or((high / step).ceil() * step);
        let ticks = even_ticks(low, high, step);
        Fitted { low, high, ticks, is_log: false, shown: self.shown }
    }

    const fn is_log(&self) -> bool {
        matches!(self.scale, Scale::Log10 | Scale::Log2)
    }

    /// The distance of ticks on a linear axis: 1, 2 or 5 times a power of ten, or a power of two.
    fn step(&self, low: f64, high: f64) -> f64 {
        let rough = (high - low) / TICKS;
        if self.scale == Scale::Binary {
            return rough.log2().ceil().exp2().max(1.0);
        }
        let power = 10_f64.powf(rough.log10().floor());
        let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * power >= rough);
        times.unwrap_or(10.0) * power
    }

    /// Ticks of a logarithmic axis.
    fn powers(&self, low: f64, high: f64) -> Vec<f64> {
        let base: f64 = if self.scale == Scale::Log2 { 2.0 } else { 10.0 };
        let (first, last) = (low.log(base).ceil() as i32, high.log(base).floor() as i32);
        let every = last.saturating_sub(first).unsigned_abs() / POWERS_MOST + 1;
        let powers: Vec<f64> =
            (first..=last).step_by(every as usize).map(|at| base.powi(at)).collect();
        // A range within one power has no tick, so its ends are used.
        if powers.len() < 2 { vec![low, high] } else { powers }
    }
}

fn even_ticks(low: f64, high: f64, step: f64) -> Vec<f64> {
    let first = (low / step).ceil() as i64;
    // Slightly more, so that rounding does not drop the last tick.
    let last = (high / step + 1e-9).floor() as i64;
    #[allow(clippy::cast_precision_loss)] // An axis has a few ticks.
    (first..=last).map(|at| at as f64 * step).collect()
}

/// An axis with fixed ends.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    low: f64,
    high: f64,
    pub(super) ticks: Vec<f64>,
    is_log: bool,
    shown: fn(f64) -> String,
}

impl Fitted {
    /// The position of a value, from 0 to 1; `None` if the axis cannot show it.
    pub(super) fn share(&self, value: f64) -> Option<f64> {
        let share = if self.is_log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        // Rounding may move the ends slightly beyond.
        (-1e-9..=1.0 + 1e-9).contains(&share).then(|| share.clamp(0.0, 1.0))
    }

    /// A value as text.
    pub(super) fn show(&self, value: f64) -> String {
        (self.shown)(value)
    }
}

/// A number in at most three digits and a letter: `20k`, `1.5M`.
pub(super) fn number(value: f64) -> String {
    let (scaled, letter) = match value.abs() {
        size if size >= 1e9 => (value / 1e9, "G"),
        size if size >= 1e6 => (value / 1e6, "M"),
        size if size >= 1e4 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let digits = match scaled.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 0.1 => 2,
        _ => 4,
    };
    let text = format!("{scaled:.digits$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{letter}")
}

fn bytes(value: f64) -> String {
    #[allow(clippy::cast_sign_loss)] // Sizes are not negative.
    show::short(value.round() as u64)
}

fn micros(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value if value < 1e3 => format!("{} us", number(value)),
        value if value < 1e6 => format!("{} ms", number(value / 1e3)),
        value => format!("{} s", number(value / 1e6)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp)] // The figures are short decimals.

    use super::*;

    #[test]
    fn ticks_stand_at_round_numbers_and_the_axis_ends_at_one() {
        let fitted = Axis::linear("").fitted([3.0, 97.0].into_iter());
        assert_eq!(fitted.ticks, [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!((fitted.share(0.0), fitted.share(50.0)), (Some(0.0), Some(0.5)));
        let small = Axis::linear("").fitted([1.0, 1.9].into_iter());
        assert_eq!(small.ticks.first().copied().map(number), Some("1".into()));
        let sizes = Axis::addresses("").fitted([0.0, 20.0 * 1024.0].into_iter());
        assert_eq!(
            sizes.ticks.iter().map(|tick| bytes(*tick)).collect::<Vec<_>>().join(" "),
            SIZES
        );
    }

    const SIZES: &str = "0B 4KiB 8KiB 12KiB 16KiB 20KiB";

    #[test]
    fn a_logarithmic_axis_spreads_powers_evenly() {
        let fitted = Axis::bytes("").fitted([1.0, 256.0].into_iter());
        assert_eq!(fitted.ticks.len(), 9);
        assert_eq!(fitted.share(16.0), Some(0.5));
        assert_eq!(fitted.share(0.0), None);
        let times = Axis::times("").fitted([20.0, 2e6].into_iter());
        let shown: Vec<String> = times.ticks.iter().map(|tick| times.show(*tick)).collect();
        assert_eq!(shown, ["100 us", "1 ms", "10 ms", "100 ms", "1 s"]);
        let narrow = Axis::log("").fitted([20.0, 30.0].into_iter());
        assert_eq!(narrow.ticks, [20.0, 30.0]);
    }

    #[test]
    fn one_value_alone_and_none_have_an_axis_too() {
        for values in [vec![], vec![0.0], vec![5.0], vec![f64::NAN]] {
            for axis in [Axis::linear(""), Axis::log(""), Axis::bytes(""), Axis::addresses("")] {
                let fitted = axis.fitted(values.iter().copied());
                assert!(fitted.low < fitted.high, "{values:?}");
                assert!(fitted.ticks.iter().all(|tick| tick.is_finite()), "{values:?}");
            }
        }
    }

    #[test]
    fn numbers_are_short() {
        for (value, shown) in [
            (0.0, "0"),
            (0.05, "0.05"),
            (1.5, "1.5"),
            (20.0, "20"),
            (250.0, "250"),
            (20_000.0, "20k"),
            (1_500_000.0, "1.5M"),
        ] {
            assert_eq!(number(value), shown);
        }
    }
}
