//! The part of a run that its figures are of: all of it, or the last rounds of one that was to settle.

use std::collections::VecDeque;

use super::measurement::{self, Moment};
use super::steady::WINDOW;
use super::tally::Tally;
use crate::engine::result::Round;
use crate::input::trace::Op;

/// A memory that is programmed less, as a share of all that is, decides little.
const FILLED_LEAST: f64 = 0.05;

/// The counts at the beginning of each of the last rounds, with the tally of the round.
pub(super) struct Window {
    /// The rounds that count, the oldest first.
    rounds: VecDeque<(Moment, Tally)>,
    /// The beginning of the present round.
    present: Moment,
    /// What was programmed of the main memory before and since, as a share of it.
    filled: Option<f64>,
    all: Vec<Round>,
}

impl Window {
    pub(super) fn new(present: Moment) -> Self {
        let filled = present.programmed_share();
        Self { rounds: VecDeque::new(), present, filled, all: Vec::new() }
    }

    /// Ends a round, and returns it.
    pub(super) fn end_round(&mut self, now: Moment, tally: Tally) -> Round {
        let done = measurement::done(&self.present, &now);
        self.filled =
            self.filled.zip(measurement::times_over(&done)).map(|(before, more)| before + more);
        let is_filled = measurement::main_share(&done).is_some_and(|share| share >= FILLED_LEAST);
        let round = Round {
            write_amplification: measurement::write_amplification(&done, &tally),
            filled: self.filled.filter(|_| is_filled),
            mean_us: tally.all_times().mean,
            write_mean_us: tally.times(Op::Write).mean,
        };
        self.all.push(round);
        if self.rounds.len() == WINDOW {
            self.rounds.pop_front();
        }
        self.rounds.push_back((std::mem::replace(&mut self.present, now), tally));
        round
    }

    /// The beginning and the tally of what counts, and all rounds; `rest` are the requests after the last round.
    pub(super) fn close(self, rest: Tally) -> (Moment, Tally, Vec<Round>) {
        let Self { mut rounds, present, all, .. } = self;
        if rest.requests().total() > 0 && rounds.len() == WINDOW {
            rounds.pop_front();
        }
        let Some((begin, mut tally)) = rounds.pop_front() else { return (present, rest, all) };
        for (_, of_round) in &rounds {
            tally.add(of_round);
        }
        tally.add(&rest);
        (begin, tally, all)
    }
}
