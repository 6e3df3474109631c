//! What an operation may come to: its fates when power fails in it, and its alternatives when power stays.

use std::fmt;
use std::str::FromStr;

use super::content::{ContentId, Contents};
use super::grid::{BlockAt, Grid, PageAt};
use super::image::{BlockState, Cell, FlashImage};

/// An operation that changes the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Program(PageAt, ContentId),
    Erase(BlockAt),
    Mark(BlockAt),
}

impl Op {
    /// The operation in words.
    pub(super) fn told(self, grid: &Grid) -> String {
        match self {
            Self::Program(page, _) => format!("program {}", grid.page_name(page)),
            Self::Erase(block) => format!("erase {}", grid.name(block)),
            Self::Mark(block) => format!("mark {}", grid.name(block)),
        }
    }
}

/// What power leaves of an operation in which it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpFate {
    /// It had not begun.
    Before,
    /// The page in flight, and whether those that share its cells are lost.
    Program(Torn, Partners),
    Erase(TornErase),
    Mark(TornMark),
}

/// A page in flight. It counts as programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Torn {
    /// Reads as erased, which is also as before.
    Erased,
    /// Reads as erased until it cannot be read any more.
    ErasedUnstable,
    Intended,
    /// Reads as intended until it cannot be read any more.
    Unstable,
    Dead,
}

/// Pages of the same word line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Partners {
    Kept,
    Lost,
}

/// A block in flight. It must be erased before anything is programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TornErase {
    /// As before.
    Kept,
    Erased,
    /// Each page as before until it cannot be read any more: so some are, and some are not.
    Fading,
    Dead,
    Noise,
    /// The first page is erased, the others fade.
    FirstErased,
    /// The first page fades, the others are erased.
    FirstLeft,
    /// The first page is lost, the others are as before.
    FirstDead,
    /// The first page is as before, the others are lost.
    OthersDead,
}

/// A block whose mark was in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TornMark {
    Unset,
    UnsetDestroyed,
    Set,
    SetDestroyed,
}

const TORN: [Torn; 5] =
    [Torn::Erased, Torn::ErasedUnstable, Torn::Intended, Torn::Unstable, Torn::Dead];
const TORN_ERASE: [TornErase; 9] = [
    TornErase::Kept,
    TornErase::Erased,
    TornErase::Fading,
    TornErase::Dead,
    TornErase::Noise,
    TornErase::FirstErased,
    TornErase::FirstLeft,
    TornErase::FirstDead,
    TornErase::OthersDead,
];
const TORN_MARK: [TornMark; 4] =
    [TornMark::Unset, TornMark::UnsetDestroyed, TornMark::Set, TornMark::SetDestroyed];

impl OpFate {
    /// Every fate that there is, of any operation.
    fn all() -> impl Iterator<Item = Self> {
        let program = [Partners::Kept, Partners::Lost]
            .into_iter()
            .flat_map(|partners| TORN.map(|torn| Self::Program(torn, partners)));
        let others = TORN_ERASE.map(Self::Erase).into_iter().chain(TORN_MARK.map(Self::Mark));
        [Self::Before].into_iter().chain(program).chain(others)
    }

    /// The fates of this operation.
    pub(super) fn of(op: Op, image: &FlashImage, grid: &Grid) -> impl Iterator<Item = Self> {
        let shares = match op {
            Op::Program(page, _) => grid.endangered(page),
            _ => &[],
        };
        let shares = shares.iter().any(|earlier| image.cell(*earlier) != Cell::ERASED);
        Self::all().filter(move |fate| match (fate, op) {
            (Self::Program(_, partners), Op::Program(..)) => shares || *partners == Partners::Kept,
            (Self::Before, _) | (Self::Erase(_), Op::Erase(_)) | (Self::Mark(_), Op::Mark(_)) => {
                true
            }
            _ => false,
        })
    }

    /// The flash after it.
    pub(super) fn leave(self, op: Op, image: &mut FlashImage, at: (&Grid, &Contents)) {
        let (grid, contents) = at;
        match (self, op) {
            (Self::Program(torn, partners), Op::Program(page, id)) => {
                let cell = match torn {
                    Torn::Erased => Cell::ERASED,
                    Torn::ErasedUnstable => Cell::ERASED.unstable(),
                    Torn::Intended => Cell::holding(id),
                    Torn::Unstable => Cell::holding(id).unstable(),
                    Torn::Dead => Cell::DEAD,
                };
                image.set_cell(contents, page, cell);
                count_as_programmed(image, grid, page);
                for earlier in grid.endangered(page) {
                    if partners == Partners::Lost && image.cell(*earlier) != Cell::ERASED {
                        image.set_cell(contents, *earlier, Cell::DEAD);
                    }
                }
            }
            (Self::Erase(torn), Op::Erase(block)) => torn_erase(torn, image, at, block),
            (Self::Mark(torn), Op::Mark(block)) => {
                let bad = matches!(torn, TornMark::Set | TornMark::SetDestroyed);
                if matches!(torn, TornMark::UnsetDestroyed | TornMark::SetDestroyed) {
                    image.fill_block(at, block, |_, _| Cell::DEAD);
                }
                let state = image.block(block);
                image.set_block(block, BlockState { bad, ..state });
            }
            _ => {}
        }
    }
}

