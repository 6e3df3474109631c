//! An FTL with its configuration and plan, for programs that run either FTL by the same calls.

use ftl_core::{FtlKind, Lent, Probe};
use ftl_iface::NandDevice;

use crate::board::fail;
use crate::memory::Memory;

/// The key of every format.
const KEY: u32 = 0x5EED;

/// An FTL as it is on some chip.
#[derive(Debug)]
pub struct Setup<K: FtlKind> {
    /// What it is called.
    pub name: &'static str,
    /// What it is told to be.
    pub config: K::Config,
    /// Its memory.
    pub plan: K::Plan,
}

impl<K: FtlKind> Setup<K> {
    /// Formats the chip.
    pub fn format<'ram, D: NandDevice + 'ram, P: Probe + 'ram>(
        &self,
        memory: &'ram mut Memory,
        chip: D,
        probe: P,
    ) -> K::Mounted<'ram, D, P> {
        match K::format(chip, &self.config, self.ram(memory), KEY, probe) {
            Ok(ftl) => ftl,
            Err(error) => fail(format_args!("the format failed: {error}")),
        }
    }

    /// Mounts the chip.
    pub fn mount<'ram, D: NandDevice + 'ram, P: Probe + 'ram>(
        &self,
        memory: &'ram mut Memory,
        chip: D,
        probe: P,
    ) -> K::Mounted<'ram, D, P> {
        match K::mount(chip, &self.config, self.ram(memory), probe) {
            Ok(ftl) => ftl,
            Err(error) => fail(format_args!("the mount failed: {error}")),
        }
    }

    fn ram<'ram>(&self, memory: &'ram mut Memory) -> Lent<'ram, K::Plan> {
        match memory.lend(&self.plan) {
            Some(ram) => ram,
            None => fail(format_args!("the memory is shorter than the plan")),
        }
    }
}
