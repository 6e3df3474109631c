//! The cells below the bus: a chip of `nand-model` whose power can be cut, whose pages and blocks can fail, and whose
//! correction can be given work.

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, ProgramError,
    ReadError,
};
use nand_model::faults::FaultInjector;
use nand_model::power::{Cut, PowerCut, PowerError, Tear};
use nand_model::{Chip, ChipError, Content, datasheet};

/// The cells, with all that can go wrong in them.
#[derive(Debug)]
pub(crate) struct Cells {
    device: PowerCut<FaultInjector<Chip>>,
    /// A page whose reads report so many corrected bits.
    corrected: Option<(Page, u16)>,
}

impl Cells {
    /// Cells of that shape, all erased.
    pub(crate) fn new(geometry: Geometry) -> Result<Self, ChipError> {
        // Its times and currents do not matter: the bus above has its own.
        let part = datasheet::builtin("spi-nand-1g").expect("a device that is built in");
        let chip = Chip::new(&nand_model::part::Part { geometry, ..part }, Content::Bytes)?;
        let device = PowerCut::new(FaultInjector::new(chip, 1), Cut::never());
        Ok(Self { device, corrected: None })
    }

    /// Power is lost, if it is still on, and is back. Says whether a cut had come.
    pub(crate) fn power_again(self) -> (Self, bool) {
        let cut = !self.device.is_on();
        let mut inner = self.device.into_inner();
        if !cut {
            inner.power_off();
        }
        (Self { device: PowerCut::new(inner, Cut::never()), ..self }, cut)
    }

    /// Lets power fail in the program, erase or mark after so many others.
    pub(crate) fn cut_after(&mut self, operations: u64, seed: u64) {
        self.device.set_cut(Cut::seeded(operations, seed));
    }

    /// Where faults are put in.
    pub(crate) const fn faults(&mut self) -> &mut FaultInjector<Chip> {
        self.device.inner_mut()
    }

    /// Lets reads of a page report so many corrected bits.
    pub(crate) const fn correct(&mut self, page: Page, bits: u16) {
        self.corrected = Some((page, bits));
    }

    /// What the page holds, whatever can be read of it.
    pub(crate) fn truth(&mut self, page: Page, data: &mut [u8], spare: &mut [u8]) {
        // The chip itself tells the truth and does not fail.
        let _ = self.faults().inner_mut().read(page, Bytes::ZERO, data, spare);
    }

    /// Whether the block is marked bad.
    pub(crate) fn is_marked(&mut self, block: Block) -> bool {
        self.faults().is_bad(block).unwrap_or(false)
    }
}

type Failure = PowerError<<Chip as NandDevice>::Error>;

impl NandDevice for Cells {
    type Error = Failure;

    fn geometry(&self) -> &Geometry {
        self.device.geometry()
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Failure>> {
        let read = self.device.read(page, at, data, spare)?;
        let named = self.corrected.filter(|(corrected, _)| *corrected == page);
        Ok(named.map_or(read, |(_, bits)| Corrected::bits(bits)))
    }

    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Failure>> {
        self.device.program(page, data, spare)
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<Failure>> {
        self.device.erase(block)
    }

    fn is_bad(&mut self, block: Block) -> Result<bool, Failure> {
        self.device.is_bad(block)
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Failure>> {
        self.device.mark_bad(block)
    }
}
