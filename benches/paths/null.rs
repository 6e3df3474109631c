//! A device that costs next to nothing: it keeps tags and forgets content.

use std::convert::Infallible;
use std::hint::black_box;

use ftl_iface::{
    Block, BlockCount, Bytes, Cell, Corrected, EraseError, Geometry, MarkError, NandDevice, Page,
    PageCount, PageIndex, Pairing, ProgramError, ReadError, Region, RegionGeometry,
};

use super::{DEVICE_CALLS, Measure};

/// Chang's configuration C3, as `devices/c3.toml` describes it, with so many blocks.
fn c3(slc_blocks: u32, mlc_blocks: u32) -> Geometry {
    let slc = RegionGeometry {
        cell: Cell::Slc,
        blocks: BlockCount::new(slc_blocks),
        pages_per_block: PageCount::new(64),
        page_bytes: Bytes::new(2048),
        spare_bytes: Bytes::new(64),
        pairing: Pairing::None,
    };
    let mlc = RegionGeometry {
        cell: Cell::Mlc,
        blocks: BlockCount::new(mlc_blocks),
        pages_per_block: PageCount::new(128),
        page_bytes: Bytes::new(4096),
        spare_bytes: Bytes::new(128),
        pairing: Pairing::Distance6,
    };
    Geometry::new(Some(slc), Some(mlc)).expect("the paper's device")
}

/// The tags of one region, page after page, and how far each block is programmed.
struct Tags<const BYTES: usize> {
    pages: usize,
    kept: Vec<[u8; BYTES]>,
    programmed: Vec<u16>,
}

impl<const BYTES: usize> Tags<BYTES> {
    fn new(shape: &RegionGeometry) -> Self {
        Self {
            pages: shape.pages_per_block.as_usize(),
            kept: vec![[0; BYTES]; shape.pages() as usize],
            programmed: vec![0; shape.blocks.as_usize()],
        }
    }

    /// Reads a tag, and tells its first byte: the kind of the page.
    #[inline]
    fn read(&self, page: Page, spare: &mut [u8]) -> u8 {
        let block = page.block().index() as usize;
        let tag = if page.index().get() < self.programmed[block] {
            self.kept[block * self.pages + page.index().as_usize()]
        } else {
            [0xFF; BYTES]
        };
        // A length that the compiler knows keeps the copy out of the C library.
        if let Some(spare) = spare.first_chunk_mut() {
            *spare = tag;
        }
        tag[0]
    }

    #[inline]
    fn program(&mut self, page: Page, spare: &[u8]) {
        let block = page.block().index() as usize;
        self.programmed[block] = page.index().get() + 1;
        if let Some(tag) = spare.first_chunk() {
            self.kept[block * self.pages + page.index().as_usize()] = *tag;
        }
    }
}

/// How often the device was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) reads: u32,
    pub(crate) programs: u32,
    pub(crate) erases: u32,
    /// Pages of the page store's own that the device copied.
    pub(crate) copies: u32,
}

/// The device. Pages read as nothing but their tags, with the exception of what a mount or the log itself reads back:
/// headers and summaries. It checks no promise of the caller's; the chip model in the tests does.
pub(crate) struct Null {
    geometry: Geometry,
    slc: Tags<SLC_TAG>,
    mlc: Tags<MLC_TAG>,
    /// Header or summary of each SLC block.
    payloads: Vec<[u8; PAYLOAD]>,
    pub(crate) asked: Asked,
}

/// One sector a page (docs/FORMAT.md): 12 bytes, and 4 for the sector.
const SLC_TAG: usize = 16;
/// Two sectors a page.
pub(super) const MLC_TAG: usize = 20;
/// A summary of 63 sectors takes 8 bytes and 4 a sector.
const PAYLOAD: usize = 512;
/// First bytes of the tags of those pages whose content is kept: header and summary.
const KEPT: [u8; 2] = [0x0F, 0x3C];

impl Null {
    /// The whole C3.
    pub(crate) fn c3() -> Self {
        Self::new(c3(2048, 43_008))
    }

    /// A sixteenth of it, small enough to be filled under an emulator.
    pub(crate) fn sixteenth() -> Self {
        Self::new(c3(128, 2688))
    }

