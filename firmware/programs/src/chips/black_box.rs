//! A chip for programs that are looked at, and never run.

use core::hint::black_box;

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, ProgramError,
    ReadError,
};

use crate::part::SPI_NAND_1G;

/// A chip of which nobody can foresee what it does.
#[derive(Clone, Copy, Debug)]
pub struct BlackBox;

/// What the chip says to an operation.
enum Answer {
    Done,
    Failed,
    NoBus,
}

#[inline(never)]
fn answer() -> Answer {
    match black_box(0) {
        0 => Answer::Done,
        1 => Answer::Failed,
        _ => Answer::NoBus,
    }
}

impl NandDevice for BlackBox {
    type Error = ();

    fn geometry(&self) -> &Geometry {
        black_box(&SPI_NAND_1G)
    }

    #[inline(never)]
    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<()>> {
        black_box((page, at, data, spare));
        match answer() {
            Answer::Done => Ok(Corrected::NONE),
            Answer::Failed => Err(ReadError::Uncorrectable),
            Answer::NoBus => Err(ReadError::Driver(())),
        }
    }

    #[inline(never)]
    fn program(&mut self, page: Page, data: &[u8], spare: &[u8]) -> Result<(), ProgramError<()>> {
        black_box((page, data, spare));
        match answer() {
            Answer::Done => Ok(()),
            Answer::Failed => Err(ProgramError::Failed),
            Answer::NoBus => Err(ProgramError::Driver(())),
        }
    }

    #[inline(never)]
    fn erase(&mut self, block: Block) -> Result<(), EraseError<()>> {
        black_box(block);
        match answer() {
            Answer::Done => Ok(()),
            Answer::Failed => Err(EraseError::Failed),
            Answer::NoBus => Err(EraseError::Driver(())),
        }
    }

    #[inline(never)]
    fn is_bad(&mut self, block: Block) -> Result<bool, ()> {
        black_box(Ok(block.index() == 0))
    }

    #[inline(never)]
    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<()>> {
        black_box(block);
        match answer() {
            Answer::Done => Ok(()),
            Answer::Failed => Err(MarkError::Failed),
            Answer::NoBus => Err(MarkError::Driver(())),
        }
    }
}
