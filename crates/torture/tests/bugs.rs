//! Bugs on purpose: the torture finds each of them, and nothing where there is none. `docs/TORTURE.md` lists them in a
//! table, which a test holds true; `RENEW_TABLES=1` has it write the table anew.
//!
//! `cargo test -p torture --features seeded-bugs --test bugs`

use std::fs;
use std::panic;

use ftl_core::bugs::{self, Bug};
use torture::dice::Share;
use torture::{Cuts, Nested, Outcome, Plan, Setup, System, Unwatched, torture};

/// What shows a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// Cuts of the run's own life.
    Cuts,
    /// Cuts in the lives that cuts begin, too.
    Nested,
    /// Cuts in the format.
    Format,
}

/// A setup, and what shows a bug there.
type Exposure = (&'static str, System, Shown);

/// What exposes a bug.
const fn exposure(bug: Bug) -> Exposure {
    use System::{Conventional, Hybrid, Small};
    match bug {
        Bug::ForgetElsewhere => ("tiny-slc", Small, Shown::Cuts),
        Bug::ForgetBackups | Bug::BelieveEveryBackup | Bug::MapBackups | Bug::CollectTouched => {
            ("tiny", Hybrid, Shown::Cuts)
        }
        Bug::ForgetTrimsPartners | Bug::StopAtLeftOutPage | Bug::ForgetPartners => {
            ("tiny-mlc", Conventional, Shown::Cuts)
        }
        Bug::ForgetFirstPages => ("tiny-mlc", Hybrid, Shown::Cuts),
        Bug::ReverseChains => ("tiny-slc", Conventional, Shown::Cuts),
        Bug::TrustFreeLogBlocks
        | Bug::RepeatSummary
        | Bug::ForgetRescued
        | Bug::EraseRescuedEarly
        | Bug::TrustCommit
        | Bug::ForgetEndedFold => ("tiny-slc", Hybrid, Shown::Nested),
        Bug::LeaveHeaderTorn => ("tiny", Hybrid, Shown::Format),
        _ => ("tiny-slc", Hybrid, Shown::Cuts),
    }
}

/// Workloads in which a bug must be found.
const SEEDS: u64 = 24;

/// Those in which nothing may be found where there is no bug.
const CONTROL_SEEDS: u64 = 4;

fn tortured(exposure: Exposure, seed: u64) -> Outcome {
    let (device, system, shown) = exposure;
    // Cuts within mounts are the rarer, the deeper: so there are more of them than usual.
    let nested = Nested { depth: 2, mount: Share::of(1, 10), after: Share::of(1, 60) };
    let plan = Plan {
        cuts: Cuts::Sample(if shown == Shown::Nested { 150 } else { 1_000 }),
        nested: (shown == Shown::Nested).then_some(nested),
        format: shown == Shown::Format,
        violations_max: 1,
        ..Plan::default()
    };
    let setup = Setup::new(device, system).expect("the setup is possible");
    torture(&[setup], seed..seed + 1, &plan, &Unwatched)
}

/// How many cuts it takes to find a bug, if it is found.
fn cuts_to_find(bug: Bug) -> Option<u64> {
    bugs::plant(Some(bug));
    let mut tried = 0;
    let found = (1..=SEEDS).any(|seed| {
        let outcome = tortured(exposure(bug), seed);
        tried += outcome.tally.total().tried;
        !outcome.violations.is_empty()
    });
    bugs::plant(None);
    found.then_some(tried)
}

/// One test, for what is planted is planted in the whole process.
#[test]
fn every_bug_is_found_and_nothing_where_there_is_none() {
    // A panic is told as a violation; here there are many, and they are meant.
    panic::set_hook(Box::new(|_| ()));
    let cuts: Vec<(Bug, Option<u64>)> =
        Bug::ALL.iter().map(|bug| (*bug, cuts_to_find(*bug))).collect();
    let mut exposures: Vec<Exposure> = Vec::new();
    for bug in Bug::ALL {
        let exposure = exposure(*bug);
        if !exposures.contains(&exposure) {
            exposures.push(exposure);
        }
    }
    let runs = exposures.into_iter().flat_map(|at| (1..=CONTROL_SEEDS).map(move |seed| (at, seed)));
    let control: Vec<String> = runs
        .flat_map(|(at, seed)| tortured(at, seed).violations)
        .map(|violation| violation.to_string())
        .collect();
    // From here on panics speak.
    drop(panic::take_hook());
    for (bug, cuts) in &cuts {
        println!("{bug:?}: {cuts:?} cuts");
    }
    let missed: Vec<Bug> =
        cuts.iter().filter(|(_, cuts)| cuts.is_none()).map(|(bug, _)| *bug).collect();
    assert_eq!(missed, [], "planted, and not found");
    assert_eq!(control, [] as [&str; 0], "found, and not planted");
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/TORTURE.md");
const HEADING: &str = "| what is planted | found on | by cuts |";

fn row(bug: Bug) -> String {
    let (device, system, shown) = exposure(bug);
    let shown = match shown {
        Shown::Cuts => "of the workload",
        Shown::Nested => "of mounts after cuts, too",
        Shown::Format => "of the format",
    };
    let what = bug.what().trim_end_matches('.');
    format!("| {what} | `{device}`, {} | {shown} |", system.name())
}

#[test]
fn the_page_lists_every_bug() {
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let mut rows = vec![HEADING.to_owned(), "|---|---|---|".to_owned()];
    rows.extend(Bug::ALL.iter().map(|bug| row(*bug)));
    let start = page.find(HEADING).expect("the page has the table");
    let length: usize = page[start..]
        .split_inclusive('\n')
        .take_while(|line| line.starts_with('|'))
        .map(str::len)
        .sum();
    let renewed = format!("{}{}\n{}", &page[..start], rows.join("\n"), &page[start + length..]);
    if std::env::var_os("RENEW_TABLES").is_some() {
        fs::write(PAGE, renewed).expect("the page can be written");
        return;
    }
    assert!(renewed == page, "docs/TORTURE.md is behind: run this test with RENEW_TABLES=1");
}
