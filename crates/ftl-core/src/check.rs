//! How a broken invariant is reported. Each FTL has its own invariants, beside its modules.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::error::Fault;

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub(crate) String);

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Violation {}

impl<E: fmt::Debug> From<Fault<E>> for Violation {
    fn from(fault: Fault<E>) -> Self {
        Self(format!("the device did not let itself be checked: {fault:?}"))
    }
}

pub(crate) type Checked = Result<(), Violation>;

pub(crate) fn ensure(holds: bool, sentence: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Violation(sentence())) }
}
