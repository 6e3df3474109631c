//! The hybrid FTL as a kind of FTL.

use core::fmt::Debug;

use ftl_iface::{Geometry, NandDevice, StoreWriteError};

use super::bound::WorstCase;
use super::mount::MountError;
use super::ram::{Ram, RamPlan};
use super::shape::ShapeError;
use super::state::Ftl;
use crate::config::Config;
use crate::kind::{
    FtlKind, MountedFtl, Refusal, Refused, bound_by_the_same_names, mounted_by_the_same_names,
};
use crate::probe::Probe;

impl RamPlan {
    /// Returns the most that each request costs.
    pub const fn worst_case(&self, config: &Config) -> WorstCase {
        WorstCase::of(&self.shape, config)
    }
}

/// The hybrid FTL as a kind of FTL.
#[derive(Clone, Copy, Debug)]
pub struct Hybrid;

impl FtlKind for Hybrid {
    type Config = Config;
    type Plan = RamPlan;
    type Misfit = ShapeError;
    type MountError<E: Debug> = MountError<E>;
    type WorstCase = WorstCase;
    type Mounted<'ram, D: NandDevice + 'ram, P: Probe + 'ram> = Ftl<'ram, D, P>;

    fn plan(geometry: &Geometry, config: &Config) -> Result<RamPlan, ShapeError> {
        RamPlan::new(geometry, config)
    }

    fn worst_case(plan: &RamPlan, config: &Config) -> WorstCase {
        plan.worst_case(config)
    }

    fn format<'ram, D: NandDevice + 'ram, P: Probe + 'ram>(
        device: D,
        config: &Config,
        ram: Ram<'ram>,
        key: u32,
        probe: P,
    ) -> Result<Ftl<'ram, D, P>, MountError<D::Error>> {
        Ftl::format(device, config, ram, key, probe)
    }

    fn mount<'ram, D: NandDevice + 'ram, P: Probe + 'ram>(
        device: D,
        config: &Config,
        ram: Ram<'ram>,
        probe: P,
    ) -> Result<Ftl<'ram, D, P>, MountError<D::Error>> {
        Ftl::mount(device, config, ram, probe)
    }
}

impl<D: NandDevice, P: Probe> MountedFtl for Ftl<'_, D, P> {
    mounted_by_the_same_names!();

    fn stop(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        self.stop().map(drop)
    }
}

bound_by_the_same_names!(WorstCase);

impl<E: Debug> Refusal for MountError<E> {
    fn refused(&self) -> Refused {
        match self {
            Self::NotFormatted | Self::DamagedHeader | Self::OfPageStore => Refused::Blank,
            Self::WrongPlan
            | Self::TooFewBlocks { .. }
            | Self::Version(_)
            | Self::OtherConfig(_) => Refused::Other,
            Self::Corrupt => Refused::Corrupt,
            Self::BlockFailed | Self::Device(_) => Refused::Failed,
        }
    }
}
