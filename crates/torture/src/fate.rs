//! The outcomes of a cut for the operation in flight: every case that the device contract allows, enumerated.

use std::fmt;
use std::str::FromStr;

use nand_model::power::{BlockFate, MarkFate, PageFate, PairFate};

/// The outcome of the operation in which power failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Power failed before it: in a read, or while the device was at rest.
    Before,
    /// It was a program.
    Program(PageFate, PairFate),
    /// It was an erase.
    Erase(BlockFate),
    /// It was a bad-block mark.
    Mark(MarkFate),
}

/// How many reads an unstable page may survive: a mount reads a page once or twice, a proof and the host later.
const UNSTABLE: [u32; 5] = [1, 2, 3, 5, 8];

/// The operations that change the flash, as far as a cut distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A program; whether an earlier page of its word line may be lost with it.
    Program {
        /// Whether there is such a page.
        paired: bool,
    },
    /// An erase.
    Erase,
    /// A bad-block mark.
    Mark,
}

impl Change {
    /// Every fate of such an operation, each once. A page that was not begun and one that reads as erased look the same
    /// to the FTL and are one case.
    pub fn fates(self) -> impl Iterator<Item = Fate> {
        let pages =
            [PageFate::ReadsErased, PageFate::Complete, PageFate::Uncorrectable, PageFate::Fading];
        let unstable = UNSTABLE.map(|reads| PageFate::Unstable { reads });
        let programs = move |pair| {
            pages.into_iter().chain(unstable).map(move |page| Fate::Program(page, pair))
        };
        let blocks =
            [BlockFate::Untouched, BlockFate::Erased, BlockFate::Garbage, BlockFate::Fading];
        let marks =
            [MarkFate::Untouched, MarkFate::Set, MarkFate::PagesLost, MarkFate::SetAndPagesLost];
        let (program, paired) =
            (matches!(self, Self::Program { .. }), self == Self::Program { paired: true });
        std::iter::once(Fate::Before)
            .chain(programs(PairFate::Kept).filter(move |_| program))
            .chain(programs(PairFate::Lost).filter(move |_| paired))
            .chain(blocks.map(Fate::Erase).into_iter().filter(move |_| self == Self::Erase))
            .chain(marks.map(Fate::Mark).into_iter().filter(move |_| self == Self::Mark))
    }
}

impl Fate {
    /// The row names in the table of cuts.
    pub const ROWS: [&'static str; 19] = [
        "before it",
        "page reads erased",
        "page complete",
        "page uncorrectable",
        "page unstable",
        "page fading",
        "page reads erased, pair lost",
        "page complete, pair lost",
        "page uncorrectable, pair lost",
        "page unstable, pair lost",
        "page fading, pair lost",
        "block untouched",
        "block erased",
        "block garbage",
        "block fading",
        "mark not set",
        "mark set",
        "mark not set, pages lost",
        "mark set, pages lost",
    ];

    /// The row of this fate.
    pub const fn row(self) -> usize {
        match self {
            Self::Before => 0,
            Self::Program(page, pair) => {
                let row = match page {
                    PageFate::Untouched | PageFate::ReadsErased => 1,
                    PageFate::Complete => 2,
                    PageFate::Uncorrectable => 3,
                    PageFate::Unstable { .. } => 4,
                    PageFate::Fading => 5,
                };
                if matches!(pair, PairFate::Lost) { row + 5 } else { row }
            }
            Self::Erase(BlockFate::Untouched) => 11,
            Self::Erase(BlockFate::Erased) => 12,
            Self::Erase(BlockFate::Garbage) => 13,
            Self::Erase(BlockFate::Fading) => 14,
            Self::Mark(MarkFate::Untouched) => 15,
            Self::Mark(MarkFate::Set) => 16,
            Self::Mark(MarkFate::PagesLost) => 17,
            Self::Mark(MarkFate::SetAndPagesLost) => 18,
        }
    }

