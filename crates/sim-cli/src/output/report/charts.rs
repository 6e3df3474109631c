//! The charts of a report.

use ftl_iface::Region;
use sim::engine::result::{ByCause, Pages};
use sim::engine::systems::ChainWrite;
use sim::input::device::Setup;

use super::shown::{Memory, Shown, cause_name};
use crate::output::plot::{Axis, Bars, Chart, Scale, Shape};
use crate::output::ranking::Ranking;

/// Requests answered within a time, on a scale of nines: 99 % is one step further than 90 %.
pub(super) fn latencies(outcomes: &[Shown<'_>]) -> Vec<String> {
    let kinds = [("Reads", 0), ("Writes", 1)];
    let charts = kinds.map(|(name, kind)| {
        let title = format!("{name}: how long they took");
        let shares = Axis::new("share of the requests", Scale::Log10, percent).from(1.0);
        let mut chart = Chart::new(title, shares, Axis::times("answered within"));
        for Shown { label, result, details } in outcomes {
            let Some(details) = details else { continue };
            let points = details.latencies[kind].iter();
            // The share after the last request is 1; it is drawn as if there were one more.
            let count = if kind == 0 { result.requests.reads } else { result.requests.writes };
            #[allow(clippy::cast_precision_loss)] // A picture shows few digits.
            let last = 1.0 / (count as f64 + 1.0);
            let points = points.map(|(share, micros)| (1.0 / (1.0 - share).max(last), *micros));
            chart = chart.with(&**label, Shape::Steps, points.collect());
        }
        chart
    });
    charts.iter().filter(|chart| !chart.is_empty()).map(Chart::inline).collect()
}

/// The position of a share on the axis of [`latencies`].
fn percent(odds: f64) -> String {
    let nines = odds.log10().round() as i32;
    let digits = usize::try_from(nines - 2).unwrap_or(0);
    format!("{:.digits$} %", 100.0 - 100.0 / odds)
}

/// The response times by cause.
pub(super) fn time_by_cause(outcomes: &[Shown<'_>]) -> String {
    let seconds = Axis::linear("seconds of response time, all requests together");
    let names = outcomes.iter().map(|outcome| outcome.label.as_str());
    let mut bars = Bars::stacked("What the time was spent on", seconds, names);
    let parts: Vec<_> =
        outcomes.iter().map(|outcome| outcome.result.response_by_cause_us.all().parts()).collect();
    for (at, (name, _)) in ByCause::default().parts().into_iter().enumerate() {
        let values: Vec<f64> = parts.iter().map(|parts| parts[at].1 / 1e6).collect();
        if values.iter().any(|value| *value > 0.0) {
            bars = bars.with(cause_name(name), values);
        }
    }
    bars.inline()
}

/// A figure of a region's pages, with its name.
type PageFigure = (&'static str, fn(&Pages) -> u64);

/// The pages programmed, by cause.
const PROGRAMMED: [PageFigure; 5] = [
    ("host", |pages| pages.host_program),
    ("garbage collection", |pages| pages.gc_program),
    ("wear leveling", |pages| pages.wl_program),
    ("metadata", |pages| pages.meta_program),
    ("map", |pages| pages.map_program),
];

/// The pages read, by cause.
const READ: [PageFigure; 6] = [
    ("host", |pages| pages.host_read),
    ("garbage collection", |pages| pages.gc_read),
    ("wear leveling", |pages| pages.wl_read),
    ("metadata", |pages| pages.meta_read),
    ("address translation", |pages| pages.scan_read),
    ("map", |pages| pages.map_read),
];

/// Data programmed, by cause: a bar for each region of each system.
pub(super) fn writes(outcomes: &[Shown<'_>], setup: &Setup) -> String {
    traffic(outcomes, setup, "Write traffic by cause", &PROGRAMMED)
}

/// Data read, by cause.
pub(super) fn reads(outcomes: &[Shown<'_>], setup: &Setup) -> String {
    traffic(outcomes, setup, "Read traffic by cause", &READ)
}

fn traffic(outcomes: &[Shown<'_>], setup: &Setup, title: &str, figures: &[PageFigure]) -> String {
    let rows: Vec<(String, f64, Pages)> = outcomes
        .iter()
        .flat_map(|outcome| {
            outcome.memories().filter_map(move |Memory { name, region, part }| {
                let pages = part.pages();
                let shape = setup.part.geometry.region(region)?;
                let is_used = pages.reads() + pages.programs() > 0;
                is_used.then(|| (name, f64::from(shape.page_bytes.get()), pages))
            })
        })
        .collect();
    let axis = Axis::addresses("whole pages, in bytes");
    let mut bars = Bars::stacked(title, axis, rows.iter().map(|(name, ..)| name.as_str()));
    for (name, figure) in figures {
        #[allow(clippy::cast_precision_loss)] // A picture shows few digits.
        let values = rows.iter().map(|(_, bytes, pages)| figure(pages) as f64 * bytes);
        bars = bars.with(*name, values.collect());
    }
    bars.inline()
}

/// How evenly blocks wear: for each region a curve for each system, of the share of its blocks that were erased at most
/// that often.
pub(super) fn wear(outcomes: &[Shown<'_>]) -> Vec<String> {
    let charts = Region::ALL.map(|region| {
        let counts = Axis::linear("erases of a block").from(0.0);
        let shares =
            Axis::new("share of the blocks", Scale::Linear, whole_percent).from(0.0).to(1.0);
        let mut chart = Chart::new(format!("Erases of the {region}'s blocks"), counts, shares);
        for Shown { label, details, .. } in outcomes {
            let erases = details.map_or(&[][..], |details| &details.erases[region as usize]);
            if erases.iter().any(|count| *count > 0) {
                chart = chart.with(&**label, Shape::Steps, distribution(erases));
            }
        }
        chart
    });
    charts.iter().filter(|chart| !chart.is_empty()).map(Chart::inline).collect()
}

/// The share of the blocks that have at most so many erases, where it changes.
#[allow(clippy::cast_precision_loss)] // A picture shows few digits.
fn distribution(erases: &[u32]) -> Vec<(f64, f64)> {
    let mut sorted = erases.to_vec();
    sorted.sort_unstable();
    let all = sorted.len().max(1) as f64;
    let last = (0..sorted.len()).filter(|at| sorted.get(at + 1) != sorted.get(*at));
    let points = last.map(|at| (f64::from(sorted[at]), (at + 1) as f64 / all));
    [(0.0, 0.0)].into_iter().chain(points).collect()
}

fn whole_percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// How many times as fast as the first system each is, in the order of the ranking.
pub(super) fn speeds(ranking: &Ranking<'_>) -> String {
    let places = || ranking.places.iter().filter(|place| place.ratios.rs.is_some());
    let title = format!("Times as fast as {} (more is better)", ranking.first.system);
    let names = places().map(|place| place.label.as_str());
    let values = places().map(|place| place.ratios.rs.unwrap_or(0.0)).collect();
    Bars::grouped(title, Axis::linear("RS, over all requests"), names).with("", values).inline()
}

/// The response time over the run: a fresh device on its way to its steady state, or one that recovers from another
/// load.
#[allow(clippy::cast_precision_loss)] // A picture shows few digits.
pub(super) fn over_the_run(outcomes: &[Shown<'_>]) -> Option<String> {
    let written = Axis::addresses("written by the host so far").from(0.0);
    let mut chart = Chart::new(
        "Mean response time over the run",
        written,
        Axis::times("mean of the requests around"),
    );
    for Shown { label, details, .. } in outcomes {
        let series = details.map_or(&[][..], |details| &details.series);
        let points = series.iter().map(|stretch| (stretch.written as f64, stretch.mean_us()));
        chart = chart.with(&**label, Shape::Line, points.collect());
    }
    (!chart.is_empty()).then(|| chart.inline())
}

/// The write amplification of each round of a run that was to settle.
pub(super) fn rounds(outcomes: &[Shown<'_>]) -> Option<String> {
    let mut chart = Chart::new(
        "Write amplification by round",
        Axis::linear("round").from(0.0),
        Axis::linear("bytes programmed for a byte written").from(0.0),
    );
    for Shown { label, result, .. } in outcomes {
        let rounds = result.steady.as_ref().map_or(&[][..], |steady| &steady.rounds);
        let numbered = (1_u32..).zip(rounds);
        let points =
            numbered.filter_map(|(at, round)| Some((f64::from(at), round.write_amplification?)));
        chart = chart.with(&**label, Shape::Line, points.collect());
    }
    (!chart.is_empty()).then(|| chart.inline())
}

/// Where new data is written to the chains: a chart for each system, all with the same axes.
pub(super) fn scatter(outcomes: &[Shown<'_>], setup: &Setup) -> Vec<String> {
    let last = outcomes.iter().filter_map(|outcome| outcome.details?.chain_writes.last());
    let most = last.map(|write| write.number + 1).max().unwrap_or(1);
    #[allow(clippy::cast_precision_loss)] // A picture shows few digits.
    let (most, capacity) = (most as f64, setup.part.exported_bytes as f64);
    let charts = outcomes.iter().filter_map(|Shown { label, details, .. }| {
        let writes = &details.as_ref()?.chain_writes;
        #[allow(clippy::cast_precision_loss)] // As above.
        let point = |write: &ChainWrite| (write.number as f64, write.address as f64);
        let by = |by_log: bool| {
            writes.iter().filter(|write| write.by_log == by_log).map(point).collect::<Vec<_>>()
        };
        let title = format!("{label}: pages of new data written to chains");
        let numbers = Axis::linear("pages in the order of writing").from(0.0).to(most);
        let addresses = Axis::addresses("address on the disk").from(0.0).to(capacity);
        let chart = Chart::new(title, numbers, addresses)
            .with("from the host", Shape::Points, by(false))
            .with("from the log", Shape::Points, by(true));
        (!chart.is_empty()).then(|| chart.inline())
    });
    charts.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::output::plot::colour_of;

    #[test]
    fn every_cause_has_a_colour_of_its_own() {
        let of_time = ByCause::default().parts().map(|(name, _)| cause_name(name));
        let of_pages = PROGRAMMED.iter().chain(&READ).map(|(name, _)| *name);
        let causes: BTreeSet<&str> = of_time.into_iter().chain(of_pages).collect();
        let colour = |cause: &&str| colour_of(cause).unwrap_or_else(|| panic!("{cause}"));
        let colours: BTreeSet<usize> = causes.iter().map(colour).collect();
        assert_eq!(colours.len(), causes.len(), "{causes:?}");
    }

    #[test]
    fn a_distribution_rises_to_all_blocks() {
        let found = distribution(&[3, 0, 1, 1]);
        assert_eq!(found, [(0.0, 0.0), (0.0, 0.25), (1.0, 0.75), (3.0, 1.0)]);
        assert_eq!(distribution(&[]), [(0.0, 0.0)]);
    }

    #[test]
    fn shares_are_told_with_as_many_nines_as_they_have() {
        let shown: Vec<String> = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5].map(percent).into();
        assert_eq!(shown, ["0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %"]);
    }
}
