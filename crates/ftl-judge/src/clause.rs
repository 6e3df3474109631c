//! The clauses that a driver is judged by: those that `ftl-conformance` sees from above, and those that show only where
//! the chip below is known.

use ftl_conformance::Clause as Promise;

/// A clause of the contract (`tandem_breach_t.clause`).
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
    /// A cut program changes no other page.
    CutProgramChangesNothingElse = 17,
    /// A cut erase changes no other block.
    CutEraseChangesNothingElse = 18,
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

/// Each promise of `ftl-conformance`, by its name here.
const PROMISES: [(Clause, Promise); Promise::ALL.len()] = [
    (Clause::GeometryStays, Promise::GeometryStays),
    (Clause::ErasedReadsAsOnes, Promise::ErasedReadsAsOnes),
    (Clause::DataReadBack, Promise::DataReadBack),
    (Clause::SpareReadsBack, Promise::SpareReadsBack),
    (Clause::PartsReadAlike, Promise::PartsReadAlike),
    (Clause::SpareReadsAlone, Promise::SpareReadsAlone),
    (Clause::ReadsChangeNothing, Promise::ReadsChangeNothing),
    (Clause::ProgramsChangeTheirPageAlone, Promise::ProgramsChangeTheirPageAlone),
    (Clause::ErasesChangeTheirBlockAlone, Promise::ErasesChangeTheirBlockAlone),
    (Clause::PagesMayBeLeftOut, Promise::PagesMayBeLeftOut),
    (Clause::UnmarkedIsNotBad, Promise::UnmarkedIsNotBad),
    (Clause::MarkedIsBad, Promise::MarkedIsBad),
    (Clause::MarksChangeTheirBlockAlone, Promise::MarksChangeTheirBlockAlone),
    (Clause::BadBlocksCanBeRead, Promise::BadBlocksCanBeRead),
    (Clause::StaysWithoutPower, Promise::StaysWithoutPower),
    (Clause::CutProgramLeavesItsPageKnown, Promise::CutProgramLeavesItsPageKnown),
    (Clause::CutProgramChangesNothingElse, Promise::CutProgramChangesNothingElse),
    (Clause::CutEraseChangesNothingElse, Promise::CutEraseChangesNothingElse),
];

impl From<Promise> for Clause {
    fn from(promise: Promise) -> Self {
        let named = PROMISES.iter().find(|(_, theirs)| *theirs == promise);
        named.map_or(Self::ReturnsWhatIsListed, |(clause, _)| *clause)
    }
}

impl Clause {
    /// The clause as a sentence.
    pub fn sentence(self) -> &'static str {
        if let Some((_, promise)) = PROMISES.iter().find(|(clause, _)| *clause == self) {
            return promise.sentence();
        }
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
            _ => "functions return only what the header lists",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_promise_has_its_own_clause_and_its_sentence() {
        for promise in Promise::ALL {
            assert_eq!(Clause::from(promise).sentence(), promise.sentence());
        }
    }
}
