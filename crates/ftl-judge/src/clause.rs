//! The clauses that a driver is judged by: those that `ftl-conformance` sees from above, and those that show only where
//! the chip below is known.

use ftl_conformance::Clause as Promise;

/// A clause that the judge on a host sees, beside those of `tandem_examine` (`tandem_breach_t.clause`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum JudgeClause {
    /// The driver sets up a chip without faults.
    SetsUpAGoodChip = 19,
    /// The geometry that the driver gives is the chip's.
    GeometryIsTheChips = 20,
    /// The chip is sent nothing that it would ignore or garble.
    CommandsAreTheChips = 21,
    /// Error correction happens below the driver's functions.
    CorrectionIsBelow = 22,
    /// A page with more wrong bits than are corrected is told as uncorrectable.
    UncorrectableIsTold = 23,
    /// A page with wrong bits that are corrected reads well, and no wrong number of bits is told.
    CorrectedReadsWell = 24,
    /// An erased page with a flipped bit reads as 0xFF.
    ErasedWithFlipsReadsAsOnes = 25,
    /// A program or erase that succeeded is told as done.
    SuccessIsTold = 26,
    /// A program that failed is told as failed.
    FailedProgramIsTold = 27,
    /// An erase that failed is told as failed.
    FailedEraseIsTold = 28,
    /// A bad-block mark that did not take is told as failed.
    FailedMarkIsTold = 29,
    /// A block that the factory marked is bad.
    FactoryMarkIsSeen = 30,
    /// A bus that fails is told as a failure of the driver.
    BusFailureIsTold = 31,
    /// The functions return only what the header lists.
    ReturnsWhatIsListed = 32,
}

impl JudgeClause {
    /// The clause as a sentence.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::SetsUpAGoodChip => "a driver sets up a chip without faults",
            Self::GeometryIsTheChips => "the geometry is the chip's",
            Self::CommandsAreTheChips => "a chip is sent nothing that it would ignore or garble",
            Self::CorrectionIsBelow => "error correction happens below the driver's functions",
            Self::UncorrectableIsTold => {
                "a page with more wrong bits than are corrected is told as uncorrectable"
            }
            Self::CorrectedReadsWell => {
                "a page with wrong bits that are corrected reads well, with the number of bits"
            }
            Self::ErasedWithFlipsReadsAsOnes => "an erased page with a flipped bit reads as 0xFF",
            Self::SuccessIsTold => "a program or erase that succeeded is told as done",
            Self::FailedProgramIsTold => "a program that failed is told as failed",
            Self::FailedEraseIsTold => "an erase that failed is told as failed",
            Self::FailedMarkIsTold => "a bad-block mark that did not take is told as failed",
            Self::FactoryMarkIsSeen => "a block that the factory marked is bad",
            Self::BusFailureIsTold => "a bus that fails is told as a failure of the driver",
            Self::ReturnsWhatIsListed => "functions return only what the header lists",
        }
    }
}

/// A clause of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clause {
    pub(crate) number: i32,
    pub(crate) sentence: &'static str,
}

impl From<Promise> for Clause {
    fn from(promise: Promise) -> Self {
        Self { number: ftl_c::Clause::from(promise) as i32, sentence: promise.sentence() }
    }
}

impl From<JudgeClause> for Clause {
    fn from(clause: JudgeClause) -> Self {
        Self { number: clause as i32, sentence: clause.sentence() }
    }
}
