//! A chip with chosen faults.

use core::convert::Infallible;

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, ProgramError,
    ReadError, forward_nand,
};
use nand_model::faults::{FaultInjector, When};
use nand_model::{Chip, Content};

use super::part;

/// The faults of a chip.
pub trait Faults {
    /// Whether this program of a page of the block, or this erase of the block, fails.
    fn fails(&mut self, chip: &mut FaultInjector<Chip>, block: Block, page: Option<Page>) -> bool;

    /// Reads a page.
    fn read(
        &mut self,
        chip: &mut FaultInjector<Chip>,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Infallible>> {
        chip.read(page, at, data, spare)
    }

    /// Called when a block is marked bad.
    fn marked(&mut self) {}
}

/// The chip.
pub struct Faulty<F> {
    pub chip: FaultInjector<Chip>,
    pub faults: F,
}

impl<F> Faulty<F> {
    pub fn new(geometry: Geometry, seed: u64, faults: F) -> Self {
        let chip = Chip::new(&part(geometry), Content::Bytes).expect("a possible part");
        Self { chip: FaultInjector::new(chip, seed), faults }
    }
}

impl<F: Faults> NandDevice for Faulty<F> {
    type Error = Infallible;

    forward_nand!(self => self.chip; geometry is_bad);

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Infallible>> {
        self.faults.read(&mut self.chip, page, at, data, spare)
    }

    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Infallible>> {
        if self.faults.fails(&mut self.chip, page.block(), Some(page)) {
            self.chip.fail_program(page, When::Nth(1));
        }
        self.chip.program(page, data, spare)
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<Infallible>> {
        if self.faults.fails(&mut self.chip, block, None) {
            self.chip.fail_erase(block, When::Nth(1));
        }
        self.chip.erase(block)
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Infallible>> {
        self.faults.marked();
        self.chip.mark_bad(block)
    }
}