/// Notes that a page counts as programmed.
pub(super) fn count_as_programmed(image: &mut FlashImage, grid: &Grid, page: PageAt) {
    let block = grid.block_of(page);
    let state = image.block(block);
    image.set_block(block, BlockState { next: grid.index_of(page) + 1, ..state });
}

fn torn_erase(torn: TornErase, image: &mut FlashImage, at: (&Grid, &Contents), block: BlockAt) {
    image.fill_block(at, block, |index, cell| match (torn, index) {
        (TornErase::Kept, _) | (TornErase::FirstDead, 1..) | (TornErase::OthersDead, 0) => cell,
        (TornErase::Erased, _) | (TornErase::FirstErased, 0) => Cell::ERASED,
        (TornErase::Fading | TornErase::FirstErased, _) | (TornErase::FirstLeft, 0) => {
            cell.unstable()
        }
        (TornErase::FirstLeft, _) => Cell::ERASED,
        (TornErase::Dead | TornErase::FirstDead | TornErase::OthersDead, _) => Cell::DEAD,
        (TornErase::Noise, _) => Cell::NOISE,
    });
    let state = image.block(block);
    image.set_block(block, BlockState { torn: true, ..state });
}

impl fmt::Display for OpFate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Before => "before",
            Self::Program(torn, _) => match torn {
                Torn::Erased => "erased",
                Torn::ErasedUnstable => "erased-unstable",
                Torn::Intended => "intended",
                Torn::Unstable => "unstable",
                Torn::Dead => "dead",
            },
            Self::Erase(torn) => match torn {
                TornErase::Kept => "block-kept",
                TornErase::Erased => "block-erased",
                TornErase::Fading => "block-fading",
                TornErase::Dead => "block-dead",
                TornErase::Noise => "block-noise",
                TornErase::FirstErased => "block-first-erased",
                TornErase::FirstLeft => "block-first-left",
                TornErase::FirstDead => "block-first-dead",
                TornErase::OthersDead => "block-others-dead",
            },
            Self::Mark(torn) => match torn {
                TornMark::Unset => "mark-unset",
                TornMark::UnsetDestroyed => "mark-unset-destroyed",
                TornMark::Set => "mark-set",
                TornMark::SetDestroyed => "mark-set-destroyed",
            },
        })?;
        match self {
            Self::Program(_, Partners::Lost) => f.write_str("-pair"),
            _ => Ok(()),
        }
    }
}

impl FromStr for OpFate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Self::all().map(|fate| fate.to_string());
        let found = Self::all().zip(names()).find(|(_, name)| name == text);
        found.map(|(fate, _)| fate).ok_or_else(|| {
            let names: Vec<String> = names().collect();
            format!("`{text}` is no fate: take one of {}", names.join(", "))
        })
    }
}

/// What is numbered in a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// A read of an unstable page, among those of this life.
    Read(u16),
    /// An operation that changes the flash, among those of this life.
    Op(u16),
}

/// How an operation goes on while power stays, if not as usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alternative {
    /// The unstable page that is read cannot be read any more.
    Dies,
    /// The program fails, and the page reads as erased, or not at all, or as intended for a while.
    FailsErased,
    FailsDead,
    FailsUnstable,
    /// The erase fails, and no page can be read, or each as before for a while.
    EraseFailsDead,
    EraseFailsFading,
    /// The mark destroys the block's pages.
    Destroys,
    /// The mark fails.
    MarkFails,
}

impl Alternative {
    const ALL: [Self; 8] = [
        Self::Dies,
        Self::FailsErased,
        Self::FailsDead,
        Self::FailsUnstable,
        Self::EraseFailsDead,
        Self::EraseFailsFading,
        Self::Destroys,
        Self::MarkFails,
    ];

    /// Those of a read of an unstable page, of a program, of an erase, of a mark.
    pub(super) const OF_READ: &'static [Self] = &[Self::Dies];
    pub(super) const OF_PROGRAM: &'static [Self] =
        &[Self::FailsErased, Self::FailsDead, Self::FailsUnstable];
    pub(super) const OF_ERASE: &'static [Self] = &[Self::EraseFailsDead, Self::EraseFailsFading];
    pub(super) const OF_MARK: &'static [Self] = &[Self::Destroys, Self::MarkFails];

    const fn name(self) -> &'static str {
        match self {
            Self::Dies => "dies",
            Self::FailsErased => "fails-erased",
            Self::FailsDead => "fails-dead",
            Self::FailsUnstable => "fails-unstable",
            Self::EraseFailsDead => "erase-fails-dead",
            Self::EraseFailsFading => "erase-fails-fading",
            Self::Destroys => "mark-destroys",
            Self::MarkFails => "mark-fails",
        }
    }
}

impl fmt::Display for Alternative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Alternative {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|alternative| alternative.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("`{text}` is nothing that happens to an operation: take one of {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fate_and_every_alternative_is_read_as_it_is_written() {
        for fate in OpFate::all() {
            assert_eq!(fate.to_string().parse(), Ok(fate));
        }
        for alternative in Alternative::ALL {
            assert_eq!(alternative.to_string().parse(), Ok(alternative));
        }
        assert!("gone".parse::<OpFate>().unwrap_err().contains("unstable-pair"));
    }
}
