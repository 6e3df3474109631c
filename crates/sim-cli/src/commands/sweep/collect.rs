//! From the results of a sweep to tables.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde::Serialize;
use sim::engine::result::{Ratios, RunResult, SCHEMA};
use sim::{Failure, show};

use super::folder::Folder;
use super::plan::Plan;
use super::run::Run;
use crate::base::files;
use crate::output::table::{Edge, Table};
use crate::output::{csv, json};

/// A run with its result.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) run: &'a Run,
    pub(super) result: RunResult,
    /// Compared with the first system of the plan; `None` if that has no result yet.
    pub(super) ratios: Option<Ratios>,
}

/// A row of `table.json`: the fields of a table besides the result.
#[derive(Serialize)]
struct Collected<'a> {
    /// The path of the result, relative to the sweep's folder.
    file: String,
    /// The SLC size in the plan.
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

/// A result's file, if it exists and is complete.
pub(super) fn read(path: &Path) -> Option<RunResult> {
    let text = fs::read(path).ok()?;
    let result: RunResult = serde_json::from_slice(&text).ok()?;
    (result.schema == SCHEMA && !result.partial).then_some(result)
}

/// The existing results, in the plan's order.
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
    files::replace(&folder.path.join("table.json"), &json::text(&collection))
}

fn csv(rows: &[Row<'_>]) -> String {
    let names = csv::FIGURES.iter().map(|(name, _)| *name);
    let mut text = csv::line(["device", "slc_asked"].into_iter().chain(names).chain(["file"]));
    for row in rows {
        let asked = row.run.slc.map_or_else(String::new, |bytes| bytes.to_string());
        let figures = csv::figures(&row.result, row.ratios.as_ref());
        let file = format!("runs/{}.json", row.run.id);
        text +=
            &csv::line([row.run.device.clone(), asked].into_iter().chain(figures).chain([file]));
    }
    text
}

/// The columns of the printed table.
pub(super) const HEADS: [&str; 9] =
    ["device", "SLC", "trace", "system", "mean response", "RS", "ES", "EC", "BW"];

/// The printed table: one row per run.
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
