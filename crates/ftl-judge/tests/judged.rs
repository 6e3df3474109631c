//! The judge as C programs use it: every chip's driver passes, and each mistake is named with its clause and command.

use std::ffi::{CStr, CString, c_void};
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
struct Bus {
    judge: *mut Judge,
    flaw: Option<Flaw>,
}

#[derive(Debug)]
struct Failed;

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
enum Flaw {
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
struct Driver {
    judge: *mut Judge,
    flaw: Option<Flaw>,
    nand: Option<SpiNand<'static, Bus>>,
    operations: u32,
}

static PARTS: [ftl_spi_nand::Part; 6] = parts::ALL;

unsafe fn driver<'a>(context: *mut c_void) -> &'a mut Driver {
    // SAFETY: every context is a driver of this test.
    unsafe { &mut *context.cast() }
}

fn nand(driver: &mut Driver) -> &mut SpiNand<'static, Bus> {
    driver.nand.as_mut().expect("started")
}

fn page(block: u32, page: u32) -> Page {
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

unsafe extern "C" fn start(context: *mut c_void, table: *mut Nand) -> i32 {
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

fn figures(name: &str) -> JudgeChip {
    let (name, mut chip) = (CString::new(name).unwrap(), JudgeChip::default());
    // SAFETY: a text, and a structure.
    assert_eq!(unsafe { tandem_judge_chip(name.as_ptr(), &raw mut chip) }, 0);
    chip
}

/// What the judge says: the breach, if there is one.
fn judged(chip: &JudgeChip, flaw: Option<Flaw>) -> Option<Breach> {
    // SAFETY: a structure.
    let judge = unsafe { tandem_judge_new(chip) };
    assert!(!judge.is_null(), "the figures are sound");
    let mut driver = Driver { judge, flaw, nand: None, operations: 0 };
    let under_test = JudgeDriver { context: (&raw mut driver).cast(), start: Some(start) };
    let mut breach = std::mem::MaybeUninit::<Breach>::uninit();
    // SAFETY: all of it lives until the judge is freed, and the breach is there if it is told.
    unsafe {
        let outcome = tandem_judge_driver(judge, &raw const under_test, breach.as_mut_ptr());
        tandem_judge_free(judge);
        assert!(outcome == 0 || outcome == JUDGE_BREACH, "{outcome}");
        (outcome == JUDGE_BREACH).then(|| breach.assume_init())
    }
}

fn text(breach: &Breach) -> String {
    // SAFETY: a text with a zero at its end.
    unsafe { CStr::from_ptr(breach.text.as_ptr()) }.to_string_lossy().into_owned()
}

#[test]
fn the_driver_of_every_chip_passes() {
    for part in &PARTS {
        let breach = judged(&figures(part.name), None);
        assert!(
            breach.is_none(),
            "{}: {}",
            part.name,
            breach.map(|it| text(&it)).unwrap_or_default()
        );
    }
}

const fn own(clause: JudgeClause) -> (i32, &'static str) {
    (clause as i32, clause.sentence())
}

/// One of the contract's.
const ERASED: (i32, &str) = (
    ftl_c::Clause::ErasedReadsAsOnes as i32,
    ftl_conformance::Clause::ErasedReadsAsOnes.sentence(),
);

/// Each mistake, its clause, and the command at fault, with whether it was missing.
const NAMED: [(Flaw, (i32, &str), Command); 14] = [
    (Flaw::DoesNotStart, own(JudgeClause::SetsUpAGoodChip), Command::GetFeature),
    (Flaw::HalfTheChip, own(JudgeClause::GeometryIsTheChips), Command::GetFeature),
    (Flaw::NeverEnables, own(JudgeClause::CommandsAreTheChips), Command::BlockErase),
    (Flaw::ErasesTheNextBlock, ERASED, Command::BlockErase),
    (Flaw::StatusIgnored, own(JudgeClause::UncorrectableIsTold), Command::GetFeature),
    (Flaw::TooManyBits, own(JudgeClause::CorrectedReadsWell), Command::GetFeature),
    (
        Flaw::ErasedFlipsUncorrectable,
        own(JudgeClause::ErasedWithFlipsReadsAsOnes),
        Command::GetFeature,
    ),
    (Flaw::FailsForNothing, own(JudgeClause::SuccessIsTold), Command::ProgramExecute),
    (Flaw::ProgramFailuresMissed, own(JudgeClause::FailedProgramIsTold), Command::GetFeature),
    (Flaw::EraseFailuresMissed, own(JudgeClause::FailedEraseIsTold), Command::GetFeature),
    (Flaw::MarkFailuresMissed, own(JudgeClause::FailedMarkIsTold), Command::GetFeature),
    (Flaw::MarksNotSeen, own(JudgeClause::FactoryMarkIsSeen), Command::ReadCache),
    (Flaw::BusFailuresMissed, own(JudgeClause::BusFailureIsTold), Command::BlockErase),
    (Flaw::ReturnsNonsense, own(JudgeClause::ReturnsWhatIsListed), Command::ProgramExecute),
];

#[test]
fn each_mistake_is_named_with_its_clause_and_the_command_at_fault() {
    let chip = figures("W25N01GV");
    for (flaw, (clause, sentence), command) in NAMED {
        let breach = judged(&chip, Some(flaw)).unwrap_or_else(|| panic!("{flaw:?} passes"));
        let told = text(&breach);
        assert_eq!(breach.clause, clause, "{flaw:?}: {told}");
        assert_eq!(breach.command, u32::from(command.code()), "{flaw:?}: {told}");
        assert!(told.contains(sentence), "{flaw:?}: {told}");
    }
}

#[test]
fn figures_that_contradict_each_other_are_refused() {
    let good = figures("GD5F1GQ4UE");
    let spoilt: [fn(&mut JudgeChip); 6] = [
        |chip| chip.spare[0].at = 0,
        |chip| chip.id_bytes = 4,
        |chip| chip.blocks = 8,
        |chip| chip.page_bytes = 1000,
        |chip| chip.ecc = [0; 8],
        |chip| chip.configuration = 0x100,
    ];
    for (number, spoil) in spoilt.into_iter().enumerate() {
        let mut chip = good;
        spoil(&mut chip);
        // SAFETY: a structure.
        let judge = unsafe { tandem_judge_new(&raw const chip) };
        assert!(judge.is_null(), "number {number}");
    }
}

#[test]
fn a_chip_of_two_planes_is_judged_as_one() {
    // Its driver does not put the plane into columns: the first odd block is the first breach.
    let chip = JudgeChip { plane_bit: 12, ..figures("W25N01GV") };
    let breach = judged(&chip, None).expect("a breach");
    assert_eq!(breach.clause, JudgeClause::CommandsAreTheChips as i32, "{}", text(&breach));
    assert!(text(&breach).contains("the column is of another plane"), "{}", text(&breach));
}
