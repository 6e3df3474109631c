//! What can go wrong on the bus, and in the first conversation with a chip.

use core::fmt;

use crate::wire::Command;

/// Why a call failed below [`NandDevice`](ftl_iface::NandDevice): it ends the mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Error<E> {
    /// The bus failed.
    Bus(E),
    /// The chip stayed busy.
    NeverReady {
        /// With what.
        command: Command,
        /// How often it was asked.
        polls: u32,
    },
    /// A call that the driver's contract excludes: an address outside the chip, or a buffer of a wrong length.
    OutOfContract,
}

impl<E: fmt::Debug> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bus(error) => write!(f, "the SPI bus failed ({error:?}): check its wiring"),
            Self::NeverReady { command, polls } => write!(
                f,
                "the chip was busy with {command:?} at each of {polls} polls: check its supply, or allow more polls"
            ),
            Self::OutOfContract => f.write_str(
                "an address outside the chip, or a buffer of a wrong length: fix the caller",
            ),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for Error<E> {}

/// Why a chip could not be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SetupError<E> {
    /// The bus or the chip failed.
    Driver(Error<E>),
    /// No part with this number was given. All bytes alike mean that nobody answered.
    UnknownPart([u8; 3]),
    /// The part's description contradicts itself.
    UnsoundPart(&'static str),
    /// The chip kept its blocks protected; this is the register.
    Protected(u8),
    /// The chip did not take its configuration; this is the register.
    Configuration(u8),
}

impl<E: fmt::Debug> fmt::Display for SetupError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Driver(error) => error.fmt(f),
            Self::UnknownPart([a, b, c]) if a == b && b == c => {
                write!(
                    f,
                    "no chip answers (its ID reads {a:02X} {b:02X} {c:02X}): check wiring and mode 0"
                )
            }
            Self::UnknownPart([a, b, c]) => {
                write!(
                    f,
                    "no known part has the ID {a:02X} {b:02X} {c:02X}: describe it as a `Part`"
                )
            }
            Self::UnsoundPart(name) => write!(
                f,
                "the description of {name} is inconsistent: see `Part::is_sound` for the rules"
            ),
            Self::Protected(register) => write!(
                f,
                "the chip keeps its blocks protected (register A0h reads {register:#04X}): release its WP pin"
            ),
            Self::Configuration(register) => write!(
                f,
                "the chip did not accept its configuration (register B0h reads {register:#04X}): is it locked?"
            ),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for SetupError<E> {}

impl<E> From<Error<E>> for SetupError<E> {
    fn from(error: Error<E>) -> Self {
        Self::Driver(error)
    }
}
