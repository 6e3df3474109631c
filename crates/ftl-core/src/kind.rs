//! What an FTL brings, as types. Whoever formats, mounts, measures or tests FTLs is written once, for any of them.

use core::fmt::{Debug, Display};

use ftl_iface::{BlockStore, Geometry, NandDevice, SectorCount, StoreWriteError};

use crate::bound::Operations;
use crate::health::Health;
use crate::memory::{Lent, Plan};
use crate::probe::Probe;

/// A kind of FTL: how one is planned, formatted and mounted. [`PageStore`](crate::PageStore) and
/// [`Hybrid`](crate::Hybrid) are such.
pub trait FtlKind: 'static {
    /// What its user chooses.
    type Config: Copy;
    /// The memory that it needs.
    type Plan: Plan;
    /// Why a configuration does not fit a device.
    type Misfit: Debug + Display;
    /// Why a device could not be formatted or mounted.
    type MountError<E: Debug>: Debug + Display + Refusal;
    /// The most that each request costs.
    type WorstCase: Bound;
    /// The FTL, mounted on a device.
    type Mounted<'ram, D: NandDevice + 'ram, P: Probe + 'ram>: MountedFtl<Error = D::Error, Device = D, Probe = P>;

    /// Plans the memory for a device.
    fn plan(geometry: &Geometry, config: &Self::Config) -> Result<Self::Plan, Self::Misfit>;

    /// Returns the worst case of each request.
    fn worst_case(plan: &Self::Plan, config: &Self::Config) -> Self::WorstCase;

    /// Formats a device and mounts it. Everything on it is lost. `key` is to be a new one at each format.
    fn format<'ram, D: NandDevice + 'ram, P: Probe + 'ram>(
        device: D,
        config: &Self::Config,
        ram: Lent<'ram, Self::Plan>,
        key: u32,
        probe: P,
    ) -> Result<Self::Mounted<'ram, D, P>, Self::MountError<D::Error>>;

    /// Mounts a device that was formatted.
    fn mount<'ram, D: NandDevice + 'ram, P: Probe + 'ram>(
        device: D,
        config: &Self::Config,
        ram: Lent<'ram, Self::Plan>,
        probe: P,
    ) -> Result<Self::Mounted<'ram, D, P>, Self::MountError<D::Error>>;
}

/// A mounted FTL: what it has beside the requests of a [`BlockStore`].
pub trait MountedFtl: BlockStore {
    /// The device below.
    type Device: NandDevice<Error = Self::Error>;
    /// The observer of its operations.
    type Probe: Probe;

    /// Does now what a mount left to the first write: repairs what a power cut may have touched.
    fn settle(&mut self) -> Result<(), StoreWriteError<Self::Error>>;

    /// Stops it before power is switched off, so that the next mount is quick.
    fn stop(&mut self) -> Result<(), StoreWriteError<Self::Error>>;

    /// Starts a scrub: [`maintain`](BlockStore::maintain) reads every page once and refreshes the weak ones.
    fn scrub(&mut self);

    /// Returns reserve, wear, and corrected errors.
    fn health(&self) -> Health;

    /// Checks every invariant. It reads the whole device.
    #[cfg(feature = "check")]
    fn check(&mut self) -> Result<(), crate::check::Violation>;

    /// Returns shared access to the device.
    fn device(&self) -> &Self::Device;

    /// Returns exclusive access to the device, for operations beside the FTL. They must not change its content.
    fn device_mut(&mut self) -> &mut Self::Device;

    /// Returns the probe.
    fn probe(&self) -> &Self::Probe;

    /// Returns the device and the probe.
    fn into_parts(self) -> (Self::Device, Self::Probe)
    where
        Self: Sized;
}

/// The most that each request costs, beside waiting for what the reserve lacks.
pub trait Bound {
    /// A write.
    fn write(&self, sectors: SectorCount) -> Operations;

    /// A trim.
    fn trim(&self, sectors: SectorCount) -> Operations;

    /// A read.
    fn read(&self, sectors: SectorCount) -> Operations;

    /// Idle work within a budget.
    fn maintain(&self, budget: u32) -> Operations;
}

/// What a mount error says about the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It was not formatted as this FTL, or the format was not completed.
    Blank,
    /// It is formatted, and this mount differs from the format.
    Other,
    /// What is on it contradicts itself.
    Corrupt,
    /// It failed.
    Failed,
}

/// A mount error.
pub trait Refusal {
    /// Returns what it says about the device.
    fn refused(&self) -> Refused;
}

/// What a mounted FTL has by the same names as [`MountedFtl`]. Only a stop differs.
macro_rules! mounted_by_the_same_names {
    () => {
        type Device = D;
        type Probe = P;

        fn settle(&mut self) -> Result<(), StoreWriteError<D::Error>> {
            self.settle()
        }

        fn scrub(&mut self) {
            self.scrub();
        }

        fn health(&self) -> crate::health::Health {
            self.health()
        }

        #[cfg(feature = "check")]
        fn check(&mut self) -> Result<(), crate::check::Violation> {
            self.check()
        }

        fn device(&self) -> &D {
            self.device()
        }

        fn device_mut(&mut self) -> &mut D {
            self.device_mut()
        }

        fn probe(&self) -> &P {
            self.probe()
        }

        fn into_parts(self) -> (D, P) {
            self.into_parts()
        }
    };
}

/// A worst case whose formulas have the names of [`Bound`]. They are `const`, as functions of a trait cannot be.
macro_rules! bound_by_the_same_names {
    ($worst:ty) => {
        impl crate::kind::Bound for $worst {
            fn write(&self, sectors: ftl_iface::SectorCount) -> crate::bound::Operations {
                self.write(sectors)
            }

            fn trim(&self, sectors: ftl_iface::SectorCount) -> crate::bound::Operations {
                self.trim(sectors)
            }

            fn read(&self, sectors: ftl_iface::SectorCount) -> crate::bound::Operations {
                self.read(sectors)
            }

            fn maintain(&self, budget: u32) -> crate::bound::Operations {
                self.maintain(budget)
            }
        }
    };
}

pub(crate) use {bound_by_the_same_names, mounted_by_the_same_names};
