//! The driver of `ftl-spi-nand` as a table of C functions over the judge's bus, with a mistake in it.

use std::ffi::c_void;
use std::ptr;

use embedded_hal::spi::{ErrorKind, ErrorType, Operation, SpiDevice};
use ftl_c::{NAND_FAILED, NAND_UNCORRECTABLE, Nand, PageProgram, PageRead};
use ftl_iface::{
    Block, Bytes, EraseError, MarkError, NandDevice, Page, PageIndex, ProgramError, ReadError,
    Region,
};
use ftl_judge::*;
use ftl_spi_nand::wire::Command;
use ftl_spi_nand::{SpiNand, parts};

/// The judge's bus for the driver of `ftl-spi-nand`.
pub(crate) struct Bus {
    pub(crate) judge: *mut Judge,
    pub(crate) flaw: Option<Flaw>,
}

#[derive(Debug)]
pub(crate) struct Failed;

impl embedded_hal::spi::Error for Failed {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

impl ErrorType for Bus {
    type Error = Failed;
}

impl SpiDevice for Bus {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Failed> {
        let (mut out, mut wanted) = (Vec::new(), 0);
        for operation in operations.iter() {
            match operation {
                Operation::Write(bytes) => out.extend_from_slice(bytes),
                Operation::Read(bytes) => wanted += bytes.len(),
                _ => panic!("the driver only writes and reads"),
            }
        }
        let mut answers = vec![0; wanted];
        let failed = self.send(&mut out, &mut answers);
        let mut rest = &answers[..];
        for operation in operations {
            if let Operation::Read(bytes) = operation {
                let (now, later) = rest.split_at(bytes.len());
                bytes.copy_from_slice(now);
                rest = later;
            }
        }
        if failed { Err(Failed) } else { Ok(()) }
    }
}

impl Bus {
    fn send(&self, out: &mut [u8], answers: &mut [u8]) -> bool {
        let is = |command: Command| out[0] == command.code();
        let skipped = match self.flaw {
            Some(Flaw::NeverEnables) => is(Command::WriteEnable),
            _ => false,
        };
        if skipped {
            return false;
        }
        if self.flaw == Some(Flaw::ErasesTheNextBlock) && is(Command::BlockErase) {
            out[3] ^= 64;
        }
        let what = JudgeTransfer {
            head: out.as_ptr().cast(),
            head_bytes: out.len(),
            out: ptr::null(),
            out_bytes: 0,
            into: answers.as_mut_ptr().cast(),
            into_bytes: answers.len(),
        };
        // SAFETY: the judge of this test, and as many bytes as are told.
        let outcome = unsafe { tandem_judge_transfer(self.judge, &raw const what) };
        // The status of whatever was just done.
        if let (Some(flaw), [0x0F, 0xC0], [status]) = (self.flaw, &*out, &mut *answers) {
            *status &= match flaw {
                Flaw::ProgramFailuresMissed => !8,
                Flaw::EraseFailuresMissed => !4,
                Flaw::StatusIgnored => !0x30,
                _ => 0xFF,
            };
        }
        outcome != 0 && self.flaw != Some(Flaw::BusFailuresMissed)
    }
}

/// A mistake of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    DoesNotStart,
    HalfTheChip,
    NeverEnables,
    ErasesTheNextBlock,
    StatusIgnored,
    TooManyBits,
    ErasedFlipsUncorrectable,
    FailsForNothing,
    ProgramFailuresMissed,
    EraseFailuresMissed,
    MarkFailuresMissed,
    MarksNotSeen,
    BusFailuresMissed,
    ReturnsNonsense,
}

/// The driver's context.
pub(crate) struct Driver {
    pub(crate) judge: *mut Judge,
    pub(crate) flaw: Option<Flaw>,
    pub(crate) nand: Option<SpiNand<'static, Bus>>,
    pub(crate) operations: u32,
}

pub(crate) static PARTS: [ftl_spi_nand::Part; 6] = parts::ALL;

pub(crate) unsafe fn driver<'a>(context: *mut c_void) -> &'a mut Driver {
    // SAFETY: every context is a driver of this test.
    unsafe { &mut *context.cast() }
}

pub(crate) fn nand(driver: &mut Driver) -> &mut SpiNand<'static, Bus> {
    driver.nand.as_mut().expect("started")
}

pub(crate) fn page(block: u32, page: u32) -> Page {
    Block::new(Region::Slc, block).page(PageIndex::new(page as u16))
}

