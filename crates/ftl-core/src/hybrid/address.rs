//! Addresses inside the FTL: log blocks, chain blocks, logical blocks.
//!
//! The device knows regions; the FTL uses them in two ways. The *log region* holds the circular log, the *chain
//! region* the block chains. On a hybrid device they are its SLC and its MLC region. On a chip of one cell type they
//! are two parts of one region. Each numbers its blocks from zero, in a type of its own.

use crate::table::Row;

/// Declares a place of 16 bits, with a form for tables in which the largest value means "none".
macro_rules! place {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u16);

        impl $name {
            /// The largest number that a place may have; those above it have meanings of their own in tables.
            pub const LAST: u16 = u16::MAX - 1;

            /// The place with this number.
            #[inline]
            pub const fn new(number: u16) -> Self {
                Self(number)
            }

            /// The plain number.
            #[inline]
            pub const fn get(self) -> u16 {
                self.0
            }

            /// The place as tables store it.
            #[inline]
            pub const fn store(place: Option<Self>) -> u16 {
                match place {
                    Some(place) => place.0,
                    None => u16::MAX,
                }
            }

            /// The place that a table stores.
            #[inline]
            pub const fn load(stored: u16) -> Option<Self> {
                if stored == u16::MAX { None } else { Some(Self(stored)) }
            }
        }

        impl Row for $name {
            #[inline]
            fn index(self) -> usize {
                usize::from(self.0)
            }
        }
    };
}

place!(
    /// A logical block: a run of the host's sectors as long as a chain block.
    LogicalBlock
);
place!(
    /// A physical block of the chain region, counted from the region's first.
    ChainBlock
);
place!(
    /// A physical block of the log region, counted from the region's first.
    LogBlock
);
