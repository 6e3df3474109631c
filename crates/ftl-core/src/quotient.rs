//! Quotients that cannot panic. No divisor here is ever zero, but the compiler cannot always tell; a plan that is made
//! on the microcontroller must link without a panic. The smallest builds do not inline `div_ceil`, which has one, so
//! the FTLs do not call it.

/// Returns the quotient; of a division by zero, the number itself.
#[inline]
pub(crate) const fn floor(number: u32, by: u32) -> u32 {
    match number.checked_div(by) {
        Some(quotient) => quotient,
        None => number,
    }
}

/// Returns the quotient, rounded up; of a division by zero, the number itself.
#[inline]
pub(crate) const fn ceil(number: u32, by: u32) -> u32 {
    match (number.checked_div(by), number.checked_rem(by)) {
        (Some(quotient), Some(rest)) => quotient + (rest > 0) as u32,
        _ => number,
    }
}

/// Returns quotient and remainder; of a division by zero, the number itself and zero.
#[inline]
pub(crate) const fn divided(number: u32, by: u32) -> (u32, u32) {
    let by = if by == 0 { 1 } else { by };
    (number / by, number % by)
}

/// As [`floor`], of 64 bits.
#[inline]
pub(crate) const fn floor_wide(number: u64, by: u64) -> u64 {
    match number.checked_div(by) {
        Some(quotient) => quotient,
        None => number,
    }
}

/// As [`ceil`], of 64 bits.
#[inline]
pub(crate) const fn ceil_wide(number: u64, by: u64) -> u64 {
    match (number.checked_div(by), number.checked_rem(by)) {
        (Some(quotient), Some(rest)) => quotient + (rest > 0) as u64,
        _ => number,
    }
}

#[cfg(test)]
mod tests {
    use super::{ceil, ceil_wide, divided, floor, floor_wide};

    #[test]
    fn quotients_are_rounded_as_they_say_and_none_divides_by_zero() {
        for (number, by, down, up) in [(7, 2, 3, 4), (8, 2, 4, 4), (0, 3, 0, 0), (9, 0, 9, 9)] {
            assert_eq!((floor(number, by), ceil(number, by)), (down, up));
            assert_eq!(divided(number, by), (down, number - down * if by == 0 { 1 } else { by }));
            let (number, by) = (u64::from(number) << 32, u64::from(by) << 32);
            assert_eq!(ceil_wide(number, by), if by == 0 { number } else { up.into() });
            assert_eq!(floor_wide(number, by), if by == 0 { number } else { down.into() });
        }
    }
}
