//! The chip as a table of C functions, and as the `NandDevice` that the FTL asks for.

use core::ffi::c_void;
use core::ptr;

use ftl_iface::{
    Block, BlockCount, Bytes, Cell, Corrected, EraseError, GeometryError, MarkError, NandDevice,
    Page, PageCount, Pairing, ProgramError, ReadError, RegionGeometry,
};

use crate::error::Error;
use crate::told::Fault;

/// What `read` returns for a page with more wrong bits than its error correction corrects.
pub const NAND_UNCORRECTABLE: i32 = -30001;

/// What `program`, `erase` and `mark_bad` return if the chip says that it failed. The FTL then does without the block.
pub const NAND_FAILED: i32 = -30002;

/// Which pages of a block share cells (`tandem_region_t.pairing`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Pages {
    /// None: one bit per cell.
    Unpaired = 0,
    /// Two bits: (0,1), (2,3), …
    Adjacent2 = 1,
    /// Three bits: (0,1,2), (3,4,5), …
    Adjacent3 = 2,
    /// Two bits: (0,2), (1,4), (3,6), …
    Distance3 = 3,
    /// Two bits: (0,4), (1,5), (2,8), (3,9), …
    Distance6 = 4,
}

/// The shape of one region of the chip. A region without blocks is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Region {
    /// Blocks, bad ones included.
    pub blocks: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Data bytes of a page: a power of two from 512.
    pub page_bytes: u32,
    /// Spare bytes of a page that are free and corrected: 12, and 4 for each sector of a page.
    pub spare_bytes: u32,
    /// Bits of a cell: 1, 2 or 3.
    pub cell_bits: u32,
    /// Which pages share cells, one of `TANDEM_PAGES_…`.
    pub pairing: u32,
}

/// The shape of the chip: a region of one bit per cell, one of more, or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Geometry {
    /// One bit per cell. An SLC chip has this region alone.
    pub slc: Region,
    /// Two or three bits per cell. Its blocks are numbered after those of `slc`.
    pub mlc: Region,
}

/// A page to be read, or a part of it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PageRead {
    /// The block.
    pub block: u32,
    /// The page in it.
    pub page: u32,
    /// The first data byte that is wanted.
    pub at: u32,
    /// How many are; 0 if only spare bytes are wanted.
    pub data_bytes: u32,
    /// Where to put them.
    pub data: *mut c_void,
    /// How many spare bytes are wanted, from the first one on; 0 if none are.
    pub spare_bytes: u32,
    /// Where to put them.
    pub spare: *mut c_void,
}

/// A page to be programmed, data and spare bytes in one operation.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PageProgram {
    /// The block.
    pub block: u32,
    /// The page in it.
    pub page: u32,
    /// Data: all `page_bytes` of the geometry.
    pub data: *const c_void,
    /// Spare bytes: all `spare_bytes` of the geometry.
    pub spare: *const c_void,
}

/// The driver: its functions, and the shape of its chip. The structure is copied; what it leads to must stay.
///
/// What the functions promise stands in `docs/PORTING.md` under "The driver". In short: error correction happens
/// below them; a page that was not programmed since its block's erase reads as 0xFF; a function returns when the
/// operation is done. Whatever else a function returns than what is said here counts as a failure of the driver: the
/// call then returns `TANDEM_E_DRIVER` and the device is to be mounted again.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Nand {
    /// Passed to every function.
    pub context: *mut c_void,
    /// Reads. Returns the most bits that were corrected in a codeword, 0 if unknown, or `TANDEM_NAND_UNCORRECTABLE`.
    pub read: Option<unsafe extern "C" fn(context: *mut c_void, what: *const PageRead) -> i32>,
    /// Programs. Returns 0, or `TANDEM_NAND_FAILED`.
    pub program:
        Option<unsafe extern "C" fn(context: *mut c_void, what: *const PageProgram) -> i32>,
    /// Erases a block. Returns 0, or `TANDEM_NAND_FAILED`.
    pub erase: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> i32>,
    /// Returns 1 if the block is marked bad, 0 if it is not.
    pub is_bad: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> i32>,
    /// Marks a block bad, for good. Returns 0, or `TANDEM_NAND_FAILED`.
    pub mark_bad: Option<unsafe extern "C" fn(context: *mut c_void, block: u32) -> i32>,
    /// The shape of the chip.
    pub geometry: Geometry,
    /// A buffer of the driver's, through which then all data passes: for a DMA controller that reaches only some
    /// memory, or needs alignment. Data begins at its start, spare bytes at `page_bytes`. Null: the functions get
    /// pointers into the RAM of the device and into the caller's data, which may lie anywhere.
    pub buffer: *mut c_void,
    /// Its size: at least the largest page with its spare bytes.
    pub buffer_bytes: usize,
}

