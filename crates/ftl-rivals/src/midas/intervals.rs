//! The paper's Update Interval Distribution (UID): after how many host writes units are written again.

use crate::kit::Unit;

/// Every so many-th unit is watched. An odd number, so that aligned requests are no other sample than the rest.
const EVERY: u32 = 13;

/// Buckets for each block that the host writes.
pub(super) const A_BLOCK: u32 = 4;

/// The longest interval that is told apart, as a multiple of the disk.
const DISKS: u32 = 4;

/// Means that a unit was not written yet.
const NEVER: u32 = 0;

/// The intervals of watched units.
#[derive(Clone, Debug)]
pub(super) struct Intervals {
    /// Host writes in a bucket's width.
    width: u32,
    /// Intervals by length in buckets. The last one has all that are longer, and first writes.
    counts: Vec<u32>,
    /// By watched unit: when it was written last.
    last: Vec<u32>,
}

impl Intervals {
    /// Of a disk of so many units, in blocks of so many.
    pub(super) fn new(units: u32, block: u32) -> Self {
        let width = (block / A_BLOCK).max(1);
        let buckets = DISKS as usize * (units / width) as usize + 2;
        let last = vec![NEVER; units.div_ceil(EVERY) as usize];
        Self { width, counts: vec![0; buckets], last }
    }

    /// Notes that the host writes that unit, as its write of that number, counted from one.
    #[inline]
    pub(super) fn note(&mut self, Unit(unit): Unit, now: u32) {
        if unit % EVERY != 0 {
            return;
        }
        let last = std::mem::replace(&mut self.last[(unit / EVERY) as usize], now);
        let most = self.counts.len() - 1;
        let interval =
            if last == NEVER { most } else { (now.wrapping_sub(last) / self.width) as usize };
        self.counts[interval.min(most)] += 1;
    }

    /// Notes that a unit was trimmed.
    pub(super) fn forget(&mut self, Unit(unit): Unit) {
        if unit % EVERY == 0 {
            self.last[(unit / EVERY) as usize] = NEVER;
        }
    }

    /// What was counted since the last time.
    pub(super) fn take(&mut self) -> Uid {
        let uid = Uid::of(&self.counts);
        self.counts.fill(0);
        uid
    }

    pub(super) fn ram_bytes(&self) -> u64 {
        (self.counts.len() + self.last.len()) as u64 * 4
    }
}

/// The distribution. Lengths are in buckets; writes that are not replaced within the longest one do not count.
#[derive(Clone, Debug)]
pub(super) struct Uid {
    /// The share of the writes whose data is valid at that age, and is replaced later.
    valid: Vec<f64>,
    /// Their data that is younger than that: what the host writes in so many buckets' time.
    held: Vec<f64>,
}

impl Uid {
    fn of(counts: &[u32]) -> Self {
        let total: f64 = counts.iter().map(|count| f64::from(*count)).sum();
        let (_, replaced) = counts.split_last().unwrap_or((&0, &[]));
        let shares = replaced.iter().map(|count| f64::from(*count) / total.max(1.0));
        let mut valid = vec![shares.clone().sum::<f64>()];
        let mut held = vec![0.0];
        for (share, at) in shares.zip(0..) {
            held.push(held[at] + valid[at] - share / 2.0);
            valid.push((valid[at] - share).max(0.0));
        }
        Self { valid, held }
    }

    /// The longest interval.
    pub(super) fn longest(&self) -> usize {
        self.valid.len() - 1
    }

    /// The share of the writes whose data is valid at that age, and is replaced later.
    pub(super) fn valid_at(&self, age: usize) -> f64 {
        self.valid.get(age).copied().unwrap_or(0.0)
    }

    /// Their data that is younger than that.
    pub(super) fn held_below(&self, age: usize) -> f64 {
        self.held[age.min(self.longest())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_at_equal_intervals_is_valid_until_then_and_dead_after_it() {
        let mut intervals = Intervals::new(160, 16);
        // Four units a bucket: 20 writes are five buckets.
        (0..400).for_each(|round| intervals.note(Unit(EVERY), 1 + round * 20));
        intervals.take();
        (400..800).for_each(|round| intervals.note(Unit(EVERY), 1 + round * 20));
        let uid = intervals.take();
        assert!((uid.valid_at(5) - 1.0).abs() < 1e-9 && uid.valid_at(6) < 1e-9);
        assert!((uid.held_below(6) - 5.5).abs() < 1e-9);
        assert!((uid.held_below(1_000) - 5.5).abs() < 1e-9);
    }

    #[test]
    fn first_writes_and_those_after_a_trim_replace_nothing() {
        let mut intervals = Intervals::new(160, 16);
        intervals.note(Unit(0), 1);
        intervals.note(Unit(1), 2);
        assert!(intervals.take().valid_at(0) < 1e-9);
        intervals.note(Unit(0), 3);
        intervals.forget(Unit(0));
        intervals.note(Unit(0), 4);
        assert!((intervals.take().valid_at(0) - 0.5).abs() < 1e-9);
    }
}
