//! Requested operations, whom they are charged to, and the account of a finished request.

use ftl_iface::{Block, PageIndex};

use crate::part::Nanos;

/// What an operation asks of the hardware.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Cells to register, then over the bus.
    Read { array: Nanos, transfer: Nanos },
    /// Over the bus, then register to cells.
    Program { array: Nanos, transfer: Nanos },
    /// A whole block.
    Erase { array: Nanos },
}

/// An operation and its place. An erase has no page and uses the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) block: Block,
    pub(crate) page: PageIndex,
    pub(crate) work: Work,
}

/// Which operations must end before this one begins, and which wait for it. Used only where operations overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// A read decides what is done next, so that all that follows waits for it. A program is a record of what was done:
    /// it waits for all programs and erases of its request before it, and all that follows waits for it.
    #[default]
    Awaited,
    /// Data from or to the host: nothing waits for it.
    Free,
    /// A copy within the device: a program waits for the reads since the program before it, whose data it writes.
    Copied,
}

/// The account of an operation's time: a number that has a meaning for the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Label(pub u8);

/// A request that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// How many requests there were before it.
    pub number: u64,
    /// When it was handed over.
    pub at: Nanos,
    /// When the first of its operations began; its end, if it had none.
    pub begun: Nanos,
    /// When the last of its operations ended.
    pub ended: Nanos,
}
