//! Random numbers that are the same in every run.

/// A generator after G. Steele, D. Lea and C. Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// A generator with that seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below that one, which is not zero.
    pub fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 32).wrapping_mul(end.into()).wrapping_shr(32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_below_the_end_is_about_as_frequent() {
        let mut dice = Dice::new(7);
        let mut counts = [0_u32; 10];
        (0..100_000).for_each(|_| counts[dice.below(10) as usize] += 1);
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }
}
