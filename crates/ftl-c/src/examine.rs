//! The examination of a driver on its board: what `ftl-conformance` sees, in structures of C's.

use core::ffi::{CStr, c_char, c_void};
use core::{ptr, slice};

use ftl_conformance::power::InFlight;
use ftl_conformance::{Breach, Clause as Promise, Examiner, Location, Observed, Stopped};
use ftl_iface::{Block, Page, Region};

use crate::device::RAM_ALIGN;
use crate::error::{EXAMINED_BLOCK_FAILED, EXAMINED_BREACH, Error, OK};
use crate::nand::{Chip, Nand, Stretch};
use crate::start::copied;
use crate::told::Fault;

/// Erases in which power may fail.
const ERASES: u32 = 500;

/// A clause of the contract that drivers keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Clause {
    /// The geometry never changes.
    GeometryStays = 1,
    /// After an erase every byte of the block reads as 0xFF.
    ErasedReadsAsOnes = 2,
    /// A page's data read as they were programmed.
    DataReadBack = 3,
    /// A page's spare bytes read as they were programmed.
    SpareReadsBack = 4,
    /// A part of a page reads as the bytes from `at` on.
    PartsReadAlike = 5,
    /// Without data the spare bytes are read alone, and as many of them as are wanted.
    SpareReadsAlone = 6,
    /// A read changes nothing.
    ReadsChangeNothing = 7,
    /// A program changes its own page alone.
    ProgramsChangeTheirPageAlone = 8,
    /// An erase changes its own block alone.
    ErasesChangeTheirBlockAlone = 9,
    /// Pages may be left out, and read as 0xFF then.
    PagesMayBeLeftOut = 10,
    /// A block that was never marked is not bad.
    UnmarkedIsNotBad = 11,
    /// A block that was marked bad is bad.
    MarkedIsBad = 12,
    /// A mark changes its own block alone.
    MarksChangeTheirBlockAlone = 13,
    /// The pages of a block that is marked bad may be read.
    BadBlocksCanBeRead = 14,
    /// What was programmed or marked survives without power.
    StaysWithoutPower = 15,
    /// A page whose program was cut reads as before, as intended, as uncorrectable or as erased.
    CutProgramLeavesItsPageKnown = 16,
    /// A cut program changes no other page but those that share its cells.
    CutProgramChangesNothingElse = 17,
    /// A cut erase changes no other block.
    CutEraseChangesNothingElse = 18,
}

impl From<Promise> for Clause {
    fn from(promise: Promise) -> Self {
        match promise {
            Promise::GeometryStays => Self::GeometryStays,
            Promise::ErasedReadsAsOnes => Self::ErasedReadsAsOnes,
            Promise::DataReadBack => Self::DataReadBack,
            Promise::SpareReadsBack => Self::SpareReadsBack,
            Promise::PartsReadAlike => Self::PartsReadAlike,
            Promise::SpareReadsAlone => Self::SpareReadsAlone,
            Promise::ReadsChangeNothing => Self::ReadsChangeNothing,
            Promise::ProgramsChangeTheirPageAlone => Self::ProgramsChangeTheirPageAlone,
            Promise::ErasesChangeTheirBlockAlone => Self::ErasesChangeTheirBlockAlone,
            Promise::PagesMayBeLeftOut => Self::PagesMayBeLeftOut,
            Promise::UnmarkedIsNotBad => Self::UnmarkedIsNotBad,
            Promise::MarkedIsBad => Self::MarkedIsBad,
            Promise::MarksChangeTheirBlockAlone => Self::MarksChangeTheirBlockAlone,
            Promise::BadBlocksCanBeRead => Self::BadBlocksCanBeRead,
            Promise::StaysWithoutPower => Self::StaysWithoutPower,
            Promise::CutProgramLeavesItsPageKnown => Self::CutProgramLeavesItsPageKnown,
            Promise::CutProgramChangesNothingElse => Self::CutProgramChangesNothingElse,
            Promise::CutEraseChangesNothingElse => Self::CutEraseChangesNothingElse,
        }
    }
}

/// What is examined. Of the steps around a loss of power, the last needs nothing of those before but the same blocks:
/// take it after the boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Examine {
    /// All that shows while power holds. The blocks are left erased.
    PowerHolds = 0,
    /// What a bad-block mark does. The last block is marked bad for good: once is enough.
    Marks = 1,
    /// Fills the blocks. Switch power off then, and on.
    BeforePowerOff = 2,
    /// Whether all of that is there.
    AfterPowerOff = 3,
    /// Makes the blocks ready. Power must not fail before it returns.
    BeforeProgramsFail = 4,
    /// Programs all blocks but the first. Cut power meanwhile: a hundred blocks take some seconds.
    UntilProgramsFail = 5,
    /// Whether what the cut left is as promised.
    AfterProgramsFailed = 6,
    /// Makes the blocks ready. Power must not fail before it returns.
    BeforeErasesFail = 7,
    /// Erases the last block 500 times. Cut power meanwhile.
    UntilErasesFail = 8,
    /// Whether what the cut left is as promised.
    AfterErasesFailed = 9,
}

