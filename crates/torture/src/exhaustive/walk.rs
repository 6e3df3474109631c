//! The walk: from a state, every sequence of letters, every cut, every fate.

use std::mem::take;

use super::fates::{Alternative, Moment, OpFate};
use super::grid::PageAt;
use super::image::{Cell, FlashImage};
use super::live::{LifePlan, LifeResult, Start, live};
use super::nand::{ChoicePoint, Nand, Snapshot};
use super::rot;
use super::script::{End, Letter, ScriptLife, SmallScript};
use super::small_ftl::SmallMemory;
use super::visited::{Budget, Visited};
use super::world::SmallWorld;
use crate::dice::mix;
use crate::watch::Watcher;

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The script that shows it.
    pub script: SmallScript,
    /// What was broken.
    pub sentence: String,
}

/// Of so many states, in one the FTL's invariants are checked as well.
const CHECKED: u64 = 16;

/// What a walk has seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// States of a device without power that a life was begun in.
    pub(super) states: u64,
    /// Outcomes of requests and cuts, whether or not they led to a new state.
    pub(super) transitions: u64,
    /// Lives lived.
    pub(super) lives: u64,
    pub(super) broken: Vec<Broken>,
}

/// Everything that a walk has at hand.
pub(super) struct Walker<'a> {
    world: &'a SmallWorld,
    pub(super) nand: Nand,
    pub(super) memory: SmallMemory,
    visited: &'a Visited,
    watcher: &'a dyn Watcher,
    broken_max: usize,
    seen: Seen,
    /// The lives before the present one.
    pub(super) lives: Vec<ScriptLife>,
    /// Transitions that the watcher does not know of yet.
    untold: u64,
}

/// A state without power, and what is left to try.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) start: Start,
    pub(super) budget: Budget,
}

/// One way to live some letters.
#[derive(Clone, Copy)]
struct Way<'a> {
    letters: &'a [Letter],
    /// How many of them, from the first on, go as usual.
    fixed: usize,
    /// What the device did where it had a choice.
    met: &'a [ChoicePoint],
    /// How many of these choices were given.
    known: usize,
}

impl<'a> Walker<'a> {
    pub(super) fn new(
        world: &'a SmallWorld,
        visited: &'a Visited,
        watcher: &'a dyn Watcher,
        broken_max: usize,
    ) -> Self {
        Self {
            world,
            nand: Nand::new(world.grid.clone()),
            memory: world.kind.memory(),
            visited,
            watcher,
            broken_max,
            seen: Seen::default(),
            lives: Vec::new(),
            untold: 0,
        }
    }

    /// Ends the walk.
    pub(super) fn finish(self) -> Seen {
        self.watcher.tried(self.untold);
        self.seen
    }

    fn is_over(&self) -> bool {
        self.seen.broken.len() >= self.broken_max || !self.watcher.goes_on()
    }

    fn count(&mut self) {
        self.seen.transitions += 1;
        self.untold += 1;
        if self.untold == 1_000 {
            self.watcher.tried(self.untold);
            self.untold = 0;
        }
    }

    /// Goes on from a state, if it was not met before.
    fn explore(&mut self, node: Node) {
        self.explore_in(ScriptLife::default(), node);
    }

    fn explore_in(&mut self, life: ScriptLife, mut node: Node) {
        self.count();
        let at = (&self.nand.grid, &self.nand.contents);
        node.start.promise.forget_what_is_gone(&node.start.image, at);
        let Start { image, promise, has_failed, .. } = &node.start;
        let state = mix(image.fingerprint(), promise.fingerprint() ^ u64::from(*has_failed));
        if !self.visited.is_new(state, node.budget) || self.is_over() {
            return;
        }
        self.seen.states += 1;
        let is_whole = life.rot.is_none();
        self.lives.push(life);
        self.sequences(&node, &mut vec![Letter::Read]);
        if state.is_multiple_of(CHECKED) {
            self.check(&node);
        }
        if node.budget.requests > 0 {
            self.sequences(&node, &mut Vec::new());
        }
        if is_whole && node.budget.rots > 0 && node.budget.harms > 0 {
            self.rot(&node);
        }
        self.lives.pop();
    }

    /// Checks the FTL's invariants once everything was read.
    fn check(&mut self, node: &Node) {
        let budget = Budget { harms: 0, ..node.budget };
        let node = Node { start: node.start.clone(), budget };
        self.last_letter(&node, &[Letter::Read, Letter::Check], 0);
    }

    /// Tries the letters so far, and each that may follow them.
    fn sequences(&mut self, node: &Node, letters: &mut Vec<Letter>) {
        if !letters.is_empty() {
            // What may happen while everything is read is tried without a letter behind it.
            let fixed = usize::from(letters.len() > 1 && letters[0] == Letter::Read);
            self.last_letter(node, letters, fixed);
        }
        if letters.last() == Some(&Letter::Stop) || requests(letters) >= node.budget.requests {
            return;
        }
        for letter in Letter::ALPHABET {
            letters.push(letter);
            self.sequences(node, letters);
            letters.pop();
        }
    }

    /// Lets one page after the other become unreadable before the life.
    fn rot(&mut self, node: &Node) {
        for page in 0..self.world.grid.pages() as PageAt {
            let Some(cost) = rot::cost(self.world, &node.start.image, &self.nand.contents, page)
            else {
                continue;
            };
            let mut start = node.start.clone();
            start.promise.lose_page(&cost);
            start.image.set_cell(&self.nand.contents, page, Cell::DEAD);
            let budget =
                Budget { harms: node.budget.harms - 1, rots: node.budget.rots - 1, ..node.budget };
            let own = self.lives.pop().unwrap_or_default();
            let rot =
                ScriptLife { rot: Some(self.world.grid.page_name(page)), ..ScriptLife::default() };
            self.explore_in(rot, Node { start, budget });
            self.lives.push(own);
        }
    }

