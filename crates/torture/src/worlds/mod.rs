//! Random worlds: a seed draws a device, a configuration, faults, and sixty lives with power cuts in anything. A mount
//! is not followed by a comparison, but by whatever was drawn.
//!
//! ```text
//!   seed ──▶ draw: device, FTL          ──┐
//!        ──▶ script: lives, steps, cuts ──┴▶ live, against the truth ──▶ shrink ──▶ one line that shows it again
//! ```

mod draw;
mod kept;
mod live;
mod script;
mod shrink;

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

pub use kept::{Kept, NoLife};

use crate::dice::{Dice, mix};
use crate::faults::Faults;
use crate::history::History;
use crate::report::{Breach, Tally};
use crate::setup::{FtlName, Setup, SetupError};
use crate::watch::Watcher;
use script::Extent;

/// A device, what is on it, and what may go wrong.
#[derive(Clone, Debug)]
struct World {
    seed: u64,
    setup: Setup,
    faults: Faults,
    /// Whether the device keeps every byte, or stamps alone.
    bytes: bool,
}

/// What came of worlds.
#[derive(Clone, Debug, Default)]
pub struct Worlds {
    /// The cuts that were made.
    pub tally: Tally,
    /// Worlds that were lived.
    pub worlds: u64,
    /// Mounts.
    pub lives: u64,
    /// Those in which a promise was broken.
    pub broken: Vec<BrokenWorld>,
}

/// A world in which a promise was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenWorld {
    /// Its seed.
    pub seed: u64,
    /// Its device.
    pub device: String,
    /// The least of it that breaks the promise.
    pub kept: Kept,
    /// The life in which it was met.
    pub life: u32,
    /// What was under way.
    pub doing: String,
    /// What was broken.
    pub breach: Breach,
    /// What the device was asked last, in a replay; else nothing.
    pub history: Vec<String>,
}

/// What is asked of a run of worlds.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The FTL that lives in them.
    pub ftl: FtlName,
    /// Their seeds.
    pub seeds: Range<u64>,
    /// Of each only this: a replay, which tells what the device was asked.
    pub kept: Option<Kept>,
    /// Worlds that may break promises before no other is begun.
    pub broken_max: usize,
}

/// Lives these worlds, on all processors.
pub fn worlds(choice: &Choice, watcher: &dyn Watcher) -> Result<Worlds, SetupError> {
    let found = AtomicUsize::new(0);
    let all = choice.seeds.clone().into_par_iter().map(|seed| {
        if found.load(Ordering::Relaxed) >= choice.broken_max || !watcher.goes_on() {
            return Ok(Worlds::default());
        }
        let outcome = one(choice.ftl, seed, choice.kept.as_ref())?;
        found.fetch_add(outcome.broken.len(), Ordering::Relaxed);
        watcher.tried(outcome.tally.total().tried);
        Ok(outcome)
    });
    all.try_reduce(Worlds::default, |mut all, one| {
        all.tally.merge(&one.tally);
        all.worlds += one.worlds;
        all.lives += one.lives;
        all.broken.extend(one.broken);
        Ok(all)
    })
}

fn one(ftl: FtlName, seed: u64, kept: Option<&Kept>) -> Result<Worlds, SetupError> {
    let world = World::draw(ftl, seed)?;
    let lives = script::lives(seed, world.extent());
    let replayed = kept.is_some();
    let lives = kept.map_or_else(|| lives.clone(), |kept| kept.pick(lives.clone()));
    let history = if replayed { History::kept() } else { History::NONE };
    let lived = live::live(&world, &lives, history);
    let mut outcome =
        Worlds { tally: lived.tally, worlds: 1, lives: lived.lives, broken: Vec::new() };
    let Some(felt) = lived.wrong else { return Ok(outcome) };
    let (lives, felt) = if replayed { (lives, felt) } else { shrink::shrink(&world, lives, felt) };
    outcome.broken.push(BrokenWorld {
        seed,
        device: world.setup.device.clone(),
        kept: Kept::of(&lives),
        life: felt.life,
        doing: felt.doing,
        breach: felt.breach,
        history: lived.history,
    });
    Ok(outcome)
}

impl World {
    fn draw(ftl: FtlName, seed: u64) -> Result<Self, SetupError> {
        let mut dice = Dice::new(mix(seed, 20));
        let setup = draw::setup(ftl, &mut dice)?;
        let mut faults = Faults::NONE;
        if dice.percent(50) {
            faults.program = dice.pick(&[40, 150, 400]);
            faults.erase = dice.pick(&[15, 40, 100]);
            faults.mark = if dice.percent(40) { 2 } else { 0 };
            faults.again = 2;
        }
        if dice.percent(20) {
            faults.uncorrectable = 60;
        }
        faults.factory_bad = dice.percent(20).into();
        faults.bits = dice.percent(25);
        Ok(Self { seed, setup, faults, bytes: dice.percent(15) })
    }

    fn extent(&self) -> Extent {
        let geometry = &self.setup.part.geometry;
        let longest = [geometry.slc(), geometry.mlc()]
            .into_iter()
            .flatten()
            .map(|region| region.block_bytes() / self.setup.sector_bytes() as u64);
        let block = longest.max().unwrap_or(1).max(1) as u32;
        Extent { capacity: self.setup.capacity(), block }
    }
}

impl BrokenWorld {
    /// The command that shows it again.
    pub fn replay(&self) -> String {
        format!("tandem torture --worlds 1 --seed {} --lives {}", self.seed, self.kept)
    }
}

impl fmt::Display for BrokenWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, device, life, doing, breach, .. } = self;
        writeln!(f, "world {seed} ({device}), life {life}, {doing}: {breach}")?;
        write!(f, "  {}", self.replay())
    }
}
