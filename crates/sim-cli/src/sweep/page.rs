//! The report of a sweep: its table, and the effect of the SLC's size.

use std::collections::{BTreeMap, BTreeSet};

use super::collect::{self, HEADS, Row};
use super::folder::Folder;
use super::plan::Plan;
use crate::plot::{Axis, Bars, Chart, Scale, Shape};
use crate::report::Page;
use crate::{Failure, show};

/// A figure to draw: its title, its axis, and its value in a row.
struct Figure {
    title: &'static str,
    axis: fn() -> Axis,
    of: fn(&Row<'_>) -> Option<f64>,
}

/// The placeholder in titles for the system that ratios refer to.
const FIRST: &str = "the first system";

const FIGURES: [Figure; 5] = [
    Figure {
        title: "RS: times as fast as the first system",
        axis: || Axis::linear("times as fast (more is better)"),
        of: |row| row.ratios?.rs,
    },
    Figure {
        title: "Response time of a write, mean",
        axis: || Axis::durations("mean of all writes (less is better)"),
        of: |row| row.result.write_us.mean,
    },
    Figure {
        title: "BW: erases of an SLC block for each of an MLC block",
        axis: || Axis::linear("erases of an SLC block for one of an MLC block"),
        of: |row| row.ratios?.bw,
    },
    Figure {
        title: "ES: energy, in per cent of what the first system takes",
        axis: || percents("% of the energy (less is better)"),
        of: |row| row.ratios?.es.map(|share| share * 100.0),
    },
    Figure {
        title: "EC: price of the flash, in per cent of what the first system's costs",
        axis: || percents("% of the price (less is better)"),
        of: |row| row.ratios?.ec.map(|share| share * 100.0),
    },
];

/// An axis of shares, as in the tables.
fn percents(label: &str) -> Axis {
    Axis::new(label, Scale::Linear, |share| format!("{} %", (share * 100.0).round() / 100.0))
}

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
         read held the data last written. Run with tandem ",
        env!("CARGO_PKG_VERSION"),
        "."
    ));
    let first = plan.runs.first().map_or("", |run| run.system.name.as_str());
    knees(&mut page, rows);
    by_size(&mut page, rows, first);
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

/// Sums and counts by SLC size, to take means over seeds.
type Means = BTreeMap<u64, (f64, f64)>;

/// Charts of each figure for each device: over the SLC's size if there are several, else side by side.
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

/// The name of a line: the system, and the workload if there are several.
fn line_name(row: &Row<'_>, rows: &[&Row<'_>]) -> String {
    let several = rows.iter().any(|other| other.run.workload != row.run.workload);
    let system = &row.result.system;
    if several { format!("{system}, {}", row.run.workload) } else { system.clone() }
}

/// The lines of a figure, by system and workload: its means at each size of the SLC.
fn lines(figure: fn(&Row<'_>) -> Option<f64>, rows: &[&Row<'_>]) -> Vec<(String, Means)> {
    let mut lines: Vec<(String, Means)> = Vec::new();
    let sizes: BTreeSet<u64> = rows.iter().filter_map(|row| row.run.slc).collect();
    for row in rows {
        let Some(value) = figure(row) else { continue };
        let name = line_name(row, rows);
        let at = lines.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            lines.push((name, Means::new()));
            lines.len() - 1
        });
        // A system that does not use the SLC is the same at every size.
        let own = row.run.slc.map_or_else(|| sizes.clone(), |size| BTreeSet::from([size]));
        for size in own {
            let (sum, count) = lines[at].1.entry(size).or_default();
            *sum += value;
            *count += 1.0;
        }
    }
    lines
}