    /// Lives these letters in every way that the device allows, and goes on from each cut in the last of them, and from
    /// its end.
    pub(super) fn last_letter(&mut self, node: &Node, letters: &[Letter], fixed: usize) {
        let is_last = |letter| letters.len() == 1 && letters[0] == letter;
        let recorded = if is_last(Letter::Read) { 0 } else { letters.len() - 1 };
        let may_cut = node.budget.harms > 0;
        let course = LifePlan {
            letters,
            fixed,
            recorded: if may_cut { recorded } else { usize::MAX },
            compares: letters.last() != Some(&Letter::Read),
        };
        let failures = node.budget.failures.min(node.budget.harms);
        let mut tapes: Vec<Vec<u8>> = vec![Vec::new()];
        while let Some(tape) = tapes.pop() {
            if self.is_over() {
                return;
            }
            self.nand.begin(&node.start.image, &tape, failures);
            self.seen.lives += 1;
            let lived = live(self.world, (&mut self.nand, &mut self.memory), &node.start, course);
            self.branch(&tape, &mut tapes);
            let (met, photos) = (take(&mut self.nand.met), take(&mut self.nand.photos));
            for photo in photos.iter().filter(|photo| photo.met >= tape.len()) {
                let happened = happened(&met[..photo.met]);
                self.cut(node, &lived, photo, (letters, &happened));
            }
            self.end(node, lived, &Way { letters, fixed, met: &met, known: tape.len() });
            (self.nand.met, self.nand.photos) = (met, photos);
        }
    }

    /// Adds the ways that differ from the one just lived in one thing behind those given.
    fn branch(&self, tape: &[u8], tapes: &mut Vec<Vec<u8>>) {
        for (at, met) in self.nand.met.iter().enumerate().skip(tape.len()) {
            for other in 1..=met.alternatives.len() as u8 {
                let mut branch: Vec<u8> = self.nand.met[..at].iter().map(|met| met.taken).collect();
                branch.push(other);
                tapes.push(branch);
            }
        }
    }

    /// Notes the life that has just ended.
    fn note(&mut self, letters: &[Letter], happened: &[(Moment, Alternative)], end: End) {
        if let Some(life) = self.lives.last_mut() {
            life.letters = letters.to_vec();
            life.happened = happened.to_vec();
            life.end = end;
        }
    }

    fn cut(
        &mut self,
        node: &Node,
        lived: &LifeResult,
        photo: &Snapshot,
        (letters, happened): (&[Letter], &[(Moment, Alternative)]),
    ) {
        let Some(harms) = node.budget.harms.checked_sub(1 + photo.failures) else { return };
        let budget = Budget {
            requests: if harms > 0 { node.budget.after } else { 0 },
            harms,
            failures: node.budget.failures - photo.failures,
            ..node.budget
        };
        let fates: Vec<OpFate> = OpFate::of(photo.op, &photo.image, &self.world.grid).collect();
        for fate in fates {
            let mut image: FlashImage = photo.image.clone();
            fate.leave(photo.op, &mut image, (&self.nand.grid, &self.nand.contents));
            self.note(letters, happened, End::Cut(photo.number, fate));
            let start = Start {
                image,
                promise: lived.in_flight,
                version: node.start.version + letters.len() as u8,
                has_failed: node.start.has_failed || photo.failures > 0,
            };
            self.explore(Node { start, budget });
        }
    }

    /// What follows the last letter: a broken promise, or power that is switched off.
    fn end(&mut self, node: &Node, lived: LifeResult, way: &Way<'_>) {
        let Way { letters, fixed, met, known } = *way;
        self.count();
        if let Some((at, sentence)) = lived.broken {
            if at + 1 >= letters.len() {
                self.note(letters, &happened(met), End::Open);
                let lives = self.lives.clone();
                let script = SmallScript { world: self.world.name.clone(), lives };
                self.seen.broken.push(Broken { script, sentence });
            }
            return;
        }
        if lived.met < known {
            // This way differs only in the comparison behind the last letter.
            return;
        }
        let is_stop = letters.last() == Some(&Letter::Stop);
        let Some(harms) = node.budget.harms.checked_sub(lived.failures) else { return };
        let Some(rests) = node.budget.rests.checked_sub(u8::from(!is_stop)) else { return };
        // Behind a rest there is less to try: otherwise it would be a second beginning.
        let (harms, requests) = if is_stop {
            (harms, node.budget.requests.saturating_sub(requests(&letters[fixed..])))
        } else {
            (harms.min(1), 0)
        };
        let failures = node.budget.failures - lived.failures;
        let budget = Budget { requests, harms, failures, rests, ..node.budget };
        self.note(letters, &happened(&met[..lived.met]), End::Off);
        let start = Start {
            image: lived.image,
            promise: lived.promise,
            version: lived.version,
            has_failed: node.start.has_failed || lived.failures > 0,
        };
        self.explore(Node { start, budget });
    }
}

/// How many of these letters are requests that are counted.
fn requests(letters: &[Letter]) -> u8 {
    letters.iter().filter(|letter| **letter != Letter::Read).count() as u8
}

/// What of these did not go as usual.
fn happened(met: &[ChoicePoint]) -> Vec<(Moment, Alternative)> {
    let taken = met.iter().filter_map(|met| {
        let taken = met.alternatives.get(usize::from(met.taken).checked_sub(1)?)?;
        Some((met.moment, *taken))
    });
    taken.collect()
}
