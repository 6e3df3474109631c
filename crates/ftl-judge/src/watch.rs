//! The driver under test as a `NandDevice`, watched in each call by what goes over the bus meanwhile.

use std::ffi::c_void;

use ftl_c::{Chip, Nand};
use ftl_iface::{
    Block, Bytes, Corrected, EraseError, Geometry, MarkError, NandDevice, Page, ProgramError,
    ReadError,
};
use ftl_spi_nand::model::Misuse;
use ftl_spi_nand::wire::Command;

use crate::blame::Blame;
use crate::clause::{Clause, JudgeClause};
use crate::judge::Judge;
use crate::log::{Asked, Log};
use crate::sent::Outcome;
use crate::told::Finding;

/// The driver under test.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct JudgeDriver {
    /// Passed to `start`.
    pub context: *mut c_void,
    /// Called whenever power has come on: sets up the chip, and fills in the table, which is all zeros before. Returns
    /// 0, or anything else if it cannot.
    pub start: Option<unsafe extern "C" fn(context: *mut c_void, nand: *mut Nand) -> i32>,
}

/// Why an examination does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// A breach was found, which is kept.
    Breach,
    /// Power failed, as it was to.
    NoPower,
}

/// Where a breach showed, and what was seen there.
pub(crate) struct Evidence {
    pub(crate) block: Option<u32>,
    pub(crate) page: Option<u32>,
    pub(crate) seen: String,
}

impl Evidence {
    pub(crate) fn of_chip(seen: impl Into<String>) -> Self {
        Self { block: None, page: None, seen: seen.into() }
    }

    pub(crate) fn of_block(block: Block, seen: impl Into<String>) -> Self {
        Self { block: Some(block.index()), ..Self::of_chip(seen) }
    }

    pub(crate) fn of_page(page: Page, seen: impl Into<String>) -> Self {
        Self { page: Some(page.index().get().into()), ..Self::of_block(page.block(), seen) }
    }
}

/// The driver, called and watched on the bus.
pub(crate) struct WatchedDriver<'j> {
    pub(crate) judge: &'j Judge,
    start: unsafe extern "C" fn(*mut c_void, *mut Nand) -> i32,
    context: *mut c_void,
    /// The driver's table, once it has started.
    chip: Option<Chip>,
    /// The first breach.
    pub(crate) finding: Option<Finding>,
}

impl<'j> WatchedDriver<'j> {
    /// `None` if the driver has no function.
    pub(crate) fn new(judge: &'j Judge, driver: &JudgeDriver) -> Option<Self> {
        let (start, context) = (driver.start?, driver.context);
        Some(Self { judge, start, context, chip: None, finding: None })
    }

    pub(crate) fn pages_per_block(&self) -> u32 {
        self.judge.chip().pages_per_block
    }

    pub(crate) fn row(&self, page: Page) -> u32 {
        page.block().index() * self.pages_per_block() + u32::from(page.index().get())
    }

    fn begin(&self, asked: Asked, row: u32) {
        self.judge.bus().log.begin(asked, row);
    }

    /// Notes a breach, unless there was one before.
    pub(crate) fn find(
        &mut self,
        clause: impl Into<Clause>,
        evidence: Evidence,
        blame: impl FnOnce(&Log) -> Blame,
    ) -> Ended {
        if self.finding.is_none() {
            let bus = self.judge.bus();
            let (blame, call) = (blame(&bus.log), bus.log.current.clone());
            let Evidence { block, page, seen } = evidence;
            let clause = clause.into();
            self.finding = Some(Finding { clause, block, page, seen, blame, call });
        }
        Ended::Breach
    }

    /// Notes that a block failed for nothing: its cells take everything.
    pub(crate) fn find_failure(&mut self, evidence: impl FnOnce(String) -> Evidence) -> Ended {
        let evidence = evidence("the driver says that it failed".into());
        self.find(JudgeClause::SuccessIsTold, evidence, Log::blame_outcome)
    }

