//! Table 3, the closed formula, and Figure 9.

use super::formula::{C3, Known};
use super::page::Page;
use super::paper::{RS_BY_FORMULA, TABLE_3, Workload};
use super::runs::{Results, Run, SLC};
use crate::Failure;
use crate::plot::{Axis, Bars};
use crate::result::RunResult;

/// The disks of Table 3 under that workload: C3' has no SLC.
fn disks(workload: Workload) -> [Run; 2] {
    [Run::conventional(workload, "c3"), Run::hybrid(workload, "c3", SLC)]
}

pub(super) fn runs() -> Vec<Run> {
    Workload::ALL.into_iter().flat_map(disks).collect()
}

pub(super) fn write(page: &mut Page, results: &Results) -> Result<(), Failure> {
    page.heading("Table 3: the factors of the analysis");
    let heads = ["", "alpha", "n1", "n2", "n3", "n4", "p1", "p2"];
    let mut rows = vec![heads.map(String::from)];
    for (workload, (disk, run)) in Workload::ALL.into_iter().flat_map(|workload| {
        [(workload, 0), (workload, 1)].map(|(w, disk)| (w, (disk, disks(w)[disk].clone())))
    }) {
        let name = format!("{}, {}", if disk == 0 { "C3'" } else { "C3" }, workload.name());
        let log = if disk == 1 { Log::Present } else { Log::Absent };
        let ours = Known::measured(&results.result(&run)?.factors.unwrap_or_default());
        rows.push(row(format!("{name}, paper"), &TABLE_3[disk][workload as usize], log));
        rows.push(row(format!("{name}, **ours**"), &ours, log));
    }
    page.table(&rows);
    page.say(
        "The rows of C3' are what the workloads are fitted to; those of C3 are results. n1 and n2 are \
         sectors of 2 KiB. Ours are smaller: our log meets few valid sectors at its tail, because what is \
         hot is written again before the tail comes by, and folds collect the rest. p2 counts folds, by page \
         writes to the MLC: those writes that the SLC takes away are the ones that needed few folds, so that \
         p2 of the rest can rise. A log block that stands in order becomes the data block without a fold.",
    );
    formula(page, results)
}

/// Whether a disk has a log, of which some figures are.
#[derive(Clone, Copy)]
enum Log {
    Absent,
    Present,
}

fn row(name: String, known: &Known, log: Log) -> [String; 8] {
    let of_log = |figure: f64, digits: usize| match log {
        Log::Absent => "-".into(),
        Log::Present => format!("{figure:.digits$}"),
    };
    [
        name,
        format!("{:.2}", known.alpha),
        of_log(known.n1, 2),
        of_log(known.n2, 2),
        format!("{:.2}", known.n3),
        format!("{:.2}", known.n4),
        format!("{:.3}", known.p1),
        format!("{:.3}", known.p2),
    ]
}

fn formula(page: &mut Page, results: &Results) -> Result<(), Failure> {
    page.heading("The closed formula of section 4.1");
    let heads =
        ["", "paper", "formula on the paper's factors", "formula on our factors", "simulated, RS"];
    let mut rows = vec![heads.map(String::from)];
    for workload in Workload::ALL {
        let [conventional, hybrid] = TABLE_3.map(|rows| rows[workload as usize]);
        let runs = disks(workload);
        let measured = |run: &Run| -> Result<f64, Failure> {
            let factors = results.result(run)?.factors.unwrap_or_default();
            Ok(Known::measured(&factors).page_write(&C3))
        };
        rows.push([
            workload.name().into(),
            format!("{:.2}", RS_BY_FORMULA[workload as usize]),
            format!("{:.2}", conventional.page_write(&C3) / hybrid.page_write(&C3)),
            format!("{:.2}", measured(&runs[0])? / measured(&runs[1])?),
            format!("{:.2}", results.rs(&runs[1])?),
        ]);
    }
    page.table(&rows);
    page.say(
        "Expected time of a page write on C3', over that on C3. The formula leaves reads out, takes a sector for \
         a page of either kind, and charges every fold 128 copies. That it agrees with the simulation is a check \
         of both.",
    );
    Ok(())
}