impl Examine {
    const ALL: [Self; 10] = [
        Self::PowerHolds,
        Self::Marks,
        Self::BeforePowerOff,
        Self::AfterPowerOff,
        Self::BeforeProgramsFail,
        Self::UntilProgramsFail,
        Self::AfterProgramsFailed,
        Self::BeforeErasesFail,
        Self::UntilErasesFail,
        Self::AfterErasesFailed,
    ];

    fn take(self, examiner: &mut Examiner<'_, Chip>) -> Result<(), Stopped<i32>> {
        match self {
            Self::PowerHolds => examiner.examine(),
            Self::Marks => examiner.examine_marks(),
            Self::BeforePowerOff => examiner.before_power_off(),
            Self::AfterPowerOff => examiner.after_power_off(&[]),
            Self::BeforeProgramsFail => examiner.before_power_fails(InFlight::Programs),
            Self::UntilProgramsFail => examiner.until_power_fails(InFlight::Programs, 0),
            Self::AfterProgramsFailed => examiner.after_power_failed(InFlight::Programs),
            Self::BeforeErasesFail => examiner.before_power_fails(InFlight::Erases),
            Self::UntilErasesFail => examiner.until_power_fails(InFlight::Erases, ERASES),
            Self::AfterErasesFailed => examiner.after_power_failed(InFlight::Erases),
        }
    }
}

/// What is lent to an examination.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Lent {
    /// Blocks that hold nothing of value: at least two, from both ends of the chip, or from each die.
    pub blocks: *const u32,
    /// How many.
    pub count: u32,
    /// Memory, aligned to `TANDEM_RAM_ALIGN`.
    pub memory: *mut c_void,
    /// Its size: the most data bytes and the most spare bytes of a page, and 8 bytes for each block.
    pub memory_bytes: usize,
}

/// What an examination showed.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Shown {
    /// The clause that was broken, one of `TANDEM_CLAUSE_…`; 0 if none was.
    pub clause: i32,
    /// The clause as a sentence, or what is wrong with what was lent. Never null.
    pub sentence: *const c_char,
    /// What was seen. Never null.
    pub seen: *const c_char,
    /// The block at which it was seen, or which failed.
    pub block: u32,
    /// The page in it.
    pub page: u32,
    /// If a byte was wrong: its number in the data or in the spare bytes.
    pub at: u32,
    /// What it should have been.
    pub expected: u32,
    /// What it was.
    pub found: u32,
    /// What the driver's function returned, if it failed.
    pub driver: i32,
}

impl Shown {
    /// Nothing was found.
    pub const NOTHING: Self = Self {
        clause: 0,
        sentence: c"".as_ptr(),
        seen: c"".as_ptr(),
        block: 0,
        page: 0,
        at: 0,
        expected: 0,
        found: 0,
        driver: 0,
    };

    const fn saying(sentence: &'static CStr) -> Self {
        Self { sentence: sentence.as_ptr(), ..Self::NOTHING }
    }
}

/// Blocks of the driver's are numbered through both regions.
struct Numbers {
    slc_blocks: u32,
}

/// What is wrong with the memory, and how much is enough.
const TOO_LITTLE: &CStr =
    c"lend more memory: the most data bytes and spare bytes of a page, and eight for each block";

impl Numbers {
    fn block(&self, number: u32) -> Block {
        match number.checked_sub(self.slc_blocks) {
            None => Block::new(Region::Slc, number),
            Some(number) => Block::new(Region::Mlc, number),
        }
    }

    const fn number(&self, block: Block) -> u32 {
        match block.region() {
            Region::Slc => block.index(),
            Region::Mlc => self.slc_blocks.wrapping_add(block.index()),
        }
    }

    fn at(&self, place: Location, shown: Shown) -> Shown {
        let of_page = |page: Page| (self.number(page.block()), page.index().get().into());
        let (block, page) = match place {
            Location::Page(page) => of_page(page),
            Location::Block(block) => (self.number(block), 0),
            Location::Device => (0, 0),
        };
        Shown { block, page, ..shown }
    }

    fn breach(&self, breach: &Breach) -> Shown {
        let Breach { clause, place, found } = *breach;
        let (seen, [at, expected, found]): (&CStr, [u32; 3]) = match found {
            Observed::DataByte { at, expected, found } => {
                (c"a data byte is wrong", [at, expected.into(), found.into()])
            }
            Observed::SpareByte { at, expected, found } => {
                (c"a spare byte is wrong", [at, expected.into(), found.into()])
            }
            Observed::Uncorrectable => (c"it reads as uncorrectable", [0; 3]),
            Observed::Bad => (c"it is bad", [0; 3]),
            Observed::NotBad => (c"it is not bad", [0; 3]),
            Observed::DriverFailed => (c"the driver failed", [0; 3]),
            Observed::OtherGeometry => (c"it has another geometry", [0; 3]),
        };
        let (sentence, seen) = (clause.sentence_for_c().as_ptr(), seen.as_ptr());
        let clause = Clause::from(clause) as i32;
        self.at(place, Shown { clause, sentence, seen, at, expected, found, ..Shown::NOTHING })
    }

