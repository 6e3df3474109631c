//! The charts of a report.

use ftl_iface::Region;

use crate::engine::replay::Outcome;
use crate::engine::result::{ByCause, Pages};
use crate::engine::systems::ChainWrite;
use crate::input::device::Setup;
use crate::output::plot::{Axis, Bars, Chart, Scale, Shape};

/// Requests answered within a time, on a scale of nines: 99 % is one step further than 90 %.
pub(super) fn latencies(outcomes: &[Outcome]) -> Vec<String> {
    let kinds = [("Reads", 0), ("Writes", 1)];
    let charts = kinds.map(|(name, kind)| {
        let title = format!("{name}: how long they took");
        let shares = Axis::new("share of the requests", Scale::Log10, percent).from(1.0);
        let mut chart = Chart::new(title, shares, Axis::times("answered within"));
        for Outcome { result, details } in outcomes {
            let Some(details) = details else { continue };
            let points = details.latencies[kind].iter();
            // The share after the last request is 1; it is drawn as if there were one more.
            let count = if kind == 0 { result.requests.reads } else { result.requests.writes };
            #[allow(clippy::cast_precision_loss)] // A picture shows few digits.
            let last = 1.0 / (count as f64 + 1.0);
            let points = points.map(|(share, micros)| (1.0 / (1.0 - share).max(last), *micros));
            chart = chart.with(&*result.system, Shape::Steps, points.collect());
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
pub(super) fn time_by_cause(outcomes: &[Outcome]) -> String {
    let seconds = Axis::linear("seconds of response time, all requests together");
    let names = outcomes.iter().map(|outcome| outcome.result.system.as_str());
    let mut bars = Bars::stacked("What the time was spent on", seconds, names);
    let parts: Vec<_> =
        outcomes.iter().map(|outcome| outcome.result.response_by_cause_us.all().parts()).collect();
    for (at, (name, _)) in ByCause::default().parts().into_iter().enumerate() {
        let values: Vec<f64> = parts.iter().map(|parts| parts[at].1 / 1e6).collect();
        if values.iter().any(|value| *value > 0.0) {
            bars = bars.with(name, values);
        }
    }
    bars.inline()
}

/// A figure of a region's pages, with its name.
type Figure = (&'static str, fn(&Pages) -> u64);

/// Data programmed, by cause: a bar for each region of each system.
pub(super) fn writes(outcomes: &[Outcome], setup: &Setup) -> String {
    let figures: [Figure; 5] = [
        ("for the host", |pages| pages.host_program),
        ("garbage collection", |pages| pages.gc_program),
        ("wear leveling", |pages| pages.wl_program),
        ("metadata", |pages| pages.meta_program),
        ("map", |pages| pages.map_program),
    ];
    traffic(outcomes, setup, "Write traffic by cause", &figures)
}

/// Data read, by cause.
pub(super) fn reads(outcomes: &[Outcome], setup: &Setup) -> String {
    let figures: [Figure; 5] = [
        ("for the host", |pages| pages.host_read),
        ("garbage collection", |pages| pages.gc_read),
        ("wear leveling", |pages| pages.wl_read),
        ("metadata", |pages| pages.meta_read),
        ("address translation", |pages| pages.scan_read + pages.map_read),
    ];
    traffic(outcomes, setup, "Read traffic by cause", &figures)
}

fn traffic(outcomes: &[Outcome], setup: &Setup, title: &str, figures: &[Figure]) -> String {
    let rows: Vec<(String, f64, &Pages)> = outcomes
        .iter()
        .flat_map(|outcome| {
            Region::ALL.iter().filter_map(move |region| {
                let pages = &outcome.result.region(*region).pages;
                let shape = setup.part.geometry.region(*region)?;
                let is_used = pages.reads() + pages.programs() > 0;
                let name = format!("{}, {region}", outcome.result.system);
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

/// Erases of every block: a chart for each region of each system that erased any, with the same axes per region.
pub(super) fn wear(outcomes: &[Outcome]) -> Vec<String> {
    let mut charts = Vec::new();
    for region in Region::ALL {
        let erases =
            |outcome: &Outcome| Some(outcome.details.as_ref()?.erases[region as usize].clone());
        let all: Vec<(&str, Vec<u32>)> = outcomes
            .iter()
            .filter_map(|outcome| Some((outcome.result.system.as_str(), erases(outcome)?)))
            .filter(|(_, erases)| erases.iter().any(|count| *count > 0))
            .collect();
        let most = all.iter().flat_map(|(_, erases)| erases).max().copied().unwrap_or(0);
        for (system, erases) in all {
            let blocks = u32::try_from(erases.len()).unwrap_or(u32::MAX);
            let title = format!("{system}: erases of each {region} block");
            let numbers = Axis::linear("block, in physical order").from(0.0).to(blocks.into());
            let counts = Axis::linear("erases").from(0.0).to(f64::from(most));
            let points = (0..blocks).zip(erases);
            let points = points.map(|(block, erases)| (block.into(), erases.into())).collect();
            let chart = Chart::new(title, numbers, counts);
            charts.push(chart.with("", Shape::Points, points).inline());
        }
    }
    charts
}

/// Where new data is written to the chains: a chart for each system, all with the same axes.
pub(super) fn scatter(outcomes: &[Outcome], setup: &Setup) -> Vec<String> {
    let last = outcomes.iter().filter_map(|outcome| outcome.details.as_ref()?.chain_writes.last());
    let most = last.map(|write| write.number + 1).max().unwrap_or(1);
    #[allow(clippy::cast_precision_loss)] // A picture shows few digits.
    let (most, capacity) = (most as f64, setup.part.exported_bytes as f64);
    let charts = outcomes.iter().filter_map(|Outcome { result, details }| {
        let writes = &details.as_ref()?.chain_writes;
        #[allow(clippy::cast_precision_loss)] // As above.
        let point = |write: &ChainWrite| (write.number as f64, write.address as f64);
        let by = |by_log: bool| {
            writes.iter().filter(|write| write.by_log == by_log).map(point).collect::<Vec<_>>()
        };
        let title = format!("{}: pages of new data written to chains", result.system);
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
    use super::*;

    #[test]
    fn shares_are_told_with_as_many_nines_as_they_have() {
        let shown: Vec<String> = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5].map(percent).into();
        assert_eq!(shown, ["0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %"]);
    }
}
