//! Addresses inside the FTL: log blocks, chain blocks, logical blocks.
//!
//! The device knows regions; the FTL uses them in two ways. The *log region* holds the circular log, the *chain
//! region* the block chains. On a hybrid device they are its SLC and its MLC region. On a chip of one cell type they
//! are two parts of one region. Each numbers its blocks from zero, in a type of its own.

pub use crate::table::BlockNumber;

use crate::table::Row;

/// Declares an address type, with a form for tables in which the largest value means "none".
macro_rules! place {
    ($(#[$doc:meta])* $name:ident, $number:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($number);

        impl $name {
            /// The largest number of such an address; tables use larger values for other purposes.
            pub const LAST: $number = <$number>::MAX - 1;

            /// Returns the address with this number.
            #[inline]
            pub const fn new(number: $number) -> Self {
                Self(number)
            }

            /// Returns the number.
            #[inline]
            pub const fn get(self) -> $number {
                self.0
            }

            /// Returns the value that tables store.
            #[inline]
            pub const fn store(place: Option<Self>) -> $number {
                match place {
                    Some(place) => place.0,
                    None => <$number>::MAX,
                }
            }

            /// Returns the address for a table's value.
            #[inline]
            pub const fn load(stored: $number) -> Option<Self> {
                if stored == <$number>::MAX { None } else { Some(Self(stored)) }
            }
        }

        impl Row for $name {
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

place!(
    /// A logical block: as many consecutive sectors of the host as a chain block holds.
    LogicalBlock,
    BlockNumber
);
place!(
    /// A physical block of the chain region, counted from the region's first.
    ChainBlock,
    BlockNumber
);
place!(
    /// A physical block of the log region, counted from the region's first.
    LogBlock,
    u16
);
