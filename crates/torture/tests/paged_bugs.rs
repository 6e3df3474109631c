//! Seeded bugs of the page store: random worlds find each.
//!
//! `cargo test -p torture --features seeded-bugs --test paged_bugs`
//!
//! `RENEW_TABLES=1` before it notes in which world each was found: the next run begins there.

// Of one FTL here; the test of headers needs both.
#[allow(dead_code)]
mod header_cuts;

use std::ops::Range;
use std::{env, fs, panic};

use ftl_core::bugs::{self, Bug};
use torture::worlds::{Choice, Reported, Worlds, worlds};
use torture::{FtlName, Unwatched};

/// Random worlds in which a bug must be found.
const WORLDS: u64 = 9_600;

/// The bugs, and the world that showed each.
const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts/paged_worlds.txt");

/// No random world is known that shows what these break. An independent test showed the first, once in 130,000 power
/// cuts, and the next two, once in some million; worlds of ours showed the others until data came to lie elsewhere.
/// Tests of the rules (`paged/rules`, `dirty.rs`) show them.
const BY_RULE: [Bug; 7] = [
    Bug::RenewEpoch,
    Bug::HoldUnreadable,
    Bug::KeepHorizon,
    Bug::TrustPart,
    Bug::TrustLastAnchor,
    Bug::TrustStalePass,
    Bug::EndWalkEarly,
];

/// One random world in thousands comes where these have a say: tests beside the code (`opening.rs`, `page.rs`,
/// `flush.rs`, `reclaim.rs`, `references.rs`, `replaced.rs`, `rest.rs`, `ring.rs`, `settle.rs`, those of the headers
/// and `map.rs` of the tables) show them.
const IN_NEED: [Bug; 22] = [
    Bug::OpenLeaf,
    Bug::OpenBeside,
    Bug::HideRepetition,
    Bug::HideRewrite,
    Bug::EraseReplaced,
    Bug::ForgetPlaces,
    Bug::TrustTornMap,
    Bug::ForgetBlank,
    Bug::KeepOpenedVictim,
    Bug::DecideStreamAnew,
    Bug::BelieveStream,
    Bug::WriteBesideRest,
    Bug::LoseRest,
    Bug::CompleteUnread,
    Bug::DoubtRenewed,
    Bug::AskProof,
    Bug::DoubtNeeded,
    Bug::DoubtAcknowledged,
    Bug::TrustCounted,
    Bug::SeekBase,
    Bug::BeginBehind,
    Bug::KnowForEver,
];

/// No random world shows it, but a script of `exhaustive_bugs.rs` does.
const SCRIPTED: [Bug; 1] = [Bug::KeepFirstAttempt];

/// Cuts in refreshes of the headers, and a dead page of one, show these.
const IN_HEADERS: [Bug; 3] = [Bug::IgnoreSecondCopy, Bug::HeadersInDoubt, Bug::LoseLastHeader];

/// Whether a header is lost with the bug.
fn costs_a_header(bug: Bug) -> bool {
    bugs::plant(Some(bug));
    let kept = header_cuts::of_an_only_header().and(header_cuts::of_page_store());
    bugs::plant(None);
    kept.is_err()
}

/// Worlds that run in parallel, until one shows the bug.
const AT_ONCE: u64 = 48;

fn lived(seeds: Range<u64>) -> Worlds {
    let (ftl, told) = (FtlName::Paged, Reported::Whole);
    let choice = Choice { ftl, seeds, kept: None, broken_max: usize::MAX, told };
    worlds(&choice, &Unwatched).expect("worlds can be drawn")
}

/// Returns the name of a bug, and the world that showed it.
fn noted(line: &str) -> (&str, u64) {
    let (name, seed) = line.split_once(' ').expect("a bug and a world");
    (name, seed.parse().expect("a world's number"))
}

/// Returns a world in which the bug breaks a promise that is kept without it: the one that showed it before, one of
/// those that showed others, or any.
fn found(bug: Bug, list: &str) -> Option<u64> {
    let name = format!("{bug:?}");
    let (own, others): (Vec<_>, Vec<_>) =
        list.lines().map(noted).partition(|(other, _)| *other == name);
    let shown = own.into_iter().chain(others).map(|(_, seed)| seed..seed + 1);
    let drawn = (0..WORLDS / AT_ONCE).map(|turn| 1 + turn * AT_ONCE..1 + (turn + 1) * AT_ONCE);
    shown.chain(drawn).find_map(|seeds| {
        bugs::plant(Some(bug));
        let outcome = lived(seeds);
        bugs::plant(None);
        let mut broken = outcome.broken.iter().map(|broken| broken.seed);
        broken.find(|seed| lived(*seed..seed + 1).broken.is_empty())
    })
}

/// One test, because a bug is planted in the whole process.
#[test]
fn every_bug_is_found() {
    // A panic is reported as a violation. Here there are many, and they are expected.
    panic::set_hook(Box::new(|_| ()));
    let others = [&BY_RULE[..], &IN_NEED, &SCRIPTED, &IN_HEADERS].concat();
    let sought = Bug::PAGED.iter().filter(|bug| !others.contains(bug));
    let list = fs::read_to_string(LIST).expect("the list of worlds");
    let shown: Vec<(Bug, Option<u64>)> = sought.map(|bug| (*bug, found(*bug, &list))).collect();
    let kept: Vec<Bug> = IN_HEADERS.into_iter().filter(|bug| !costs_a_header(*bug)).collect();
    let _ = panic::take_hook();
    assert_eq!(kept, [], "not found in headers");
    for (bug, world) in &shown {
        println!("{bug:?}: {world:?}: {}", bug.what());
    }
    let missed: Vec<Bug> =
        shown.iter().filter(|(_, world)| world.is_none()).map(|(bug, _)| *bug).collect();
    assert_eq!(missed, [], "not found in {WORLDS} worlds");
    if env::var_os("RENEW_TABLES").is_some() {
        let lines =
            shown.iter().filter_map(|(bug, world)| Some(format!("{bug:?} {}\n", (*world)?)));
        fs::write(LIST, lines.collect::<String>()).expect("written");
    }
}
