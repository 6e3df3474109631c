//! From the results of a sweep to tables.

use std::io::Write;

use sim::engine::result::Ratios;
use sim::engine::sweep::{Collection, Folder, Plan, Row};
use sim::{Failure, show};

use crate::base::files;
use crate::output::table::{Edge, Table};
use crate::output::{csv, json};

/// Writes `table.csv` and `table.json`.
pub(super) fn write(plan: &Plan, rows: &[Row<'_>], folder: &Folder<'_>) -> Result<(), Failure> {
    files::replace(&folder.path.join("table.csv"), csv(rows).as_bytes())?;
    files::replace(&folder.path.join("table.json"), &json::text(&Collection::of(plan, rows)))
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
