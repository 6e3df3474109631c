//! Addresses inside the FTL: log blocks, chain blocks, logical blocks.
//!
//! The device knows regions; the FTL uses them in two ways. The *log region* holds the circular log, the *chain
//! region* the block chains. On a hybrid device they are its SLC and its MLC region. On a chip of one cell type they
//! are two parts of one region. Each numbers its blocks from zero, in a type of its own.

pub use crate::table::BlockNumber;

use crate::table::Row;

/// Declares an address type.
macro_rules! place {
    ($(#[$doc:meta])* $name:ident, $number:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($number);

        impl $name {
            /// The largest number of such an address; tables use larger values for other purposes.
            #[allow(dead_code, reason = "of some the bound is not asked")]
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

impl ChainBlock {
    /// Returns the value that tables store: the largest means "none".
    #[inline]
    pub const fn store(place: Option<Self>) -> BlockNumber {
        match place {
            Some(place) => place.0,
            None => BlockNumber::MAX,
        }
    }

    /// Returns the address for a table's value.
    #[inline]
    pub const fn load(stored: BlockNumber) -> Option<Self> {
        if stored == BlockNumber::MAX { None } else { Some(Self(stored)) }
    }
}