    /// What C gets.
    fn told(&self, outcome: Result<(), Stopped<i32>>) -> (i32, Shown) {
        let wrong = |sentence| (Error::Value.number(), Shown::saying(sentence));
        match outcome {
            Ok(()) => (OK, Shown::NOTHING),
            Err(Stopped::Breach(breach)) => (EXAMINED_BREACH, self.breach(&breach)),
            Err(Stopped::BlockFailed(block)) => {
                (EXAMINED_BLOCK_FAILED, self.at(Location::Block(block), Shown::NOTHING))
            }
            Err(Stopped::Driver { place, error }) => {
                let shown = Shown { driver: error, ..Shown::saying(c"the driver failed") };
                (Error::Driver.number(), self.at(place, shown))
            }
            Err(Stopped::TooFewBlocks { .. }) => wrong(c"lend at least two blocks"),
            Err(Stopped::LentTwice(_)) => wrong(c"a block was lent twice"),
            Err(Stopped::NoSuchBlock(_)) => wrong(c"the chip has no such block"),
            Err(Stopped::TooLittleMemory { .. }) => {
                (Error::RamTooSmall.number(), Shown::saying(TOO_LITTLE))
            }
            Err(_) => wrong(c"the examination stopped"),
        }
    }
}

/// The blocks as Rust has them, written into the memory, and the rest of it.
unsafe fn share<'m>(
    lent: &Lent,
    numbers: &Numbers,
    buffer: Stretch,
) -> Result<(&'m [Block], &'m mut [u8]), Fault> {
    const { assert!(size_of::<Block>() <= 8 && align_of::<Block>() <= 8) };
    if lent.blocks.is_null() || lent.memory.is_null() {
        return Err(Fault::from(Error::Null));
    }
    if !lent.memory.addr().is_multiple_of(RAM_ALIGN) || !lent.blocks.is_aligned() {
        return Err(Fault::from(Error::Misaligned));
    }
    let count = lent.count as usize;
    let memory = Stretch { at: lent.memory.cast(), bytes: lent.memory_bytes };
    let given = Stretch { at: lent.blocks.cast_mut().cast(), bytes: count.saturating_mul(4) };
    if memory.meets(given) || memory.meets(buffer) {
        return Err(Fault::from(Error::Overlap));
    }
    let Some(rest) = lent.memory_bytes.checked_sub(count.saturating_mul(8)) else {
        return Err(Fault::saying(Error::RamTooSmall, TOO_LITTLE));
    };
    let blocks = lent.memory.cast::<Block>();
    for at in 0..count {
        // SAFETY: the caller lends so many numbers, and memory of at least eight bytes for each.
        unsafe { blocks.add(at).write(numbers.block(lent.blocks.add(at).read())) };
    }
    // SAFETY: the blocks were just written. The rest of the memory lies behind them, and nobody else uses it.
    unsafe {
        let behind = lent.memory.cast::<u8>().add(8 * count);
        ptr::write_bytes(behind, 0, rest);
        Ok((slice::from_raw_parts(blocks, count), slice::from_raw_parts_mut(behind, rest)))
    }
}

unsafe fn examined(nand: *const Nand, lent: *const Lent, what: u32) -> Result<(i32, Shown), Fault> {
    // SAFETY: the caller's structures, or null.
    let (nand, lent) = unsafe { (copied(nand)?, copied(lent)?) };
    let Some(what) = Examine::ALL.into_iter().find(|step| *step as u32 == what) else {
        return Err(Fault::from(Error::Value));
    };
    let chip = Chip::new(&nand)?;
    let numbers = Numbers { slc_blocks: nand.geometry.slc.blocks };
    let buffer = Stretch { at: nand.buffer.cast(), bytes: nand.buffer_bytes };
    // SAFETY: as the caller promises.
    let (blocks, memory) = unsafe { share(&lent, &numbers, buffer) }?;
    let outcome = Examiner::new(chip, blocks, memory).and_then(|mut it| what.take(&mut it));
    Ok(numbers.told(outcome))
}

/// Examines a driver on its board, on blocks whose content is lost: one of `TANDEM_EXAMINE_…`. Returns 0 if it keeps
/// the contract as far as this step shows, `TANDEM_EXAMINED_…`, or an error. It needs no mounted device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tandem_examine(
    nand: *const Nand,
    lent: *const Lent,
    what: u32,
    shown: *mut Shown,
) -> i32 {
    if shown.is_null() {
        return Error::Null.number();
    }
    if !shown.is_aligned() {
        return Error::Misaligned.number();
    }
    // SAFETY: as the caller promises.
    let (code, told) = match unsafe { examined(nand, lent, what) } {
        Ok(told) => told,
        Err(fault) => {
            (fault.error.number(), Shown { sentence: fault.detail.what, ..Shown::NOTHING })
        }
    };
    // SAFETY: it is not null and aligned; the caller promises that it leads to a `tandem_shown_t`.
    unsafe { ptr::write(shown, told) };
    code
}
