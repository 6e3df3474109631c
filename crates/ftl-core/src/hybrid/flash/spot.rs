//! Page addresses by part, block and number, as the modules above use them.

use crate::hybrid::address::{BlockNumber, ChainBlock, LogBlock};
use crate::hybrid::shape::HEADER_BLOCKS;
use crate::layout::Kind;
use crate::table::{number, short};

/// A page of one of the device's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub(super) purpose: Purpose,
    pub(super) block: BlockNumber,
    pub(super) page: u16,
}

/// A part of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Headers, copies and checkpoints.
    Meta,
    /// The log.
    Log,
    /// The chains.
    Chain,
}

impl Purpose {
    /// All parts, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Meta, Self::Log, Self::Chain];

    /// Whether pages of that kind are programmed to this part.
    pub(super) const fn takes(self, kind: Kind) -> bool {
        match kind {
            Kind::Header | Kind::Checkpoint | Kind::Rescue | Kind::Commit | Kind::Bad => {
                matches!(self, Self::Meta)
            }
            Kind::Log | Kind::Summary | Kind::Backup => matches!(self, Self::Log),
            Kind::Data | Kind::Chain | Kind::ChainInPlace | Kind::Trim => {
                matches!(self, Self::Chain)
            }
            // These are the page store's.
            Kind::Sectors | Kind::Map => false,
        }
    }
}

impl Spot {
    /// A page of a meta block.
    pub const fn meta(block: u16, page: u16) -> Self {
        Self { purpose: Purpose::Meta, block: number(block), page }
    }

    /// A page of a block of that part.
    pub const fn of_purpose(purpose: Purpose, block: BlockNumber, page: u16) -> Self {
        Self { purpose, block, page }
    }

    /// The part that the page belongs to.
    pub const fn purpose(self) -> Purpose {
        self.purpose
    }

    /// The number of the block in its part.
    pub const fn block(self) -> BlockNumber {
        self.block
    }

    /// Whether the block is one of the headers.
    pub(super) fn is_header(self) -> bool {
        self.purpose == Purpose::Meta && self.short_block() < HEADER_BLOCKS
    }

    /// The number of the block in the meta area or the log.
    pub(crate) const fn short_block(self) -> u16 {
        short(self.block)
    }

    /// The block of a page of the chains.
    pub const fn chain_block(self) -> ChainBlock {
        ChainBlock::new(self.block)
    }

    /// The first page of the same block.
    pub(super) const fn start(self) -> Self {
        Self { page: 0, ..self }
    }

    /// The next page of the same block.
    #[must_use]
    pub const fn next(self) -> Self {
        Self { page: self.page + 1, ..self }
    }

    /// The page of the same block with that number.
    #[must_use]
    pub const fn beside(self, page: u16) -> Self {
        Self { page, ..self }
    }

    /// The number of the page in its block.
    pub const fn page(self) -> u16 {
        self.page
    }

    /// A page of the log.
    #[inline]
    pub const fn log(block: LogBlock, page: u16) -> Self {
        Self { purpose: Purpose::Log, block: number(block.get()), page }
    }

    /// A page of a chain block.
    #[inline]
    pub const fn chain(block: ChainBlock, page: u16) -> Self {
        Self { purpose: Purpose::Chain, block: block.get(), page }
    }
}
