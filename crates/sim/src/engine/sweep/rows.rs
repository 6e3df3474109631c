//! The results of a sweep that are there.

use std::fs;
use std::path::Path;

use serde::Serialize;

use super::folder::Folder;
use super::plan::Plan;
use super::run::Run;
use crate::engine::result::{Ratios, RunResult, SCHEMA};

/// A run with its result.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The run.
    pub run: &'a Run,
    /// Its result.
    pub result: RunResult,
    /// Compared with the first system of the plan; `None` if that has no result yet.
    pub ratios: Option<Ratios>,
}

/// A row of `table.json`: the fields of a table besides the result.
#[derive(Debug, Serialize)]
pub struct Collected<'a> {
    /// The path of the result, relative to the sweep's folder.
    file: String,
    /// The SLC size in the plan.
    slc_asked: Option<u64>,
    ratios: Option<Ratios>,
    result: &'a RunResult,
}

/// The content of `table.json`.
#[derive(Debug, Serialize)]
pub struct Collection<'a> {
    schema: u32,
    planned: usize,
    runs: Vec<Collected<'a>>,
}

/// A result's file, if it exists and is complete.
pub fn read(path: &Path) -> Option<RunResult> {
    let text = fs::read(path).ok()?;
    let result: RunResult = serde_json::from_slice(&text).ok()?;
    (result.schema == SCHEMA && !result.partial).then_some(result)
}

/// The existing results, in the plan's order.
pub fn rows<'a>(plan: &'a Plan, folder: &Folder<'_>) -> Vec<Row<'a>> {
    let results: Vec<_> = plan.runs.iter().map(|run| read(&folder.result(run))).collect();
    beside(plan, &results)
}

/// The runs that have a result, in the plan's order, each compared with the first system's.
pub fn beside<'a>(plan: &'a Plan, results: &[Option<RunResult>]) -> Vec<Row<'a>> {
    let rows = plan.runs.iter().zip(results).filter_map(|(run, result)| {
        let result = result.clone()?;
        let ratios = results[run.baseline].as_ref().map(|baseline| result.against(baseline));
        Some(Row { run, result, ratios })
    });
    rows.collect()
}

impl<'a> Collection<'a> {
    /// These rows of the plan.
    pub fn of(plan: &Plan, rows: &'a [Row<'a>]) -> Self {
        let runs = rows.iter().map(|row| Collected {
            file: format!("runs/{}.json", row.run.id),
            slc_asked: row.run.slc,
            ratios: row.ratios,
            result: &row.result,
        });
        Self { schema: SCHEMA, planned: plan.runs.len(), runs: runs.collect() }
    }
}
