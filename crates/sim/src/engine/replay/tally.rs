//! The counts of a replay: requests, sectors, response times.

use hdrhistogram::Histogram;
use nand_model::part::Nanos;

use crate::engine::result::{Requests, Times};
use crate::input::trace::{Op, Request};

/// The precision of the histograms in digits.
const DIGITS: u8 = 4;

/// Points of a distribution in each half of the remaining share.
const CURVE_STEPS: u32 = 16;

/// Response times of one kind of request.
#[derive(Clone, Debug)]
struct ResponseTimes {
    histogram: Histogram<u64>,
    count: u64,
    total: Nanos,
    longest: Nanos,
    /// The part of the total before the system could begin.
    waited: Nanos,
    sectors: u64,
}

impl ResponseTimes {
    fn new() -> Self {
        // It grows with the values, up to 64 bits.
        #[allow(clippy::expect_used)] // The only reason to fail is a number of digits above 5.
        let histogram = Histogram::new(DIGITS).expect("a histogram of few digits");
        let (total, longest, waited) = (Nanos::ZERO, Nanos::ZERO, Nanos::ZERO);
        Self { histogram, count: 0, total, longest, waited, sectors: 0 }
    }

    #[inline]
    fn note(&mut self, time: Nanos, waited: Nanos, sectors: u64) {
        // It grows with the values, so no value is refused.
        let _ = self.histogram.record(time.get());
        self.count += 1;
        self.total += time;
        self.longest = self.longest.max(time);
        self.waited += waited;
        self.sectors += sectors;
    }

    fn add(&mut self, other: &Self) {
        // A growing histogram can add any other.
        let _ = self.histogram.add(&other.histogram);
        self.count += other.count;
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
        self.waited += other.waited;
        self.sectors += other.sectors;
    }

    #[allow(clippy::cast_precision_loss)] // Times in nanoseconds beyond 2^53 lose less than one.
    fn times(&self) -> Times {
        let measured = |figure: f64| (self.count > 0).then_some(figure);
        let quantile = |share: f64| {
            let nanos = self.histogram.value_at_quantile(share).min(self.longest.get());
            measured(four_digits(nanos as f64 / 1e3))
        };
        Times {
            total: self.total.as_micros_f64(),
            mean: measured(self.total.as_micros_f64() / self.count as f64),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: measured(self.longest.as_micros_f64()),
        }
    }
}

/// A value rounded to the histogram's precision: its cells are finer, with bounds that are not round.
fn four_digits(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let exponent = i32::from(DIGITS) - 1 - value.log10().floor() as i32;
    // Both factors are powers of ten that floats represent exactly.
    if exponent >= 0 {
        let scale = 10_f64.powi(exponent);
        (value * scale).round() / scale
    } else {
        let scale = 10_f64.powi(-exponent);
        (value / scale).round() * scale
    }
}

/// The tally of a replay.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// By [`Op`], in the order of [`Op::ALL`].
    kinds: [ResponseTimes; 4],
    bytes_written: u64,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self { kinds: Op::ALL.map(|_| ResponseTimes::new()), bytes_written: 0 }
    }

    /// Notes a completed request.
    #[inline]
    pub(super) fn note(&mut self, request: &Request, sectors: u64, time: Nanos, waited: Nanos) {
        self.kinds[request.op as usize].note(time, waited, sectors);
        if request.op == Op::Write {
            self.bytes_written += request.length;
        }
    }

    /// Adds another one's requests.
    pub(super) fn add(&mut self, other: &Self) {
        self.kinds.iter_mut().zip(&other.kinds).for_each(|(kind, other)| kind.add(other));
        self.bytes_written += other.bytes_written;
    }

    fn kind(&self, op: Op) -> &ResponseTimes {
        &self.kinds[op as usize]
    }

    /// Bytes that the host wrote.
    pub(super) const fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    pub(super) fn requests(&self) -> Requests {
        Requests {
            reads: self.kind(Op::Read).count,
            writes: self.kind(Op::Write).count,
            trims: self.kind(Op::Trim).count,
            flushes: self.kind(Op::Flush).count,
            sectors_read: self.kind(Op::Read).sectors,
            sectors_written: self.kind(Op::Write).sectors,
        }
    }

    /// Response times of one kind of request.
    pub(super) fn times(&self, op: Op) -> Times {
        self.kind(op).times()
    }

    /// The part of these before the system could begin.
    pub(super) fn waited(&self, op: Op) -> Nanos {
        self.kind(op).waited
    }

    /// The distribution of response times: a share of the requests, and the microseconds within which they were
    /// answered. Shares approach 1 in ever smaller steps, and end when a single request is left.
    #[allow(clippy::cast_precision_loss)] // A picture shows few digits.
    pub(super) fn curve(&self, op: Op) -> Vec<(f64, f64)> {
        let ResponseTimes { histogram, longest, .. } = self.kind(op);
        let steps = histogram.iter_quantiles(CURVE_STEPS).map(|step| {
            let nanos = step.value_iterated_to().min(longest.get());
            (step.quantile_iterated_to(), nanos as f64 / 1e3)
        });
        steps.collect()
    }

    /// Response times of all requests.
    pub(super) fn all_times(&self) -> Times {
        let mut all = ResponseTimes::new();
        self.kinds.iter().for_each(|kind| all.add(kind));
        all.times()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp)] // The figures are exact: sums of whole numbers, or short decimals.

    use super::*;

    #[test]
    fn times_are_exact_in_sum_and_round_in_share() {
        let mut tally = Tally::new();
        let request = |op| Request::new(Nanos::ZERO, op, 0, 4096);
        for _ in 0..98 {
            tally.note(&request(Op::Write), 2, Nanos::from_micros(400), Nanos::ZERO);
        }
        tally.note(&request(Op::Write), 2, Nanos::from_micros(123_456), Nanos::from_micros(56));
        tally.note(&request(Op::Read), 2, Nanos::from_micros(50), Nanos::ZERO);
        let writes = tally.times(Op::Write);
        assert_eq!(writes.total, 98.0 * 400.0 + 123_456.0);
        assert_eq!((writes.p50, writes.p90), (Some(400.0), Some(400.0)));
        assert_eq!((writes.p999, writes.max), (Some(123_500.0), Some(123_456.0)));
        let all = tally.all_times();
        assert_eq!(all.total, writes.total + 50.0);
        assert_eq!(all.mean, Some(all.total / 100.0));
        assert_eq!(tally.times(Op::Trim), Times::default());
        assert_eq!(tally.waited(Op::Write), Nanos::from_micros(56));
        let curve = tally.curve(Op::Write);
        assert!(curve.is_sorted() && tally.curve(Op::Trim).is_empty(), "{curve:?}");
        assert_eq!(curve.last(), Some(&(1.0, 123_456.0)));
        let requests = tally.requests();
        assert_eq!((requests.reads, requests.writes, requests.total()), (1, 99, 100));
        assert_eq!((requests.sectors_written, tally.bytes_written()), (198, 99 * 4096));
    }

    #[test]
    fn four_digits_are_kept() {
        for (value, kept) in [(200.007, 200.0), (123_456.0, 123_500.0), (0.0, 0.0), (0.25, 0.25)] {
            assert_eq!(four_digits(value), kept);
        }
    }
}
