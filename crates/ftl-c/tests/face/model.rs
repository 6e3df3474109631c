//! A chip of `nand-model` behind the table of functions, as a driver in C has one. Its power can be cut.

use std::ffi::c_void;
use std::slice;

use ftl_c::{
    Geometry, NAND_FAILED, NAND_UNCORRECTABLE, Nand, PageProgram, PageRead, Pages, Region,
};
use ftl_iface::{
    Block, BlockCount, Bytes, Cell, EraseError, MarkError, NandDevice, Page, PageCount, PageIndex,
    Pairing, ProgramError, ReadError, RegionGeometry,
};
use nand_model::faults::FaultInjector;
use nand_model::power::{Cut, PowerCut, Tear};
use nand_model::{Chip, Content, datasheet};

/// What the functions return when power is off.
pub(crate) const NO_POWER: i32 = -5;

type Device = PowerCut<FaultInjector<Chip>>;

/// The chip, and how its power is.
pub(crate) struct Model {
    device: Option<Device>,
    geometry: ftl_iface::Geometry,
    /// How many calls returned what no driver may: the next ones return this instead of what is right.
    nonsense: Option<i32>,
}

impl Model {
    /// A chip of two regions and a few blocks.
    pub(crate) fn tiny() -> Self {
        let part = datasheet::builtin("tiny").expect("the device");
        Self::of(&part)
    }

    /// An SLC chip of so many blocks of 16 pages of 512 bytes.
    pub(crate) fn slc(blocks: u32) -> Self {
        Self::slc_of(blocks, 16)
    }

    /// The same with so many pages in a block.
    pub(crate) fn slc_of(blocks: u32, pages: u32) -> Self {
        let mut part = datasheet::builtin("spi-nand-1g").expect("the device");
        let shape = RegionGeometry {
            cell: Cell::Slc,
            blocks: BlockCount::new(blocks),
            pages_per_block: PageCount::new(pages),
            page_bytes: Bytes::new(512),
            spare_bytes: Bytes::new(16),
            pairing: Pairing::None,
        };
        part.geometry = ftl_iface::Geometry::new(Some(shape), None).expect("a geometry");
        Self::of(&part)
    }

    /// The chip of two regions, of which the first has no spare bytes.
    pub(crate) fn without_spare_bytes() -> Self {
        let mut part = datasheet::builtin("tiny").expect("the device");
        let slc =
            part.geometry.slc().map(|slc| RegionGeometry { spare_bytes: Bytes::ZERO, ..*slc });
        part.geometry =
            ftl_iface::Geometry::new(slc, part.geometry.mlc().copied()).expect("a geometry");
        Self::of(&part)
    }

    fn of(part: &nand_model::part::Part) -> Self {
        let chip = Chip::new(part, Content::Bytes).expect("a chip");
        let device = PowerCut::new(FaultInjector::new(chip, 1), Cut::never());
        Self { device: Some(device), geometry: part.geometry, nonsense: None }
    }

    /// Lets the power fail in the program, erase or mark after so many others.
    pub(crate) fn cut_after(&mut self, operations: u64, seed: u64) {
        self.device().set_cut(Cut::seeded(operations, seed));
    }

    /// Power is lost if it is still on, and is back. Says whether a cut had come.
    pub(crate) fn power_again(&mut self) -> bool {
        let device = self.device.take().expect("a device");
        let cut = !device.is_on();
        let mut inner = device.into_inner();
        if !cut {
            inner.power_off();
        }
        self.device = Some(PowerCut::new(inner, Cut::never()));
        cut
    }

    /// From now on every function returns that number; with `None` what is right.
    pub(crate) fn talk_nonsense(&mut self, number: Option<i32>) {
        self.nonsense = number;
    }

    fn device(&mut self) -> &mut Device {
        self.device.as_mut().expect("a device")
    }

    /// The chip's shape as C has it.
    pub(crate) fn geometry(&self) -> Geometry {
        let region = |region: Option<&RegionGeometry>| {
            region.map_or(Region::default(), |region| Region {
                blocks: region.blocks.get(),
                pages_per_block: region.pages_per_block.get(),
                page_bytes: region.page_bytes.get(),
                spare_bytes: region.spare_bytes.get(),
                cell_bits: region.cell.bits(),
                pairing: match region.pairing {
                    Pairing::Distance3 => Pages::Distance3,
                    _ => Pages::Unpaired,
                } as u32,
            })
        };
        Geometry { slc: region(self.geometry.slc()), mlc: region(self.geometry.mlc()) }
    }

