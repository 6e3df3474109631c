//! A device that records its operations.

use std::convert::Infallible;

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, ProgramError,
    ReadError,
};
use nand_model::faults::FaultInjector;
use nand_model::part::Nanos;
use nand_model::power::{BlockFate, MarkFate, PageFate, PairFate, Tear};
use nand_model::{Chip, Timed};

use super::entry::Entry;

/// A chip with its faults.
pub(crate) type Device = FaultInjector<Chip>;

/// The device, with the records of its operations, if they are kept.
#[derive(Debug)]
pub(crate) struct Journaled {
    device: Device,
    pending: Vec<u8>,
    is_kept: bool,
}

impl Journaled {
    /// The device. Nothing is recorded until [`keep`](Self::keep).
    pub(crate) const fn new(device: Device) -> Self {
        Self { device, pending: Vec::new(), is_kept: false }
    }

    /// Records operations from now on.
    pub(crate) const fn keep(&mut self) {
        self.is_kept = true;
    }

    /// The records since they were last taken.
    pub(crate) const fn pending(&mut self) -> &mut Vec<u8> {
        &mut self.pending
    }

    /// The device below.
    pub(crate) const fn inner(&self) -> &Device {
        &self.device
    }

    /// The device below, to let time pass on it.
    pub(crate) const fn inner_mut(&mut self) -> &mut Device {
        &mut self.device
    }

    pub(super) fn into_inner(self) -> Device {
        self.device
    }

    fn note(&mut self, block: Block, entry: &Entry<'_>) {
        if self.is_kept {
            entry.put(block, &mut self.pending);
        }
    }
}

impl NandDevice for Journaled {
    type Error = Infallible;

    fn geometry(&self) -> &Geometry {
        self.device.geometry()
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Infallible>> {
        self.device.read(page, at, data, spare)
    }

    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Infallible>> {
        self.note(page.block(), &Entry::Program { page: page.index(), data, spare });
        self.device.program(page, data, spare)
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<Infallible>> {
        self.note(block, &Entry::Erase);
        self.device.erase(block)
    }

    fn is_bad(&mut self, block: Block) -> Result<bool, Infallible> {
        self.device.is_bad(block)
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Infallible>> {
        self.note(block, &Entry::Mark);
        self.device.mark_bad(block)
    }
}

impl Tear for Journaled {
    fn tear_program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
        fate: PageFate,
        pair: PairFate,
    ) -> Result<(), Infallible> {
        let entry = Entry::TornProgram { page: page.index(), data, spare, fate, pair };
        self.note(page.block(), &entry);
        self.device.tear_program(page, data, spare, fate, pair)
    }

    fn tear_erase(&mut self, block: Block, fate: BlockFate) -> Result<(), Infallible> {
        self.note(block, &Entry::TornErase { fate });
        self.device.tear_erase(block, fate)
    }

    /// The journal has no entry for pages that a mark in flight destroys, so it destroys none here.
    fn tear_mark(&mut self, block: Block, fate: MarkFate) -> Result<(), Infallible> {
        if fate.is_set() {
            let _ = self.mark_bad(block);
        }
        Ok(())
    }

    fn power_off(&mut self) {
        self.device.power_off();
    }
}

impl Timed for Journaled {
    fn now(&self) -> Nanos {
        self.device.now()
    }
}
