//! The runs of a report, and the names in it.

use sim::engine::replay::{Details, Outcome};
use sim::engine::result::RunResult;

use crate::output::ranking;

/// A run in a report, under the name that tells it from the others.
pub(super) struct Shown<'a> {
    pub(super) label: String,
    pub(super) result: &'a RunResult,
    pub(super) details: Option<&'a Details>,
}

pub(super) fn shown(outcomes: &[Outcome]) -> Vec<Shown<'_>> {
    let runs: Vec<&RunResult> = outcomes.iter().map(|outcome| &outcome.result).collect();
    let labelled = outcomes.iter().zip(ranking::labels(&runs));
    let shown = labelled.map(|(Outcome { result, details, .. }, label)| Shown {
        label,
        result,
        details: details.as_ref(),
    });
    shown.collect()
}

/// What a cause is called in tables and charts.
pub(super) fn cause_name(cause: &str) -> &str {
    match cause {
        "reclaim" => "garbage collection",
        "fold" => "folding",
        "scan" => "address translation",
        "meta" => "metadata",
        same => same,
    }
}
