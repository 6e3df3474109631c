//! What a run found, as it is told to programs: the content of its JSON.

use ftl_core::Cause;
use serde::Serialize;

use crate::fate::{Cut, Fate};
use crate::report::{Count, Tally, Violation, cause_name};
use crate::run::Outcome;
use crate::worlds::{BrokenWorld, Worlds};

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The cuts.
    pub tally: Tally,
    /// Operations of the runs' own lives, on chosen devices.
    pub operations: Option<u64>,
    /// How many worlds there were, of random ones.
    pub worlds: Option<WorldCount>,
    /// The broken promises.
    pub violations: Vec<ViolationEntry>,
}

/// How many worlds were run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WorldCount {
    /// Worlds.
    pub worlds: u64,
    /// Mounts in them.
    pub lives: u64,
}

/// A violation in the JSON.
#[derive(Clone, Debug, Serialize)]
pub struct ViolationEntry {
    device: String,
    system: &'static str,
    seed: u64,
    cuts: Vec<String>,
    sentence: String,
    replay: String,
    #[serde(skip)]
    /// All of it, for a reader.
    pub whole: String,
    #[serde(skip)]
    /// The last operations on the device, in a replay.
    pub history: Vec<String>,
}

/// A run's counts in the JSON.
#[derive(Debug, Serialize)]
pub struct Counts<'a> {
    total: Count,
    nested: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    worlds: Option<WorldCount>,
    by_cause: Vec<(&'static str, Count)>,
    by_fate: Vec<(&'static str, Count)>,
    violations: &'a [ViolationEntry],
}

impl Report {
    /// Counts of cuts on chosen devices.
    pub fn of(outcome: Outcome) -> Self {
        let violations = outcome.violations.into_iter().map(told).collect();
        let operations = Some(outcome.operations);
        Self { tally: outcome.tally, operations, worlds: None, violations }
    }

    /// Counts of random worlds.
    pub fn of_worlds(outcome: Worlds) -> Self {
        let violations = outcome.broken.into_iter().map(told_of_a_world).collect();
        let Worlds { tally, worlds, lives, .. } = outcome;
        Self { tally, operations: None, worlds: Some(WorldCount { worlds, lives }), violations }
    }

    /// The counts, and the broken promises.
    pub fn counts(&self) -> Counts<'_> {
        let tally = &self.tally;
        let fates = Fate::ROWS.iter().enumerate();
        Counts {
            total: tally.total(),
            nested: tally.nested,
            operations: self.operations,
            worlds: self.worlds,
            by_cause: Cause::ALL.map(|cause| (cause_name(cause), tally.by_cause(cause))).into(),
            by_fate: fates.map(|(number, name)| (*name, tally.by_fate(number))).collect(),
            violations: &self.violations,
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
