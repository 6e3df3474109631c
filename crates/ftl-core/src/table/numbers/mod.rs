//! Block numbers in memory and in images: 16 bits, as a microcontroller has RAM for; with the feature `wide`, 32 bits
//! on the devices that need them, and 16 on all others.
//!
//! Tables of 32-bit numbers take two elements of 16 bits for each row, so that one plan and one kind of lent memory
//! serve devices of either kind. The largest number means "none" in tables and images.

#[cfg(not(feature = "wide"))]
mod narrow;
#[cfg(feature = "wide")]
mod wide;

#[cfg(not(feature = "wide"))]
pub use narrow::{BlockNumber, Numbers, Width};
#[cfg(feature = "wide")]
pub use wide::{BlockNumber, Numbers, Width};

#[cfg(not(feature = "wide"))]
pub(crate) use narrow::{number, short, word};
#[cfg(feature = "wide")]
pub(crate) use wide::{number, short, word};

/// The most blocks that numbers of 16 bits name, beside the one that means "none" and one in reserve.
#[cfg(any(feature = "internals", feature = "wide"))]
pub const SHORT_LAST: u16 = u16::MAX - 1;
