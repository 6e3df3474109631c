//! From random candidates to workloads that fit: in each round the best so far are changed a little.

use std::thread;

use super::candidate::Candidate;
use super::constraints::{self, Extent, Figures, Lengths, Measured};
use crate::base::{Failure, interrupt};
use crate::commands::repro::paper::Workload;

/// The parameters of a search.
pub(super) struct Search {
    pub(super) workload: Workload,
    pub(super) tries: u32,
    /// Requests of a month, and of the part of it for which a hash table is simulated.
    pub(super) month: u64,
    pub(super) part: u64,
    pub(super) seed: u64,
    pub(super) jobs: usize,
}

/// A candidate that was measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tried {
    candidate: Candidate,
    pub(super) measured: Figures,
    /// How far it is from agreement with the paper.
    distance: f64,
}

impl Tried {
    /// Whether it agrees with all statements of the paper.
    pub(super) fn fits(&self) -> bool {
        self.distance <= 0.0 && self.measured.get(Measured::Rs).is_some()
    }
}

/// Workloads per round, the same on every machine, because the result depends on it.
const ROUND: usize = 8;

/// How many of the best are changed.
const BEST: usize = 12;

/// How many of the first round are at or near one of the two starting points.
const BEGINNERS: usize = 6;

/// One in this many workloads of a round is drawn at random.
const FRESH: usize = 8;

impl Search {
    /// The name of a measured workload.
    pub(super) fn name(&self, tried: &Tried) -> String {
        tried.candidate.name(self.workload, self.month, self.seed)
    }

    /// All measured workloads, the nearest first; after a stop, those of the completed rounds.
    pub(super) fn run(&self) -> Result<Vec<Tried>, Failure> {
        let mut dice = fastrand::Rng::with_seed(self.seed);
        let mut tried: Vec<Tried> = Vec::new();
        while tried.len() < self.tries as usize && !interrupt::is_requested() {
            let count = ROUND.min(self.tries as usize - tried.len());
            let round: Vec<Candidate> =
                (0..count).map(|at| self.next(at, &tried, &mut dice)).collect();
            match self.measure(&round) {
                // The results of earlier rounds are kept.
                Err(Failure::Interrupted(_)) => break,
                measured => tried.extend(measured?),
            }
            tried.sort_by(|one, other| one.distance.total_cmp(&other.distance));
            let fitting = tried.iter().filter(|tried| tried.fits()).count();
            let nearest = tried.first().map_or(f64::NAN, |tried| tried.distance);
            eprintln!("{} tried, {fitting} agree, the nearest is {nearest:.3} off", tried.len());
        }
        if tried.is_empty() {
            Err(Failure::Interrupted("no workload was tried".into()))
        } else {
            Ok(tried)
        }
    }

    fn next(&self, at: usize, tried: &[Tried], dice: &mut fastrand::Rng) -> Candidate {
        if tried.is_empty() && at < BEGINNERS {
            let begins = [Candidate::second, Candidate::first][at % 2](self.workload);
            return if at < 2 { begins } else { begins.near(self.workload, dice) };
        }
        let best = &tried[..tried.len().min(BEST)];
        if at.is_multiple_of(FRESH) || best.is_empty() {
            return Candidate::drawn(self.workload, dice);
        }
        // The nearer, the likelier.
        let rank = dice.usize(..best.len()).min(dice.usize(..best.len()));
        best[rank].candidate.near(self.workload, dice)
    }

    /// Measures a round, several at a time. The order is that of the round.
    fn measure(&self, round: &[Candidate]) -> Result<Vec<Tried>, Failure> {
        let mut measured = Vec::with_capacity(round.len());
        for part in round.chunks(self.jobs.max(1)) {
            let outcomes: Vec<_> = thread::scope(|scope| {
                let one = |candidate: Candidate| {
                    let named = |requests| candidate.name(self.workload, requests, self.seed);
                    let (month, part) = (named(self.month), named(self.part));
                    let lengths = Lengths { month: &month, part: &part };
                    constraints::measure(self.workload, lengths, Extent::UntilItFails)
                };
                let workers: Vec<_> =
                    part.iter().map(|candidate| scope.spawn(move || one(*candidate))).collect();
                workers.into_iter().map(thread::ScopedJoinHandle::join).collect()
            });
            for (candidate, outcome) in part.iter().zip(outcomes) {
                let stopped = || Failure::Violation("a run stopped without a word".into());
                let figures = outcome.map_err(|_| stopped())??;
                let distance = constraints::distance(self.workload, &figures);
                measured.push(Tried { candidate: *candidate, measured: figures, distance });
            }
        }
        Ok(measured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_finds_the_same_however_many_work_at_a_time() {
        let found = |jobs| {
            let workload = Workload::Ntfs;
            let search = Search { workload, tries: 12, month: 2000, part: 1000, seed: 3, jobs };
            let tried = search.run().unwrap();
            tried.iter().map(|tried| (search.name(tried), tried.distance)).collect::<Vec<_>>()
        };
        let alone = found(1);
        assert_eq!(alone, found(3));
        assert_eq!(alone.len(), 12);
        assert!(alone.is_sorted_by(|one, other| one.1 <= other.1), "{alone:?}");
    }
}
