//! A sample of where the chains are written.

use serde::{Deserialize, Serialize};

/// A page of new data written to a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainWrite {
    /// Its number, from 0 on.
    pub number: u64,
    /// The host's address of its first sector, in bytes.
    pub address: u64,
    /// Whether it came from the log, or else from the host.
    pub by_log: bool,
}

/// The most writes kept: more dots than a chart can separate.
const KEPT_MOST: usize = 40_000;

/// A sample of evenly spaced writes, whose size does not grow with the run.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) kept: Vec<ChainWrite>,
    /// One of that many is kept.
    every: u64,
    seen: u64,
}

impl Default for Sample {
    fn default() -> Self {
        Self { kept: Vec::new(), every: 1, seen: 0 }
    }
}

impl Sample {
    /// Adds the next write, which came from the log or from the host.
    pub(super) fn add(&mut self, address: u64, by_log: bool) {
        let number = self.seen;
        self.seen += 1;
        if !number.is_multiple_of(self.every) {
            return;
        }
        if self.kept.len() == KEPT_MOST {
            self.every *= 2;
            let every = self.every;
            self.kept.retain(|write| write.number.is_multiple_of(every));
            if !number.is_multiple_of(every) {
                return;
            }
        }
        self.kept.push(ChainWrite { number, address, by_log });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_stays_small_and_even() {
        let mut sample = Sample::default();
        for number in 0..200_000_u64 {
            sample.add(number * 7, number.is_multiple_of(3));
        }
        assert!((KEPT_MOST / 2..=KEPT_MOST).contains(&sample.kept.len()), "{}", sample.kept.len());
        let gaps: Vec<u64> =
            sample.kept.windows(2).map(|pair| pair[1].number - pair[0].number).collect();
        assert!(gaps.iter().all(|gap| *gap == sample.every), "{:?}", sample.every);
        assert!(sample.kept.iter().all(|write| write.address == write.number * 7));
    }
}
