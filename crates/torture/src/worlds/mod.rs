//! Random worlds: a seed draws a device, a configuration, faults, and sixty lives with power cuts anywhere. A mount is
//! not followed by a comparison, but by any step that was drawn.
//!
//! ```text
//!   seed ──▶ draw: device, FTL          ──┐
//!        ──▶ script: lives, steps, cuts ──┴▶ live, against the truth ──▶ shrink ──▶ one line that shows it again
//! ```

mod behaviour;
mod draw;
mod formats;
mod kept;
mod live;
mod script;
mod shrink;
mod world;
mod wrong_mount;

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

pub use kept::{Kept, NoLife};

use crate::history::History;
use crate::played::Played;
use crate::report::{Breach, Tally};
use crate::setup::{FtlName, SetupError};
use crate::watch::Watcher;
use world::World;

/// The result of several worlds.
#[derive(Clone, Debug, Default)]
pub struct Worlds {
    /// The cuts made.
    pub tally: Tally,
    /// Worlds run.
    pub worlds: u64,
    /// Mounts.
    pub lives: u64,
    /// How often a device with hardly a spare block, or in a storm of cuts, was read-only until its next mount.
    pub read_only: u64,
    /// What the devices did that the contract allows.
    pub played: Played,
    /// Worlds with a broken promise.
    pub broken: Vec<BrokenWorld>,
}

/// A world with a broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenWorld {
    /// Its seed.
    pub seed: u64,
    /// The FTL.
    pub ftl: FtlName,
    /// Its device.
    pub device: String,
    /// The smallest part of it that breaks the promise.
    pub kept: Kept,
    /// The life in which it was found.
    pub life: u32,
    /// What was running.
    pub doing: String,
    /// The broken promise.
    pub breach: Breach,
    /// The last operations on the device, in a replay; else empty.
    pub history: Vec<String>,
}

/// The parameters of a run of worlds.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The FTL.
    pub ftl: FtlName,
    /// Their seeds.
    pub seeds: Range<u64>,
    /// Of each only this: a replay, which lists the operations on the device.
    pub kept: Option<Kept>,
    /// After this many worlds with broken promises no other is begun.
    pub broken_max: usize,
    /// How those worlds are reported.
    pub told: Reported,
}

/// How a world with a broken promise is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// Its smallest part that still breaks the promise.
    Shrunk,
    /// As it was run.
    Whole,
}

/// Runs these worlds, on all processors.
pub fn worlds(choice: &Choice, watcher: &dyn Watcher) -> Result<Worlds, SetupError> {
    let found = AtomicUsize::new(0);
    let all = choice.seeds.clone().into_par_iter().map(|seed| {
        if found.load(Ordering::Relaxed) >= choice.broken_max || !watcher.goes_on() {
            return Ok(Worlds::default());
        }
        let outcome = one(seed, choice)?;
        found.fetch_add(outcome.broken.len(), Ordering::Relaxed);
        watcher.tried(outcome.tally.total().tried);
        Ok(outcome)
    });
    all.try_reduce(Worlds::default, |mut all, one| {
        all.tally.merge(&one.tally);
        all.worlds += one.worlds;
        all.lives += one.lives;
        all.read_only += one.read_only;
        all.played.merge(&one.played);
        all.broken.extend(one.broken);
        Ok(all)
    })
}

fn one(seed: u64, choice: &Choice) -> Result<Worlds, SetupError> {
    let world = World::draw(choice.ftl, seed)?;
    let lives = script::lives(seed, world.extent(), &world.behaviour);
    let replayed = choice.kept.is_some();
    let lives = match &choice.kept {
        Some(kept) => kept.pick(lives),
        None => lives,
    };
    let history = if replayed { History::kept() } else { History::NONE };
    let lived = live::live(&world, &lives, history);
    let mut outcome = Worlds {
        tally: lived.tally,
        worlds: 1,
        lives: lived.lives,
        read_only: lived.read_only,
        played: lived.played,
        broken: Vec::new(),
    };
    let Some(found) = lived.wrong else { return Ok(outcome) };
    let (lives, found) = if replayed || choice.told == Reported::Whole {
        (lives, found)
    } else {
        shrink::shrink(&world, lives, found)
    };
    outcome.broken.push(BrokenWorld {
        seed,
        ftl: choice.ftl,
        device: world.setup.device.clone(),
        kept: Kept::of(&lives),
        life: found.life,
        doing: found.doing,
        breach: found.breach,
        history: lived.history,
    });
    Ok(outcome)
}

impl BrokenWorld {
    /// The command that reproduces it.
    pub fn replay(&self) -> String {
        let Self { ftl, seed, kept, .. } = self;
        format!("tandem torture{} --worlds 1 --seed {seed} --lives {kept}", ftl.flag())
    }
}

impl fmt::Display for BrokenWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, device, life, doing, breach, .. } = self;
        writeln!(f, "world {seed} ({device}), life {life}, {doing}: {breach}")?;
        write!(f, "  {}", self.replay())
    }
}
