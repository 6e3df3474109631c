//! Figure 9: pages and erases by cause.

use sim::engine::result::RunResult;
use sim::{Failure, show};

use super::page::Page;
use super::paper::Workload;
use super::runs::{Results, Run, SLC};
use crate::output::plot::{Axis, Bars};

/// The disks of Figure 9.
fn disks() -> [(&'static str, Run); 4] {
    let of = |device| {
        let workload = Workload::Ntfs;
        (Run::conventional(workload, device), Run::hybrid(workload, device, SLC))
    };
    let ((c1_plain, c1), (c3_plain, c3)) = (of("c1"), of("c3"));
    [("C1'", c1_plain), ("C1", c1), ("C3'", c3_plain), ("C3", c3)]
}

pub(super) fn runs() -> Vec<Run> {
    disks().map(|(_, run)| run).into()
}

/// Figures of a run, by region and cause.
type Share = (&'static str, fn(&RunResult) -> u64);

const WRITTEN: &[Share] = &[
    ("SLC, host", |run| run.slc.pages.host_program),
    ("SLC, GC", |run| run.slc.pages.gc_program),
    ("MLC, host", |run| run.mlc.pages.host_program),
    ("MLC, GC", |run| run.mlc.pages.gc_program),
    ("MLC, WL", |run| run.mlc.pages.wl_program),
    ("both, metadata", |run| run.slc.pages.meta_program + run.mlc.pages.meta_program),
];

const READ: &[Share] = &[
    ("SLC, host", |run| run.slc.pages.host_read),
    ("SLC, GC", |run| run.slc.pages.gc_read),
    ("MLC, host", |run| run.mlc.pages.host_read),
    ("MLC, GC", |run| run.mlc.pages.gc_read),
    ("MLC, WL", |run| run.mlc.pages.wl_read),
    ("MLC, scan", |run| run.mlc.pages.scan_read),
];

const ERASED: &[Share] = &[
    ("SLC, GC", |run| erased(run, "slc", &["gc", "write_back"])),
    ("SLC, the rest", |run| {
        run.slc.erases.saturating_sub(erased(run, "slc", &["gc", "write_back"]))
    }),
    ("MLC, GC", |run| erased(run, "mlc", &["gc"])),
    ("MLC, GC for the log", |run| erased(run, "mlc", &["write_back"])),
    ("MLC, host", |run| erased(run, "mlc", &["host"])),
    ("MLC, WL", |run| erased(run, "mlc", &["wear_leveling"])),
    ("MLC, the rest", |run| {
        let told = ["gc", "write_back", "host", "wear_leveling"];
        run.mlc.erases.saturating_sub(erased(run, "mlc", &told))
    }),
];

/// Blocks of a memory that were erased for these causes.
fn erased(run: &RunResult, memory: &str, causes: &[&str]) -> u64 {
    let Some(part) = run.parts.get(memory) else { return 0 };
    let of = |cause: &&str| part.operations.get(*cause).map_or(0, |done| done.erase);
    causes.iter().map(of).sum()
}

/// A panel: its title, its file, what is counted, and its parts.
type Panel = (&'static str, &'static str, &'static str, &'static [Share]);

const PANELS: [Panel; 3] = [
    ("Pages written", "fig9-writes", "pages", WRITTEN),
    ("Pages read", "fig9-reads", "pages", READ),
    ("Blocks erased", "fig9-erases", "blocks", ERASED),
];

#[allow(clippy::cast_precision_loss)] // Figures of a chart and of a table with few digits.
pub(super) fn write(page: &mut Page, results: &Results) -> Result<(), Failure> {
    page.heading("Figure 9: traffic by cause, NTFS");
    let disks = disks();
    let runs = disks.each_ref().map(|(_, run)| results.result(run));
    let runs: Vec<&RunResult> = runs.into_iter().collect::<Result<_, _>>()?;
    let names = disks.each_ref().map(|(name, _)| *name);
    for (title, file, unit, parts) in PANELS {
        let head = format!("{unit}, in thousands");
        let mut rows = vec![[&head, "C1'", "C1", "C3'", "C3"].map(String::from)];
        let mut bars = Bars::stacked(title, Axis::linear(unit), names);
        for (part, figure) in parts {
            let values: Vec<f64> = runs.iter().map(|run| figure(run) as f64).collect();
            if values.iter().all(|value| *value <= 0.0) {
                continue;
            }
            let mut row = [const { String::new() }; 5];
            row[0] = format!("{}: {part}", title.to_lowercase());
            for (cell, value) in row[1..].iter_mut().zip(&values) {
                *cell = format!("{:.1}", value / 1e3);
            }
            rows.push(row);
            bars = bars.with(*part, values);
        }
        page.table(&rows);
        page.chart(file, &format!("Figure 9, {}", title.to_lowercase()), &bars.svg())?;
    }
    page.say(
        "Causes without any traffic are left out. Folds that make room for data which leaves the SLC count as GC.",
    );
    page.say(&of_requests(runs[1]));
    page.say(&saved(runs[2], runs[3]));
    Ok(())
}

/// The share that the SLC served: of write requests, as section 5.3.2 counts, and of the data.
fn of_requests(c1: &RunResult) -> String {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let requests = sim::engine::result::ratio(c1.log_writes.unwrap_or(0), c1.requests.writes);
    let sectors = c1.factors.and_then(|factors| factors.alpha);
    format!(
        "Section 5.3.2 counts write *requests*: of all 1,534,627, the SLC of C1 handles 68 %. Ours handles {} of \
         them (the workload is fitted to within 15 % of that), which are {} of the data written; hash table and \
         throttle turned {} and {} writes away.",
        show::maybe(requests, percent),
        show::maybe(sectors, percent),
        show::count(c1.hash.map_or(0, |hash| hash.rejected_writes)),
        show::count(c1.throttle.map_or(0, |throttle| throttle.rejected_writes)),
    )
}

/// Whether most of what C3 gains under NTFS is garbage collection.
pub(super) fn is_mostly_collection(results: &Results) -> Result<bool, Failure> {
    let [_, _, (_, plain), (_, hybrid)] = disks();
    let share = share_of_collection(results.result(&plain)?, results.result(&hybrid)?);
    Ok(share.is_some_and(|share| share > 0.5))
}

fn share_of_collection(plain: &RunResult, hybrid: &RunResult) -> Option<f64> {
    let [before, after] = [plain, hybrid].map(|run| run.response_by_cause_us.all());
    let collected =
        |cause: &sim::engine::result::ByCause| cause.reclaim + cause.fold + cause.write_back;
    let gained = plain.response_us.total - hybrid.response_us.total;
    (gained > 0.0).then(|| (collected(&before) - collected(&after)) / gained)
}

/// The share of garbage collection in the time that C3 saves compared with C3'.
fn saved(plain: &RunResult, hybrid: &RunResult) -> String {
    let share = share_of_collection(plain, hybrid);
    format!(
        "In the paper, C3 is faster because its MLC needs less garbage collection. Here that explains {} of the time \
         that C3 saves, after subtracting the SLC's own collection.",
        show::maybe(share, |share| format!("{:.0} %", share * 100.0)),
    )
}
