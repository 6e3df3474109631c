//! Table 3 and the closed formula.

use super::formula::{C3, Known};
use super::page::Page;
use super::paper::{RS_BY_FORMULA, TABLE_3, Workload};
use super::runs::{Results, Run, SLC};
use crate::Failure;

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
        "The rows of C3' are what the workloads are fitted to; those of C3 are results. What each factor counts stands \
         above.",
    );
    formula(page, results)
}

/// Whether a disk has a log; some figures need one.
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
        "Expected time of a page write on C3', over that on C3. The formula leaves reads out, takes a sector for a \
         page of either kind, and charges every fold 128 copies.",
    );
    Ok(())
}
