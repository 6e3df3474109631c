//! What the runs of a sweep cannot show.

use sim::engine::sweep::Row;

use crate::output::verdict::{is_short, unfilled};

/// What may still change, in words.
pub(super) fn said(rows: &[Row<'_>]) -> Vec<String> {
    let short = rows.iter().filter(|row| is_short(&row.result, &row.run.setup.part)).count();
    let not_full =
        rows.iter().filter(|row| unfilled(&row.result, &row.run.setup.part).is_some()).count();
    let told = [
        (
            short,
            "the MLC was not written over three times, so speed and life may still change; steady = true, in \
                 place of passes, replays until the write amplification is stable",
        ),
        (not_full, "the SLC was never filled, so garbage collection in it costs less than it will"),
    ];
    let of = rows.len();
    told.into_iter()
        .filter(|(runs, _)| *runs > 0)
        .map(|(runs, why)| format!("In {runs} of {of} runs {why}."))
        .collect()
}
