//! The output of a torture run: tables or JSON.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use ftl_core::Cause;
use sim::{Failure, show};
use torture::Fate;
use torture::report::{Count, cause_name};
use torture::told::{Report, WorldCount};

use crate::output::table::{Edge, Table};

/// The most violations printed in full; further ones are only counted.
const VIOLATIONS_TOLD: usize = 10;

/// Writes the JSON to its file, and the tables to `out`, unless the JSON goes there.
pub(super) fn write(
    report: &Report,
    json: Option<&Path>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let Some(path) = json else { return tables(report, out) };
    if path.as_os_str() == "-" {
        return Ok(write_json(report, out)?);
    }
    let failed = |reason| Failure::File { path: path.into(), reason };
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    write_json(report, &mut file).and_then(|()| file.flush()).map_err(failed)?;
    tables(report, out)
}

fn write_json(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &report.counts())?;
    writeln!(out)
}

fn tables(report: &Report, out: &mut dyn Write) -> Result<(), Failure> {
    if report.tally.total().tried == 0 {
        writeln!(out, "{}", without_cuts(report))?;
        return broken(report, out);
    }
    let tally = &report.tally;
    let mut table = columns("power failed in an operation for");
    for cause in Cause::ALL {
        row(&mut table, cause_name(cause), tally.by_cause(cause));
    }
    table.write(out)?;
    writeln!(out)?;
    let mut table = columns("and left");
    for (number, name) in Fate::ROWS.iter().enumerate() {
        row(&mut table, name, tally.by_fate(number));
    }
    row(&mut table, "all", tally.total());
    table.write(out)?;
    writeln!(out, "\n{}", summary(report))?;
    broken(report, out)
}

/// The broken promises.
fn broken(report: &Report, out: &mut dyn Write) -> Result<(), Failure> {
    for violation in report.violations.iter().take(VIOLATIONS_TOLD) {
        writeln!(out, "\n{}", violation.whole)?;
        for line in &violation.history {
            writeln!(out, "    {line}")?;
        }
    }
    let untold = report.violations.len().saturating_sub(VIOLATIONS_TOLD);
    if untold > 0 {
        writeln!(out, "\nand {untold} more")?;
    }
    Ok(())
}

/// What is told of a run without a cut, as a failure in the workload's own life asks for.
fn without_cuts(report: &Report) -> String {
    let operations = report.operations.unwrap_or_default();
    format!(
        "no power cut was tried: the workload ran alone, {} operations",
        show::count(operations)
    )
}

fn summary(report: &Report) -> String {
    let Count { tried, lost, stuck } = report.tally.total();
    let tried = show::count(tried);
    match report.worlds {
        Some(WorldCount { worlds, lives }) => format!(
            "{tried} cuts in {} lives of {} worlds: {} worlds in which a promise was broken",
            show::count(lives),
            show::count(worlds),
            show::count(report.violations.len() as u64)
        ),
        None => format!(
            "{tried} power cuts, {} of them during or after the mount that followed another: {} lost data, {} left a \
             device that is stuck",
            show::count(report.tally.nested),
            show::count(lost),
            show::count(stuck)
        ),
    }
}

fn columns(first: &str) -> Table {
    let numbers = ["tried", "lost", "stuck"].map(|name| (name, Edge::Right));
    Table::new([(first, Edge::Left)].into_iter().chain(numbers))
}

fn row(table: &mut Table, name: &str, count: Count) {
    if count.tried > 0 {
        let Count { tried, lost, stuck } = count;
        table.row([name.to_owned(), show::count(tried), show::count(lost), show::count(stuck)]);
    }
}
