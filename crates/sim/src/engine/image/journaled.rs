//! A device that records its operations.

use std::convert::Infallible;

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, MarkError, NandDevice, Page, ProgramError, ReadError,
    forward_nand,
};
use nand_model::Timed;
use nand_model::part::Nanos;
use nand_model::power::{BlockFate, MarkFate, PageFate, PairFate, Tear};

use super::device::Device;
use super::record::Event;
use super::seal::Pending;

/// The device, with the records of its operations, if they are kept.
#[derive(Debug)]
pub struct Journaled {
    device: Device,
    pending: Option<Pending>,
    origin: ContentOrigin,
}

/// Where the chip's content is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContentOrigin {
    /// From this program.
    Here,
    /// From a file, which may say anything.
    File,
}

impl Journaled {
    /// A new device. Nothing is recorded until a file keeps it.
    pub const fn new(device: Device) -> Self {
        Self { device, pending: None, origin: ContentOrigin::Here }
    }

    /// A device from a file. What its system asks for against the chip's rules, because the file says what no
    /// server wrote, fails as on a real chip, instead of ending the program.
    pub const fn of_file(device: Device) -> Self {
        Self { device, pending: None, origin: ContentOrigin::File }
    }

    /// Records operations from now on, after those.
    pub(super) fn keep(&mut self, pending: Pending) {
        self.pending = Some(pending);
    }

    /// The records that are not written yet.
    pub(super) const fn pending(&mut self) -> Option<&mut Pending> {
        self.pending.as_mut()
    }

    /// The device below.
    pub const fn inner(&self) -> &Device {
        &self.device
    }

    /// The device below, to let time pass on it.
    pub const fn inner_mut(&mut self) -> &mut Device {
        &mut self.device
    }

    fn note(&mut self, event: &Event<'_>) {
        if let Some(pending) = &mut self.pending {
            pending.add(event);
        }
    }

    fn takes_program(&mut self, page: Page) -> bool {
        self.origin == ContentOrigin::Here || self.device.takes_program(page)
    }

    fn takes_erase(&mut self, block: Block) -> bool {
        self.origin == ContentOrigin::Here || self.device.takes_erase(block)
    }
}

impl NandDevice for Journaled {
    type Error = Infallible;

    forward_nand!(self => self.device; geometry is_bad);

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Infallible>> {
        if self.pending.is_some() && self.device.counts_reads(page) {
            self.note(&Event::Read(page.block(), page.index()));
        }
        self.device.read(page, at, data, spare)
    }

    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Infallible>> {
        if !self.takes_program(page) {
            return Err(ProgramError::Failed);
        }
        self.note(&Event::Program { at: (page.block(), page.index()), data, spare });
        self.device.program(page, data, spare)
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<Infallible>> {
        if !self.takes_erase(block) {
            return Err(EraseError::Failed);
        }
        self.note(&Event::Erase(block));
        self.device.erase(block)
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Infallible>> {
        self.note(&Event::Mark(block));
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
        if !self.takes_program(page) {
            return Ok(());
        }
        let at = (page.block(), page.index());
        self.note(&Event::TornProgram { at, data, spare, fate: (fate, pair) });
        self.device.tear_program(page, data, spare, fate, pair)
    }

    fn tear_erase(&mut self, block: Block, fate: BlockFate) -> Result<(), Infallible> {
        if !self.takes_erase(block) {
            return Ok(());
        }
        self.note(&Event::TornErase(block, fate));
        self.device.tear_erase(block, fate)
    }

    fn tear_mark(&mut self, block: Block, fate: MarkFate) -> Result<(), Infallible> {
        self.note(&Event::TornMark(block, fate));
        self.device.tear_mark(block, fate)
    }

    fn power_off(&mut self) {
        self.note(&Event::PowerOff);
        self.device.power_off();
    }
}

impl Timed for Journaled {
    fn now(&self) -> Nanos {
        self.device.now()
    }
}
