//! A chip as large as the one of the guide, of which a few blocks may hold data at a time.

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, ProgramError,
    ReadError,
};
use tandem_firmware::chips::{Breach, ChipError};

use crate::port::PARTS;

const SLOTS: usize = 24;
const BLOCK: usize = 64;
const PAGE: usize = 2048;
const SPARE: usize = 48;

/// A block that holds data.
struct Slot<const PAGES: usize> {
    /// Its number, counted from 1; 0: none.
    owner: u32,
    /// Its programmed pages, a bit a page.
    programmed: u64,
    data: [[u8; PAGE]; PAGES],
    spare: [[u8; SPARE]; PAGES],
}

/// The chip: blocks without a slot are erased. All of it is zero at first, so that it takes no room in the program's
/// file. Its sizes are parameters: the linter takes spelled-out arrays for some on the stack.
pub(crate) struct FewBlocks<const COUNT: usize = SLOTS, const PAGES: usize = BLOCK> {
    slots: [Slot<PAGES>; COUNT],
}

impl<const COUNT: usize, const PAGES: usize> FewBlocks<COUNT, PAGES> {
    const FREE: Slot<PAGES> =
        Slot { owner: 0, programmed: 0, data: [[0; PAGE]; PAGES], spare: [[0; SPARE]; PAGES] };

    pub(crate) const fn new() -> Self {
        Self { slots: [Self::FREE; COUNT] }
    }

    fn slot_of(&mut self, owner: u32) -> Option<&mut Slot<PAGES>> {
        self.slots.iter_mut().find(|slot| slot.owner == owner)
    }
}

impl<const COUNT: usize, const PAGES: usize> NandDevice for FewBlocks<COUNT, PAGES> {
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
        match self.slot_of(page.block().index() + 1) {
            Some(slot) if slot.programmed >> index & 1 == 1 => {
                data.copy_from_slice(&slot.data[index][at..at + data.len()]);
                spare.copy_from_slice(&slot.spare[index][..spare.len()]);
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
        let owner = page.block().index() + 1;
        let owned = self.slots.iter().any(|slot| slot.owner == owner);
        let slot = self.slot_of(if owned { owner } else { 0 });
        let slot = slot.ok_or(ProgramError::Driver(ChipError::NoRoomForPayload))?;
        let index = page.index().as_usize();
        if slot.programmed >> index != 0 {
            return Err(ProgramError::Driver(ChipError::Breach(Breach::Order)));
        }
        slot.owner = owner;
        slot.data[index].copy_from_slice(data);
        slot.spare[index].copy_from_slice(spare);
        slot.programmed |= 1 << index;
        Ok(())
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<ChipError>> {
        if let Some(slot) = self.slot_of(block.index() + 1) {
            (slot.owner, slot.programmed) = (0, 0);
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
