//! The report of a sweep: how large the SLC should be, the effect of its size, and the table.

use sim::engine::sweep::{Folder, Plan, Row};
use sim::{Failure, show};

use super::advice::{self, Advice, OnDevice};
use super::collect::{self, HEADS};
use super::curves::{self, Curve};
use super::{doubts, which};
use crate::output::plot::{Axis, Bars, Chart, Scale, Shape};
use crate::output::ranking::RULE;
use crate::output::report::{HtmlPage, define};

/// A figure to draw: its title, its axis, and its value in a row.
struct CurveFigure {
    title: &'static str,
    axis: fn(u64) -> Axis,
    of: fn(&Row<'_>) -> Option<f64>,
    /// Why a run may have no value.
    absence: &'static str,
}

/// The placeholder in titles for the system that ratios refer to.
const FIRST: &str = "the first system";

/// Why a ratio of times or energies is missing.
const NO_TIME: &str = "No operation took any time, or the first system has no result yet.";

const FIGURES: [CurveFigure; 6] = [
    CurveFigure {
        title: "RS: times as fast as the first system",
        axis: |_| Axis::linear("times as fast (more is better)"),
        of: |row| row.ratios?.rs,
        absence: NO_TIME,
    },
    CurveFigure {
        title: "Response time of a write, mean",
        axis: |_| Axis::durations("mean of all writes (less is better)"),
        of: |row| row.result.write_us.mean,
        absence: "Nothing was written.",
    },
    CurveFigure {
        title: "BW: erases of an SLC block for each of an MLC block",
        axis: |_| Axis::linear("erases of an SLC block for one of an MLC block"),
        of: |row| row.ratios?.bw,
        absence: "BW needs an SLC, and an MLC that was erased.",
    },
    CurveFigure {
        title: "Life of the flash, until the first of its memories is worn",
        axis: |a_day| {
            Axis::linear(format!("years at {} (more is better)", show::bytes_a_day(a_day)))
        },
        of: |row| row.result.life(),
        absence: "Nothing was written.",
    },
    CurveFigure {
        title: "ES: energy, in per cent of what the first system takes",
        axis: |_| percents("% of the energy (less is better)"),
        of: |row| row.ratios?.es.map(|share| share * 100.0),
        absence: NO_TIME,
    },
    CurveFigure {
        title: "EC: price, in per cent of what the first system's costs",
        axis: |_| percents("% of the price (less is better)"),
        of: |row| row.ratios?.ec.map(|share| share * 100.0),
        absence: "The first system has no result yet.",
    },
];

/// An axis of shares, as in the tables.
fn percents(label: &str) -> Axis {
    Axis::new(label, Scale::Linear, |share| show::percent(share / 100.0))
}

/// Writes `report.html`.
pub(super) fn write(
    plan: &Plan,
    rows: &[Row<'_>],
    devices: &[OnDevice<'_, '_>],
    folder: &Folder<'_>,
) -> Result<(), Failure> {
    let mut page = HtmlPage::new(&format!("Sweep: {}", plan.name));
    if rows.len() < plan.runs.len() {
        let missing = plan.runs.len() - rows.len();
        page.warning(&format!("Partial: {missing} of {} runs are missing.", plan.runs.len()));
    }
    let systems = which::said(devices);
    if let Some((answer, others)) = systems.split_first() {
        page.heading("Which system has the most speed for the money?");
        page.answer(answer);
        page.list(others);
        page.note(RULE);
    }
    let answers = advice::said(devices);
    if let Some((answer, others)) = answers.split_first() {
        page.heading("How large should the SLC be?");
        page.answer(answer);
        page.list(others);
        page.note(&format!("{} Rings mark it.", advice::MEANING));
        define(&mut page, rows.iter().map(|row| row.result.system.as_str()));
    }
    let doubts = doubts::said(rows);
    if !doubts.is_empty() {
        page.heading("What these runs cannot show");
    }
    for doubt in &doubts {
        page.warning(doubt);
    }
    page.heading("What was asked for");
    page.listing(&without_comments(&plan.text));
    let fill = plan.runs.first().map_or("", |run| run.setup.fill.words());
    page.note(&format!(
        "{fill} Every request was served, and every sector that was read held the data last written. \
         Run with tandem {}.",
        env!("CARGO_PKG_VERSION")
    ));
    by_size(&mut page, devices, &plan.first());
    page.heading("All runs");
    let heads: Vec<String> = HEADS.iter().map(|head| (*head).to_owned()).collect();
    page.table(&heads, &rows.iter().map(collect::cells).collect::<Vec<_>>());
    page.write(&folder.path.join("report.html"))
}

/// A plan without its comments.
fn without_comments(plan: &str) -> String {
    let lines = plan.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.collect::<Vec<&str>>().join("\n").trim().to_owned()
}

/// Charts of each figure for each device: over the SLC's size if there are several, else side by side.
fn by_size(page: &mut HtmlPage, devices: &[OnDevice<'_, '_>], first: &str) {
    for OnDevice { device, rows, advice, .. } in devices {
        page.heading(&format!("On {device}"));
        for figure in &FIGURES {
            let title = figure.title.replace(FIRST, first);
            if let Some(chart) = against_size((figure, &title), rows, advice)
                .or_else(|| side_by_side(figure, &title, rows))
            {
                page.chart(&chart);
                let absent = absent(figure, rows);
                if !absent.is_empty() {
                    let names = show::listed(absent, "and");
                    page.note(&format!("Not in this chart: {names}. {}", figure.absence));
                }
            }
        }
        if rows.iter().any(|row| row.run.trace != row.run.workload) {
            page.note("Means over all seeds.");
        }
    }
}

/// The curves without a value.
fn absent(figure: &CurveFigure, rows: &[&Row<'_>]) -> Vec<String> {
    let named = rows.iter().map(|row| (curves::name(row, rows), (figure.of)(row).is_some()));
    let named: Vec<(String, bool)> = named.collect();
    let mut absent: Vec<String> = Vec::new();
    for (name, _) in &named {
        if !named.contains(&(name.clone(), true)) && !absent.contains(name) {
            absent.push(name.clone());
        }
    }
    absent
}

/// The bytes that a host writes each day.
fn a_day(rows: &[&Row<'_>]) -> u64 {
    rows.first().map_or(0, |row| row.result.bytes_a_day)
}

#[allow(clippy::cast_precision_loss)] // A picture shows few digits.
fn against_size(
    (figure, title): (&CurveFigure, &str),
    rows: &[&Row<'_>],
    advice: &[Advice],
) -> Option<String> {
    let curves = curves::of(figure.of, rows);
    if !curves.iter().any(|curve| curve.points.len() > 1) {
        return None;
    }
    let mut chart = Chart::new(title, Axis::bytes("size of the SLC"), (figure.axis)(a_day(rows)));
    let mut marks = Vec::new();
    for Curve { name, points } in curves {
        let advised = advice.iter().find(|advice| advice.curve == name).and_then(Advice::size);
        let at = advised.and_then(|size| Some((size, *points.get(&size)?)));
        marks.extend(at.map(|(size, value)| (size as f64, value)));
        let points = points.into_iter().map(|(size, value)| (size as f64, value));
        chart = chart.with(name, Shape::Line, points.collect());
    }
    Some(
        if marks.is_empty() { chart } else { chart.with("size to take", Shape::Rings, marks) }
            .inline(),
    )
}

fn side_by_side(figure: &CurveFigure, title: &str, rows: &[&Row<'_>]) -> Option<String> {
    let mut bars: Vec<(String, f64, f64)> = Vec::new();
    for row in rows {
        let Some(value) = (figure.of)(row) else { continue };
        let name = curves::name(row, rows);
        match bars.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, sum, count)) => (*sum, *count) = (*sum + value, *count + 1.0),
            None => bars.push((name, value, 1.0)),
        }
    }
    // Bars are compared by their lengths.
    let axis = (figure.axis)(a_day(rows)).from(0.0);
    let chart = Bars::grouped(title, axis, bars.iter().map(|(name, ..)| name.as_str()));
    let values = bars.iter().map(|(_, sum, count)| sum / count).collect();
    (!bars.is_empty()).then(|| chart.with("", values).inline())
}
