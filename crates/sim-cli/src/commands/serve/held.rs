//! The system that `tandem serve` runs, with what it knows of its power.

use nand_model::power::Tear;
use sim::engine::systems::{Live, Powered, System};

/// A system that is served.
pub(super) enum Held<'l> {
    /// A system whose power can fail.
    Lasting(&'l mut dyn Live),
    /// A system that does not survive a power loss: it runs as long as the server.
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

    /// The device below it, if its power can fail.
    pub(super) fn power(&mut self) -> Option<&mut Powered> {
        match self {
            Self::Lasting(disk) => Some(disk.power()),
            Self::Volatile(_) => None,
        }
    }

    /// Power is lost while nothing is in flight.
    pub(super) fn lose_power(&mut self) {
        if let Some(power) = self.power() {
            power.inner_mut().power_off();
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
