//! An FTL on the device of a walk: formatted, mounted, and used.

use ftl_core::paged::{OwnedPagedRam, PageFtl, PagedPlan};
use ftl_core::{ChainsAlone, Config, Ftl, LogAndChains, Mechanisms, NoProbe, OwnedRam, RamPlan};
use ftl_iface::{BlockStore, StoreWriteError};

use super::nand::{Halt, Nand};
use crate::subject::Unchecked;

/// A mounted FTL.
pub(super) trait Room: BlockStore<Error = Halt> {
    fn nand(&mut self) -> &mut Nand;

    fn stop(&mut self) -> Result<(), StoreWriteError<Halt>>;

    /// Checks every invariant. An unreadable page may prevent that.
    fn check(&mut self) -> Result<(), Unchecked>;
}

impl Room for PageFtl<'_, &mut Nand, NoProbe> {
    fn nand(&mut self) -> &mut Nand {
        self.device_mut()
    }

    fn stop(&mut self) -> Result<(), StoreWriteError<Halt>> {
        self.stop()
    }

    fn check(&mut self) -> Result<(), Unchecked> {
        Ok(self.check()?)
    }
}

impl<M: Mechanisms> Room for Ftl<'_, &mut Nand, NoProbe, M> {
    fn nand(&mut self) -> &mut Nand {
        self.device_mut()
    }

    fn stop(&mut self) -> Result<(), StoreWriteError<Halt>> {
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
pub(super) enum Memory {
    Paged(OwnedPagedRam),
    Hybrid(OwnedRam),
}

impl Kind {
    /// The key of every format: there is one format in a walk.
    pub(super) const KEY: u32 = 0x5EED_0001;

    /// Memory for it.
    pub(super) fn memory(&self) -> Memory {
        match self {
            Self::Paged(plan) => Memory::Paged(OwnedPagedRam::for_plan(plan)),
            Self::Hybrid(plan, _) => Memory::Hybrid(OwnedRam::for_plan(plan)),
        }
    }

    /// Formats the device.
    pub(super) fn format(&self, nand: &mut Nand, memory: &mut Memory) -> Result<(), String> {
        match (self, memory) {
            (Self::Paged(plan), Memory::Paged(ram)) => {
                PageFtl::format(nand, plan.config(), ram.lend(), Self::KEY, NoProbe)
                    .map(drop)
                    .map_err(|error| error.to_string())
            }
            (Self::Hybrid(_, config), Memory::Hybrid(ram)) => {
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
        memory: &mut Memory,
        live: &mut dyn FnMut(&mut dyn Room),
    ) -> Result<(), String> {
        match (self, memory) {
            (Self::Paged(plan), Memory::Paged(ram)) => {
                let mounted = PageFtl::mount(nand, plan.config(), ram.lend(), NoProbe);
                live(&mut mounted.map_err(|error| error.to_string())?);
            }
            (Self::Hybrid(plan, config), Memory::Hybrid(ram)) if plan.shape().log.is_some() => {
                let mounted: Result<Ftl<'_, _, _, LogAndChains>, _> =
                    Ftl::mount_as(nand, config, ram.lend(), NoProbe);
                live(&mut mounted.map_err(|error| error.to_string())?);
            }
            (Self::Hybrid(_, config), Memory::Hybrid(ram)) => {
                let mounted: Result<Ftl<'_, _, _, ChainsAlone>, _> =
                    Ftl::mount_as(nand, config, ram.lend(), NoProbe);
                live(&mut mounted.map_err(|error| error.to_string())?);
            }
            _ => return Err("the memory is another FTL's".into()),
        }
        Ok(())
    }
}
