//! Zipf's law: of n places, the one of rank k (from 1 on) takes a share that falls as 1 / k^skew.
//!
//! Ranks are drawn by rejection-inversion (W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from
//! monotone discrete distributions", ACM Transactions on Modeling and Computer Simulation 6(3), 1996), which needs no
//! table. Exponential and logarithm come from `libm`, whose results do not depend on the machine.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::numbers;

/// Draws ranks from 0 to n - 1, the hottest first.
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    skew: f64,
    count: f64,
    /// The integral at 1.5, less the first rank's share.
    low: f64,
    /// The integral at n + 0.5.
    high: f64,
    /// Within this distance of its rank a drawn point is accepted without a further test.
    near: f64,
}

#[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)] // No rank is negative, and those beyond 2^53 have shares
// that do not differ.
impl Zipf {
    pub(super) fn new(count: u64, skew: f64) -> Self {
        let mut zipf = Self { skew, count: count as f64, low: 0.0, high: 0.0, near: 0.0 };
        zipf.low = zipf.integral(1.5) - 1.0;
        zipf.high = zipf.integral(zipf.count + 0.5);
        zipf.near = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.share(2.0));
        zipf
    }

    /// The share of a rank, up to a constant factor.
    fn share(&self, rank: f64) -> f64 {
        libm::exp(-self.skew * libm::log(rank))
    }

    /// The integral of the share.
    fn integral(&self, rank: f64) -> f64 {
        let log = libm::log(rank);
        exp_minus_one_by((1.0 - self.skew) * log) * log
    }

    /// The rank at which the integral has that value.
    fn inverse(&self, value: f64) -> f64 {
        // Rounding may move the argument below -1, where the logarithm is undefined.
        let scaled = (value * (1.0 - self.skew)).max(-1.0);
        libm::exp(log_one_plus_by(scaled) * value)
    }

    pub(super) fn rank(&self, dice: &mut Pcg64Mcg) -> u64 {
        loop {
            let draw = self.high + unit(dice) * (self.low - self.high);
            let point = self.inverse(draw);
            let rank = libm::floor(point + 0.5).clamp(1.0, self.count);
            if rank - point <= self.near || draw >= self.integral(rank + 0.5) - self.share(rank) {
                return rank as u64 - 1;
            }
        }
    }
}

/// A number from 0 on and below 1, of 53 bits.
#[allow(clippy::cast_precision_loss)] // 53 bits are what a float holds.
fn unit(dice: &mut Pcg64Mcg) -> f64 {
    (dice.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// (e^x - 1) / x, also near 0.
fn exp_minus_one_by(x: f64) -> f64 {
    if x.abs() > 1e-8 { libm::expm1(x) / x } else { 1.0 + x / 2.0 }
}

/// ln(1 + x) / x, also near 0.
fn log_one_plus_by(x: f64) -> f64 {
    if x.abs() > 1e-8 { libm::log1p(x) / x } else { 1.0 - x / 2.0 }
}

/// Scatters ranks over the slots by a permutation, so that hot places are not adjacent.
///
/// Within the next power of two, each step (xor with a shift, a product with an odd number) is invertible, so no two
/// ranks collide; the steps are repeated for a rank beyond the slots until it is within.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scatter {
    slots: u64,
    mask: u64,
    shift: u32,
    factors: [u64; 3],
}

impl Scatter {
    pub(super) fn new(slots: u64, seed: u64) -> Self {
        let mask = slots.next_power_of_two() - 1;
        let shift = (mask.count_ones() / 2).max(1);
        let bits = numbers::spread(seed);
        let factors = [bits as u64 | 1, (bits >> 64) as u64 | 1, (bits >> 32) as u64 | 1];
        Self { slots, mask, shift, factors }
    }

    #[inline]
    pub(super) fn place(&self, rank: u64) -> u64 {
        let mut place = rank;
        loop {
            for factor in self.factors {
                place ^= place >> self.shift;
                place = place.wrapping_mul(factor).wrapping_add(factor >> 32) & self.mask;
            }
            if place < self.slots {
                return place;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 200_000;

    #[test]
    fn shares_fall_as_the_law_says() {
        for skew in [0.0, 0.5, 0.99, 1.0, 1.5] {
            let zipf = Zipf::new(50, skew);
            let mut dice = Pcg64Mcg::new(1);
            let mut counts = [0_u32; 50];
            (0..DRAWS).for_each(|_| counts[zipf.rank(&mut dice) as usize] += 1);
            let share = |rank: u32| f64::from(rank).powf(-skew);
            let sum: f64 = (1..=50).map(share).sum();
            for (rank, count) in (1..).zip(counts) {
                let expected = share(rank) / sum * f64::from(DRAWS);
                // Six standard deviations.
                let off = (f64::from(count) - expected).abs();
                assert!(
                    off < 6.0 * expected.sqrt(),
                    "skew {skew}, rank {rank}: {count} for {expected}"
                );
            }
        }
    }

    #[test]
    fn scattering_is_a_permutation() {
        for slots in [1, 2, 3, 7, 64, 1000, 4097] {
            let scatter = Scatter::new(slots, 5);
            let mut seen = vec![false; slots as usize];
            (0..slots).for_each(|rank| seen[scatter.place(rank) as usize] = true);
            assert!(seen.iter().all(|seen| *seen), "{slots}");
        }
    }
}
