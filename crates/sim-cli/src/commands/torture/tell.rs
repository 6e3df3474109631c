//! The output of a torture run: tables or JSON.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use ftl_core::Cause;
use serde::Serialize;
use sim::{Failure, show};
use torture::report::{Count, Tally, cause_name};
use torture::worlds::{BrokenWorld, Worlds};
use torture::{Cut, Fate, Outcome, Violation};

use crate::output::table::{Edge, Table};

/// The most violations printed in full; further ones are only counted.
const VIOLATIONS_TOLD: usize = 10;

/// The result of a run.
pub(super) struct Report {
    tally: Tally,
    operations: Option<u64>,
    worlds: Option<Number>,
    pub(super) violations: Vec<ViolationEntry>,
}

/// How many worlds were run.
#[derive(Clone, Copy, Serialize)]
struct Number {
    worlds: u64,
    lives: u64,
}

/// A violation in the JSON.
#[derive(Serialize)]
pub(super) struct ViolationEntry {
    device: String,
    system: &'static str,
    seed: u64,
    cuts: Vec<String>,
    sentence: String,
    replay: String,
    #[serde(skip)]
    whole: String,
    #[serde(skip)]
    history: Vec<String>,
}

/// A run's counts in the JSON.
#[derive(Serialize)]
struct Counts<'a> {
    total: Count,
    nested: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    worlds: Option<Number>,
    by_cause: Vec<(&'static str, Count)>,
    by_fate: Vec<(&'static str, Count)>,
    violations: &'a [ViolationEntry],
}

impl Report {
    /// Counts of cuts on chosen devices.
    pub(super) fn of(outcome: Outcome) -> Self {
        let violations = outcome.violations.into_iter().map(told).collect();
        let operations = Some(outcome.operations);
        Self { tally: outcome.tally, operations, worlds: None, violations }
    }

    /// Counts of random worlds.
    pub(super) fn of_worlds(outcome: Worlds) -> Self {
        let violations = outcome.broken.into_iter().map(told_of_a_world).collect();
        let Worlds { tally, worlds, lives, .. } = outcome;
        Self { tally, operations: None, worlds: Some(Number { worlds, lives }), violations }
    }

    /// Writes the JSON to its file, and the tables to `out`, unless the JSON goes there.
    pub(super) fn write(&self, json: Option<&Path>, out: &mut dyn Write) -> Result<(), Failure> {
        let Some(path) = json else { return self.tables(out) };
        if path.as_os_str() == "-" {
            return Ok(self.write_json(out)?);
        }
        let failed = |reason| Failure::File { path: path.into(), reason };
        let mut file = BufWriter::new(File::create(path).map_err(failed)?);
        self.write_json(&mut file).and_then(|()| file.flush()).map_err(failed)?;
        self.tables(out)
    }

    fn write_json(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let tally = &self.tally;
        let fates = Fate::ROWS.iter().enumerate();
        let counts = Counts {
            total: tally.total(),
            nested: tally.nested,
            operations: self.operations,
            worlds: self.worlds,
            by_cause: Cause::ALL.map(|cause| (cause_name(cause), tally.by_cause(cause))).into(),
            by_fate: fates.map(|(number, name)| (*name, tally.by_fate(number))).collect(),
            violations: &self.violations,
        };
        serde_json::to_writer_pretty(&mut *out, &counts)?;
        writeln!(out)
    }

    fn tables(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let tally = &self.tally;
        let mut table = columns("power failed in an operation for");
        for cause in Cause::ALL {
            row(&mut table, cause_name(cause), tally.by_cause(cause));
        }
        table.write(out)?;
        writeln!(out)?;
        let mut table = columns("and left");
        for (number, name) in Fate::ROWS.iter().enumerate() {
            row(&mut table, name, tally.by_fate(number));
        }
        row(&mut table, "all", tally.total());
        table.write(out)?;
        writeln!(out, "\n{}", self.summary())?;
        for violation in self.violations.iter().take(VIOLATIONS_TOLD) {
            writeln!(out, "\n{}", violation.whole)?;
            for line in &violation.history {
                writeln!(out, "    {line}")?;
            }
        }
        let untold = self.violations.len().saturating_sub(VIOLATIONS_TOLD);
        if untold > 0 {
            writeln!(out, "\nand {untold} more")?;
        }
        Ok(())
    }

    fn summary(&self) -> String {
        let Count { tried, lost, stuck } = self.tally.total();
        let tried = show::count(tried);
        match self.worlds {
            Some(Number { worlds, lives }) => format!(
                "{tried} cuts in {} lives of {} worlds: {} worlds in which a promise was broken",
                show::count(lives),
                show::count(worlds),
                show::count(self.violations.len() as u64)
            ),
            None => format!(
                "{tried} cuts, {} of them in the life after another: {} lost something, {} left a device that is stuck",
                show::count(self.tally.nested),
                show::count(lost),
                show::count(stuck)
            ),
        }
    }
}

fn told(violation: Violation) -> ViolationEntry {
    ViolationEntry {
        system: violation.system.name(),
        seed: violation.seed,
        cuts: violation.cuts.iter().map(Cut::to_string).collect(),
        sentence: format!("{}: {}", violation.doing, violation.breach),
        replay: violation.replay(),
        whole: violation.to_string(),
        device: violation.device,
        history: violation.history,
    }
}

fn told_of_a_world(broken: BrokenWorld) -> ViolationEntry {
    ViolationEntry {
        system: "random",
        seed: broken.seed,
        cuts: Vec::new(),
        sentence: format!("life {}, {}: {}", broken.life, broken.doing, broken.breach),
        replay: broken.replay(),
        whole: broken.to_string(),
        device: broken.device,
        history: broken.history,
    }
}

fn columns(first: &str) -> Table {
    let numbers = ["tried", "lost", "stuck"].map(|name| (name, Edge::Right));
    Table::new([(first, Edge::Left)].into_iter().chain(numbers))
}

fn row(table: &mut Table, name: &str, count: Count) {
    if count.tried > 0 {
        let Count { tried, lost, stuck } = count;
        table.row([name.to_owned(), show::count(tried), show::count(lost), show::count(stuck)]);
    }
}
