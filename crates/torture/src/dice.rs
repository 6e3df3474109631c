//! Random numbers from a seed, the same on every machine, because a line that replays a failure must work anywhere.

/// A source of numbers: `SplitMix64`, of Steele, Lea and Flood, "Fast splittable pseudorandom number generators"
/// (OOPSLA 2014).
#[derive(Clone, Copy, Debug)]
pub struct Dice(u64);

/// One step of the source, as a function: hashes two numbers to a third.
pub const fn mix(one: u64, other: u64) -> u64 {
    let mixed = one.wrapping_add(0x9E37_79B9_7F4A_7C15) ^ other.rotate_left(32);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl Dice {
    /// The source with that seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0, 0)
    }

    /// A number below that limit, which is not zero.
    pub const fn below(&mut self, end: u32) -> u32 {
        (((self.next() >> 32) * end as u64) >> 32) as u32
    }

    /// One of these items; there must be at least one.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }

    /// True with that probability in percent.
    pub const fn percent(&mut self, chance: u32) -> bool {
        self.below(100) < chance
    }
}

/// The share of occasions on which something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(u64);

impl Share {
    /// Never.
    pub const NONE: Self = Self(0);
    /// Always.
    pub const ALL: Self = Self(1 << 32);

    /// That many times out of so many; always if there are fewer.
    pub const fn of(wanted: u64, all: u64) -> Self {
        if wanted >= all { Self::ALL } else { Self((wanted << 32) / all) }
    }

    /// Whether it is done this time, given a random number.
    pub const fn takes(self, drawn: u64) -> bool {
        (drawn >> 32) < self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_taken_as_often_as_it_says() {
        let mut dice = Dice::new(1);
        let share = Share::of(1, 4);
        let taken = (0..10_000).filter(|_| share.takes(dice.next())).count();
        assert!((2_300..2_700).contains(&taken), "{taken}");
        assert!((0..100).all(|_| Share::ALL.takes(dice.next())));
        assert!((0..100).all(|_| !Share::NONE.takes(dice.next())));
    }

    #[test]
    fn numbers_stay_below_their_end_and_reach_all_of_it() {
        let mut dice = Dice::new(2);
        let mut seen = [false; 7];
        for _ in 0..200 {
            seen[dice.below(7) as usize] = true;
        }
        assert_eq!(seen, [true; 7]);
    }
}