unsafe extern "C" fn read(context: *mut c_void, what: *const PageRead) -> i32 {
    // SAFETY: what the judge promises.
    let (driver, what) = unsafe { (driver(context), &*what) };
    let (mut data, mut spare) =
        (vec![0; what.data_bytes as usize], vec![0; what.spare_bytes as usize]);
    let flaw = driver.flaw;
    let place = page(what.block, what.page);
    let outcome = nand(driver).read(place, Bytes::new(what.at), &mut data, &mut spare);
    let code = match outcome {
        Ok(bits) if flaw == Some(Flaw::TooManyBits) => i32::from(bits.get()) * 9,
        // The driver below took such a page for an erased one.
        Ok(bits)
            if bits.get() > 0
                && data.iter().all(|byte| *byte == 0xFF)
                && flaw == Some(Flaw::ErasedFlipsUncorrectable) =>
        {
            NAND_UNCORRECTABLE
        }
        Ok(bits) => bits.get().into(),
        Err(ReadError::Uncorrectable) => NAND_UNCORRECTABLE,
        Err(ReadError::Driver(_)) => -5,
    };
    // SAFETY: so many bytes are there.
    unsafe {
        ptr::copy_nonoverlapping(data.as_ptr(), what.data.cast(), data.len());
        ptr::copy_nonoverlapping(spare.as_ptr(), what.spare.cast(), spare.len());
    }
    code
}

unsafe extern "C" fn program(context: *mut c_void, what: *const PageProgram) -> i32 {
    // SAFETY: what the judge promises.
    let (driver, what) = unsafe { (driver(context), &*what) };
    driver.operations += 1;
    match driver.flaw {
        Some(Flaw::FailsForNothing) if driver.operations == 100 => return NAND_FAILED,
        Some(Flaw::ReturnsNonsense) if driver.operations == 100 => return 7,
        _ => {}
    }
    let slc = *nand(driver).geometry().slc().expect("a region");
    // SAFETY: a page and its spare bytes are there.
    let (data, spare) = unsafe {
        (
            std::slice::from_raw_parts(what.data.cast::<u8>(), slc.page_bytes.as_usize()),
            std::slice::from_raw_parts(what.spare.cast::<u8>(), slc.spare_bytes.as_usize()),
        )
    };
    match nand(driver).program(page(what.block, what.page), data, spare) {
        Ok(()) => 0,
        Err(ProgramError::Failed) => NAND_FAILED,
        Err(ProgramError::Driver(_)) => -5,
    }
}

unsafe extern "C" fn erase(context: *mut c_void, block: u32) -> i32 {
    // SAFETY: as in `read`.
    let driver = unsafe { driver(context) };
    match nand(driver).erase(Block::new(Region::Slc, block)) {
        Ok(()) => 0,
        Err(EraseError::Failed) => NAND_FAILED,
        Err(EraseError::Driver(_)) => -5,
    }
}

unsafe extern "C" fn is_bad(context: *mut c_void, block: u32) -> i32 {
    // SAFETY: as in `read`.
    let driver = unsafe { driver(context) };
    let outcome = nand(driver).is_bad(Block::new(Region::Slc, block));
    // It knows its own marks only: the factory's here is that of block 11.
    let missed = driver.flaw == Some(Flaw::MarksNotSeen) && block == 11;
    outcome.map_or(-5, |bad| i32::from(bad && !missed))
}

unsafe extern "C" fn mark_bad(context: *mut c_void, block: u32) -> i32 {
    // SAFETY: as in `read`.
    let driver = unsafe { driver(context) };
    let flaw = driver.flaw;
    match nand(driver).mark_bad(Block::new(Region::Slc, block)) {
        Err(MarkError::Failed) if flaw == Some(Flaw::MarkFailuresMissed) => 0,
        Ok(()) => 0,
        Err(MarkError::Failed) => NAND_FAILED,
        Err(MarkError::Driver(_)) => -5,
    }
}

pub(crate) unsafe extern "C" fn start(context: *mut c_void, table: *mut Nand) -> i32 {
    // SAFETY: as in `read`.
    let driver = unsafe { driver(context) };
    let bus = Bus { judge: driver.judge, flaw: driver.flaw };
    let Ok(made) = SpiNand::new(bus, &PARTS) else { return -19 };
    if driver.flaw == Some(Flaw::DoesNotStart) {
        return -1;
    }
    let slc = *made.geometry().slc().expect("a region");
    driver.nand = Some(made);
    let half = driver.flaw == Some(Flaw::HalfTheChip);
    // SAFETY: where the judge wants it; it is all zeros, which is a table.
    let nand = unsafe { &mut *table };
    nand.context = context;
    nand.read = Some(read);
    nand.program = Some(program);
    nand.erase = Some(erase);
    nand.is_bad = Some(is_bad);
    nand.mark_bad = Some(mark_bad);
    nand.geometry.slc = ftl_c::Region {
        blocks: slc.blocks.get() >> u32::from(half),
        pages_per_block: slc.pages_per_block.get(),
        page_bytes: slc.page_bytes.get(),
        spare_bytes: slc.spare_bytes.get(),
        cell_bits: 1,
        pairing: 0,
    };
    0
}
