//! What the runs of a sweep cannot show.

use sim::engine::result::RunResult;
use sim::engine::sweep::Row;

use crate::output::verdict::{could_settle, is_little, is_short, unfilled};

/// What may still change, in words.
pub(super) fn said(rows: &[Row<'_>]) -> Vec<String> {
    [short(rows), never_filled(rows), little(rows)].into_iter().flatten().collect()
}

fn short(rows: &[Row<'_>]) -> Option<String> {
    let short: Vec<&RunResult> =
        rows.iter().map(|row| &row.result).filter(|run| is_short(run)).collect();
    let advice = if short.iter().any(|run| run.steady.is_some()) {
        "write more, with other traces, or make the disk smaller, with capacity and fit = \"pack\""
    } else if short.iter().all(|run| could_settle(run)) {
        "steady = true, in place of passes, replays until the write amplification is stable"
    } else {
        "write more, with passes or other traces, or make the disk smaller, with capacity and fit = \"pack\""
    };
    told(rows, short.len(), "so little was written that speed and life may still change", advice)
}

fn never_filled(rows: &[Row<'_>]) -> Option<String> {
    let unfilled: Vec<Option<u64>> =
        rows.iter().filter_map(|row| Some(unfilled(&row.result, &row.run.setup)?.passes)).collect();
    let passes: Option<Vec<u64>> = unfilled.iter().copied().collect();
    let advice = match passes.and_then(|all| all.into_iter().max()) {
        Some(passes) => format!("replay more, with passes = {passes}"),
        None => "traces that write more fill it, or take less SLC".into(),
    };
    let why = "the SLC was never filled, so garbage collection in it costs less than it will";
    told(rows, unfilled.len(), why, &advice)
}

fn little(rows: &[Row<'_>]) -> Option<String> {
    let is_little = |row: &&Row<'_>| is_little(&row.result, &row.run.setup.part);
    let why = "less than a tenth of the disk was written: the rest is cold, and all spare blocks serve what is written";
    let advice = "a smaller disk, with capacity and fit = \"pack\", is written more";
    told(rows, rows.iter().filter(is_little).count(), why, advice)
}

fn told(rows: &[Row<'_>], runs: usize, why: &str, advice: &str) -> Option<String> {
    (runs > 0).then(|| format!("In {runs} of {} runs {why}; {advice}.", rows.len()))
}
