//! What is walked: the devices, the prepared states, and the letters behind them, on all processors.

use rayon::prelude::*;

use super::live::{Course, Start, live};
use super::nand::Nand;
use super::replay::formatted;
use super::room::Memory;
use super::script::{End, Letter, Life};
use super::visited::{Budget, Visited};
use super::walk::{Broken, Node, Seen, Walker};
use super::world::{self, World};
use crate::setup::FtlName;
use crate::watch::Watcher;

/// One part of the jobs, of several that machines share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from one.
    pub number: u64,
    /// How many there are.
    pub of: u64,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Self = Self { number: 1, of: 1 };
}

/// What is to be walked.
#[derive(Clone, Debug)]
pub struct Order {
    pub ftl: FtlName,
    /// Requests behind a formatted device. Behind a prepared state there are two less, but at least one.
    pub requests: u8,
    pub shard: Shard,
    /// The only device, by its name.
    pub device: Option<String>,
    pub harms: u8,
    pub failures: u8,
    pub rots: u8,
    /// After this many broken promises the walk ends.
    pub broken_max: usize,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub devices: u64,
    pub states: u64,
    pub transitions: u64,
    pub lives: u64,
    /// The broken promises, the shortest script first.
    pub broken: Vec<Broken>,
}

/// Letters by which states are prepared: after each of them the walk begins.
const PREPARED: [&str; 7] = [
    "abTabPabTcIabPTcabPTbcTabPTcabTcPaTbPcTa",
    "aaaaaaaaaaaaaaaaZbbbbbbbbbbbbbbbbZcc",
    "PPPPPPPPPPPPPPPPIPPPPPPPPPPIZPPP",
    "abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabc",
    "PTaIPbTcIPPaTbIcPaPbPcTaTbTc",
    "aZbZcZaZPZTZaZbZaZcZbZ",
    "aaaaaaaaZaaaaaaaaPPPPPPPPZcI",
];

/// A start, and the letters behind it of which the last is cut.
#[derive(Clone, Debug)]
struct Job<'a> {
    world: &'a World,
    visited: &'a Visited,
    prepared: Vec<Letter>,
    letters: Vec<Letter>,
    requests: u8,
    harms: u8,
    failures: u8,
    rots: u8,
}

/// Walks.
pub fn exhaustive(order: &Order, watcher: &dyn Watcher) -> Result<Found, String> {
    let worlds = match &order.device {
        Some(name) => vec![world::named(name).ok_or_else(|| format!("no device `{name}`"))?],
        None => world::all(order.ftl),
    };
    let visited: Vec<Visited> = worlds.iter().map(|_| Visited::new()).collect();
    let mut found = Found { devices: worlds.len() as u64, ..Found::default() };
    // Short scripts first.
    let rounds = (1..=order.harms).flat_map(|harms| {
        (1..=order.requests).map(move |length| (harms, length))
    });
    for (harms, length) in rounds {
        let places = worlds.iter().zip(&visited);
        let jobs = places.flat_map(|(world, visited)| {
            jobs(world, visited, order.requests, length)
                .map(move |job| Job { harms, failures: order.failures, rots: order.rots, ..job })
        });
        let jobs = jobs.zip(0_u64..);
        let (number, of) = (order.shard.number - 1, order.shard.of);
        let jobs = jobs.filter(|(_, at)| at % of == number).map(|(job, _)| job);
        let mut jobs: Vec<Job<'_>> = jobs.collect();
        jobs.sort_by_key(|job| job.prepared.len());
        let seen: Vec<Result<Seen, String>> =
            jobs.into_iter().par_bridge().map(|job| job.walk(order, watcher)).collect();
        for seen in seen {
            let seen = seen?;
            found.states += seen.states;
            found.transitions += seen.transitions;
            found.lives += seen.lives;
            found.broken.extend(seen.broken);
        }
        if found.broken.len() >= order.broken_max || !watcher.goes_on() {
            break;
        }
    }
    found.broken.sort_by_key(|broken| broken.script.length());
    Ok(found)
}

/// The jobs of one world with that many letters.
fn jobs<'a>(
    world: &'a World,
    visited: &'a Visited,
    most: u8,
    length: u8,
) -> impl Iterator<Item = Job<'a>> {
    let mut jobs = Vec::new();
    let mut add = |prepared: &[Letter], most: u8| {
        if length > most {
            return;
        }
        for letters in sequences(length) {
            let prepared = prepared.to_vec();
            let (harms, failures, rots) = (0, 0, 0);
            jobs.push(Job { world, visited, prepared, letters, requests: most, harms, failures, rots });
        }
    };
    add(&[], most);
    let only: usize = std::env::var("PREP").ok().and_then(|n| n.parse().ok()).unwrap_or(4);
    for script in PREPARED.into_iter().take(only) {
        let letters = Letter::many(script).unwrap_or_default();
        for end in 1..=letters.len() {
            add(&letters[..end], most.saturating_sub(2).max(1));
        }
    }
    jobs.into_iter()
}

/// Every sequence of that many letters in which only the last one may stop.
fn sequences(length: u8) -> Vec<Vec<Letter>> {
    let mut all = vec![Vec::new()];
    for _ in 0..length {
        let longer = all.iter().filter(|letters: &&Vec<Letter>| letters.last() != Some(&Letter::Stop));
        let longer = longer.flat_map(|letters| {
            Letter::ALPHABET.map(|letter| {
                let mut longer = letters.clone();
                longer.push(letter);
                longer
            })
        });
        all = longer.collect();
    }
    all
}

impl Job<'_> {
    fn walk(&self, order: &Order, watcher: &dyn Watcher) -> Result<Seen, String> {
        if !watcher.goes_on() {
            return Ok(Seen::default());
        }
        let mut walker = Walker::new(self.world, self.visited, watcher);
        walker.broken_max = order.broken_max;
        let start = formatted(self.world, (&mut walker.nand, &mut walker.memory))?;
        let (start, lives, mut letters) =
            self.prepare(start, (&mut walker.nand, &mut walker.memory));
        walker.lives = lives;
        walker.lives.push(Life::default());
        let fixed = letters.len();
        letters.extend(&self.letters);
        let Self { requests, harms, failures, rots, .. } = *self;
        let budget = Budget { requests, harms, failures, rots, rests: 1 };
        walker.last_letter(&Node { start, budget }, &letters, fixed);
        Ok(walker.seen)
    }

    /// Follows the prepared letters up to the last stop; returns the lives until then and the letters behind it.
    fn prepare(
        &self,
        mut start: Start,
        (nand, memory): (&mut Nand, &mut Memory),
    ) -> (Start, Vec<Life>, Vec<Letter>) {
        let mut parts: Vec<&[Letter]> =
            self.prepared.split_inclusive(|letter| *letter == Letter::Stop).collect();
        let rest = match parts.last() {
            Some(last) if last.last() != Some(&Letter::Stop) => parts.pop().unwrap_or(&[]),
            _ => &[],
        };
        let mut lives = Vec::new();
        for letters in parts {
            nand.begin(&start.image, &[], 0);
            nand.plan(Vec::new());
            let course =
                Course { letters, fixed: usize::MAX, recorded: usize::MAX, compares: false };
            let lived = live(self.world, (&mut *nand, &mut *memory), &start, course);
            start = Start {
                image: lived.image,
                promise: lived.promise,
                version: lived.version,
                has_failed: false,
            };
            lives.push(Life { letters: letters.to_vec(), end: End::Off, ..Life::default() });
        }
        (start, lives, rest.to_vec())
    }
}
