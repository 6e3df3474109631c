//! A system in the hands of the server.

use crate::systems::{Live, Powered, System};

/// A system that is served.
pub(super) enum Held<'l> {
    /// One whose power can fail.
    Lasting(&'l mut dyn Live),
    /// One that would not survive that: it lives as long as the server.
    Volatile(&'l mut dyn System),
}

impl Held<'_> {
    pub(super) fn system(&self) -> &dyn System {
        match self {
            Self::Lasting(disk) => &**disk,
            Self::Volatile(disk) => &**disk,
        }
    }

    #[inline]
    pub(super) fn system_mut(&mut self) -> &mut dyn System {
        match self {
            Self::Lasting(disk) => &mut **disk,
            Self::Volatile(disk) => &mut **disk,
        }
    }

    /// What it is on, where power can be taken from it.
    pub(super) fn power(&mut self) -> Option<&mut Powered> {
        match self {
            Self::Lasting(disk) => Some(disk.power()),
            Self::Volatile(_) => None,
        }
    }

    /// Whether it has power.
    #[inline]
    pub(super) fn is_on(&mut self) -> bool {
        match self {
            Self::Lasting(disk) => disk.power().is_on(),
            Self::Volatile(_) => true,
        }
    }
}
