//! Seeded bugs in small worlds: each of the bugs listed is found by its script, and without the bug nothing is.
//!
//! `cargo test -p torture --features seeded-bugs --test exhaustive_bugs`
//!
//! `RENEW_TABLES=1` before it looks for scripts of those that have none: the bound that shows a bug, and the shortest
//! script. `BUGS=Name,Name` looks for those alone, `DEVICE=name` on that device.

mod page;
mod scripts;

use std::fmt::Write as _;
use std::time::{Duration, Instant};
use std::{env, fs, panic};

use ftl_core::bugs::{self, Bug};
use scripts::{LIST, Scripted, all, breaks, listed};
use torture::exhaustive::{Order, Shard, Until, exhaustive};
use torture::{FtlName, Watcher};

const HEADING: &str = "| FTL | what is planted | bound |";

/// Bounds that are searched, each in so many parts, of which the first are tried.
const BOUNDS: [u8; 2] = [1, 2];
const OF: usize = 40;

/// The time that the search for a bug may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Ends a walk after some time.
struct Patience(Instant);

impl Watcher for Patience {
    fn tried(&self, _: u64) {}

    fn goes_on(&self) -> bool {
        self.0.elapsed() < PATIENCE
    }
}

/// Looks for a script that shows the bug.
fn search(ftl: FtlName, bug: Bug) -> Option<Scripted> {
    let patience = Patience(Instant::now());
    BOUNDS.into_iter().find_map(|bound| {
        (1..=OF).take_while(|_| patience.goes_on()).find_map(|number| {
            let shard = Shard { number, of: OF };
            let (device, until) = (env::var("DEVICE").ok(), Until::Broken);
            let order = Order { ftl, bound, shard, device, broken_max: 1, until };
            bugs::plant(Some(bug));
            let walked = exhaustive(&order, &patience);
            bugs::plant(None);
            let broken =
                walked.ok()?.into_iter().find_map(|walked| walked.broken.into_iter().next())?;
            Some(Scripted { bug, bound, script: broken.script.to_string() })
        })
    })
}

fn renew(mut shown: Vec<Scripted>) -> Vec<Scripted> {
    let chosen = env::var("BUGS").ok();
    let is_chosen = |bug: Bug| {
        let name = format!("{bug:?}");
        chosen.as_ref().is_none_or(|chosen| chosen.split(',').any(|one| one == name))
    };
    for (ftl, bug) in all().filter(|(_, bug)| is_chosen(*bug)) {
        if shown.iter().any(|shown| shown.bug == bug) {
            continue;
        }
        let found = search(ftl, bug);
        println!("{bug:?}: {:?}", found.as_ref().map(|found| &found.script));
        shown.extend(found);
        let mut list = String::new();
        for Scripted { bug, bound, script } in &shown {
            writeln!(list, "{bug:?} {bound} {script}").expect("a string");
        }
        fs::write(LIST, list).expect("the list can be written");
    }
    shown
}

/// The table of the page: the bound that shows each bug.
fn table(shown: &[Scripted]) -> String {
    let mut table = format!("{HEADING}\n|---|---|--:|\n");
    for (ftl, bug) in all() {
        let found = shown.iter().find(|shown| shown.bug == bug);
        let bound = found.map_or("none".into(), |shown| shown.bound.to_string());
        let name = match ftl {
            FtlName::Hybrid => "hybrid",
            FtlName::Paged => "page store",
        };
        let what = bug.what().trim_end_matches('.');
        writeln!(table, "| {name} | {what} | {bound} |").expect("a string");
    }
    table
}

#[test]
fn each_bug_is_shown_by_its_script() {
    let renews = env::var_os("RENEW_TABLES").is_some();
    let mut shown = listed();
    // A panic breaks a promise, too. Here some are expected.
    panic::set_hook(Box::new(|_| ()));
    if renews {
        shown = renew(shown);
    }
    let wrong: Vec<String> = shown
        .iter()
        .filter_map(|Scripted { bug, script, .. }| {
            bugs::plant(Some(*bug));
            let found = breaks(script);
            bugs::plant(None);
            let told = match (found, breaks(script)) {
                (true, false) => return None,
                (false, _) => "is not found",
                (true, true) => "is found where it is not planted",
            };
            Some(format!("{bug:?} {told} by {script}"))
        })
        .collect();
    let _ = panic::take_hook();
    assert_eq!(wrong, [] as [&str; 0]);
    let table = table(&shown);
    if renews {
        page::renew(HEADING, &table);
    } else {
        let stands = page::rows(HEADING).into_iter().eq(table.lines());
        assert!(stands, "docs/TORTURE.md is behind: run this with RENEW_TABLES=1");
    }
}
