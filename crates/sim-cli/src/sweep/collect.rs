//! From the results of a sweep to tables.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde::Serialize;

use super::Folder;
use super::plan::{Plan, Run};
use crate::result::{Ratios, RunResult, SCHEMA};
use crate::table::{Edge, Table};
use crate::{Failure, files, replay, show};

/// A run with its result.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) run: &'a Run,
    pub(super) result: RunResult,
    /// Against the first system of the plan; none where that has no result yet.
    pub(super) ratios: Option<Ratios>,
}

/// A row of `table.json`: what a table needs beside the result.
#[derive(Serialize)]
struct Collected<'a> {
    /// Where the result alone is, seen from the sweep's folder.
    file: String,
    /// The SLC size that the plan asks for.
    slc_asked: Option<u64>,
    ratios: Option<Ratios>,
    result: &'a RunResult,
}

/// `table.json`.
#[derive(Serialize)]
struct Collection<'a> {
    schema: u32,
    planned: usize,
    runs: Vec<Collected<'a>>,
}

/// A result's file, if it is there and whole.
pub(super) fn read(path: &Path) -> Option<RunResult> {
    let text = fs::read(path).ok()?;
    let result: RunResult = serde_json::from_slice(&text).ok()?;
    (result.schema == SCHEMA && !result.partial).then_some(result)
}

/// The results that are there, in the plan's order.
pub(super) fn rows<'a>(plan: &'a Plan, folder: &Folder<'_>) -> Vec<Row<'a>> {
    let results: Vec<Option<RunResult>> =
        plan.runs.iter().map(|run| read(&folder.result(run))).collect();
    let rows = plan.runs.iter().zip(&results).filter_map(|(run, result)| {
        let result = result.clone()?;
        let ratios = results[run.baseline].as_ref().map(|baseline| result.against(baseline));
        Some(Row { run, result, ratios })
    });
    rows.collect()
}

/// Writes `table.csv` and `table.json`.
pub(super) fn write(plan: &Plan, rows: &[Row<'_>], folder: &Folder<'_>) -> Result<(), Failure> {
    files::replace(&folder.path.join("table.csv"), csv(rows).as_bytes())?;
    let runs = rows.iter().map(|row| Collected {
        file: format!("runs/{}.json", row.run.id),
        slc_asked: row.run.slc,
        ratios: row.ratios,
        result: &row.result,
    });
    let collection = Collection { schema: SCHEMA, planned: plan.runs.len(), runs: runs.collect() };
    files::replace(&folder.path.join("table.json"), &replay::json(&collection))
}

/// A column of `table.csv`: its name, and its figure of a row.
type Column = (&'static str, fn(&Row<'_>) -> String);

const COLUMNS: [Column; 29] = [
    ("device", |row| row.run.device.clone()),
    ("slc_asked", |row| row.run.slc.map_or_else(String::new, |bytes| bytes.to_string())),
    ("slc_bytes", |row| row.result.slc_bytes.to_string()),
    ("system", |row| row.result.system.clone()),
    ("trace", |row| row.result.trace.clone()),
    ("seed", |row| row.result.seed.map_or_else(String::new, |seed| seed.to_string())),
    ("passes", |row| row.result.passes.to_string()),
    ("requests", |row| row.result.requests.total().to_string()),
    ("sectors_read", |row| row.result.requests.sectors_read.to_string()),
    ("sectors_written", |row| row.result.requests.sectors_written.to_string()),
    ("response_us_total", |row| row.result.response_us.total.to_string()),
    ("response_us_mean", |row| maybe(row.result.response_us.mean)),
    ("read_us_mean", |row| maybe(row.result.read_us.mean)),
    ("write_us_mean", |row| maybe(row.result.write_us.mean)),
    ("write_us_p50", |row| maybe(row.result.write_us.p50)),
    ("write_us_p99", |row| maybe(row.result.write_us.p99)),
    ("write_us_p999", |row| maybe(row.result.write_us.p999)),
    ("write_us_max", |row| maybe(row.result.write_us.max)),
    ("write_amplification", |row| maybe(row.result.write_amplification)),
    ("energy_mj", |row| row.result.energy_mj.to_string()),
    ("cost_usd", |row| row.result.cost_usd.to_string()),
    ("ram_bytes", |row| row.result.ram_bytes.to_string()),
    ("slc_erases", |row| row.result.slc.erases.to_string()),
    ("mlc_erases", |row| row.result.mlc.erases.to_string()),
    ("rs", |row| ratio(row, |ratios| ratios.rs)),
    ("es", |row| ratio(row, |ratios| ratios.es)),
    ("ec", |row| ratio(row, |ratios| ratios.ec)),
    ("bw", |row| ratio(row, |ratios| ratios.bw)),
    ("file", |row| format!("runs/{}.json", row.run.id)),
];

fn maybe(figure: Option<f64>) -> String {
    figure.map_or_else(String::new, |figure| figure.to_string())
}

fn ratio(row: &Row<'_>, ratio: fn(&Ratios) -> Option<f64>) -> String {
    maybe(row.ratios.as_ref().and_then(ratio))
}

fn csv(rows: &[Row<'_>]) -> String {
    let line = |cells: Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
        cells.join(",") + "\n"
    };
    let mut text = line(COLUMNS.iter().map(|(name, _)| (*name).to_owned()).collect());
    for row in rows {
        text += &line(COLUMNS.iter().map(|(_, figure)| figure(row)).collect());
    }
    text
}

/// A cell as RFC 4180 has it.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.into()
    }
}

/// The columns of the table for people.
pub(super) const HEADS: [&str; 9] =
    ["device", "SLC", "trace", "system", "mean response", "RS", "ES", "EC", "BW"];

/// The table for people: a row a run.
pub(super) fn cells(row: &Row<'_>) -> Vec<String> {
    let figure = |ratio: fn(&Ratios) -> Option<f64>, shown: fn(f64) -> String| {
        show::maybe(row.ratios.as_ref().and_then(ratio), shown)
    };
    let plain = |value: f64| format!("{value:.2}");
    let percent = |value: f64| format!("{:.1} %", value * 100.0);
    vec![
        row.run.device.clone(),
        row.run.slc.map_or_else(|| "-".into(), show::size),
        row.result.trace.clone(),
        row.result.system.clone(),
        show::maybe(row.result.response_us.mean, show::time),
        figure(|ratios| ratios.rs, plain),
        figure(|ratios| ratios.es, percent),
        figure(|ratios| ratios.ec, percent),
        figure(|ratios| ratios.bw, plain),
    ]
}

/// Writes that table.
pub(super) fn table(rows: &[Row<'_>], out: &mut dyn Write) -> Result<(), Failure> {
    let edge = |at: usize| if at == 1 || at > 3 { Edge::Right } else { Edge::Left };
    let mut table = Table::new(HEADS.iter().enumerate().map(|(at, head)| (*head, edge(at))));
    for row in rows {
        table.row(cells(row));
    }
    Ok(table.write(out)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_with_commas_or_quotes_is_quoted() {
        assert_eq!(quoted("hybrid"), "hybrid");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"no\""), "\"say \"\"no\"\"\"");
    }
}
