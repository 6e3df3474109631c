//! Figure 7, and how well the workloads fit the paper's description of its own.

use sim::input::profile::{self, Profile};
use sim::input::workload::Workload as Requests;
use sim::{Failure, show};

use super::page::Page;
use super::paper::{MONTH, TABLE_3, Workload};
use super::runs::{Length, Results, Run};
use crate::base::terminal::Terminal;
use crate::commands::profile::charts;

pub(super) fn runs() -> Vec<Run> {
    Workload::ALL.map(|workload| Run::conventional(workload, "c3")).into()
}

/// The workload in the paper's length, whatever the length of the runs, because hit counts are of the whole month.
fn month(workload: Workload, seed: u64) -> Result<Profile, Failure> {
    let trace = Length { requests: MONTH, seed, passes: 1, is_whole: true }.trace(workload);
    profile::profile(&Requests::synthetic(&trace)?, 1, super::run::EXPORTED, &Terminal)
}

pub(super) fn write(page: &mut Page, results: &Results) -> Result<(), Failure> {
    let Length { seed, .. } = results.length;
    let profiles = [month(Workload::Ntfs, seed)?, month(Workload::Ext3, seed)?];
    page.heading("Figure 7 and the fit of the workloads");
    page.say(
        "The profile is that of a whole month. The paper's plots have no figures; the left column is what its text \
         says. Unknown, and assumed here: that 40 of 100 requests are reads, and the sizes between the peaks.",
    );
    page.table(&rows(&profiles));
    page.say(
        "The rest of the fit is the conventional disk's rows of Table 3, on C3', within 15 % of the paper's over one \
         pass of the month, and two statements of sections 5.3.2 and 5.4: see Figures 9 and 11, and [FIT.md](FIT.md).",
    );
    let mut rows = vec![["", "n3", "n4", "p1", "p2"].map(String::from)];
    for workload in Workload::ALL {
        let paper = TABLE_3[0][workload as usize];
        let ours = results.result(&Run::conventional(workload, "c3"))?.factors.unwrap_or_default();
        let name = workload.name();
        let paper = [paper.n3, paper.n4, paper.p1, paper.p2].map(Some);
        let ours = [ours.n3, ours.n4, ours.p1, ours.p2];
        rows.push(row(format!("{name}, paper"), paper));
        rows.push(row(format!("{name}, ours"), ours));
    }
    page.table(&rows);
    let named = [("ntfs", &profiles[0]), ("ext3", &profiles[1])];
    for (name, svg) in charts(&named) {
        page.chart(&format!("fig7-{name}"), &format!("Figure 7, {name}"), &svg)?;
    }
    Ok(())
}

fn row(name: String, figures: [Option<f64>; 4]) -> [String; 5] {
    let [n3, n4, p1, p2] = figures;
    let shown = |figure: Option<f64>, digits: usize| {
        show::maybe(figure, |figure| format!("{figure:.digits$}"))
    };
    [name, shown(n3, 1), shown(n4, 2), shown(p1, 3), shown(p2, 3)]
}

/// The two commonest sizes above eight sectors, with their shares of the writes.
#[allow(clippy::cast_precision_loss)] // Shares with a digit.
fn commonest_large(profile: &Profile) -> String {
    let mut large: Vec<_> = profile.sizes.iter().filter(|size| size.sectors_most > 8).collect();
    large.sort_by_key(|size| std::cmp::Reverse(size.writes));
    let told = large.iter().take(2).map(|size| {
        let share = size.writes as f64 / profile.writes.max(1) as f64;
        format!("{} ({:.1} %)", size.sectors_most, share * 100.0)
    });
    told.collect::<Vec<_>>().join(", ")
}

fn rows(profiles: &[Profile; 2]) -> Vec<[String; 4]> {
    let mut rows = vec![["", "the paper says", "ntfs, ours", "ext3, ours"].map(String::from)];
    let mut add = |name: &str, paper: &str, figure: &dyn Fn(&Profile) -> String| {
        let [ntfs, ext3] = profiles.each_ref().map(figure);
        rows.push([name.into(), paper.into(), ntfs, ext3]);
    };
    add("writes", "1,534,627 (ntfs)", &|profile| show::count(profile.writes));
    add("of at most 8 sectors", "most; more under ext3", &|profile| {
        format!("{:.1} %", profile.share_up_to(8) * 100.0)
    });
    add("commonest size, in sectors", "8", &|profile| {
        let commonest = profile.sizes.iter().max_by_key(|size| size.writes);
        commonest.map_or(String::new(), |size| size.sectors_most.to_string())
    });
    add("commonest larger sizes", "128; ext3 also 256", &commonest_large);
    for (class, told) in [(3, "very high"), (7, "low")] {
        let name = format!("update ratio of {} sectors", 1 << class);
        add(&name, told, &|profile| {
            show::maybe(profile.sizes[class].update_ratio, |ratio| format!("{ratio:.1}"))
        });
    }
    add("sectors written 16,384 times or more", "few, but some", &|profile| {
        let hot = profile.hits.iter().filter(|hits| hits.times_least >= 16_384);
        show::count(hot.map(|hits| hits.sectors_written).sum::<u64>())
    });
    add("a sector is read at most", "256 times; ext3 64 times", &|profile| {
        let read = profile.hits.iter().filter(|hits| hits.sectors_read > 0);
        let most = read.map(|hits| hits.times_least * 2).max().unwrap_or(0);
        format!("fewer than {most} times")
    });
    add("of the disk written", "ntfs all over it; ext3 within 2.2 GB", &|profile| {
        show::about(profile.bytes_touched)
    });
    rows
}
