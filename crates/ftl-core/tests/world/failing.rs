//! A chip in which chosen programs and erases fail.

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, ProgramError,
    ReadError,
};
use nand_model::faults::{FaultInjector, When};
use nand_model::{Chip, Content};

use super::part;

/// Which operations fail.
pub trait Whim {
    /// Whether the program of this page of the block, or the erase of the block, fails.
    fn strikes(&mut self, chip: &mut FaultInjector<Chip>, block: Block, page: Option<Page>)
    -> bool;

    /// Called when a block is marked bad.
    fn marks(&mut self) {}
}

/// The chip.
pub struct Failing<W> {
    pub chip: FaultInjector<Chip>,
    pub whim: W,
}

impl<W> Failing<W> {
    pub fn new(geometry: Geometry, seed: u64, whim: W) -> Self {
        let chip = Chip::new(&part(geometry), Content::Bytes).expect("a possible part");
        Self { chip: FaultInjector::new(chip, seed), whim }
    }
}

impl<W: Whim> NandDevice for Failing<W> {
    type Error = core::convert::Infallible;

    fn geometry(&self) -> &Geometry {
        self.chip.geometry()
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Self::Error>> {
        self.chip.read(page, at, data, spare)
    }

    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Self::Error>> {
        if self.whim.strikes(&mut self.chip, page.block(), Some(page)) {
            self.chip.fail_program(page, When::Nth(1));
        }
        self.chip.program(page, data, spare)
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<Self::Error>> {
        if self.whim.strikes(&mut self.chip, block, None) {
            self.chip.fail_erase(block, When::Nth(1));
        }
        self.chip.erase(block)
    }

    fn is_bad(&mut self, block: Block) -> Result<bool, Self::Error> {
        self.chip.is_bad(block)
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Self::Error>> {
        self.whim.marks();
        self.chip.mark_bad(block)
    }
}
