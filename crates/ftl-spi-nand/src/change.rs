//! How a program, an erase or a mark ended, by the chip's status.

/// What the chip says of a change of its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Change {
    /// It took.
    Done,
    /// It did not.
    Failed,
}

impl Change {
    /// What a status says in which that flag is a failure.
    pub(crate) const fn told(status: u8, failure: u8) -> Self {
        if status & failure == 0 { Self::Done } else { Self::Failed }
    }
}
