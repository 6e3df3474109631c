//! An FTL on the device of a walk: formatted, mounted, and used.

use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedPlan};
use ftl_core::{Config, Ftl, NoProbe, OwnedRam, RamPlan};
use ftl_iface::{BlockStore, StoreWriteError};

use super::nand::{Nand, NandHalt};
use crate::subject::Unchecked;

/// A mounted FTL.
pub(super) trait SmallFtl: BlockStore<Error = NandHalt> {
    fn nand(&mut self) -> &mut Nand;

    fn stop(&mut self) -> Result<(), StoreWriteError<NandHalt>>;

    /// Checks every invariant. An unreadable page may prevent that.
    fn check(&mut self) -> Result<(), Unchecked>;
}

impl SmallFtl for PageFtl<'_, &mut Nand, NoProbe> {
    fn nand(&mut self) -> &mut Nand {
        self.device_mut()
    }

    fn stop(&mut self) -> Result<(), StoreWriteError<NandHalt>> {
        self.stop()
    }

    fn check(&mut self) -> Result<(), Unchecked> {
        Ok(self.check()?)
    }
}

impl SmallFtl for Ftl<'_, &mut Nand, NoProbe> {
    fn nand(&mut self) -> &mut Nand {
        self.device_mut()
    }

    fn stop(&mut self) -> Result<(), StoreWriteError<NandHalt>> {
        self.stop().map(drop)
    }

    fn check(&mut self) -> Result<(), Unchecked> {
        Ok(self.check()?)
    }
}

/// An FTL in some configuration.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Paged(PagedPlan),
    Hybrid(RamPlan, Config),
}

/// The memory that it borrows.
#[derive(Debug)]
pub(super) enum SmallMemory {
    Paged(OwnedPagedRam),
    Hybrid(OwnedRam),
}

impl Kind {
    /// The key of every format: there is one format in a walk.
    pub(super) const KEY: u32 = 0x5EED_0001;

    /// Memory for it.
    pub(super) fn memory(&self) -> SmallMemory {
        match self {
            Self::Paged(plan) => SmallMemory::Paged(OwnedPagedRam::for_plan(plan)),
            Self::Hybrid(plan, _) => SmallMemory::Hybrid(OwnedRam::for_plan(plan)),
        }
    }

    /// Formats the device.
    pub(super) fn format(&self, nand: &mut Nand, memory: &mut SmallMemory) -> Result<(), String> {
        match (self, memory) {
            (Self::Paged(plan), SmallMemory::Paged(ram)) => {
                PageFtl::format(nand, plan.config(), ram.lend(), Self::KEY, NoProbe)
                    .map(drop)
                    .map_err(|error| error.to_string())
            }
            (Self::Hybrid(_, config), SmallMemory::Hybrid(ram)) => {
                Ftl::format(nand, config, ram.lend(), Self::KEY, NoProbe)
                    .map(drop)
                    .map_err(|error| error.to_string())
            }
            _ => Err("the memory is another FTL's".into()),
        }
    }

    /// Mounts the device and uses it.
    pub(super) fn mount(
        &self,
        nand: &mut Nand,
        memory: &mut SmallMemory,
        live: &mut dyn FnMut(&mut dyn SmallFtl),
    ) -> Result<(), String> {
        match (self, memory) {
            (Self::Paged(plan), SmallMemory::Paged(ram)) => {
                let mounted = PageFtl::mount(nand, plan.config(), ram.lend(), NoProbe);
                live(&mut mounted.map_err(|error| error.to_string())?);
            }
            (Self::Hybrid(_, config), SmallMemory::Hybrid(ram)) => {
                let mounted = Ftl::mount(nand, config, ram.lend(), NoProbe);
                live(&mut mounted.map_err(|error| error.to_string())?);
            }
            _ => return Err("the memory is another FTL's".into()),
        }
        Ok(())
    }
}