fn against_size(figure: &Figure, title: &str, rows: &[&Row<'_>]) -> Option<String> {
    let lines = lines(figure.of, rows);
    if !lines.iter().any(|(_, means)| means.len() > 1) {
        return None;
    }
    let knees: Vec<Knee> = self::lines(speed, rows).iter().filter_map(knee).collect();
    let mut chart = Chart::new(title, Axis::bytes("size of the SLC"), (figure.axis)());
    let mut marks = Vec::new();
    for (name, means) in lines {
        #[allow(clippy::cast_precision_loss)] // A picture shows few digits.
        let points = means.into_iter().map(|(size, (sum, count))| (size as f64, sum / count));
        let points: Vec<(f64, f64)> = points.collect();
        #[allow(clippy::cast_precision_loss)] // As above.
        let at = knees.iter().find(|knee| knee.name == name).map(|knee| knee.size as f64);
        marks.extend(points.iter().filter(|(size, _)| Some(*size) == at).copied());
        chart = chart.with(name, Shape::Line, points);
    }
    Some(if marks.is_empty() { chart } else { chart.with("knee", Shape::Points, marks) }.inline())
}

fn speed(row: &Row<'_>) -> Option<f64> {
    row.ratios?.rs
}

/// The gain at the knee, as a share of the largest gain of any SLC size.
const KNEE: f64 = 0.9;

/// The SLC size beyond which more SLC gains little.
struct Knee {
    name: String,
    size: u64,
    speed: f64,
    fastest: f64,
}

/// The knee of a line of speeds, if it rises by more than a hundredth.
fn knee((name, means): &(String, Means)) -> Option<Knee> {
    let speeds: Vec<(u64, f64)> =
        means.iter().map(|(size, (sum, count))| (*size, sum / count)).collect();
    let least = speeds.iter().map(|(_, speed)| *speed).fold(f64::MAX, f64::min);
    let fastest = speeds.iter().map(|(_, speed)| *speed).fold(f64::MIN, f64::max);
    if speeds.len() < 3 || fastest < least * 1.01 {
        return None;
    }
    let enough = least + (fastest - least) * KNEE;
    let (size, speed) = speeds.into_iter().find(|(_, speed)| *speed >= enough)?;
    Some(Knee { name: name.clone(), size, speed, fastest })
}

/// The answer to "how large should the SLC be?".
fn knees(page: &mut Page, rows: &[Row<'_>]) {
    let mut devices: Vec<&str> = rows.iter().map(|row| row.run.device.as_str()).collect();
    devices.dedup();
    let mut said = Vec::new();
    for device in devices {
        let rows: Vec<&Row<'_>> = rows.iter().filter(|row| row.run.device == device).collect();
        for line in lines(speed, &rows) {
            let Some(Knee { name, size, speed, fastest }) = knee(&line) else { continue };
            let is_last = line.1.keys().next_back() == Some(&size);
            let size = show::size(size);
            said.push(if is_last {
                format!(
                    "On {device}, {name}: {size} of SLC, the most in the plan, make it {speed:.2} times as fast, and \
                     more may gain more: ask for larger sizes, too."
                )
            } else {
                format!(
                    "On {device}, {name}: {size} of SLC are enough. They make it {speed:.2} times as fast; the fastest \
                     size of the plan, {fastest:.2} times."
                )
            });
        }
    }
    if said.is_empty() {
        return;
    }
    page.heading("How large should the SLC be?");
    for sentence in &said {
        page.words(sentence);
    }
    page.note(
        "The knee: the smallest size with nine tenths of what the largest gain over the smallest is. Dots mark it in \
         the charts.",
    );
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
    // Bars are compared by their lengths.
    let axis = (figure.axis)().from(0.0);
    let chart = Bars::grouped(title, axis, bars.iter().map(|(name, ..)| name.as_str()));
    let values = bars.iter().map(|(_, sum, count)| sum / count).collect();
    (!bars.is_empty()).then(|| chart.with("", values).inline())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(speeds: &[f64]) -> Option<(u64, f64)> {
        let means = (0..).zip(speeds).map(|(at, speed)| (1 << at, (2.0 * speed, 2.0))).collect();
        knee(&("hybrid".into(), means)).map(|knee| (knee.size, knee.fastest))
    }

    #[test]
    fn the_knee_is_where_more_gains_little() {
        assert_eq!(found(&[1.0, 1.2, 1.48, 1.5, 1.49]), Some((4, 1.5)));
        assert_eq!(found(&[1.0, 1.1, 1.2]), Some((4, 1.2)));
        assert_eq!(found(&[1.0, 1.001, 1.002]), None);
        assert_eq!(found(&[1.0, 2.0]), None);
    }
}
