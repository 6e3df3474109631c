//! The verdict of a comparison: the ranking, why it is so, and what the run cannot show.
//!
//! # Modules
//!
//! - `field`: the runs, with what they were made of. `reasons`: why a system is faster, and how long it lasts.
//!   `enough`: whether a run was long enough. `warnings`: what the run cannot show, and what to do about it.
//!   `proposals`: sizes that a warning may propose, since the systems fit them.

use std::io::Write;

use sim::Failure;
use sim::engine::comparison;

use crate::output::ranking::{RULE, Ranking};
use crate::output::table::{Edge, Table, write_sentence};

mod enough;
mod field;
mod proposals;
mod reasons;
mod warnings;

#[cfg(test)]
mod tests;

pub(crate) use enough::{Unfilled, could_settle, is_little, is_short, unfilled};
pub(crate) use field::Field;

/// The heading of the warnings.
pub(crate) const CANNOT_SHOW: &str = "What this run cannot show";

/// What follows from the runs.
#[derive(Clone, Debug)]
pub(crate) struct Verdict<'a> {
    /// `None` for a single run.
    pub(crate) ranking: Option<Ranking<'a>>,
    /// What to take, and why.
    pub(crate) answers: Vec<String>,
    /// What the run cannot show, and what to do about it.
    pub(crate) warnings: Vec<String>,
}

impl<'a> Field<'a> {
    /// The verdict.
    pub(crate) fn verdict(&self) -> Verdict<'a> {
        let warnings = warnings::of(self);
        let ranking = comparison::ranking(self.runs, self.pairs);
        let ranking = ranking.map(|order| Ranking::of(order, warnings.len() > self.left_out.len()));
        let mut answers = ranking.as_ref().map_or_else(Vec::new, Ranking::answer);
        if let Some(ranking) = &ranking
            && let Some(taken) = ranking.taken()
        {
            answers.extend(reasons::of(taken, ranking, &self.setup.part));
        }
        Verdict { ranking, answers, warnings }
    }
}

impl Verdict<'_> {
    /// Writes the verdict as text.
    pub(crate) fn write(&self, out: &mut dyn Write) -> Result<(), Failure> {
        if let Some(ranking) = &self.ranking {
            writeln!(out, "\nThe ranking:")?;
            let heads = ranking.heads().into_iter().enumerate();
            let edge = |at| if at == 0 { Edge::Left } else { Edge::Right };
            let mut table = Table::new(heads.map(|(at, head)| (head, edge(at))));
            ranking.table().into_iter().for_each(|row| table.row(row));
            table.write(out)?;
            write_sentence(RULE, out)?;
        }
        let parts = [("What to take, and why", &self.answers), (CANNOT_SHOW, &self.warnings)];
        for (heading, sentences) in parts.into_iter().filter(|(_, said)| !said.is_empty()) {
            writeln!(out, "\n{heading}:")?;
            for sentence in sentences {
                write_sentence(sentence, out)?;
            }
        }
        Ok(())
    }
}
