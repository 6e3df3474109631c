//! Seeded bugs in small worlds: which of them every sequence of a few requests shows, and how soon. `docs/TORTURE.md`
//! has the table; with `RENEW_TABLES=1` the test rewrites it.
//!
//! `cargo test --release -p torture --features seeded-bugs --test exhaustive_bugs`

use std::fmt::Write;
use std::fs;
use std::panic;
use std::time::{Duration, Instant};

use ftl_core::bugs::{self, Bug};
use torture::exhaustive::{Order, Shard, Until, Walked, exhaustive};
use torture::{FtlName, Unwatched};

/// The effort to find a bug, and the script that shows it.
struct Effort {
    transitions: u64,
    time: Duration,
    script: String,
}

fn walked(ftl: FtlName) -> Vec<Walked> {
    let (shard, until) = (Shard::WHOLE, Until::Broken);
    let order = Order { ftl, bound: 1, shard, device: None, broken_max: 1, until };
    exhaustive(&order, &Unwatched).expect("there are such devices")
}

/// Returns the effort to find a bug, if it is found.
fn effort(ftl: FtlName, bug: Bug) -> Option<Effort> {
    let begun = Instant::now();
    bugs::plant(Some(bug));
    let all = walked(ftl);
    bugs::plant(None);
    let transitions = all.iter().map(|walked| walked.transitions).sum();
    let broken = all.iter().flat_map(|walked| &walked.broken).next()?;
    Some(Effort { transitions, time: begun.elapsed(), script: broken.script.to_string() })
}

/// Bugs that need more than a bound of one.
const BEYOND: &[Bug] = &[];

/// One test, because a bug is planted in the whole process.
#[test]
fn bugs_are_found_in_small_worlds() {
    // A panic is reported as a broken promise. Here there are many, and they are expected.
    panic::set_hook(Box::new(|_| ()));
    let lists = [(FtlName::Hybrid, Bug::ALL), (FtlName::Paged, Bug::PAGED)];
    let bugs = lists.into_iter().flat_map(|(ftl, bugs)| bugs.iter().map(move |bug| (ftl, *bug)));
    let efforts: Vec<(Bug, Option<Effort>)> = bugs
        .map(|(ftl, bug)| {
            let effort = effort(ftl, bug);
            let told =
                effort.as_ref().map(|effort| (effort.transitions, effort.time, &effort.script));
            println!("{bug:?}: {told:?}");
            (bug, effort)
        })
        .collect();
    drop(panic::take_hook());
    let missed = efforts.iter().filter(|(_, effort)| effort.is_none()).map(|(bug, _)| *bug);
    let missed: Vec<Bug> = missed.filter(|bug| !BEYOND.contains(bug)).collect();
    assert_eq!(missed, [], "planted, and not found");
    renew_or_compare(&efforts);
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/TORTURE.md");
const HEADING: &str = "| what is planted | transitions | seconds | shown by |";

/// Returns the page's text on a bug, without the effort to find it, which is no promise.
fn row(bug: Bug) -> String {
    format!("| {} |", bug.what().trim_end_matches('.'))
}

/// Returns the rows of the table in the page.
fn rows_of(page: &str) -> Vec<&str> {
    let start = page.find(HEADING).expect("the page has the table");
    page[start..].lines().take_while(|line| line.starts_with('|')).collect()
}

fn renew_or_compare(efforts: &[(Bug, Option<Effort>)]) {
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let rows = rows_of(&page);
    if std::env::var_os("RENEW_TABLES").is_none() {
        let told: Vec<String> = efforts.iter().map(|(bug, _)| row(*bug)).collect();
        let stands = rows.len() == told.len() + 2
            && rows[2..].iter().zip(&told).all(|(stands, row)| stands.starts_with(row.as_str()));
        assert!(stands, "docs/TORTURE.md is behind: run this test with RENEW_TABLES=1");
        return;
    }
    let mut table = format!("{HEADING}\n|---|--:|--:|---|\n");
    for (bug, effort) in efforts {
        let told = |effort: &Effort| {
            let seconds = format!("{:.1}", effort.time.as_secs_f32());
            format!("{} | {seconds} | `{}`", effort.transitions, effort.script)
        };
        let told = effort.as_ref().map_or("| | not within a bound of 1".into(), told);
        writeln!(table, "{} {told} |", row(*bug)).expect("a string");
    }
    let before = rows.join("\n") + "\n";
    fs::write(PAGE, page.replace(&before, &table)).expect("the page can be written");
}
