//! From random candidates to workloads that fit: many starts, each of its own random draws, so that what is found does
//! not depend on where one search began. Each start tries its candidates on short runs first, and its best in the
//! paper's length.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use sim::Failure;

use super::candidate::{Candidate, WAY};
use super::constraints::{self, Extent, Figures, FitRun, Lengths, Measured};
use super::kept::Kept;
use crate::base::interrupt;
use crate::commands::repro::paper::Workload;

/// The parameters of a search.
pub(super) struct Search {
    pub(super) workload: Workload,
    pub(super) starts: u32,
    /// Of each start: candidates of short runs, and of a month.
    pub(super) tries: u32,
    pub(super) months: u32,
    /// Requests of a short run, of a month, and of the part of a month that C1 replays.
    pub(super) short: u64,
    pub(super) month: u64,
    pub(super) part: u64,
    pub(super) seed: u64,
    pub(super) jobs: usize,
    pub(super) kept: Kept,
}

/// A candidate that was measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tried {
    candidate: Candidate,
    /// The start that found it, from 0 on.
    pub(super) start: u32,
    pub(super) measured: Figures,
    /// How far it is from agreement with the paper.
    distance: f64,
}

/// What a search found.
pub(super) struct Explored {
    /// Workloads that were measured, in runs of any length.
    pub(super) tried: u64,
    /// Those measured over a month, the nearest first.
    pub(super) months: Vec<Tried>,
}

impl Tried {
    /// Whether it agrees with all statements of the paper.
    pub(super) fn fits(&self) -> bool {
        self.distance <= 0.0 && self.measured.get(Measured::Rs).is_some()
    }
}

/// Workloads of a start that are drawn at random, and then bettered one by one.
const CROWD: usize = 24;

/// How many of the best the others move towards.
const BEST: usize = 3;

/// How many of the short runs' best are tried over a month before those are changed.
const PROMOTED: usize = 2;

impl Search {
    /// The name of a measured workload.
    pub(super) fn name(&self, tried: &Tried) -> String {
        tried.candidate.name(self.workload, self.month, self.seed)
    }

