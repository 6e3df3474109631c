//! Random numbers and parameters that several workloads use.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

pub(super) fn skew(text: &str) -> Result<f64, String> {
    let skew = text.parse().ok().filter(|skew| (0.0..=10.0).contains(skew));
    skew.ok_or_else(|| "write a number from 0 to 10".into())
}

/// Spreads a seed's bits over a generator's state, so that similar seeds give different states (splitmix64, Steele, Lea
/// and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
pub(super) fn spread(seed: u64) -> u128 {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    };
    u128::from(next()) << 64 | u128::from(next())
}

/// A whole number below `bound`, which is not zero. The shares of two numbers differ by less than bound / 2^64.
#[inline]
pub(super) fn below(dice: &mut Pcg64Mcg, bound: u64) -> u64 {
    ((u128::from(dice.next_u64()) * u128::from(bound)) >> 64) as u64
}