    fn new(geometry: Geometry) -> Self {
        let (Some(slc), Some(mlc)) = (geometry.slc(), geometry.mlc()) else {
            unreachable!("C3 has both regions")
        };
        Self {
            slc: Tags::new(slc),
            mlc: Tags::new(mlc),
            payloads: vec![[0xFF; PAYLOAD]; slc.blocks.as_usize()],
            geometry,
            asked: Asked::default(),
        }
    }
}

// A driver lies behind a call, too, and the call separates the FTL's instructions from the device's.
impl NandDevice for Null {
    type Error = Infallible;

    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    #[inline(never)]
    fn read(
        &mut self,
        page: Page,
        _: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Infallible>> {
        self.asked.reads += 1;
        match page.region() {
            Region::Mlc => {
                self.mlc.read(page, spare);
            }
            Region::Slc => {
                let kind = self.slc.read(page, spare);
                if KEPT.contains(&kind) && data.len() >= PAYLOAD {
                    data[..PAYLOAD].copy_from_slice(&self.payloads[page.block().index() as usize]);
                }
            }
        }
        Ok(Corrected::NONE)
    }

    #[inline(never)]
    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Infallible>> {
        self.asked.programs += 1;
        match page.region() {
            Region::Mlc => self.mlc.program(page, spare),
            Region::Slc => {
                self.slc.program(page, spare);
                if KEPT.contains(&spare[0]) {
                    self.payloads[page.block().index() as usize].copy_from_slice(&data[..PAYLOAD]);
                }
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn erase(&mut self, block: Block) -> Result<(), EraseError<Infallible>> {
        self.asked.erases += 1;
        let programmed = match block.region() {
            Region::Slc => &mut self.slc.programmed,
            Region::Mlc => &mut self.mlc.programmed,
        };
        programmed[block.index() as usize] = 0;
        Ok(())
    }

    fn is_bad(&mut self, _: Block) -> Result<bool, Infallible> {
        Ok(false)
    }

    fn mark_bad(&mut self, _: Block) -> Result<(), MarkError<Infallible>> {
        Ok(())
    }
}

/// Pages of the first few blocks, in the order in which blocks are filled.
fn pages(calls: u32) -> Vec<Page> {
    let page = |at: u32| Block::new(Region::Mlc, at / 128).page(PageIndex::new(at as u16 % 128));
    (0..calls).map(page).collect()
}

/// Calls a device directly, with tags of that kind: its own cost.
fn on_device<D: NandDevice>(
    device: &mut D,
    kind: u8,
    measure: Measure<'_>,
    mut call: impl FnMut(&mut D, Page, &mut [u8; MLC_TAG]),
) {
    let pages = pages(DEVICE_CALLS);
    let mut tag = [kind; MLC_TAG];
    measure(&mut || {
        for page in &pages {
            call(device, *page, &mut tag);
        }
    });
}

/// Reads of tags.
pub(super) fn reads_of(device: &mut impl NandDevice, kind: u8, measure: Measure<'_>) {
    on_device(device, kind, measure, |device, page, tag| {
        let _ = black_box(device.read(page, Bytes::new(0), &mut [], tag));
    });
}

/// Programs of tags.
pub(super) fn programs_of(device: &mut impl NandDevice, kind: u8, measure: Measure<'_>) {
    on_device(device, kind, measure, |device, page, tag| {
        let _ = black_box(device.program(page, &[], tag));
    });
}

/// Erases, one a page.
pub(super) fn erases_of(device: &mut impl NandDevice, kind: u8, measure: Measure<'_>) {
    on_device(device, kind, measure, |device, page, _| {
        let _ = black_box(device.erase(page.block()));
    });
}

pub(super) fn reads(device: &mut Null, measure: Measure<'_>) {
    device.asked = Asked::default();
    reads_of(device, 0, measure);
}

pub(super) fn programs(device: &mut Null, measure: Measure<'_>) {
    device.asked = Asked::default();
    programs_of(device, 0, measure);
}

pub(super) fn erases(device: &mut Null, measure: Measure<'_>) {
    device.asked = Asked::default();
    erases_of(device, 0, measure);
}