const fn cell(bits: u32) -> Option<Cell> {
    match bits {
        1 => Some(Cell::Slc),
        2 => Some(Cell::Mlc),
        3 => Some(Cell::Tlc),
        _ => None,
    }
}

const fn pairing(number: u32) -> Option<Pairing> {
    const UNPAIRED: u32 = Pages::Unpaired as u32;
    const ADJACENT_2: u32 = Pages::Adjacent2 as u32;
    const ADJACENT_3: u32 = Pages::Adjacent3 as u32;
    const DISTANCE_3: u32 = Pages::Distance3 as u32;
    const DISTANCE_6: u32 = Pages::Distance6 as u32;
    match number {
        UNPAIRED => Some(Pairing::None),
        ADJACENT_2 => Some(Pairing::Adjacent2),
        ADJACENT_3 => Some(Pairing::Adjacent3),
        DISTANCE_3 => Some(Pairing::Distance3),
        DISTANCE_6 => Some(Pairing::Distance6),
        _ => None,
    }
}

impl Region {
    /// A region of one bit per cell, unchecked, for a `const`.
    pub(crate) const fn plain(&self) -> RegionGeometry {
        RegionGeometry {
            cell: Cell::Slc,
            blocks: BlockCount::new(self.blocks),
            pages_per_block: PageCount::new(self.pages_per_block),
            page_bytes: Bytes::new(self.page_bytes),
            spare_bytes: Bytes::new(self.spare_bytes),
            pairing: Pairing::None,
        }
    }

    fn checked(&self) -> Result<Option<RegionGeometry>, Fault> {
        if self.blocks == 0 {
            return Ok(None);
        }
        let cell = cell(self.cell_bits).ok_or(Fault::saying(Error::Geometry, c"cell_bits"))?;
        let pairing = pairing(self.pairing).ok_or(Fault::saying(Error::Geometry, c"pairing"))?;
        Ok(Some(RegionGeometry { cell, pairing, ..self.plain() }))
    }
}

impl Geometry {
    /// As the FTL knows it.
    pub(crate) fn checked(&self) -> Result<ftl_iface::Geometry, Fault> {
        let (slc, mlc) = (self.slc.checked()?, self.mlc.checked()?);
        if self.slc.blocks.checked_add(self.mlc.blocks).is_none() {
            return Err(Fault::saying(Error::Geometry, c"blocks"));
        }
        ftl_iface::Geometry::new(slc, mlc).map_err(|error| {
            let what = match error {
                GeometryError::NoRegion | GeometryError::NoBlocks(_) => c"blocks",
                GeometryError::PagesPerBlock(..) | GeometryError::TooManyPages(_) => {
                    c"pages_per_block"
                }
                GeometryError::PageBytes(..) => c"page_bytes",
                GeometryError::SpareBytes(..) => c"spare_bytes",
                GeometryError::Pairing(..) => c"pairing",
                _ => c"cell_bits",
            };
            Fault::saying(Error::Geometry, what)
        })
    }

    /// Bytes of the largest page with its spare bytes.
    const fn most_bytes(&self) -> u64 {
        let slc = self.slc.page_bytes as u64 + self.slc.spare_bytes as u64;
        let mlc = self.mlc.page_bytes as u64 + self.mlc.spare_bytes as u64;
        if slc > mlc { slc } else { mlc }
    }
}

