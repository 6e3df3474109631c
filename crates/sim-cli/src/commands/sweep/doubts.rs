//! What the runs of a sweep cannot show.

use sim::engine::sweep::Row;

use crate::output::verdict::{is_little, is_short, unfilled};

/// What may still change, in words.
pub(super) fn said(rows: &[Row<'_>]) -> Vec<String> {
    let is_short = |row: &Row<'_>| is_short(&row.result, &row.run.setup.part);
    let is_unfilled = |row: &Row<'_>| unfilled(&row.result, &row.run.setup).is_some();
    let is_little = |row: &Row<'_>| is_little(&row.result, &row.run.setup.part);
    let told = [
        told(
            rows,
            is_short,
            "so little was written that speed and life may still change; steady = true, in place of passes, replays \
             until the write amplification is stable",
        ),
        told(
            rows,
            is_unfilled,
            "the SLC was never filled, so garbage collection in it costs less than it will",
        ),
        told(
            rows,
            is_little,
            "less than a tenth of the disk was written: the rest is cold, and all spare blocks serve the written part",
        ),
    ];
    told.into_iter().flatten().collect()
}

fn told(rows: &[Row<'_>], is_so: impl Fn(&Row<'_>) -> bool, why: &str) -> Option<String> {
    let runs = rows.iter().filter(|row| is_so(row)).count();
    (runs > 0).then(|| format!("In {runs} of {} runs {why}.", rows.len()))
}