    fn block(&self, number: u32) -> Block {
        let slc = self.geometry.slc().map_or(0, |region| region.blocks.get());
        match number.checked_sub(slc) {
            None => Block::new(ftl_iface::Region::Slc, number),
            Some(number) => Block::new(ftl_iface::Region::Mlc, number),
        }
    }

    fn page(&self, block: u32, page: u32) -> Page {
        self.block(block).page(PageIndex::new(u16::try_from(page).expect("a page")))
    }

    fn shape(&self, page: Page) -> &RegionGeometry {
        self.geometry.region(page.region()).expect("a region")
    }
}

/// The table of the model at that address, which must stay.
pub(crate) fn table(model: *mut Model) -> Nand {
    // SAFETY: the caller's model, which nobody else uses meanwhile.
    let geometry = unsafe { (*model).geometry() };
    Nand {
        context: model.cast(),
        read: Some(read),
        program: Some(program),
        erase: Some(erase),
        is_bad: Some(is_bad),
        mark_bad: Some(mark_bad),
        geometry,
        buffer: std::ptr::null_mut(),
        buffer_bytes: 0,
    }
}

unsafe fn model<'a>(context: *mut c_void) -> &'a mut Model {
    // SAFETY: the context of every table is a model.
    unsafe { &mut *context.cast::<Model>() }
}

unsafe fn bytes_mut<'a>(at: *mut c_void, count: u32) -> &'a mut [u8] {
    if count == 0 {
        return &mut [];
    }
    // SAFETY: the face promises so many bytes there.
    unsafe { slice::from_raw_parts_mut(at.cast(), count as usize) }
}

unsafe extern "C" fn read(context: *mut c_void, what: *const PageRead) -> i32 {
    // SAFETY: what the face promises.
    let (model, what) = unsafe { (model(context), &*what) };
    if let Some(number) = model.nonsense {
        return number;
    }
    let page = model.page(what.block, what.page);
    // SAFETY: as before.
    let (data, spare) =
        unsafe { (bytes_mut(what.data, what.data_bytes), bytes_mut(what.spare, what.spare_bytes)) };
    match model.device().read(page, Bytes::new(what.at), data, spare) {
        Ok(corrected) => corrected.get().into(),
        Err(ReadError::Uncorrectable) => NAND_UNCORRECTABLE,
        Err(ReadError::Driver(_)) => NO_POWER,
    }
}

unsafe extern "C" fn program(context: *mut c_void, what: *const PageProgram) -> i32 {
    // SAFETY: what the face promises.
    let (model, what) = unsafe { (model(context), &*what) };
    if let Some(number) = model.nonsense {
        return number;
    }
    let page = model.page(what.block, what.page);
    let shape = model.shape(page);
    let (data, spare) = (shape.page_bytes.as_usize(), shape.spare_bytes.as_usize());
    // SAFETY: the face promises a whole page and a whole spare area.
    let (data, spare) = unsafe {
        (
            slice::from_raw_parts(what.data.cast::<u8>(), data),
            slice::from_raw_parts(what.spare.cast::<u8>(), spare),
        )
    };
    match model.device().program(page, data, spare) {
        Ok(()) => 0,
        Err(ProgramError::Failed) => NAND_FAILED,
        Err(ProgramError::Driver(_)) => NO_POWER,
    }
}

unsafe extern "C" fn erase(context: *mut c_void, block: u32) -> i32 {
    // SAFETY: as in `read`.
    let model = unsafe { model(context) };
    if let Some(number) = model.nonsense {
        return number;
    }
    let block = model.block(block);
    match model.device().erase(block) {
        Ok(()) => 0,
        Err(EraseError::Failed) => NAND_FAILED,
        Err(EraseError::Driver(_)) => NO_POWER,
    }
}

unsafe extern "C" fn is_bad(context: *mut c_void, block: u32) -> i32 {
    // SAFETY: as in `read`.
    let model = unsafe { model(context) };
    if let Some(number) = model.nonsense {
        return number;
    }
    let block = model.block(block);
    model.device().is_bad(block).map_or(NO_POWER, i32::from)
}

unsafe extern "C" fn mark_bad(context: *mut c_void, block: u32) -> i32 {
    // SAFETY: as in `read`.
    let model = unsafe { model(context) };
    if let Some(number) = model.nonsense {
        return number;
    }
    let block = model.block(block);
    match model.device().mark_bad(block) {
        Ok(()) => 0,
        Err(MarkError::Failed) => NAND_FAILED,
        Err(MarkError::Driver(_)) => NO_POWER,
    }
}
