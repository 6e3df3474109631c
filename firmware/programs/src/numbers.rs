//! Numbers that look random and are the same in every run (Vigna's generator `SplitMix64`).

/// The generator.
#[derive(Clone, Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// The stream of that seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`, which is not zero.
    pub fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let number = (mixed ^ (mixed >> 31)) as u32;
        // The upper half of the product is below the limit, without a division.
        ((u64::from(number) * u64::from(limit)) >> 32) as u32
    }
}
