//! Table 3 and the closed formula.

use sim::{Failure, show};

use super::formula::{C3, Known};
use super::page::Page;
use super::paper::{RS_BY_FORMULA, TABLE_3, Workload};
use super::runs::{Results, Run, SLC};

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
        "The workloads are fitted to the rows of C3'; those of C3 are results. What each factor counts is defined \
         above.",
    );
    switches(page, results)?;
    for workload in Workload::ALL {
        page.say(&folds(results, workload)?);
    }
    page.say(&small_data(results)?);
    formula(page, results)
}

/// The factors that depend on what a fold is, both ways.
fn switches(page: &mut Page, results: &Results) -> Result<(), Failure> {
    let heads =
        ["", "folds", "switches", "n4", "p2", "n4, both", "p2, both", "paper, n4", "paper, p2"];
    let mut rows = vec![heads.map(String::from)];
    for workload in Workload::ALL {
        for (disk, run) in disks(workload).iter().enumerate() {
            let result = results.result(run)?;
            let factors = result.factors.unwrap_or_default();
            let folding = result.folding.unwrap_or_default();
            let shown = |figure: Option<f64>, digits: usize| {
                show::maybe(figure, |figure| format!("{figure:.digits$}"))
            };
            let paper = &TABLE_3[disk][workload as usize];
            rows.push([
                format!("{}, {}", if disk == 0 { "C3'" } else { "C3" }, workload.name()),
                show::count(folding.folds),
                show::count(folding.switches),
                shown(factors.n4, 3),
                shown(factors.p2, 4),
                shown(folding.n4_with_switches, 3),
                shown(folding.p2_with_switches, 4),
                format!("{:.2}", paper.n4),
                format!("{:.3}", paper.p2),
            ]);
        }
    }
    page.table(&rows);
    page.say(
        "A fold frees the data block and at least one log block, so n4 is at least two. The paper's 1.92 is possible \
         only if switches count, too, in which a log block in order becomes the data block and frees one block. The \
         table has both counts.",
    );
    Ok(())
}

/// The measured factors of both disks.
fn ours(results: &Results, workload: Workload) -> Result<[Known; 2], Failure> {
    let [plain, hybrid] = disks(workload);
    let of = |run: &Run| -> Result<Known, Failure> {
        Ok(Known::measured(&results.result(run)?.factors.unwrap_or_default()))
    };
    Ok([of(&plain)?, of(&hybrid)?])
}

/// How much rarer folds are on C3, which is how the paper explains the gain.
pub(super) fn folds(results: &Results, workload: Workload) -> Result<String, Failure> {
    let change = |[plain, hybrid]: [Known; 2]| {
        let percent = (hybrid.chain_write(&C3) / plain.chain_write(&C3) - 1.0) * 100.0;
        format!(
            "p2 goes from {:.3} to {:.3}, and that time changes by {percent:+.0} %",
            plain.p2, hybrid.p2
        )
    };
    Ok(format!(
        "How rare folds are (p2), and how long a page written to the MLC takes by the formula below, under {}: in the \
         paper {}; here {}. The rest of the gain is that a share alpha of the data is written to the SLC instead.",
        workload.name(),
        change(TABLE_3.map(|rows| rows[workload as usize])),
        change(ours(results, workload)?),
    ))
}

/// Whether folds are rarer by more than a tenth.
pub(super) fn are_folds_rarer(results: &Results, workload: Workload) -> Result<bool, Failure> {
    let [plain, hybrid] = ours(results, workload)?;
    Ok(hybrid.p2 < 0.9 * plain.p2)
}

/// Whether more of the data is small under ext3, as in the paper.
pub(super) fn has_ext3_more_small_data(results: &Results) -> Result<bool, Failure> {
    let [_, ntfs] = ours(results, Workload::Ntfs)?;
    let [_, ext3] = ours(results, Workload::Ext3)?;
    Ok(ext3.alpha > ntfs.alpha)
}

fn small_data(results: &Results) -> Result<String, Failure> {
    let order = if has_ext3_more_small_data(results)? { "too" } else { "it is smaller" };
    Ok(format!("In the paper alpha is larger under ext3 than under ntfs; here {order}."))
}

/// Whether the closed formula, on our factors, is within a twentieth of the simulated RS.
pub(super) fn does_formula_agree(results: &Results) -> Result<bool, Failure> {
    let mut agrees = true;
    for workload in Workload::ALL {
        let [plain, hybrid] = ours(results, workload)?;
        let ratio = plain.page_write(&C3) / hybrid.page_write(&C3);
        let rs = results.rs(&Run::hybrid(workload, "c3", SLC))?;
        agrees &= (ratio / rs - 1.0).abs() < 0.05;
    }
    Ok(agrees)
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
        let [plain, with_log] = ours(results, workload)?;
        rows.push([
            workload.name().into(),
            format!("{:.2}", RS_BY_FORMULA[workload as usize]),
            format!("{:.2}", conventional.page_write(&C3) / hybrid.page_write(&C3)),
            format!("{:.2}", plain.page_write(&C3) / with_log.page_write(&C3)),
            format!("{:.2}", results.rs(&Run::hybrid(workload, "c3", SLC))?),
        ]);
    }
    page.table(&rows);
    page.say(
        "The expected time of a page write on C3', divided by that on C3. The formula leaves out reads, treats a \
         sector as a page of either kind, and charges 128 copies for every fold.",
    );
    Ok(())
}
