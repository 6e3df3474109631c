//! The null device for the page store: beside tags it keeps what that writes for itself, which it reads back.

use std::convert::Infallible;
use std::hint::black_box;

use ftl_iface::{
    Block, Bytes, Corrected, EraseError, NandDevice, Page, ProgramError, ReadError, Region,
    forward_nand,
};

use super::null::{MLC_TAG, erases_of, programs_of, reads_of};
use super::{Asked, DEVICE_CALLS, Measure, Null};

/// First bytes of the tags of pages that hold the host's sectors, whose content is forgotten (docs/FORMAT.md): sectors,
/// and those of a page that is done again.
const FORGOTTEN: [u8; 3] = [0xF0, 0xA5, 0xC3];

/// Bytes of an SLC page.
const PAGE_BYTES: usize = 2048;

/// The device. All that the page store writes for itself is in the SLC.
pub(crate) struct Keeping<'a> {
    null: &'a mut Null,
    pages_per_block: usize,
    kept: Vec<Option<Box<[u8; PAGE_BYTES]>>>,
}

impl<'a> Keeping<'a> {
    pub(crate) fn new(null: &'a mut Null) -> Self {
        let slc = *null.geometry().slc().expect("C3 has both regions");
        let kept = (0..slc.pages()).map(|_| None).collect();
        Self { null, pages_per_block: slc.pages_per_block.as_usize(), kept }
    }

    /// How often it was asked.
    pub(crate) fn asked(&mut self) -> &mut Asked {
        &mut self.null.asked
    }

    fn number(&self, page: Page) -> usize {
        page.block().index() as usize * self.pages_per_block + page.index().as_usize()
    }
}

/// What a real device does by itself, beside the processor.
#[inline(never)]
fn copy(to: &mut [u8], from: &[u8]) {
    to.copy_from_slice(from);
}

impl NandDevice for Keeping<'_> {
    type Error = Infallible;

    forward_nand!(self => self.null; geometry is_bad mark_bad);

    #[inline(never)]
    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Infallible>> {
        // Whoever asks for the beginning of a tag gets that.
        let mut tag = [0xFF; MLC_TAG];
        let corrected = self.null.read(page, at, &mut [], &mut tag)?;
        let asked = spare.len().min(MLC_TAG);
        spare[..asked].copy_from_slice(&tag[..asked]);
        if page.region() == Region::Slc
            && !data.is_empty()
            && let Some(kept) = &self.kept[self.number(page)]
        {
            copy(data, &kept[at.as_usize()..at.as_usize() + data.len()]);
            // A few bytes of an entry are as quick as the call.
            self.null.asked.copies += u32::from(data.len() > PAGE_BYTES / 2);
        }
        Ok(corrected)
    }

    #[inline(never)]
    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Infallible>> {
        if !FORGOTTEN.contains(&spare[0]) {
            assert_eq!(page.region(), Region::Slc, "the map is in the SLC");
            let number = self.number(page);
            let kept = self.kept[number].get_or_insert_with(|| Box::new([0xFF; PAGE_BYTES]));
            copy(&mut kept[..data.len()], data);
            self.null.asked.copies += 1;
        }
        self.null.program(page, data, spare)
    }

    #[inline(never)]
    fn erase(&mut self, block: Block) -> Result<(), EraseError<Infallible>> {
        self.null.erase(block)
    }
}

pub(super) fn reads(device: &mut Null, measure: Measure<'_>) {
    reads_of(&mut Keeping::new(device), FORGOTTEN[0], measure);
}

pub(super) fn programs(device: &mut Null, measure: Measure<'_>) {
    programs_of(&mut Keeping::new(device), FORGOTTEN[0], measure);
}

pub(super) fn erases(device: &mut Null, measure: Measure<'_>) {
    erases_of(&mut Keeping::new(device), FORGOTTEN[0], measure);
}

pub(super) fn copies(_: &mut Null, measure: Measure<'_>) {
    let (from, mut to) = ([0x5A; PAGE_BYTES], [0; PAGE_BYTES]);
    measure(&mut || {
        for _ in 0..DEVICE_CALLS {
            copy(black_box(&mut to), black_box(&from));
        }
    });
}
