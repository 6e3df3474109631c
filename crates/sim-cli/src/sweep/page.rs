//! The report of a sweep: its table, and what the SLC's size changes.

use std::collections::BTreeMap;

use super::Folder;
use super::collect::{self, HEADS, Row};
use super::plan::Plan;
use crate::Failure;
use crate::plot::{Axis, Bars, Chart, Shape};
use crate::report::Page;

/// A figure that is drawn: its title, its axis, and what it is of a row.
struct Figure {
    title: &'static str,
    axis: fn() -> Axis,
    of: fn(&Row<'_>) -> Option<f64>,
}

/// Stands in titles for the system to which ratios are.
const FIRST: &str = "the first system";

const FIGURES: [Figure; 5] = [
    Figure {
        title: "RS: times as fast as the first system",
        axis: || Axis::linear("times as fast (more is better)").from(0.0),
        of: |row| row.ratios?.rs,
    },
    Figure {
        title: "Response time of a write, mean",
        axis: || Axis::durations("mean of all writes (less is better)").from(0.0),
        of: |row| row.result.write_us.mean,
    },
    Figure {
        title: "BW: erases of an SLC block for each of an MLC block",
        axis: || Axis::linear("erases an erase").from(0.0),
        of: |row| row.ratios?.bw,
    },
    Figure {
        title: "ES: energy, of the first system's",
        axis: || Axis::linear("share (less is better)").from(0.0),
        of: |row| row.ratios?.es,
    },
    Figure {
        title: "EC: price of the flash, of the first system's",
        axis: || Axis::linear("share (less is better)").from(0.0),
        of: |row| row.ratios?.ec,
    },
];

/// Writes `report.html`.
pub(super) fn write(plan: &Plan, rows: &[Row<'_>], folder: &Folder<'_>) -> Result<(), Failure> {
    let mut page = Page::new(&format!("Sweep: {}", plan.name));
    if rows.len() < plan.runs.len() {
        let missing = plan.runs.len() - rows.len();
        page.warning(&format!("Partial: {missing} of {} runs are missing.", plan.runs.len()));
    }
    page.heading("What was asked for");
    page.listing(&without_comments(&plan.text));
    page.note(concat!(
        "Before each replay, every block of the device was written once. Every request was served, and every sector \
         read held what was written last. Run with tandem ",
        env!("CARGO_PKG_VERSION"),
        "."
    ));
    let first = plan.runs.first().map_or("", |run| run.system.name.as_str());
    by_size(&mut page, rows, first);
    page.heading("All runs");
    let heads: Vec<String> = HEADS.iter().map(|head| (*head).to_owned()).collect();
    page.table(&heads, &rows.iter().map(collect::cells).collect::<Vec<_>>());
    page.write(&folder.path.join("report.html"))
}

/// What a plan says, without what it explains.
fn without_comments(plan: &str) -> String {
    let lines = plan.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.collect::<Vec<&str>>().join("\n").trim().to_owned()
}

/// Sums and counts by SLC size, to take means over seeds.
type Means = BTreeMap<u64, (f64, f64)>;

/// Charts of each figure for each device: against the SLC's size where there are several, else side by side.
fn by_size(page: &mut Page, rows: &[Row<'_>], first: &str) {
    let mut devices: Vec<&str> = rows.iter().map(|row| row.run.device.as_str()).collect();
    devices.dedup();
    for device in devices {
        let rows: Vec<&Row<'_>> = rows.iter().filter(|row| row.run.device == device).collect();
        page.heading(&format!("On {device}"));
        for figure in &FIGURES {
            let title = figure.title.replace(FIRST, first);
            if let Some(chart) =
                against_size(figure, &title, &rows).or_else(|| side_by_side(figure, &title, &rows))
            {
                page.chart(&chart);
            }
        }
        if rows.iter().any(|row| row.run.trace != row.run.workload) {
            page.note("Means over all seeds.");
        }
    }
}

/// The name of a line: the system, and the workload where there are several.
fn line_name(row: &Row<'_>, rows: &[&Row<'_>]) -> String {
    let several = rows.iter().any(|other| other.run.workload != row.run.workload);
    let system = &row.result.system;
    if several { format!("{system}, {}", row.run.workload) } else { system.clone() }
}

fn against_size(figure: &Figure, title: &str, rows: &[&Row<'_>]) -> Option<String> {
    let mut lines: Vec<(String, Means)> = Vec::new();
    for row in rows {
        let (Some(size), Some(value)) = (row.run.slc, (figure.of)(row)) else { continue };
        let name = line_name(row, rows);
        let at = lines.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            lines.push((name, Means::new()));
            lines.len() - 1
        });
        let (sum, count) = lines[at].1.entry(size).or_default();
        *sum += value;
        *count += 1.0;
    }
    if !lines.iter().any(|(_, means)| means.len() > 1) {
        return None;
    }
    let mut chart = Chart::new(title, Axis::bytes("size of the SLC"), (figure.axis)());
    for (name, means) in lines {
        #[allow(clippy::cast_precision_loss)] // A picture shows few digits.
        let points = means.into_iter().map(|(size, (sum, count))| (size as f64, sum / count));
        chart = chart.with(name, Shape::Line, points.collect());
    }
    Some(chart.inline())
}

fn side_by_side(figure: &Figure, title: &str, rows: &[&Row<'_>]) -> Option<String> {
    let mut bars: Vec<(String, f64, f64)> = Vec::new();
    for row in rows {
        let Some(value) = (figure.of)(row) else { continue };
        let name = line_name(row, rows);
        match bars.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, sum, count)) => (*sum, *count) = (*sum + value, *count + 1.0),
            None => bars.push((name, value, 1.0)),
        }
    }
    let axis = (figure.axis)();
    let chart = Bars::grouped(title, axis, bars.iter().map(|(name, ..)| name.as_str()));
    let values = bars.iter().map(|(_, sum, count)| sum / count).collect();
    (!bars.is_empty()).then(|| chart.with("", values).inline())
}
