//! The ranking of a comparison for readers: as sentences, and as a table.
//!
//! # Modules
//!
//! - `words`: the sentences. `shown`: the table.

use std::ops::Deref;

use sim::engine::comparison;
pub(crate) use sim::engine::comparison::{Listed, NOTABLE, Pair, Standing, labels};

mod shown;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use words::{RULE, as_much, money};

/// The ranking, and whether the run leaves something open that might change it.
#[derive(Clone, Debug)]
pub(crate) struct Ranking<'a> {
    order: comparison::Ranking<'a>,
    has_doubts: bool,
}

impl<'a> Ranking<'a> {
    /// The ranking, with doubts where the run has a warning.
    pub(crate) const fn of(order: comparison::Ranking<'a>, has_doubts: bool) -> Self {
        Self { order, has_doubts }
    }
}

impl<'a> Deref for Ranking<'a> {
    type Target = comparison::Ranking<'a>;

    fn deref(&self) -> &Self::Target {
        &self.order
    }
}
