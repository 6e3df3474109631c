//! The jobs of a walk, on all processors: a device, a prepared state, and the letters behind it.

use std::mem::take;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::live::{LifePlan, Start, live};
use super::nand::Nand;
use super::replay::formatted;
use super::rounds::{Round, rounds, sequences};
use super::script::{End, Letter, ScriptLife};
use super::shrink::shrink;
use super::small_ftl::SmallMemory;
use super::visited::{Budget, Visited};
use super::walk::{Broken, Node, Seen, Walker};
use super::world::{self, SmallWorld};
use crate::setup::FtlName;
use crate::watch::Watcher;

/// One part of the jobs, of several that machines share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from one.
    pub number: usize,
    /// How many there are.
    pub of: usize,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    const fn has(self, job: usize) -> bool {
        job % self.of == self.number - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            Some(Self { number: number.parse().ok()?, of: of.parse().ok()? })
        });
        let possible = numbers.filter(|shard| (1..=shard.of).contains(&shard.number));
        possible.ok_or_else(|| "write I/N with I from 1 to N, as in 2/8".into())
    }
}

/// What is to be walked.
#[derive(Clone, Debug)]
pub struct Order {
    /// The FTL.
    pub ftl: FtlName,
    /// The bound, at least one: see `docs/TORTURE.md`.
    pub bound: u8,
    /// The part of the jobs.
    pub shard: Shard,
    /// The only small device, by its name.
    pub device: Option<String>,
    /// After so many broken promises on one device the walk goes on with the next.
    pub broken_max: usize,
    /// When it ends.
    pub until: Until,
}

/// When a walk ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// When everything was tried.
    Tried,
    /// In the first round on a device that breaks a promise.
    Broken,
}

/// What was walked on one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Its name.
    pub device: String,
    /// States of the device without power, and what was promised of them.
    pub states: u64,
    /// Outcomes of requests, cuts and other harm, whether or not they led to a new state.
    pub transitions: u64,
    /// Mounts, each with what followed until power went.
    pub lives: u64,
    /// Broken promises, the shortest script first.
    pub broken: Vec<Broken>,
}

/// Threads that a walk uses.
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// Walks all small devices, until the watcher ends it.
pub fn exhaustive(order: &Order, watcher: &dyn Watcher) -> Result<Vec<Walked>, String> {
    let worlds = match &order.device {
        None => world::all(order.ftl, order.bound),
        Some(name) => vec![world::named(name).ok_or_else(|| world::unknown(name))?],
    };
    let named = |world: &SmallWorld| Walked { device: world.name.clone(), ..Walked::default() };
    let mut all: Vec<Walked> = worlds.iter().map(named).collect();
    'rounds: for round in rounds(order.bound) {
        for (world, walked) in worlds.iter().zip(&mut all) {
            walk((world, round), order, watcher, walked)?;
            if order.until == Until::Broken && !walked.broken.is_empty() {
                break 'rounds;
            }
        }
    }
    for (world, walked) in worlds.iter().zip(&mut all) {
        walked.broken = shrink(world, take(&mut walked.broken));
    }
    Ok(all)
}

/// Walks a round on one device.
fn walk(
    (world, round): (&SmallWorld, Round),
    order: &Order,
    watcher: &dyn Watcher,
    walked: &mut Walked,
) -> Result<(), String> {
    let place = JobBase {
        world,
        visited: Visited::new(),
        broken: AtomicUsize::new(walked.broken.len()),
        broken_max: order.broken_max,
        watcher,
    };
    for length in 1..=round.budget.requests {
        let jobs = jobs(&place, round, length).into_iter().enumerate();
        let mine = jobs.filter(|(at, _)| order.shard.has(*at));
        let seen: Result<Vec<Seen>, String> =
            mine.par_bridge().map(|(_, job)| job.walk()).collect();
        for seen in seen? {
            walked.states += seen.states;
            walked.transitions += seen.transitions;
            walked.lives += seen.lives;
            walked.broken.extend(seen.broken);
        }
    }
    Ok(())
}

/// What the jobs of a device share.
struct JobBase<'a> {
    world: &'a SmallWorld,
    visited: Visited,
    broken: AtomicUsize,
    broken_max: usize,
    watcher: &'a dyn Watcher,
}

/// A start, and the letters behind it of which the last may be cut.
struct Job<'a> {
    place: &'a JobBase<'a>,
    prepared: Vec<Letter>,
    letters: Vec<Letter>,
    budget: Budget,
}

/// The jobs of a round with that many letters, those behind short scripts first.
fn jobs<'a>(place: &'a JobBase<'a>, round: Round, length: u8) -> Vec<Job<'a>> {
    let letters = sequences(length);
    let prepared = round.prepared().into_iter();
    let jobs = prepared.flat_map(|prepared| {
        let job = |letters: &Vec<Letter>| Job {
            place,
            prepared: prepared.clone(),
            letters: letters.clone(),
            budget: round.budget,
        };
        letters.iter().map(job).collect::<Vec<_>>()
    });
    jobs.collect()
}

impl Job<'_> {
    fn walk(&self) -> Result<Seen, String> {
        let JobBase { world, visited, broken, broken_max, watcher } = self.place;
        let left = broken_max.saturating_sub(broken.load(Ordering::Relaxed));
        if left == 0 || !watcher.goes_on() {
            return Ok(Seen::default());
        }
        let mut walker = Walker::new(world, visited, *watcher, left);
        let start = formatted(world, (&mut walker.nand, &mut walker.memory))?;
        let (start, lives, mut letters) =
            self.prepare(start, (&mut walker.nand, &mut walker.memory));
        walker.lives = lives;
        walker.lives.push(ScriptLife::default());
        let fixed = letters.len();
        letters.extend(&self.letters);
        walker.last_letter(&Node { start, budget: self.budget }, &letters, fixed);
        let seen = walker.finish();
        broken.fetch_add(seen.broken.len(), Ordering::Relaxed);
        Ok(seen)
    }

    /// Follows the prepared letters up to the last stop; returns the lives until then and the letters behind it.
    fn prepare(
        &self,
        mut start: Start,
        (nand, memory): (&mut Nand, &mut SmallMemory),
    ) -> (Start, Vec<ScriptLife>, Vec<Letter>) {
        let mut parts: Vec<&[Letter]> =
            self.prepared.split_inclusive(|letter| *letter == Letter::Stop).collect();
        let ends_open = |part: &&[Letter]| part.last() != Some(&Letter::Stop);
        let rest = parts.pop_if(|part| ends_open(&&**part)).unwrap_or(&[]);
        let mut lives = Vec::new();
        for letters in parts {
            nand.begin(&start.image, &[], 0);
            nand.plan(Vec::new());
            let course = LifePlan { compares: false, ..LifePlan::usual(letters) };
            let lived = live(self.place.world, (&mut *nand, &mut *memory), &start, course);
            start = Start {
                image: lived.image,
                promise: lived.promise,
                version: lived.version,
                has_failed: false,
            };
            lives.push(ScriptLife {
                letters: letters.to_vec(),
                end: End::Off,
                ..ScriptLife::default()
            });
        }
        (start, lives, rest.to_vec())
    }
}