/// The functions, none of which is missing.
#[derive(Clone, Copy, Debug)]
struct Functions {
    read: unsafe extern "C" fn(*mut c_void, *const PageRead) -> i32,
    program: unsafe extern "C" fn(*mut c_void, *const PageProgram) -> i32,
    erase: unsafe extern "C" fn(*mut c_void, u32) -> i32,
    is_bad: unsafe extern "C" fn(*mut c_void, u32) -> i32,
    mark_bad: unsafe extern "C" fn(*mut c_void, u32) -> i32,
}

/// A stretch of memory that belongs to somebody.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub(crate) at: *mut u8,
    pub(crate) bytes: usize,
}

impl Stretch {
    /// The structure that a pointer leads to.
    pub(crate) const fn of<T>(place: *mut T) -> Self {
        Self { at: place.cast(), bytes: size_of::<T>() }
    }

    /// Whether they have a byte in common, or one of them does not end within the address space.
    pub(crate) fn meets(self, other: Self) -> bool {
        let ends = [self, other].map(|stretch| stretch.at.addr().checked_add(stretch.bytes));
        let [Some(end), Some(other_end)] = ends else { return true };
        let empty = self.bytes == 0 || other.bytes == 0;
        !empty && self.at.addr() < other_end && other.at.addr() < end
    }
}

/// A driver in C as a `NandDevice`.
#[derive(Debug)]
pub struct Chip {
    context: *mut c_void,
    functions: Functions,
    geometry: ftl_iface::Geometry,
    /// How many blocks are numbered before those of the second region.
    slc_blocks: u32,
    /// The driver's own buffer, if there is one.
    buffer: Option<*mut u8>,
}

impl Chip {
    /// The driver that a table describes, for a host that tests it.
    ///
    /// # Safety
    ///
    /// The functions do what the header says, and what the table leads to stays.
    pub unsafe fn of_table(nand: &Nand) -> Result<Self, Error> {
        Self::new(nand).map_err(|fault| fault.error)
    }

    /// The driver that a table describes.
    pub(crate) fn new(nand: &Nand) -> Result<Self, Fault> {
        let Nand { read, program, erase, is_bad, mark_bad, .. } = *nand;
        let (Some(read), Some(program), Some(erase), Some(is_bad), Some(mark_bad)) =
            (read, program, erase, is_bad, mark_bad)
        else {
            return Err(Fault::saying(Error::Null, c"a function of the driver"));
        };
        let geometry = nand.geometry.checked()?;
        let buffer = (!nand.buffer.is_null()).then_some(nand.buffer.cast());
        if buffer.is_some() && (nand.buffer_bytes as u64) < nand.geometry.most_bytes() {
            let needed = nand.geometry.most_bytes() as u32;
            return Err(Fault::saying(Error::Value, c"buffer_bytes").and_number(needed));
        }
        Ok(Self {
            context: nand.context,
            functions: Functions { read, program, erase, is_bad, mark_bad },
            geometry,
            slc_blocks: nand.geometry.slc.blocks,
            buffer,
        })
    }

    fn number(&self, block: Block) -> u32 {
        match block.region() {
            ftl_iface::Region::Slc => block.index(),
            ftl_iface::Region::Mlc => self.slc_blocks.wrapping_add(block.index()),
        }
    }

    fn page_bytes(&self, page: Page) -> usize {
        self.geometry.region(page.region()).map_or(0, |region| region.page_bytes.as_usize())
    }

    /// Where the driver is to put what it reads, or finds what it programs: the data, and the spare bytes.
    fn places(&self, page: Page, own: [*mut u8; 2]) -> [*mut u8; 2] {
        match self.buffer {
            // Within the buffer, whose size was checked.
            Some(buffer) => [buffer, buffer.wrapping_add(self.page_bytes(page))],
            None => own,
        }
    }
}

/// A pointer to a slice, as C likes it: null if there is nothing.
fn pointer(slice: &mut [u8]) -> *mut u8 {
    if slice.is_empty() { ptr::null_mut() } else { slice.as_mut_ptr() }
}

