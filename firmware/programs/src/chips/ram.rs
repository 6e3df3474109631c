//! A small chip of two regions that keeps every byte, holds its caller to the contract, and whose power can be cut at
//! any program or erase.

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, PageCount,
    PageIndex, ProgramError, ReadError, Region, RegionGeometry,
};

use super::supply::{Cut, Fate, Supply};
use super::{Breach, ChipError};
use crate::part::TINY;

/// How a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum State {
    Erased = 0,
    Programmed,
    Ruined,
}

#[derive(Debug)]
struct BlockCells<const PAGES: usize, const PAGE: usize, const SPARE: usize> {
    data: [[u8; PAGE]; PAGES],
    spare: [[u8; SPARE]; PAGES],
    state: [State; PAGES],
    /// The page that may be programmed next.
    next: u16,
    half_erased: bool,
}

/// The blocks of one region.
#[derive(Debug)]
struct Cells<const BLOCKS: usize, const PAGES: usize, const PAGE: usize, const SPARE: usize> {
    blocks: [BlockCells<PAGES, PAGE, SPARE>; BLOCKS],
}

impl<const BLOCKS: usize, const PAGES: usize, const PAGE: usize, const SPARE: usize>
    Cells<BLOCKS, PAGES, PAGE, SPARE>
{
    const BLOCK: BlockCells<PAGES, PAGE, SPARE> = BlockCells {
        data: [[0; PAGE]; PAGES],
        spare: [[0; SPARE]; PAGES],
        state: [State::Erased; PAGES],
        next: 0,
        half_erased: false,
    };

    const fn new() -> Self {
        Self { blocks: [Self::BLOCK; BLOCKS] }
    }

    fn read(
        &self,
        page: Page,
        at: usize,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<(), ReadError<ChipError>> {
        let breach = |breach| ReadError::Driver(ChipError::Breach(breach));
        let index = page.index().as_usize();
        let block = self.blocks.get(page.block().index() as usize);
        let block = block.filter(|_| index < PAGES).ok_or(breach(Breach::Address))?;
        let cells = block.data[index].get(at..at + data.len()).ok_or(breach(Breach::Length))?;
        let spare_cells = block.spare[index].get(..spare.len()).ok_or(breach(Breach::Length))?;
        match block.state[index] {
            State::Erased => {
                data.fill(0xFF);
                spare.fill(0xFF);
            }
            State::Programmed => {
                data.copy_from_slice(cells);
                spare.copy_from_slice(spare_cells);
            }
            State::Ruined => return Err(ReadError::Uncorrectable),
        }
        Ok(())
    }

    /// The block, if that page of it may be programmed now.
    fn open(&mut self, page: Page) -> Result<&mut BlockCells<PAGES, PAGE, SPARE>, Breach> {
        let block = self.blocks.get_mut(page.block().index() as usize).ok_or(Breach::Address)?;
        match page.index() {
            index if index.as_usize() >= PAGES => Err(Breach::Address),
            index if index.get() < block.next => Err(Breach::Order),
            _ if block.half_erased => Err(Breach::HalfErased),
            _ => Ok(block),
        }
    }

    fn program(&mut self, page: Page, data: &[u8], spare: &[u8]) -> Result<(), Breach> {
        let block = self.open(page)?;
        let (Ok(data), Ok(spare)) = (data.try_into(), spare.try_into()) else {
            return Err(Breach::Length);
        };
        let index = page.index().as_usize();
        block.data[index] = data;
        block.spare[index] = spare;
        block.state[index] = State::Programmed;
        block.next = page.index().get() + 1;
        Ok(())
    }

    /// Ruins the page in flight and the programmed ones among those that share its cells.
    fn tear(&mut self, page: Page, shared: impl Iterator<Item = PageIndex>) -> Result<(), Breach> {
        let block = self.open(page)?;
        block.state[page.index().as_usize()] = State::Ruined;
        block.next = page.index().get() + 1;
        for index in shared {
            let state = &mut block.state[index.as_usize()];
            if *state == State::Programmed {
                *state = State::Ruined;
            }
        }
        Ok(())
    }

    /// Erases a block, or leaves it half erased: its pages are in that state after it.
    fn erase(&mut self, number: u32, after: State) -> Result<(), Breach> {
        let block = self.blocks.get_mut(number as usize).ok_or(Breach::Address)?;
        block.half_erased = after == State::Ruined;
        block.state.fill(after);
        block.next = 0;
        Ok(())
    }
}

const fn blocks(region: Option<&RegionGeometry>) -> usize {
    match region {
        Some(region) => region.blocks.get() as usize,
        None => 0,
    }
}

/// The chip: the shape of [`TINY`].
#[derive(Debug)]
pub struct RamChip {
    slc: Cells<{ blocks(TINY.slc()) }, 8, 1024, 32>,
    mlc: Cells<{ blocks(TINY.mlc()) }, 16, 2048, 64>,
    supply: Supply,
}

impl RamChip {
    /// The chip as it leaves the factory.
    pub const fn new() -> Self {
        Self { slc: Cells::new(), mlc: Cells::new(), supply: Supply::new() }
    }

    /// Lets the power fail in the program or erase after so many others.
    pub fn cut_after(&mut self, operations: u32, cut: Cut) {
        self.supply.cut_after(operations, cut);
    }

    /// Whether the power is gone.
    pub fn is_dead(&self) -> bool {
        self.supply.is_dead()
    }

    /// Brings the power back; no cut is due.
    pub fn restore_power(&mut self) {
        self.supply = Supply::new();
    }

    fn put(&mut self, page: Page, data: &[u8], spare: &[u8]) -> Result<(), ChipError> {
        let fate = self.supply.fate()?;
        let done = match (fate, page.region()) {
            (Fate::Failing(Cut::Before), _) => Ok(()),
            (Fate::Failing(Cut::Torn), Region::Slc) => self.slc.tear(page, core::iter::empty()),
            (Fate::Failing(Cut::Torn), Region::Mlc) => {
                let pages = TINY.mlc().map_or(PageCount::ZERO, |mlc| mlc.pages_per_block);
                let pairing = TINY.mlc().map(|mlc| mlc.pairing);
                let shared =
                    pairing.into_iter().flat_map(|pairing| pairing.endangered(page.index(), pages));
                self.mlc.tear(page, shared)
            }
            (_, Region::Slc) => self.slc.program(page, data, spare),
            (_, Region::Mlc) => self.mlc.program(page, data, spare),
        };
        done.map_err(ChipError::Breach)?;
        fate.told()
    }

    fn wipe(&mut self, block: Block) -> Result<(), ChipError> {
        let fate = self.supply.fate()?;
        let torn = fate == Fate::Failing(Cut::Torn);
        let after = if torn { State::Ruined } else { State::Erased };
        if fate != Fate::Failing(Cut::Before) {
            let done = match block.region() {
                Region::Slc => self.slc.erase(block.index(), after),
                Region::Mlc => self.mlc.erase(block.index(), after),
            };
            done.map_err(ChipError::Breach)?;
        }
        fate.told()
    }
}

impl Default for RamChip {
    fn default() -> Self {
        Self::new()
    }
}

impl NandDevice for RamChip {
    type Error = ChipError;

    fn geometry(&self) -> &Geometry {
        &TINY
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<ChipError>> {
        self.supply.alive().map_err(ReadError::Driver)?;
        match page.region() {
            Region::Slc => self.slc.read(page, at.as_usize(), data, spare)?,
            Region::Mlc => self.mlc.read(page, at.as_usize(), data, spare)?,
        }
        Ok(Corrected::NONE)
    }

    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<ChipError>> {
        self.put(page, data, spare).map_err(ProgramError::Driver)
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<ChipError>> {
        self.wipe(block).map_err(EraseError::Driver)
    }

    fn is_bad(&mut self, _: Block) -> Result<bool, ChipError> {
        self.supply.alive().map(|()| false)
    }

    fn mark_bad(&mut self, _: Block) -> Result<(), MarkError<ChipError>> {
        // None of its blocks ever fails, so that nobody has a reason to.
        Err(MarkError::Failed)
    }
}
