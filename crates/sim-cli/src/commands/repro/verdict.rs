//! Whether the paper reproduces, in three sentences: computed from the runs of all figures.

use sim::Failure;

use super::page::Page;
use super::paper::{RS, Workload};
use super::runs::{Results, Run, SLC};
use super::{factors, freedoms, slc_sizes, traffic};

/// RS on C3 over the workloads found to agree with the paper: least, median, most, by [`Workload`]. `tandem fit
/// chang ntfs --starts 6 --tries 1800` and `tandem fit chang ext3 --starts 7 --tries 2100` print them, of a month.
const ENVELOPE: [[f64; 3]; 2] = [[1.38, 1.74, 2.79], [1.11, 1.18, 1.42]];

/// The answer, with a heading of its own.
pub(super) fn write(page: &mut Page, results: &Results) -> Result<(), Failure> {
    page.heading("Does the paper reproduce?");
    let (holds, fails): (Vec<_>, Vec<_>) =
        statements(results)?.into_iter().partition(|(_, holds)| *holds);
    let listed = |statements: &[(&str, bool)]| match statements {
        [] => "nothing".into(),
        some => some.iter().map(|(what, _)| *what).collect::<Vec<_>>().join(", "),
    };
    page.say(&format!(
        "1. Of the paper's conclusions these hold here: {}; and these do not: {}.",
        listed(&holds),
        listed(&fails),
    ));
    let [ntfs, ext3] = Workload::ALL.map(|workload| speeds(results, workload));
    page.say(&format!(
        "2. {}, and {}; an envelope is the least, median and greatest RS, over one pass of the month, of all \
         workloads that a search found to agree with what the paper says about its own \
         ([FIT.md](FIT.md#what-was-found)).",
        ntfs?,
        ext3?,
    ));
    let by_freedom = freedoms::range_that_fits(results)?;
    let [least, _, most] = ENVELOPE[Workload::Ntfs as usize];
    let within = if Workload::ALL.into_iter().all(is_within) { "lie" } else { "do not all lie" };
    page.say(&format!(
        "3. What the paper leaves open about the disks gives RS under ntfs {by_freedom}, and what it does not say \
         about its traces, such as which writes cause the folds, from {least:.2} to {most:.2}. The paper's own figures \
         {within} within the envelopes of both workloads.",
    ));
    Ok(())
}

/// The paper's RS on C3.
fn rs_of_paper(workload: Workload) -> f64 {
    let told = RS.iter().find(|(device, of, _)| *device == "c3" && *of == workload);
    told.map_or(f64::NAN, |(_, _, rs)| *rs)
}

/// Whether the paper's RS lies within the envelope.
fn is_within(workload: Workload) -> bool {
    let [least, _, most] = ENVELOPE[workload as usize];
    (least..=most).contains(&rs_of_paper(workload))
}

/// Conclusions of the paper, and whether they hold.
fn statements(results: &Results) -> Result<[(&'static str, bool); 8], Failure> {
    let mut is_faster = true;
    let mut is_flat = true;
    let mut is_more_under_ntfs = true;
    for device in slc_sizes::DEVICES {
        let rs = |workload, size| results.rs(&Run::hybrid(workload, device, size));
        for workload in Workload::ALL {
            is_faster &= rs(workload, SLC)? > 1.0;
            is_flat &= rs(workload, 2 * SLC)? < 1.05 * rs(workload, SLC)?;
        }
        is_more_under_ntfs &= rs(Workload::Ntfs, SLC)? > rs(Workload::Ext3, SLC)?;
    }
    Ok([
        ("256 MiB of SLC make every disk faster", is_faster),
        ("more so under NTFS than under ext3", is_more_under_ntfs),
        ("twice as much SLC gains hardly more (less than 5 %)", is_flat),
        (
            "most of the time saved on C3 is garbage collection",
            traffic::is_mostly_collection(results)?,
        ),
        (
            "the throttle keeps BW at or below the ratio of the endurances",
            slc_sizes::over_ratio(results)?.is_empty(),
        ),
        (
            "the closed formula agrees with the simulation (within 5 %)",
            factors::does_formula_agree(results)?,
        ),
        (
            "folds are rarer per page written to the MLC (p2 falls under NTFS by more than 10 %)",
            factors::are_folds_rarer(results, Workload::Ntfs)?,
        ),
        (
            "more of the data enters the SLC under ext3 than under NTFS (alpha)",
            factors::has_ext3_more_small_data(results)?,
        ),
    ])
}

/// RS on C3 of a workload, the paper's, and the envelope.
fn speeds(results: &Results, workload: Workload) -> Result<String, Failure> {
    let [least, median, most] = ENVELOPE[workload as usize];
    Ok(format!(
        "RS on C3 under {} is {:.2} where the paper has {:.2} (envelope {least:.2}, {median:.2}, {most:.2})",
        workload.name(),
        results.rs(&Run::hybrid(workload, "c3", SLC))?,
        rs_of_paper(workload),
    ))
}