/// What a function says that returns 0, a failure, or something else.
enum Said {
    Done,
    Failed,
    Driver(i32),
}

const fn said(code: i32) -> Said {
    match code {
        0 => Said::Done,
        NAND_FAILED => Said::Failed,
        code => Said::Driver(code),
    }
}

impl NandDevice for Chip {
    type Error = i32;

    fn geometry(&self) -> &ftl_iface::Geometry {
        &self.geometry
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<i32>> {
        let own = [pointer(data), pointer(spare)];
        let [to_data, to_spare] = self.places(page, own);
        let what = PageRead {
            block: self.number(page.block()),
            page: page.index().get().into(),
            at: at.get(),
            data_bytes: data.len() as u32,
            data: if data.is_empty() { ptr::null_mut() } else { to_data.cast() },
            spare_bytes: spare.len() as u32,
            spare: if spare.is_empty() { ptr::null_mut() } else { to_spare.cast() },
        };
        // SAFETY: the driver's own function with its own context; the pointers lead to as many bytes as it is told,
        // which nobody else uses during the call.
        let code = unsafe { (self.functions.read)(self.context, &raw const what) };
        if self.buffer.is_some() {
            // SAFETY: the driver's buffer holds a page and its spare bytes, and the data is no longer than these. It
            // does not meet the device's RAM nor the caller's data: both were compared with it.
            unsafe {
                ptr::copy_nonoverlapping(to_data, data.as_mut_ptr(), data.len());
                ptr::copy_nonoverlapping(to_spare, spare.as_mut_ptr(), spare.len());
            }
        }
        match code {
            NAND_UNCORRECTABLE => Err(ReadError::Uncorrectable),
            code => match u16::try_from(code) {
                Ok(bits) => Ok(Corrected::bits(bits)),
                Err(_) => Err(ReadError::Driver(code)),
            },
        }
    }

    fn program(&mut self, page: Page, data: &[u8], spare: &[u8]) -> Result<(), ProgramError<i32>> {
        let own = [data.as_ptr().cast_mut(), spare.as_ptr().cast_mut()];
        let [from_data, from_spare] = self.places(page, own);
        if self.buffer.is_some() {
            // SAFETY: as in `read`, the other way.
            unsafe {
                ptr::copy_nonoverlapping(data.as_ptr(), from_data, data.len());
                ptr::copy_nonoverlapping(spare.as_ptr(), from_spare, spare.len());
            }
        }
        let what = PageProgram {
            block: self.number(page.block()),
            page: page.index().get().into(),
            data: from_data.cast_const().cast(),
            spare: from_spare.cast_const().cast(),
        };
        // SAFETY: as in `read`; the function gets pointers to constants, and only reads through them.
        let code = unsafe { (self.functions.program)(self.context, &raw const what) };
        match said(code) {
            Said::Done => Ok(()),
            Said::Failed => Err(ProgramError::Failed),
            Said::Driver(code) => Err(ProgramError::Driver(code)),
        }
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<i32>> {
        // SAFETY: the driver's own function with its own context.
        match said(unsafe { (self.functions.erase)(self.context, self.number(block)) }) {
            Said::Done => Ok(()),
            Said::Failed => Err(EraseError::Failed),
            Said::Driver(code) => Err(EraseError::Driver(code)),
        }
    }

    fn is_bad(&mut self, block: Block) -> Result<bool, i32> {
        // SAFETY: the driver's own function with its own context.
        match unsafe { (self.functions.is_bad)(self.context, self.number(block)) } {
            0 => Ok(false),
            1 => Ok(true),
            code => Err(code),
        }
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<i32>> {
        // SAFETY: the driver's own function with its own context.
        match said(unsafe { (self.functions.mark_bad)(self.context, self.number(block)) }) {
            Said::Done => Ok(()),
            Said::Failed => Err(MarkError::Failed),
            Said::Driver(code) => Err(MarkError::Driver(code)),
        }
    }
}
