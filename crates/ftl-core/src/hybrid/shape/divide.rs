//! Exact division by a number that is set once and used very often.

/// A divisor with its reciprocal, so that dividing costs two multiplications.
///
/// The reciprocal is `⌈2^64 / by⌉`. For numerators and divisors of 32 bits the product's upper half
/// is the exact quotient (Lemire, Kaser, Kurz, "Faster remainder by direct computation", 2019: a
/// fraction of at least 32 bits plus the divisor's own bits is exact). A Cortex-M4 multiplies in
/// one cycle and divides in up to twelve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    by: u32,
    reciprocal: u64,
}

impl Divisor {
    /// Creates the divisor `by`, which must be two or more: the reciprocal of one does not fit.
    pub(crate) const fn new(by: u32) -> Self {
        debug_assert!(by >= 2, "a divisor below two has no reciprocal of 64 bits");
        // If `by` is a power of two, it divides 2^64 and this is 2^64 / by; otherwise it rounds up. Either way it is
        // the ceiling. The sum cannot wrap for a divisor of two or more.
        let reciprocal = match u64::MAX.checked_div(by as u64) {
            Some(floor) => floor.wrapping_add(1),
            None => 0,
        };
        Self { by, reciprocal }
    }

    /// Returns the divisor.
    #[inline]
    pub(crate) const fn get(self) -> u32 {
        self.by
    }

    /// Returns quotient and remainder.
    #[inline]
    pub(crate) const fn divide(self, number: u32) -> (u32, u32) {
        let number = number as u64;
        // Both products are below 2^64, and the upper one leaves room for the carry: (2^32 - 1)^2 +
        // 2^32 - 1 < 2^64.
        let upper = (self.reciprocal >> 32) * number;
        let carry = ((self.reciprocal & 0xFFFF_FFFF) * number) >> 32;
        let quotient = ((upper + carry) >> 32) as u32;
        // The quotient is exact, so neither step leaves the range of the numerator.
        (quotient, (number as u32).wrapping_sub(quotient.wrapping_mul(self.by)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agrees(number: u32, by: u32) {
        assert_eq!(Divisor::new(by).divide(number), (number / by, number % by), "{number} / {by}");
    }

    #[test]
    fn division_is_exact_at_both_ends_and_around_every_edge_of_a_multiple() {
        for by in (2..2048).chain([32_749, 65_521, 1_048_573, u32::MAX / 2, u32::MAX - 1, u32::MAX])
        {
            for times in [1, 2, 3, 1000, u32::MAX / by / 2, u32::MAX / by] {
                let edge = by.saturating_mul(times);
                agrees(edge, by);
                agrees(edge.saturating_sub(1), by);
                agrees(edge.saturating_add(1), by);
            }
            agrees(0, by);
            agrees(u32::MAX, by);
        }
    }

    proptest! {
        #[test]
        fn division_is_exact_for_any_number(number: u32, by in 2_u32..) {
            agrees(number, by);
        }
    }
}
