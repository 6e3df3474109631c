//! Results as comma-separated values, for spreadsheets: one line per run, in microseconds, bytes and millijoules, as in
//! the JSON.

use sim::engine::result::{Ratios, RunResult};

/// A column: its name, and the function that gets its figure from a run and the run's ratios.
type Column = (&'static str, fn(&RunResult, Option<&Ratios>) -> String);

/// The columns of every table.
pub(crate) const FIGURES: [Column; 30] = [
    ("slc_bytes", |run, _| run.slc_bytes.to_string()),
    ("system", |run, _| run.system.clone()),
    ("trace", |run, _| run.trace.clone()),
    ("seed", |run, _| run.seed.map_or_else(String::new, |seed| seed.to_string())),
    ("passes", |run, _| run.passes.to_string()),
    ("requests", |run, _| run.requests.total().to_string()),
    ("sectors_read", |run, _| run.requests.sectors_read.to_string()),
    ("sectors_written", |run, _| run.requests.sectors_written.to_string()),
    ("response_us_total", |run, _| run.response_us.total.to_string()),
    ("response_us_mean", |run, _| maybe(run.response_us.mean)),
    ("read_us_mean", |run, _| maybe(run.read_us.mean)),
    ("write_us_mean", |run, _| maybe(run.write_us.mean)),
    ("write_us_p50", |run, _| maybe(run.write_us.p50)),
    ("write_us_p99", |run, _| maybe(run.write_us.p99)),
    ("write_us_p999", |run, _| maybe(run.write_us.p999)),
    ("write_us_max", |run, _| maybe(run.write_us.max)),
    ("write_amplification", |run, _| maybe(run.write_amplification)),
    ("rewrite_amplification", |run, _| maybe(run.rewrite_amplification)),
    ("times_over", |run, _| maybe(run.times_over)),
    ("energy_mj", |run, _| run.energy_mj.to_string()),
    ("cost_usd", |run, _| run.cost_usd.to_string()),
    ("ram_bytes", |run, _| run.ram_bytes.to_string()),
    ("slc_erases", |run, _| run.slc.erases.to_string()),
    ("mlc_erases", |run, _| run.mlc.erases.to_string()),
    ("slc_lifetime_years", |run, _| maybe(run.slc.lifetime_years)),
    ("mlc_lifetime_years", |run, _| maybe(run.mlc.lifetime_years)),
    ("rs", |_, ratios| maybe(ratios.and_then(|ratios| ratios.rs))),
    ("es", |_, ratios| maybe(ratios.and_then(|ratios| ratios.es))),
    ("ec", |_, ratios| maybe(ratios.and_then(|ratios| ratios.ec))),
    ("bw", |_, ratios| maybe(ratios.and_then(|ratios| ratios.bw))),
];

/// A run's figures, one cell per column.
pub(crate) fn figures(run: &RunResult, ratios: Option<&Ratios>) -> impl Iterator<Item = String> {
    FIGURES.iter().map(move |(_, figure)| figure(run, ratios))
}

fn maybe(figure: Option<f64>) -> String {
    figure.map_or_else(String::new, |figure| figure.to_string())
}

/// A line of cells.
pub(crate) fn line(cells: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|cell| quoted(cell.as_ref())).collect();
    cells.join(",") + "\n"
}

/// A cell in the format of RFC 4180.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_with_commas_or_quotes_is_quoted() {
        assert_eq!(line(["hybrid", "a,b"]), "hybrid,\"a,b\"\n");
        assert_eq!(quoted("say \"no\""), "\"say \"\"no\"\"\"");
    }
}
