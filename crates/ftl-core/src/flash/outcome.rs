//! What came of an operation that a bad block can stop.

/// What came of an erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Erasure {
    /// The block is erased.
    Done,
    /// It is not, and is out of use.
    Failed,
}

/// What came of marking a block bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Marked {
    /// Every mount sees the mark.
    Done,
    /// It has none: the next mount takes the block for good.
    Failed,
}

/// What came of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Programmed {
    /// The page is on flash.
    Done,
    /// The block failed. The content must be programmed elsewhere.
    BlockFailed,
}