    /// Searches from all starts; after a stop, what was done so far is found.
    pub(super) fn run(&self) -> Result<Explored, Failure> {
        let (next, tried) = (AtomicUsize::new(0), AtomicU64::new(0));
        let found: Mutex<Vec<Result<Vec<Tried>, Failure>>> = Mutex::new(Vec::new());
        let lock = || found.lock().unwrap_or_else(PoisonError::into_inner);
        thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, self.starts as usize) {
                scope.spawn(|| {
                    while let Some(start) = self.take(&next) {
                        let months = self.start(start, &tried);
                        lock().push(months);
                    }
                });
            }
        });
        let mut months = Vec::new();
        for of_start in found.into_inner().unwrap_or_else(PoisonError::into_inner) {
            months.extend(of_start?);
        }
        // By start first, so that the order does not depend on which was done first.
        months.sort_by_key(|tried| tried.start);
        months.sort_by(|one, other| one.distance.total_cmp(&other.distance));
        // A step of hardly any length may come to a workload once more.
        let mut distinct = Vec::new();
        months.retain(|tried| {
            let is_new = !distinct.contains(&tried.candidate);
            distinct.push(tried.candidate);
            is_new
        });
        let tried = tried.into_inner();
        if tried == 0 {
            Err(Failure::Interrupted("no workload was tried".into()))
        } else {
            Ok(Explored { tried, months })
        }
    }

    fn take(&self, next: &AtomicUsize) -> Option<u32> {
        let start = u32::try_from(next.fetch_add(1, Ordering::Relaxed)).ok()?;
        (start < self.starts && !interrupt::is_requested()).then_some(start)
    }

    /// One start: its workloads measured over a month.
    fn start(&self, start: u32, count: &AtomicU64) -> Result<Vec<Tried>, Failure> {
        let mut dice = fastrand::Rng::with_seed((self.seed << 16) + u64::from(start));
        let Some(crowd) = self.short_runs(start, count, &mut dice)? else { return Ok(Vec::new()) };
        let mut months: Vec<Tried> = Vec::new();
        for at in 0..self.months as usize {
            let candidate = match (crowd.get(at), months.first()) {
                (Some(best), _) if at < PROMOTED => best.candidate,
                // The crowd has come together by then: the way between two of it is short.
                (_, Some(best)) => best.candidate.nudged(self.workload, &mut dice),
                _ => Candidate::drawn(self.workload, &mut dice),
            };
            let Some(tried) = self.tried(candidate, (start, FitRun::Month), count)? else { break };
            insert(&mut months, &tried);
        }
        let agree = months.iter().filter(|tried| tried.fits()).count();
        let nearest = months.first().map_or(f64::NAN, |tried| tried.distance);
        eprintln!(
            "start {} of {}: {} tried over a month, {agree} agree, the nearest is {nearest:.3} off",
            start + 1,
            self.starts,
            months.len()
        );
        Ok(months)
    }

    /// The workloads of a start after its short runs, the nearest first; `None` after a stop.
    fn short_runs(
        &self,
        start: u32,
        count: &AtomicU64,
        dice: &mut fastrand::Rng,
    ) -> Result<Option<Vec<Tried>>, Failure> {
        let mut crowd: Vec<Tried> = Vec::new();
        let drawn = CROWD.min(self.tries as usize);
        for _ in 0..drawn {
            let candidate = Candidate::drawn(self.workload, dice);
            let Some(tried) = self.tried(candidate, (start, FitRun::Short), count)? else {
                return Ok(None);
            };
            insert(&mut crowd, &tried);
        }
        for _ in drawn..self.tries as usize {
            let at = dice.usize(..drawn);
            let best = crowd[dice.usize(..drawn.min(BEST))].candidate;
            let others = [(); 2].map(|()| crowd[dice.usize(..drawn)].candidate);
            let candidate = crowd[at].candidate.towards(best, (others, WAY), self.workload, dice);
            let Some(tried) = self.tried(candidate, (start, FitRun::Short), count)? else {
                return Ok(None);
            };
            // The better of a workload and what came of it stays.
            if tried.distance <= crowd[at].distance {
                crowd.remove(at);
                insert(&mut crowd, &tried);
            }
        }
        Ok(Some(crowd))
    }

    /// A candidate with its measures; `None` after a stop.
    fn tried(
        &self,
        candidate: Candidate,
        (start, run): (u32, FitRun),
        count: &AtomicU64,
    ) -> Result<Option<Tried>, Failure> {
        let (requests, part) = match run {
            FitRun::Short => (self.short, self.short.min(self.part)),
            FitRun::Month => (self.month, self.part),
        };
        let named = |requests| candidate.name(self.workload, requests, self.seed);
        let (month, part) = (named(requests), named(part));
        let measured = if let Some(figures) = self.kept.get(&month) {
            figures
        } else {
            let lengths = Lengths { month: &month, part: &part };
            match constraints::measure(self.workload, lengths, Extent::UntilItFails(run)) {
                Err(Failure::Interrupted(_)) => return Ok(None),
                // A run that was cut short has other figures.
                Ok(_) if interrupt::is_requested() => return Ok(None),
                figures => self.kept.put(&month, figures?)?,
            }
        };
        let distance = constraints::distance(self.workload, &measured, run);
        count.fetch_add(1, Ordering::Relaxed);
        let is_stopped = interrupt::is_requested();
        Ok((!is_stopped).then_some(Tried { candidate, start, measured, distance }))
    }
}

/// Adds one in its order: the nearest first.
fn insert(all: &mut Vec<Tried>, tried: &Tried) {
    let at = all.partition_point(|other| other.distance <= tried.distance);
    all.insert(at, *tried);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(jobs: usize, kept: Kept) -> Search {
        let workload = Workload::Ntfs;
        let (starts, tries, months, seed) = (3, 4, 2, 3);
        let (short, month, part) = (1000, 2000, 1000);
        Search { workload, starts, tries, months, short, month, part, seed, jobs, kept }
    }

    fn found(search: &Search) -> Vec<(String, u32, f64)> {
        let tried = search.run().unwrap().months;
        tried.iter().map(|tried| (search.name(tried), tried.start, tried.distance)).collect()
    }

    #[test]
    fn a_seed_finds_the_same_however_many_work_at_a_time() {
        let alone = found(&search(1, Kept::nowhere()));
        assert_eq!(alone, found(&search(3, Kept::nowhere())));
        assert_eq!(alone.len(), 3 * 2);
        assert!(alone.is_sorted_by(|one, other| one.2 <= other.2), "{alone:?}");
    }

    #[test]
    fn what_was_measured_is_not_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tried");
        let first = found(&search(1, Kept::open(&path).unwrap()));
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert_eq!(first, found(&search(1, Kept::open(&path).unwrap())));
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), lines);
        assert!(lines > 6, "short runs are kept, too: {lines}");
    }
}