    /// Sees what the call did beside its result. `nonsense` is what it returned, if that is none of what is listed.
    fn end(
        &mut self,
        evidence: impl FnOnce(String) -> Evidence,
        nonsense: Option<i32>,
    ) -> Result<(), Ended> {
        let (refused, dead) = {
            let bus = self.judge.bus();
            let call = &bus.log.current;
            let refused =
                call.with_outcome(|outcome| matches!(outcome, Outcome::Refused(_))).copied();
            (refused, call.with_outcome(|outcome| outcome == Outcome::NoPower).copied())
        };
        if let Some(sent) = refused {
            return Err(self.misused(evidence, Blame::sent(sent)));
        }
        match (dead, nonsense) {
            (Some(_), Some(_)) => Err(Ended::NoPower),
            (Some(sent), None) => {
                let seen = "the driver says that all is well".into();
                Err(self.find(JudgeClause::BusFailureIsTold, evidence(seen), |_| Blame::sent(sent)))
            }
            (None, Some(number)) => {
                let seen = format!("the driver returned {number}");
                Err(self.find(JudgeClause::ReturnsWhatIsListed, evidence(seen), Log::blame_last))
            }
            (None, None) => Ok(()),
        }
    }

    fn misused(&mut self, evidence: impl FnOnce(String) -> Evidence, blame: Blame) -> Ended {
        let without = Outcome::Refused(Misuse::ProgramWithoutCorrection);
        if blame.sent.outcome == without {
            let seen = "a page was programmed while the chip's correction was off".into();
            let clause = JudgeClause::CorrectionIsBelow;
            let off = |log: &Log| log.blame_configuration().unwrap_or(blame);
            return self.find(clause, evidence(seen), off);
        }
        let seen = "the chip did not take a command".into();
        self.find(JudgeClause::CommandsAreTheChips, evidence(seen), |_| blame)
    }

    /// Power comes on: the driver sets up the chip.
    pub(crate) fn start(&mut self) -> Result<(), Ended> {
        self.begin(Asked::Start, 0);
        self.chip = None;
        let mut nand = std::mem::MaybeUninit::<Nand>::zeroed();
        // SAFETY: the caller's function with its own context; zeros are a table without functions.
        let (code, nand) = unsafe {
            let code = (self.start)(self.context, nand.as_mut_ptr());
            (code, nand.assume_init())
        };
        self.end(Evidence::of_chip, None)?;
        if code != 0 {
            let seen = format!("the driver returned {code}");
            return Err(self.find(
                JudgeClause::SetsUpAGoodChip,
                Evidence::of_chip(seen),
                blame_start,
            ));
        }
        // SAFETY: the caller promises a driver's table.
        match unsafe { Chip::of_table(&nand) } {
            Ok(chip) => self.chip = Some(chip),
            Err(error) => {
                let seen = format!("the table is none: {}", error.text().to_string_lossy());
                let evidence = Evidence::of_chip(seen);
                return Err(self.find(JudgeClause::SetsUpAGoodChip, evidence, Log::blame_last));
            }
        }
        self.compare_geometry()
    }

    /// The driver's geometry must be the chip's; it may use fewer spare bytes.
    fn compare_geometry(&mut self) -> Result<(), Ended> {
        let chip = *self.judge.chip();
        let slc = self.geometry().slc();
        let [blocks, pages, page_bytes, spare_bytes] = slc.map_or([0; 4], |slc| {
            let [pages, spare_bytes] = [slc.pages_per_block.get(), slc.spare_bytes.get()];
            [slc.blocks.get(), pages, slc.page_bytes.get(), spare_bytes]
        });
        let seen = [
            ("blocks", blocks, chip.blocks),
            ("pages_per_block", pages, chip.pages_per_block),
            ("page_bytes", page_bytes, chip.page_bytes),
        ];
        let wrong = seen.into_iter().find(|(_, told, right)| told != right);
        let free = chip.free_bytes();
        let more = spare_bytes > free;
        let seen = match wrong {
            Some((what, told, right)) => format!("{what} is {told}, and the chip's is {right}"),
            None if more => format!("spare_bytes is {spare_bytes}, and {free} are free"),
            None if self.geometry().mlc().is_some() => "mlc has blocks".into(),
            None => return Ok(()),
        };
        Err(self.find(JudgeClause::GeometryIsTheChips, Evidence::of_chip(seen), Log::blame_last))
    }

