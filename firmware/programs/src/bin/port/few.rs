//! A chip as large as the one of the guide, of which a few blocks may hold data at a time.

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, ProgramError,
    ReadError,
};
use tandem_firmware::chips::{Breach, ChipError};

use crate::port::PARTS;

const SLOTS: usize = 24;
const PAGES: usize = 64;
const PAGE: usize = 2048;
const SPARE: usize = 48;

/// The chip. All of it is zero at first, so that it takes no room in the program's file.
pub(crate) struct FewBlocks<const COUNT: usize = SLOTS> {
    /// The block in each slot, counted from 1; 0: none. All other blocks are erased.
    owners: [u32; COUNT],
    /// The pages of each that are programmed, a bit a page.
    programmed: [u64; COUNT],
    data: [[[u8; PAGE]; PAGES]; COUNT],
    spare: [[[u8; SPARE]; PAGES]; COUNT],
}

impl<const COUNT: usize> FewBlocks<COUNT> {
    pub(crate) const fn new() -> Self {
        Self {
            owners: [0; COUNT],
            programmed: [0; COUNT],
            data: [[[0; PAGE]; PAGES]; COUNT],
            spare: [[[0; SPARE]; PAGES]; COUNT],
        }
    }

    fn slot_of(&self, owner: u32) -> Option<usize> {
        self.owners.iter().position(|known| *known == owner)
    }

    /// The slot of a block that holds data, if it does.
    fn holding(&self, block: Block) -> Option<usize> {
        self.slot_of(block.index() + 1)
    }
}

impl<const COUNT: usize> NandDevice for FewBlocks<COUNT> {
    type Error = ChipError;

    fn geometry(&self) -> &Geometry {
        &PARTS[0].geometry
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<ChipError>> {
        let (index, at) = (page.index().as_usize(), at.as_usize());
        match self.holding(page.block()) {
            Some(slot) if self.programmed[slot] >> index & 1 == 1 => {
                data.copy_from_slice(&self.data[slot][index][at..at + data.len()]);
                spare.copy_from_slice(&self.spare[slot][index][..spare.len()]);
            }
            _ => {
                data.fill(0xFF);
                spare.fill(0xFF);
            }
        }
        Ok(Corrected::NONE)
    }

    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<ChipError>> {
        let slot = self.holding(page.block()).or_else(|| self.slot_of(0));
        let slot = slot.ok_or(ProgramError::Driver(ChipError::NoRoomForPayload))?;
        self.owners[slot] = page.block().index() + 1;
        let index = page.index().as_usize();
        if self.programmed[slot] >> index != 0 {
            return Err(ProgramError::Driver(ChipError::Breach(Breach::Order)));
        }
        self.data[slot][index].copy_from_slice(data);
        self.spare[slot][index].copy_from_slice(spare);
        self.programmed[slot] |= 1 << index;
        Ok(())
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<ChipError>> {
        if let Some(slot) = self.holding(block) {
            (self.owners[slot], self.programmed[slot]) = (0, 0);
        }
        Ok(())
    }

    fn is_bad(&mut self, _: Block) -> Result<bool, ChipError> {
        Ok(false)
    }

    fn mark_bad(&mut self, _: Block) -> Result<(), MarkError<ChipError>> {
        // None of its blocks ever fails, so that nobody has a reason to.
        Err(MarkError::Failed)
    }
}