/// The disks of Figure 9.
fn traffic_disks() -> [(&'static str, Run); 4] {
    let of = |device| {
        let workload = Workload::Ntfs;
        (Run::conventional(workload, device), Run::hybrid(workload, device, SLC))
    };
    let ((c1_plain, c1), (c3_plain, c3)) = (of("c1"), of("c3"));
    [("C1'", c1_plain), ("C1", c1), ("C3'", c3_plain), ("C3", c3)]
}

pub(super) fn traffic_runs() -> Vec<Run> {
    traffic_disks().map(|(_, run)| run).into()
}

/// Figures of a run, by region and cause.
type Parts = [(&'static str, fn(&RunResult) -> u64); 6];

const WRITTEN: Parts = [
    ("SLC, host", |run| run.slc.pages.host_program),
    ("SLC, GC", |run| run.slc.pages.gc_program),
    ("MLC, host", |run| run.mlc.pages.host_program),
    ("MLC, GC", |run| run.mlc.pages.gc_program),
    ("MLC, WL", |run| run.mlc.pages.wl_program),
    ("both, order", |run| run.slc.pages.meta_program + run.mlc.pages.meta_program),
];

const READ: Parts = [
    ("SLC, host", |run| run.slc.pages.host_read),
    ("SLC, GC", |run| run.slc.pages.gc_read),
    ("MLC, host", |run| run.mlc.pages.host_read),
    ("MLC, GC", |run| run.mlc.pages.gc_read),
    ("MLC, WL", |run| run.mlc.pages.wl_read),
    ("MLC, scan", |run| run.mlc.pages.scan_read),
];

#[allow(clippy::cast_precision_loss)] // Figures of a chart and of a table with few digits.
pub(super) fn traffic(page: &mut Page, results: &Results) -> Result<(), Failure> {
    page.heading("Figure 9: traffic by cause, NTFS");
    let disks = traffic_disks();
    let runs = disks.each_ref().map(|(_, run)| results.result(run));
    let runs: Vec<&RunResult> = runs.into_iter().collect::<Result<_, _>>()?;
    let names = disks.each_ref().map(|(name, _)| *name);
    let values = |figure: &dyn Fn(&RunResult) -> u64| -> Vec<f64> {
        runs.iter().map(|run| figure(run) as f64).collect()
    };
    for (title, file, parts) in
        [("Pages written", "fig9-writes", WRITTEN), ("Pages read", "fig9-reads", READ)]
    {
        let mut rows = vec![["pages, in thousands", "C1'", "C1", "C3'", "C3"].map(String::from)];
        let mut bars = Bars::stacked(title, Axis::linear("pages"), names);
        for (part, figure) in parts {
            let values = values(&figure);
            let mut row = [const { String::new() }; 5];
            row[0] = format!("{}: {part}", title.to_lowercase());
            for (cell, value) in row[1..].iter_mut().zip(&values) {
                *cell = format!("{:.0}", value / 1e3);
            }
            rows.push(row);
            bars = bars.with(part, values);
        }
        page.table(&rows);
        page.chart(file, &format!("Figure 9, {title}"), &bars.svg())?;
    }
    let bars = Bars::stacked("Blocks erased", Axis::linear("blocks"), names)
        .with("SLC", values(&|run| run.slc.erases))
        .with("MLC", values(&|run| run.mlc.erases));
    page.chart("fig9-erases", "Figure 9, blocks erased", &bars.svg())?;
    let c1 = runs[1];
    let sectors = c1.factors.and_then(|factors| factors.alpha).unwrap_or(0.0);
    let requests = c1.log_writes.unwrap_or(0) as f64 / c1.requests.writes.max(1) as f64;
    page.say(&format!(
        "The paper: on C1, the SLC serves 68 % of the write requests, and most of C3's gain is garbage \
         collection of the MLC that is saved. Ours: on C1 the SLC serves {:.1} % of the write \
         requests, with {:.1} % of the sectors written; hash table and throttle turned {} and {} writes away.",
        requests * 100.0,
        sectors * 100.0,
        c1.hash.map_or(0, |hash| hash.rejected_writes),
        c1.throttle.map_or(0, |throttle| throttle.rejected_writes),
    ));
    Ok(())
}
