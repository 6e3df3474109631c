//! Random numbers from a seed: the same on every machine and with every version of every library, because golden counts
//! depend on them.

use super::Step;

/// A source of random numbers: `SplitMix64`, of Steele, Lea and Flood, "Fast splittable pseudorandom number generators"
/// (OOPSLA 2014).
pub struct Dice(u64);

impl Dice {
    /// Creates the source with this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, which is not zero.
    pub fn below(&mut self, end: u32) -> u32 {
        (((self.next() >> 32) * u64::from(end)) >> 32) as u32
    }

    /// Returns a number in this range.
    pub fn within(&mut self, range: std::ops::Range<u32>) -> u32 {
        range.start + self.below(range.end - range.start)
    }

    /// Returns `true` with this probability in percent.
    pub fn percent(&mut self, chance: u32) -> bool {
        self.below(100) < chance
    }

    /// Returns every number below `end` once, in random order.
    pub fn shuffled(&mut self, end: u32) -> Vec<u32> {
        let mut all: Vec<u32> = (0..end).collect();
        for at in (1..all.len()).rev() {
            all.swap(at, self.below(at as u32 + 1) as usize);
        }
        all
    }

    /// Returns a write of up to `most` sectors within the first `span`.
    pub fn write(&mut self, span: u32, most: u32) -> Step {
        let first = self.below(span);
        let count = self.within(1..most + 1).min(span - first);
        Step::Write { first, count }
    }
}