    /// Every fate of every operation.
    pub fn all() -> impl Iterator<Item = Self> {
        let verbs = [Change::Program { paired: true }, Change::Erase, Change::Mark];
        std::iter::once(Self::Before).chain(verbs.into_iter().flat_map(|verb| verb.fates().skip(1)))
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before => f.write_str("before"),
            Self::Program(page, pair) => {
                match page {
                    PageFate::Untouched | PageFate::ReadsErased => f.write_str("erased")?,
                    PageFate::Complete => f.write_str("complete")?,
                    PageFate::Uncorrectable => f.write_str("uncorrectable")?,
                    PageFate::Unstable { reads } => write!(f, "unstable{reads}")?,
                    PageFate::Fading => f.write_str("fading")?,
                }
                f.write_str(if *pair == PairFate::Lost { "-pair" } else { "" })
            }
            Self::Erase(BlockFate::Untouched) => f.write_str("block-untouched"),
            Self::Erase(BlockFate::Erased) => f.write_str("block-erased"),
            Self::Erase(BlockFate::Garbage) => f.write_str("block-garbage"),
            Self::Erase(BlockFate::Fading) => f.write_str("block-fading"),
            Self::Mark(MarkFate::Untouched) => f.write_str("unmarked"),
            Self::Mark(MarkFate::Set) => f.write_str("marked"),
            Self::Mark(MarkFate::PagesLost) => f.write_str("unmarked-lost"),
            Self::Mark(MarkFate::SetAndPagesLost) => f.write_str("marked-lost"),
        }
    }
}

/// An unknown name of a fate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no fate \"{0}\": take one of before, erased, complete, uncorrectable, unstable1 to unstable8, \
         fading (each also with -pair), block-untouched, block-erased, block-garbage, block-fading, unmarked, marked \
         (each also with -lost)"
)]
pub struct NoSuchFate(String);

impl FromStr for Fate {
    type Err = NoSuchFate;

    fn from_str(name: &str) -> Result<Self, NoSuchFate> {
        Self::all().find(|fate| fate.to_string() == name).ok_or_else(|| NoSuchFate(name.into()))
    }
}

/// A cut: its operation, counted from zero, and the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The operation.
    pub at: u64,
    /// Its fate.
    pub fate: Fate,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.at, self.fate)
    }
}

/// Why a text is not a cut.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CutError {
    /// It has no number of an operation before a colon.
    #[error("the cut \"{0}\" is not written as OPERATION:FATE, such as 1234:uncorrectable")]
    Form(String),
    /// Its fate has no such name.
    #[error(transparent)]
    Fate(#[from] NoSuchFate),
}

impl FromStr for Cut {
    type Err = CutError;

    fn from_str(text: &str) -> Result<Self, CutError> {
        let form = || CutError::Form(text.into());
        let (at, fate) = text.split_once(':').ok_or_else(form)?;
        Ok(Self { at: at.parse().map_err(|_| form())?, fate: fate.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_fate_has_a_name_of_its_own_by_which_it_is_found() {
        let all: Vec<Fate> = Fate::all().collect();
        let names: BTreeSet<String> = all.iter().map(Fate::to_string).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().all(|fate| fate.to_string().parse() == Ok(*fate)));
        let rows: BTreeSet<usize> = all.iter().map(|fate| fate.row()).collect();
        assert!(rows.into_iter().eq(0..Fate::ROWS.len()));
    }

    #[test]
    fn a_cut_is_read_back_as_it_was_written() {
        let cut: Cut = "1234:unstable3-pair".parse().unwrap();
        assert_eq!(cut.to_string(), "1234:unstable3-pair");
        assert!("1234".parse::<Cut>().unwrap_err().to_string().contains("OPERATION:FATE"));
        assert!("7:gone".parse::<Cut>().unwrap_err().to_string().contains("no fate \"gone\""));
    }

    #[test]
    fn only_a_paired_page_can_take_another_with_it() {
        let count = |verb: Change| verb.fates().count();
        assert_eq!(count(Change::Program { paired: false }), 10);
        assert_eq!(count(Change::Program { paired: true }), 19);
        assert_eq!((count(Change::Erase), count(Change::Mark)), (5, 5));
    }
}
