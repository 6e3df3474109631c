//! Scripts of small worlds, each of which shows a seeded bug.

use std::{fs, panic};

use ftl_core::bugs::Bug;
use torture::FtlName;
use torture::exhaustive::{SmallScript, replay};

pub(crate) const LIST: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scripts/exhaustive_bugs.txt");

/// A bug, and the script that shows it.
pub(crate) struct Scripted {
    pub(crate) bug: Bug,
    /// The bound that finds it.
    pub(crate) bound: u8,
    pub(crate) script: String,
}

pub(crate) fn all() -> impl Iterator<Item = (FtlName, Bug)> {
    let hybrid = Bug::ALL.iter().map(|bug| (FtlName::Hybrid, *bug));
    hybrid.chain(Bug::PAGED.iter().map(|bug| (FtlName::Paged, *bug)))
}

pub(crate) fn listed() -> Vec<Scripted> {
    let list = fs::read_to_string(LIST).expect("the list is there");
    let scripted = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let name = words.next()?;
        let (_, bug) = all().find(|(_, bug)| format!("{bug:?}") == name)?;
        Some(Scripted { bug, bound: words.next()?.parse().ok()?, script: words.next()?.into() })
    };
    let scripted = |line: &str| scripted(line).unwrap_or_else(|| panic!("no bug's script: {line}"));
    list.lines().map(scripted).collect()
}

/// Whether the script breaks a promise. One that asks for what does not happen breaks none.
pub(crate) fn breaks(script: &str) -> bool {
    let script: SmallScript = script.parse().expect("a script");
    let replayed = panic::catch_unwind(|| replay(&script));
    replayed.map_or(true, |replayed| replayed.is_ok_and(|replayed| replayed.broken.is_some()))
}
