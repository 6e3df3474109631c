//! What is reported when a promise is broken, or when the examination could not continue.

use core::fmt;

use ftl_iface::{Block, Page};

use crate::clause::Clause;

/// Where a breach was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Location {
    /// At a page.
    Page(Page),
    /// At a block.
    Block(Block),
    /// Nowhere in particular.
    Device,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page(page) => page.fmt(f),
            Self::Block(block) => block.fmt(f),
            Self::Device => f.write_str("the device"),
        }
    }
}

/// What was found there instead of what was promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Observed {
    /// A byte of the page's data.
    DataByte {
        /// Its number in the page.
        at: u32,
        /// What was promised.
        expected: u8,
        /// What was read.
        found: u8,
    },
    /// A byte of the page's spare area.
    SpareByte {
        /// Its number in the spare area.
        at: u32,
        /// What was promised.
        expected: u8,
        /// What was read.
        found: u8,
    },
    /// The page reads as uncorrectable.
    Uncorrectable,
    /// The block says that it is bad.
    Bad,
    /// The block says that it is not bad.
    NotBad,
    /// The driver refused or failed.
    DriverFailed,
    /// Another geometry than before.
    OtherGeometry,
}

impl fmt::Display for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DataByte { at, expected, found } => {
                write!(f, "data byte {at} reads as {found:#04X}, expected {expected:#04X}")
            }
            Self::SpareByte { at, expected, found } => {
                write!(f, "spare byte {at} reads as {found:#04X}, expected {expected:#04X}")
            }
            Self::Uncorrectable => f.write_str("it reads as uncorrectable"),
            Self::Bad => f.write_str("it reports itself as bad"),
            Self::NotBad => f.write_str("it reports itself as not bad"),
            Self::DriverFailed => f.write_str("the driver failed"),
            Self::OtherGeometry => f.write_str("it has another geometry than before"),
        }
    }
}

/// A promise that was broken, where, and what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Breach {
    /// The promise.
    pub clause: Clause,
    /// Where it is broken.
    pub place: Location,
    /// What was found there.
    pub found: Observed,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken: {}; at {}: {}", self.clause, self.place, self.found)
    }
}

/// Why an examination stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Stopped<E> {
    /// The device broke a promise.
    Breach(Breach),
    /// Fewer blocks were lent than the checks need.
    TooFewBlocks {
        /// How many they need.
        needed: usize,
    },
    /// The same block was lent twice.
    LentTwice(Block),
    /// The device has no such block.
    NoSuchBlock(Block),
    /// The memory lent does not hold a page with its spare area.
    TooLittleMemory {
        /// How many bytes are needed.
        needed: usize,
    },
    /// A program or an erase failed, as an honest device may: lend another block instead of this one.
    BlockFailed(Block),
    /// The driver failed, and with it the examination.
    Driver {
        /// Where.
        place: Location,
        /// What it said.
        error: E,
    },
}

impl<E: fmt::Debug> fmt::Display for Stopped<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Breach(breach) => breach.fmt(f),
            Self::TooFewBlocks { needed } => write!(f, "too few blocks: lend at least {needed}"),
            Self::LentTwice(block) => write!(f, "{block} was lent twice: lend another"),
            Self::NoSuchBlock(block) => {
                write!(f, "{block} is outside the device: lend a block of the device")
            }
            Self::TooLittleMemory { needed } => {
                write!(f, "too little memory: lend at least {needed} bytes")
            }
            Self::BlockFailed(block) => {
                write!(f, "{block} failed, as blocks may: lend another one and start again")
            }
            Self::Driver { place, error } => {
                write!(f, "the driver failed at {place} ({error:?}): fix it and start again")
            }
        }
    }
}

impl<E: fmt::Debug> core::error::Error for Stopped<E> {}
