//! Figure 10, where writes reach the MLC, and Figure 12a, wear by block.

use ftl_iface::Region;
use sim::engine::replay::Details;
use sim::engine::result::Spread;
use sim::input::spec;
use sim::{Failure, show};

use super::page::Page;
use super::paper::Workload;
use super::runs::{Results, Run, SLC};
use crate::output::plot::{Axis, Chart, Shape};

/// The panels of Figure 10.
fn panels() -> [(char, Run); 4] {
    let disks = |workload| (Run::conventional(workload, "c3"), Run::hybrid(workload, "c3", SLC));
    let ((a, b), (c, d)) = (disks(Workload::Ntfs), disks(Workload::Ext3));
    [('a', a), ('b', b), ('c', c), ('d', d)]
}

pub(super) fn scatter_runs() -> Vec<Run> {
    panels().map(|(_, run)| run).into()
}

/// The most dots of a panel.
const DOTS: usize = 4000;

#[allow(clippy::cast_precision_loss)] // Places of a chart.
pub(super) fn scatter(page: &mut Page, results: &Results) -> Result<(), Failure> {
    page.heading("Figure 10: where writes reach the MLC");
    let heads = ["", "a: C3', ntfs", "b: C3, ntfs", "c: C3', ext3", "d: C3, ext3"];
    let mut row = ["pages of new data reaching the MLC, in thousands"; 5].map(String::from);
    for (at, (panel, run)) in panels().into_iter().enumerate() {
        let outcome = results.outcome(&run)?;
        let writes = outcome.details.as_ref().map_or(&[][..], |details| &details.chain_writes);
        let count = writes.last().map_or(0, |write| write.number + 1);
        row[at + 1] = format!("{:.0}", count as f64 / 1e3);
        let skip = writes.len().div_ceil(DOTS).max(1);
        let dots = writes.iter().step_by(skip);
        let points = dots.map(|write| (write.number as f64, write.address as f64)).collect();
        let (x, y) = (Axis::linear("pages written before"), Axis::addresses("place on the disk"));
        let title = format!("{panel}: {}, {}", spec::base(&run.system), run.workload.name());
        let chart = Chart::new(title, x, y.from(0.0).to(super::run::EXPORTED as f64));
        let svg = chart.with("a page", Shape::Points, points).svg();
        page.chart(&format!("fig10{panel}"), &format!("Figure 10{panel}"), &svg)?;
    }
    page.table(&[heads.map(String::from), row]);
    page.say(
        "The workloads put the writes of ntfs all over the disk and those of ext3 into a ninth of it, as the paper \
         says of its traces. Each dot is a page. The paper shows a part of the run with about 3.5 GB of writes; \
         ours is an even sample of the whole run.",
    );
    Ok(())
}

/// The disks of Figure 12a.
fn worn() -> [Run; 2] {
    ["c2", "c3"].map(|device| Run::hybrid(Workload::Ntfs, device, SLC))
}

pub(super) fn wear_runs() -> Vec<Run> {
    let bases = ["c2", "c3"].map(|device| Run::conventional(Workload::Ntfs, device));
    worn().into_iter().chain(bases).collect()
}

#[allow(clippy::cast_precision_loss)] // Places of a chart.
pub(super) fn wear(page: &mut Page, results: &Results) -> Result<(), Failure> {
    page.heading("Figure 12a: erases by block, NTFS");
    let heads = ["", "least", "mean", "most", "standard deviation"];
    let mut rows = vec![heads.map(String::from)];
    for run in worn() {
        let outcome = results.outcome(&run)?;
        let device = run.device.to_uppercase();
        for region in Region::ALL {
            let Spread { min, mean, max, stddev } = outcome.result.region(region).erase_count;
            let figures = [format!("{min}"), format!("{mean:.2}"), format!("{max}")];
            let [min, mean, max] = figures;
            rows.push([format!("{device}, {region}"), min, mean, max, format!("{stddev:.2}")]);
            let erases = outcome.details.as_ref().map(|details| &details.erases[region as usize]);
            let points = erases.into_iter().flatten().enumerate();
            let points = points.map(|(block, count)| (block as f64, f64::from(*count))).collect();
            let title = format!("Erases of the {region} blocks, {device}");
            let chart = Chart::new(title, Axis::linear("block"), Axis::linear("erases").from(0.0));
            let svg = chart.with("a block", Shape::Points, points).svg();
            let name = format!("fig12a-{}-{}", run.device, region.name().to_lowercase());
            page.chart(&name, &format!("Figure 12a, {device}, {region}"), &svg)?;
        }
    }
    page.table(&rows);
    let [c2, c3] = worn();
    let moved = |run: &Run| results.result(run).map(|run| show::count(run.mlc.pages.wl_program));
    let idle = results.throttled(&c2)? + results.throttled(&c3)? == 0;
    page.say(&format!(
        "The paper: wear of the SLC is even by rotation, that of the MLC by the dual-pool algorithm (TH = 16). {} The \
         first blocks of the SLC hold the FTL's own pages, and a replay does not erase them. All blocks of the MLC are \
         hot at first, and one is cold when it is behind by more than twice TH: leveling then moved {} pages on C2 and \
         {} on C3.{}",
        turned(results.outcome(&c3)?.details.as_ref()),
        moved(&c2)?,
        moved(&c3)?,
        if idle { " The throttle rejected no write on either, so both wear alike." } else { "" },
    ));
    Ok(())
}

/// How far rotation lets the blocks of the log differ.
fn turned(details: Option<&Details>) -> String {
    let blocks = details.map_or(&[][..], |details| &details.erases[Region::Slc as usize]);
    let erased = || blocks.iter().filter(|count| **count > 0);
    let (Some(least), Some(most)) = (erased().min(), erased().max()) else {
        return String::new();
    };
    format!("Every SLC block of C3 that was erased at all was erased {least} to {most} times.")
}
