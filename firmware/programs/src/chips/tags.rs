//! A chip of 128 MiB in a few megabytes: it keeps every tag, and of the host's data the first bytes, which tell reads
//! that are right from those that are wrong. What the FTL writes for itself is kept whole.

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, ProgramError,
    ReadError,
};

use super::{Breach, ChipError};
use crate::part::SPI_NAND_1G;

/// Bytes of a page of the host's that are kept.
pub const HEAD: usize = 8;
/// What the host must fill the rest of a page with.
pub const FILLER: u8 = 0x5A;

const BLOCKS: usize = 1024;
const PAGES: usize = 64;
const PAGE: usize = 2048;
const TAG: usize = 16;
/// Pages that are kept whole: the maps and lists that an FTL writes for itself.
const WHOLE: usize = 4096;

/// What is kept of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kept {
    /// It was not programmed.
    Erased = 0,
    /// The head; the rest is filler.
    Head,
    /// Nothing: every byte is 0xFF.
    Blank,
    /// All of it.
    Whole,
}

#[derive(Clone, Copy, Debug)]
struct TagCells {
    tag: [u8; TAG],
    head: [u8; HEAD],
    whole: u16,
    kept: Kept,
}

/// The chip, of 1 Gbit or less. It is all zeros where it is new, so that it costs a program's image nothing.
#[derive(Debug)]
pub struct TagChip {
    /// None: the largest there is.
    geometry: Option<&'static Geometry>,
    cells: [[TagCells; PAGES]; BLOCKS],
    /// The page of each block that may be programmed next.
    next: [u16; BLOCKS],
    wholes: [[u8; PAGE]; WHOLE],
    /// Places among the `wholes` that were given back, and how many.
    given_back: [u16; WHOLE],
    back: usize,
    /// Places that were ever taken.
    taken: usize,
}

impl TagChip {
    /// The chip as it leaves the factory.
    #[allow(
        clippy::large_stack_arrays,
        reason = "it initialises a static, and never lies on a stack"
    )]
    pub const fn new() -> Self {
        const CELLS: TagCells =
            TagCells { tag: [0; TAG], head: [0; HEAD], whole: 0, kept: Kept::Erased };
        Self {
            geometry: None,
            cells: [[CELLS; PAGES]; BLOCKS],
            next: [0; BLOCKS],
            wholes: [[0; PAGE]; WHOLE],
            given_back: [0; WHOLE],
            back: 0,
            taken: 0,
        }
    }

    /// Takes the shape of another SPI NAND of no more blocks. What was on it is to be erased.
    pub fn become_a(&mut self, geometry: &'static Geometry) {
        self.geometry = Some(geometry);
    }

    fn place_for_whole(&mut self) -> Result<u16, ChipError> {
        if let Some(back) = self.back.checked_sub(1) {
            self.back = back;
            return Ok(self.given_back[back]);
        }
        if self.taken == WHOLE {
            return Err(ChipError::NoRoomForPayload);
        }
        self.taken += 1;
        Ok(self.taken as u16 - 1)
    }

    fn put(&mut self, page: Page, data: &[u8], spare: &[u8]) -> Result<(), ChipError> {
        let (block, index) = (page.block().index() as usize, page.index().as_usize());
        if block >= BLOCKS || index >= PAGES {
            return Err(ChipError::Breach(Breach::Address));
        }
        let (Some(head), Some(tag)) = (data.first_chunk(), spare.first_chunk()) else {
            return Err(ChipError::Breach(Breach::Length));
        };
        if data.len() != PAGE || spare.len() != TAG {
            return Err(ChipError::Breach(Breach::Length));
        }
        if index < usize::from(self.next[block]) {
            return Err(ChipError::Breach(Breach::Order));
        }
        self.next[block] = page.index().get() + 1;
        let kept = match data[HEAD..] {
            [FILLER, FILLER, .., FILLER] => Kept::Head,
            [0xFF, ..] if data.iter().all(|byte| *byte == 0xFF) => Kept::Blank,
            _ => Kept::Whole,
        };
        let mut whole = 0;
        if kept == Kept::Whole {
            whole = self.place_for_whole()?;
            self.wholes[usize::from(whole)].copy_from_slice(data);
        }
        self.cells[block][index] = TagCells { tag: *tag, head: *head, whole, kept };
        Ok(())
    }

    fn get(&self, page: Page, at: usize, data: &mut [u8], spare: &mut [u8]) -> Option<()> {
        let cells = self.cells.get(page.block().index() as usize)?.get(page.index().as_usize())?;
        let end = at.checked_add(data.len()).filter(|end| *end <= PAGE)?;
        match cells.kept {
            Kept::Erased | Kept::Blank => data.fill(0xFF),
            Kept::Whole => data.copy_from_slice(&self.wholes[usize::from(cells.whole)][at..end]),
            Kept::Head => {
                data.fill(FILLER);
                if let Some(rest) = cells.head.get(at..) {
                    let shared = rest.len().min(data.len());
                    data[..shared].copy_from_slice(&rest[..shared]);
                }
            }
        }
        let tag = if cells.kept == Kept::Erased { &[0xFF; TAG] } else { &cells.tag };
        spare.copy_from_slice(tag.get(..spare.len())?);
        Some(())
    }
}

impl Default for TagChip {
    fn default() -> Self {
        Self::new()
    }
}

impl NandDevice for TagChip {
    type Error = ChipError;

    fn geometry(&self) -> &Geometry {
        self.geometry.unwrap_or(&SPI_NAND_1G)
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<ChipError>> {
        match self.get(page, at.as_usize(), data, spare) {
            Some(()) => Ok(Corrected::NONE),
            None => Err(ReadError::Driver(ChipError::Breach(Breach::Address))),
        }
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
        let block = block.index() as usize;
        let (Some(cells), Some(next)) = (self.cells.get_mut(block), self.next.get_mut(block))
        else {
            return Err(EraseError::Driver(ChipError::Breach(Breach::Address)));
        };
        *next = 0;
        for cells in cells {
            if cells.kept == Kept::Whole {
                self.given_back[self.back] = cells.whole;
                self.back += 1;
            }
            cells.kept = Kept::Erased;
        }
        Ok(())
    }

    fn is_bad(&mut self, _: Block) -> Result<bool, ChipError> {
        Ok(false)
    }

    fn mark_bad(&mut self, _: Block) -> Result<(), MarkError<ChipError>> {
        Ok(())
    }
}
