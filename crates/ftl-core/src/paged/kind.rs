//! The page store as a kind of FTL.

use core::fmt::Debug;

use ftl_iface::{Geometry, NandDevice, StoreWriteError};

use super::plan::config::PagedConfig;
use super::plan::misfit::PagedShapeError;
use super::plan::ram::{PagedPlan, PagedRam};
use super::recovery::mount::PagedMountError;
use super::requests::bound::PagedWorstCase;
use super::tables::store::PageFtl;
use crate::kind::{
    FtlKind, MountedFtl, Refusal, Refused, bound_by_the_same_names, mounted_by_the_same_names,
};
use crate::probe::Probe;

impl PagedPlan {
    /// Returns the most that each request costs.
    pub const fn worst_case(&self) -> PagedWorstCase {
        PagedWorstCase::of(&self.shape)
    }
}

/// The page store, as a kind of FTL.
#[derive(Clone, Copy, Debug)]
pub struct PageStore;

impl FtlKind for PageStore {
    type Config = PagedConfig;
    type Plan = PagedPlan;
    type Misfit = PagedShapeError;
    type MountError<E: Debug> = PagedMountError<E>;
    type WorstCase = PagedWorstCase;
    type Mounted<'ram, D: NandDevice + 'ram, P: Probe + 'ram> = PageFtl<'ram, D, P>;

    fn plan(geometry: &Geometry, config: &PagedConfig) -> Result<PagedPlan, PagedShapeError> {
        PagedPlan::new(geometry, config)
    }

    fn worst_case(plan: &PagedPlan, _: &PagedConfig) -> PagedWorstCase {
        plan.worst_case()
    }

    fn format<'ram, D: NandDevice + 'ram, P: Probe + 'ram>(
        device: D,
        config: &PagedConfig,
        ram: PagedRam<'ram>,
        key: u32,
        probe: P,
    ) -> Result<PageFtl<'ram, D, P>, PagedMountError<D::Error>> {
        PageFtl::format(device, config, ram, key, probe)
    }

    fn mount<'ram, D: NandDevice + 'ram, P: Probe + 'ram>(
        device: D,
        config: &PagedConfig,
        ram: PagedRam<'ram>,
        probe: P,
    ) -> Result<PageFtl<'ram, D, P>, PagedMountError<D::Error>> {
        PageFtl::mount(device, config, ram, probe)
    }
}

impl<D: NandDevice, P: Probe> MountedFtl for PageFtl<'_, D, P> {
    mounted_by_the_same_names!();

    fn stop(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        self.stop()
    }
}

bound_by_the_same_names!(PagedWorstCase);

impl<E: Debug> Refusal for PagedMountError<E> {
    fn refused(&self) -> Refused {
        match self {
            Self::NotFormatted | Self::DamagedHeader | Self::OfHybrid => Refused::Blank,
            Self::WrongPlan | Self::OtherVersion(_) | Self::OtherConfig(_) => Refused::Other,
            Self::Corrupt => Refused::Corrupt,
            Self::BlockFailed | Self::Device(_) => Refused::Failed,
        }
    }
}
