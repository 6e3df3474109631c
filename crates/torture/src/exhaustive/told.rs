//! What a walk found, as it is told to programs: the content of its JSON.

use std::time::Duration;

use serde::Serialize;

use super::jobs::{Order, Walked, threads};
use super::replay::Replayed;
use super::script::SmallScript;
use super::walk::Broken;
use crate::setup::FtlName;

/// The counts of a walk.
#[derive(Debug, Serialize)]
pub struct WalkCounts<'a> {
    ftl: FtlName,
    bound: u8,
    shard: String,
    states: u64,
    transitions: u64,
    lives: u64,
    seconds: f64,
    threads: usize,
    devices: Vec<DeviceCounts<'a>>,
    violations: Vec<BrokenEntry>,
}

/// The counts of a device.
#[derive(Debug, Serialize)]
struct DeviceCounts<'a> {
    device: &'a str,
    states: u64,
    transitions: u64,
    lives: u64,
    broken: usize,
}

/// A broken promise.
#[derive(Debug, Serialize)]
pub struct BrokenEntry {
    sentence: String,
    replay: String,
}

impl SmallScript {
    /// The command that follows it.
    pub fn command(&self) -> String {
        format!("tandem torture --script \"{self}\"")
    }
}

impl BrokenEntry {
    fn of(sentence: &str, script: &SmallScript) -> Self {
        Self { sentence: sentence.into(), replay: script.command() }
    }

    /// What a script has broken, if anything.
    pub fn followed(script: &SmallScript, replayed: &Replayed) -> Vec<Self> {
        replayed.broken.iter().map(|sentence| Self::of(sentence, script)).collect()
    }
}

impl From<&Broken> for BrokenEntry {
    fn from(broken: &Broken) -> Self {
        Self::of(&broken.sentence, &broken.script)
    }
}

impl<'a> WalkCounts<'a> {
    /// The counts of a walk that took so long.
    pub fn of(order: &Order, walked: &'a [Walked], time: Duration) -> Self {
        let sum = |count: fn(&Walked) -> u64| walked.iter().map(count).sum();
        let device = |one: &'a Walked| DeviceCounts {
            device: &one.device,
            states: one.states,
            transitions: one.transitions,
            lives: one.lives,
            broken: one.broken.len(),
        };
        Self {
            ftl: order.ftl,
            bound: order.bound,
            shard: format!("{}/{}", order.shard.number, order.shard.of),
            states: sum(|one| one.states),
            transitions: sum(|one| one.transitions),
            lives: sum(|one| one.lives),
            seconds: time.as_secs_f64(),
            threads: threads(),
            devices: walked.iter().map(device).collect(),
            violations: walked.iter().flat_map(|one| &one.broken).map(BrokenEntry::from).collect(),
        }
    }
}
