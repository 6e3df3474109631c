//! How a journal ends, and what is wrong with one that is damaged.

use std::fmt;

/// How a journal ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Behind its last record are zeros.
    Clean,
    /// Its last record is incomplete, with that many bytes. It was never acknowledged.
    Incomplete(u64),
    /// It is damaged.
    Damaged(Damage),
}

/// Damage of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where.
    pub at: u64,
    /// Which record it is, counted from 1.
    pub record: u64,
    what: What,
    /// Whole records behind it.
    pub behind: u64,
    /// Whether one of them says that a client's flush covers the damaged one.
    pub was_flushed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    NoMatch,
    Impossible,
    /// There are zeros, up to that byte at least.
    Missing(u64),
}

impl Damage {
    /// A record that does not match its check.
    pub(super) const fn no_match(at: u64, (behind, was_flushed): (u64, bool)) -> Self {
        Self { at, record: 0, what: What::NoMatch, behind, was_flushed }
    }

    /// A record that matches its check, and cannot be.
    pub(super) const fn impossible(at: u64, record: u64) -> Self {
        Self { at, record, what: What::Impossible, behind: 0, was_flushed: false }
    }

    /// Records up to the byte `end` are not there any more.
    pub(super) const fn missing(at: u64, record: u64, end: u64) -> Self {
        Self { at, record, what: What::Missing(end), behind: 0, was_flushed: true }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, record, behind, .. } = self;
        let what = match self.what {
            What::NoMatch => "does not match its check",
            What::Impossible => "says what this chip cannot have done",
            What::Missing(_) => "is missing",
        };
        write!(f, "record {record} of its journal, at byte {at}, {what}")?;
        match (self.what, self.was_flushed) {
            (What::Impossible, _) => Ok(()),
            (What::Missing(end), _) => {
                write!(f, ", and all up to byte {end}, which a client's flush covers")
            }
            (_, true) => write!(f, "; {behind} good ones follow, and a client's flush covers it"),
            (_, false) => write!(f, "; {behind} good ones follow"),
        }
    }
}
