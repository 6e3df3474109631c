//! The power of a chip, which can fail at any program or erase.

use super::ChipError;

/// What a loss of power does to the operation in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It came just too early: nothing was done.
    Before,
    /// It came just too late: all was done, and the caller was not told.
    After,
    /// It came in between: a page, and those that share its cells, cannot be read; a block is half erased.
    Torn,
}

/// What the power does to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Done,
    Failing(Cut),
}

impl Fate {
    /// What the caller is told once the operation is over.
    pub(super) fn told(self) -> Result<(), ChipError> {
        if self == Self::Done { Ok(()) } else { Err(ChipError::NoPower) }
    }
}

/// The power.
#[derive(Debug)]
pub(super) struct Supply {
    /// Programs and erases until it fails, and how.
    cut: Option<(u32, Cut)>,
    dead: bool,
}

impl Supply {
    /// Power that never fails.
    pub(super) const fn new() -> Self {
        Self { cut: None, dead: false }
    }

    /// Lets it fail in the program or erase after so many others.
    pub(super) fn cut_after(&mut self, operations: u32, cut: Cut) {
        self.cut = Some((operations, cut));
    }

    /// Whether it is gone.
    pub(super) fn is_dead(&self) -> bool {
        self.dead
    }

    /// Nothing works without it.
    pub(super) fn alive(&self) -> Result<(), ChipError> {
        if self.dead { Err(ChipError::NoPower) } else { Ok(()) }
    }

    /// Begins a program or an erase.
    pub(super) fn fate(&mut self) -> Result<Fate, ChipError> {
        self.alive()?;
        match &mut self.cut {
            None => Ok(Fate::Done),
            Some((0, cut)) => {
                let cut = *cut;
                self.dead = true;
                Ok(Fate::Failing(cut))
            }
            Some((left, _)) => {
                *left -= 1;
                Ok(Fate::Done)
            }
        }
    }
}
