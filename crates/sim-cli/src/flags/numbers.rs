//! Whole numbers as flags take them: what is wrong with one is said with those that are right.

use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;

/// A type of whole numbers.
pub(crate) trait Whole: FromStr + Clone + Send + Sync + 'static {
    /// The least of it.
    const LEAST: u64;
    /// The most of it.
    const MOST: u64;
}

macro_rules! whole {
    ($($number:ty, $of:ty, $least:literal;)*) => {
        $(impl Whole for $number {
            const LEAST: u64 = $least;
            const MOST: u64 = <$of>::MAX as u64;
        })*
    };
}

whole! {
    u8, u8, 0;
    u16, u16, 0;
    u32, u32, 0;
    u64, u64, 0;
    NonZeroU32, u32, 1;
    NonZeroUsize, usize, 1;
}

/// Any number of the type.
pub(crate) fn any<N: Whole>(text: &str) -> Result<N, String> {
    within(N::LEAST, N::MOST)(text)
}

/// One or more.
pub(crate) fn some<N: Whole>(text: &str) -> Result<N, String> {
    within(1, N::MOST)(text)
}

/// A number from `least` to `most`.
pub(crate) fn within<N: Whole>(
    least: u64,
    most: u64,
) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync + 'static {
    move |text| {
        let is_within = text.parse::<u64>().is_ok_and(|number| (least..=most).contains(&number));
        let number = text.parse().ok().filter(|_| is_within);
        number.ok_or_else(|| format!("write a whole number from {least} to {most}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_are_told_those_that_are() {
        assert_eq!(any::<u32>("0"), Ok(0));
        assert_eq!(some::<u64>("7"), Ok(7));
        for wrong in ["0", "4294967296", "99999999999999999999999", "-1", "x", "", "1.5"] {
            let said = "write a whole number from 1 to 4294967295";
            assert_eq!(any::<NonZeroU32>(wrong).unwrap_err(), said, "{wrong}");
            assert_eq!(some::<u32>(wrong).unwrap_err(), said, "{wrong}");
        }
        assert_eq!(any::<u16>("70000").unwrap_err(), "write a whole number from 0 to 65535");
    }
}
