//! Counts and sizes: how many sectors, pages, blocks, bytes.
//!
//! Two counts of the same kind can be added, and a count can be multiplied by a plain number. It never becomes another
//! kind implicitly: convert out with [`get`](SectorCount::get) and in with `new`.

use core::fmt;
use core::ops::{Add, AddAssign, Mul, Sub};

/// Declares a count: a number of things of one kind, with the algebra that a count has.
macro_rules! count {
    ($(#[$doc:meta])* $name:ident, $unit:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        pub struct $name(u32);

        impl $name {
            /// None at all.
            pub const ZERO: Self = Self(0);

            /// This many.
            #[inline]
            pub const fn new(count: u32) -> Self {
                Self(count)
            }

            /// The plain number.
            #[inline]
            pub const fn get(self) -> u32 {
                self.0
            }

            /// The plain number, as a length of slices.
            #[inline]
            pub const fn as_usize(self) -> usize {
                self.0 as usize
            }

            /// Whether there are none.
            #[inline]
            pub const fn is_zero(self) -> bool {
                self.0 == 0
            }

            /// The difference, or zero where `other` is larger.
            #[inline]
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            /// The sum, or `None` where it would not fit.
            #[inline]
            pub const fn checked_add(self, other: Self) -> Option<Self> {
                match self.0.checked_add(other.0) {
                    Some(sum) => Some(Self(sum)),
                    None => None,
                }
            }
        }

        impl Add for $name {
            type Output = Self;
            #[inline]
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl AddAssign for $name {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl Sub for $name {
            type Output = Self;
            #[inline]
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl Mul<u32> for $name {
            type Output = Self;
            #[inline]
            fn mul(self, times: u32) -> Self {
                Self(self.0 * times)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{} ", $unit), self.0)
            }
        }
    };
}

count!(
    /// A number of sectors.
    SectorCount,
    "sectors"
);
count!(
    /// A number of pages.
    PageCount,
    "pages"
);
count!(
    /// A number of blocks.
    BlockCount,
    "blocks"
);
count!(
    /// A size in bytes: of a page, of its spare area, of a sector. Sizes of whole devices do not fit and are
    /// `u64`, made by [`RegionGeometry::capacity_bytes`](crate::RegionGeometry::capacity_bytes).
    Bytes,
    "bytes"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_adds_scales_and_saturates_at_zero_if_asked() {
        let three = PageCount::new(3);
        assert_eq!(three + PageCount::new(4), PageCount::new(7));
        assert_eq!(three * 5, PageCount::new(15));
        assert_eq!(three.saturating_sub(PageCount::new(9)), PageCount::ZERO);
        assert_eq!(PageCount::new(u32::MAX).checked_add(three), None);
    }

    #[test]
    fn a_count_prints_its_unit() {
        assert_eq!(Bytes::new(2048).to_string(), "2048 bytes");
        assert_eq!(BlockCount::new(1).to_string(), "1 blocks");
    }
}
