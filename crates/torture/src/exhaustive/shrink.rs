//! The shortest script that breaks the same promise: letters and lives are left out as long as it is broken, and the
//! numbers of operations behind them are looked for nearby.

use std::collections::HashSet;

use super::fates::Moment;
use super::replay::replay_on;
use super::script::{End, ScriptLife, SmallScript};
use super::walk::Broken;
use super::world::SmallWorld;

/// The most that are shrunk on one device.
const SHRUNK_MAX: usize = 8;

/// Replays that one script may take.
const TRIALS: u32 = 20_000;

/// How far back the number of an operation may move when a letter before it is left out.
const BACK: u16 = 7;

/// Shrinks the first of these, and leaves out those that become the same.
pub(super) fn shrink(world: &SmallWorld, mut all: Vec<Broken>) -> Vec<Broken> {
    all.sort_by_key(|broken| broken.script.length());
    all.truncate(SHRUNK_MAX);
    let mut shrunk: Vec<Broken> = all.into_iter().map(|broken| shrunk(world, broken)).collect();
    shrunk.sort_by_key(|broken| broken.script.length());
    let mut told = HashSet::new();
    shrunk.retain(|broken| told.insert(broken.script.to_string()));
    shrunk
}

fn shrunk(world: &SmallWorld, mut broken: Broken) -> Broken {
    let mut trials = TRIALS;
    while let Some(shorter) = shorter(world, &broken, &mut trials) {
        broken = shorter;
    }
    broken
}

/// One letter or life less, or one thing less that happened.
fn shorter(world: &SmallWorld, broken: &Broken, trials: &mut u32) -> Option<Broken> {
    let lives = &broken.script.lives;
    for at in 0..lives.len() {
        for fewer in fewer(&lives[at]) {
            let mut left = lives.clone();
            left[at] = fewer;
            if left[at].is_empty() {
                left.remove(at);
            }
            if let Some(found) = nearby(world, broken, &left, at, trials) {
                return Some(found);
            }
        }
    }
    None
}

/// A life without one of its letters, or without one thing that happened.
fn fewer(life: &ScriptLife) -> Vec<ScriptLife> {
    let harmless = (0..life.happened.len()).map(|at| {
        let mut fewer = life.clone();
        fewer.happened.remove(at);
        fewer
    });
    let rotless = life.rot.as_ref().map(|_| ScriptLife { rot: None, ..life.clone() });
    let letterless = (0..life.letters.len()).map(|at| {
        let mut fewer = life.clone();
        fewer.letters.remove(at);
        fewer
    });
    harmless.chain(rotless).chain(letterless).collect()
}

/// Looks for numbers with which these lives break the same kind of promise.
fn nearby(
    world: &SmallWorld,
    broken: &Broken,
    lives: &[ScriptLife],
    from: usize,
    trials: &mut u32,
) -> Option<Broken> {
    let numbers: usize = lives.iter().skip(from).map(numbers_of).sum();
    // Every way to move each number back.
    let ways = (u64::from(BACK) + 1).checked_pow(numbers as u32)?;
    for way in 0..ways {
        *trials = trials.checked_sub(1)?;
        let mut way = way;
        let mut back = || {
            let back = way % (u64::from(BACK) + 1);
            way /= u64::from(BACK) + 1;
            back as u16
        };
        let mut moved = lives.to_vec();
        if !moved.iter_mut().skip(from).all(|life| moved_back(life, &mut back)) {
            continue;
        }
        let script = SmallScript { world: broken.script.world.clone(), lives: moved };
        let Ok(replayed) = replay_on(world, &script) else { continue };
        let sentence = replayed.broken.unwrap_or_default();
        if kind_of(&sentence) == kind_of(&broken.sentence) {
            return Some(Broken { script, sentence });
        }
    }
    None
}

fn numbers_of(life: &ScriptLife) -> usize {
    life.happened.len() + usize::from(matches!(life.end, End::Cut(..)))
}

/// Moves the numbers of a life back; returns whether there are such.
fn moved_back(life: &mut ScriptLife, back: &mut impl FnMut() -> u16) -> bool {
    let mut fits = true;
    let mut less = |number: &mut u16| match number.checked_sub(back()) {
        Some(smaller) => *number = smaller,
        None => fits = false,
    };
    for (moment, _) in &mut life.happened {
        let (Moment::Read(number) | Moment::Op(number)) = moment;
        less(number);
    }
    if let End::Cut(number, _) = &mut life.end {
        less(number);
    }
    fits
}

/// What a sentence says, without its numbers.
fn kind_of(sentence: &str) -> String {
    let found = sentence.rsplit(", ").next().unwrap_or_default();
    found.chars().filter(|sign| !sign.is_ascii_digit()).collect()
}