    /// A driver that has not started has no table, and whoever calls it is wrong.
    fn chip(&mut self) -> &mut Chip {
        self.chip.as_mut().expect("a driver that has started")
    }
}

/// What made a start fail: the last answer of the status that was not zero.
fn blame_start(log: &Log) -> Blame {
    let looks = log.current.sent.iter().rev().filter(|sent| sent.is(Command::GetFeature));
    let mut odd = looks.filter(|sent| sent.answer.is_some_and(|answer| answer & 0xFC != 0));
    odd.next().map_or_else(|| log.blame_last(), |sent| Blame::sent(*sent))
}

impl NandDevice for WatchedDriver<'_> {
    type Error = Ended;

    fn geometry(&self) -> &Geometry {
        // Before the start nobody asks.
        self.chip.as_ref().expect("a driver that has started").geometry()
    }

    fn read(
        &mut self,
        page: Page,
        at: Bytes,
        data: &mut [u8],
        spare: &mut [u8],
    ) -> Result<Corrected, ReadError<Ended>> {
        self.begin(Asked::Read, self.row(page));
        let outcome = self.chip().read(page, at, data, spare);
        let nonsense = match outcome {
            Err(ReadError::Driver(code)) => Some(code),
            _ => None,
        };
        self.end(|seen| Evidence::of_page(page, seen), nonsense).map_err(ReadError::Driver)?;
        outcome.map_err(|_| ReadError::Uncorrectable)
    }

    fn program(
        &mut self,
        page: Page,
        data: &[u8],
        spare: &[u8],
    ) -> Result<(), ProgramError<Ended>> {
        self.begin(Asked::Program, self.row(page));
        let outcome = self.chip().program(page, data, spare);
        let nonsense = match outcome {
            Err(ProgramError::Driver(code)) => Some(code),
            _ => None,
        };
        self.end(|seen| Evidence::of_page(page, seen), nonsense).map_err(ProgramError::Driver)?;
        outcome.map_err(|_| ProgramError::Failed)
    }

    fn erase(&mut self, block: Block) -> Result<(), EraseError<Ended>> {
        self.begin(Asked::Erase, block.index() * self.pages_per_block());
        let outcome = self.chip().erase(block);
        let nonsense = match outcome {
            Err(EraseError::Driver(code)) => Some(code),
            _ => None,
        };
        self.end(|seen| Evidence::of_block(block, seen), nonsense).map_err(EraseError::Driver)?;
        outcome.map_err(|_| EraseError::Failed)
    }

    fn is_bad(&mut self, block: Block) -> Result<bool, Ended> {
        self.begin(Asked::IsBad, block.index() * self.pages_per_block());
        let outcome = self.chip().is_bad(block);
        self.end(|seen| Evidence::of_block(block, seen), outcome.err())?;
        outcome.map_err(|_| Ended::Breach)
    }

    fn mark_bad(&mut self, block: Block) -> Result<(), MarkError<Ended>> {
        self.begin(Asked::MarkBad, block.index() * self.pages_per_block());
        let outcome = self.chip().mark_bad(block);
        let nonsense = match outcome {
            Err(MarkError::Driver(code)) => Some(code),
            _ => None,
        };
        self.end(|seen| Evidence::of_block(block, seen), nonsense).map_err(MarkError::Driver)?;
        outcome.map_err(|_| MarkError::Failed)
    }
}
