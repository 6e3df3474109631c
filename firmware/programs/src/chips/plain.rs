//! A plain SLC chip that keeps every byte and whose power can be cut: the cells under the model of an SPI NAND.

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, ProgramError,
    ReadError, Region,
};

use super::supply::{Cut, Fate, Supply};
use super::{Breach, ChipError};
use crate::part::SPI_PLAIN;

const BLOCKS: usize = 24;
const PAGES: usize = 16;
const PAGE: usize = 512;
const SPARE: usize = 16;

/// The chip: the shape of [`SPI_PLAIN`].
///
/// The number of blocks is a parameter: the linter takes a spelled-out array of all of them for one on the stack.
#[derive(Debug)]
pub struct PlainChip<const COUNT: usize = BLOCKS> {
    data: [[[u8; PAGE]; PAGES]; COUNT],
    spare: [[[u8; SPARE]; PAGES]; COUNT],
    /// The page of each block that may be programmed next.
    next: [u16; COUNT],
    bad: [bool; COUNT],
    /// Pages that power failed in.
    ruined: [[bool; PAGES]; COUNT],
    supply: Supply,
}

impl<const COUNT: usize> PlainChip<COUNT> {
    /// A chip whose blocks hold zeros, as a factory's test may have left them, and of which one is bad.
    pub const fn new() -> Self {
        let mut bad = [false; COUNT];
        bad[9] = true;
        Self {
            data: [[[0; PAGE]; PAGES]; COUNT],
            spare: [[[0; SPARE]; PAGES]; COUNT],
            next: [PAGES as u16; COUNT],
            bad,
            ruined: [[false; PAGES]; COUNT],
            supply: Supply::new(),
        }
    }

    /// Lets the power fail in the program or erase after so many others.
    pub fn cut_after(&mut self, operations: u32, cut: Cut) {
        self.supply.cut_after(operations, cut);
    }

    /// Brings the power back, if it is gone; no cut is due. Says whether it was gone.
    pub fn restore_power(&mut self) -> bool {
        core::mem::replace(&mut self.supply, Supply::new()).is_dead()
    }

    fn place(block: Block) -> Result<usize, ChipError> {
        let at = block.index() as usize;
        if block.region() == Region::Slc && at < COUNT {
            Ok(at)
        } else {
            Err(ChipError::Breach(Breach::Address))
        }
    }
}

impl<const COUNT: usize> Default for PlainChip<COUNT> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const COUNT: usize> NandDevice for PlainChip<COUNT> {
    type Error = ChipError;

    fn geometry(&self) -> &Geometry {
        &SPI_PLAIN.geometry
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<ChipError>> {
        self.supply.alive().map_err(ReadError::Driver)?;
        let block = Self::place(page.block()).map_err(ReadError::Driver)?;
        let (index, at) = (page.index().as_usize(), at.as_usize());
        let cells = self.data[block].get(index).and_then(|cells| cells.get(at..at + data.len()));
        let spares = self.spare[block].get(index).and_then(|cells| cells.get(..spare.len()));
        let (Some(cells), Some(spares)) = (cells, spares) else {
            return Err(ReadError::Driver(ChipError::Breach(Breach::Length)));
        };
        data.copy_from_slice(cells);
        spare.copy_from_slice(spares);
        if self.ruined[block][index] {
            return Err(ReadError::Uncorrectable);
        }
        Ok(Corrected::NONE)
    }

    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<ChipError>> {
        let breach = |breach| ProgramError::Driver(ChipError::Breach(breach));
        let block = Self::place(page.block()).map_err(ProgramError::Driver)?;
        let index = page.index().as_usize();
        if index >= PAGES {
            return Err(breach(Breach::Address));
        }
        if page.index().get() < self.next[block] {
            return Err(breach(Breach::Order));
        }
        let (Ok(data), Ok(spare)) = (data.try_into(), spare.try_into()) else {
            return Err(breach(Breach::Length));
        };
        let fate = self.supply.fate().map_err(ProgramError::Driver)?;
        if fate != Fate::Failing(Cut::Before) {
            self.data[block][index] = data;
            self.spare[block][index] = spare;
            self.ruined[block][index] = fate == Fate::Failing(Cut::Torn);
            self.next[block] = page.index().get() + 1;
        }
        fate.told().map_err(ProgramError::Driver)
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<ChipError>> {
        let block = Self::place(block).map_err(EraseError::Driver)?;
        let fate = self.supply.fate().map_err(EraseError::Driver)?;
        let torn = fate == Fate::Failing(Cut::Torn);
        if fate != Fate::Failing(Cut::Before) {
            for (data, spare) in self.data[block].iter_mut().zip(&mut self.spare[block]) {
                data.fill(0xFF);
                spare.fill(0xFF);
            }
            self.ruined[block].fill(torn);
            // What is half erased must be erased before it is programmed.
            self.next[block] = if torn { PAGES as u16 } else { 0 };
        }
        fate.told().map_err(EraseError::Driver)
    }

    fn is_bad(&mut self, block: Block) -> Result<bool, ChipError> {
        self.supply.alive()?;
        Ok(self.bad[Self::place(block)?])
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<ChipError>> {
        self.supply.alive().map_err(MarkError::Driver)?;
        self.bad[Self::place(block).map_err(MarkError::Driver)?] = true;
        Ok(())
    }
}
