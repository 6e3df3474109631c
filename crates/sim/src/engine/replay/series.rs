//! The response time over a run: how a fresh device comes to its steady state, and how one recovers from another load.

use serde::{Deserialize, Serialize};

/// The most points kept.
const POINTS: usize = 128;

/// Requests that follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// Bytes that the host had written at its end.
    pub written: u64,
    /// Their response times together, in microseconds, and how many they are.
    total_us: f64,
    count: u64,
}

impl Stretch {
    /// Their mean response time.
    #[allow(clippy::cast_precision_loss)] // A picture shows few digits.
    pub fn mean_us(&self) -> f64 {
        self.total_us / self.count.max(1) as f64
    }
}

/// Stretches of equally many requests, twice as many in each whenever there are too many stretches.
#[derive(Clone, Debug)]
pub(super) struct Series {
    stretches: Vec<Stretch>,
    each: u64,
    present: Stretch,
}

impl Series {
    pub(super) const fn new() -> Self {
        Self {
            stretches: Vec::new(),
            each: 1,
            present: Stretch { written: 0, total_us: 0.0, count: 0 },
        }
    }

    #[inline]
    pub(super) fn note(&mut self, micros: f64, written: u64) {
        self.present.total_us += micros;
        self.present.count += 1;
        self.present.written = written;
        if self.present.count == self.each {
            self.stretches.push(std::mem::take(&mut self.present));
            if self.stretches.len() == POINTS {
                self.halve();
            }
        }
    }

    /// Joins neighbours.
    fn halve(&mut self) {
        let joined = self.stretches.chunks(2).map(|pair| Stretch {
            written: pair.last().map_or(0, |last| last.written),
            total_us: pair.iter().map(|stretch| stretch.total_us).sum(),
            count: pair.iter().map(|stretch| stretch.count).sum(),
        });
        self.stretches = joined.collect();
        self.each *= 2;
    }

    /// The stretches so far.
    pub(super) fn stretches(&self) -> Vec<Stretch> {
        self.stretches.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_has_as_few_stretches_as_a_short_one_and_keeps_its_total() {
        let mut series = Series::new();
        for at in 0..65_536_u64 {
            series.note(2.0, at + 1);
        }
        let stretches = series.stretches();
        assert!((POINTS / 2..POINTS).contains(&stretches.len()), "{}", stretches.len());
        assert!(stretches.iter().all(|stretch| (stretch.mean_us() - 2.0).abs() < 1e-12));
        assert!(stretches.is_sorted_by(|one, other| one.written < other.written));
        assert_eq!(stretches.last().map(|last| last.written), Some(65_536));
    }
}
