//! The promises of a device, one by one, as [`NandDevice`](ftl_iface::NandDevice) has them.

use core::ffi::CStr;
use core::fmt;

/// A promise of the device's that can be checked from above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Clause {
    /// The geometry never changes.
    GeometryStays,
    /// After an erase every byte of the block reads as 0xFF.
    ErasedReadsAsOnes,
    /// A page's data read as they were programmed.
    DataReadBack,
    /// A page's spare bytes read as they were programmed, all of them.
    SpareReadsBack,
    /// A part of a page reads as that part: the bytes from `at` on.
    PartsReadAlike,
    /// With an empty `data` the spare area is read alone; a short `spare` gets its first bytes, an empty one none.
    SpareReadsAlone,
    /// A read changes nothing.
    ReadsChangeNothing,
    /// A program changes its own page alone.
    ProgramsChangeTheirPageAlone,
    /// An erase changes its own block alone.
    ErasesChangeTheirBlockAlone,
    /// Pages may be left out, and read as 0xFF then.
    PagesMayBeLeftOut,
    /// A block that was never marked is not bad.
    UnmarkedIsNotBad,
    /// A block that was marked bad is bad.
    MarkedIsBad,
    /// A mark changes its own block alone.
    MarksChangeTheirBlockAlone,
    /// The pages of a block that is marked bad may be read.
    BadBlocksCanBeRead,
    /// What was programmed, and what was marked, stays without power.
    StaysWithoutPower,
    /// A page whose program was cut reads as it was, as it was meant, as uncorrectable or as erased.
    CutProgramLeavesItsPageKnown,
    /// A cut program changes no other page but those that share its cells.
    CutProgramChangesNothingElse,
    /// A cut erase changes no other block.
    CutEraseChangesNothingElse,
}

impl Clause {
    /// Every clause, in the order in which they are checked.
    pub const ALL: [Self; 18] = [
        Self::UnmarkedIsNotBad,
        Self::ErasedReadsAsOnes,
        Self::DataReadBack,
        Self::SpareReadsBack,
        Self::ProgramsChangeTheirPageAlone,
        Self::PartsReadAlike,
        Self::SpareReadsAlone,
        Self::ReadsChangeNothing,
        Self::ErasesChangeTheirBlockAlone,
        Self::PagesMayBeLeftOut,
        Self::GeometryStays,
        Self::MarkedIsBad,
        Self::MarksChangeTheirBlockAlone,
        Self::BadBlocksCanBeRead,
        Self::StaysWithoutPower,
        Self::CutProgramLeavesItsPageKnown,
        Self::CutProgramChangesNothingElse,
        Self::CutEraseChangesNothingElse,
    ];

    /// The promise, as a sentence.
    pub const fn sentence(self) -> &'static str {
        match self.sentence_for_c().to_str() {
            Ok(sentence) => sentence,
            Err(_) => "",
        }
    }

    /// The same with a zero at its end.
    pub const fn sentence_for_c(self) -> &'static CStr {
        match self {
            Self::GeometryStays => c"the geometry never changes",
            Self::ErasedReadsAsOnes => c"after an erase every byte of the block reads as 0xFF",
            Self::DataReadBack => c"a page's data read as they were programmed",
            Self::SpareReadsBack => c"a page's spare bytes read as they were programmed",
            Self::PartsReadAlike => c"a part of a page reads as the bytes from `at` on",
            Self::SpareReadsAlone => {
                c"an empty `data` reads the spare area alone, a short `spare` its first bytes"
            }
            Self::ReadsChangeNothing => c"a read changes nothing",
            Self::ProgramsChangeTheirPageAlone => c"a program changes its own page alone",
            Self::ErasesChangeTheirBlockAlone => c"an erase changes its own block alone",
            Self::PagesMayBeLeftOut => c"pages may be skipped, and then read as 0xFF",
            Self::UnmarkedIsNotBad => c"a block that was never marked is not bad",
            Self::MarkedIsBad => c"a block that was marked bad is bad",
            Self::MarksChangeTheirBlockAlone => c"a mark changes its own block alone",
            Self::BadBlocksCanBeRead => c"the pages of a block that is marked bad may be read",
            Self::StaysWithoutPower => c"what was programmed or marked survives without power",
            Self::CutProgramLeavesItsPageKnown => {
                c"a page whose program was cut reads as before, as intended, as uncorrectable or as erased"
            }
            Self::CutProgramChangesNothingElse => {
                c"a cut program changes no other page except those that share its cells"
            }
            Self::CutEraseChangesNothingElse => c"a cut erase changes no other block",
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}
