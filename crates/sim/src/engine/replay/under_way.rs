//! Outstanding requests: issued and not completed yet.

use std::collections::VecDeque;

use ftl_iface::{StoreWriteError, Work};
use nand_model::Done;
use nand_model::part::Nanos;

use super::options::{Gaps, Pace};
use super::record::Responses;
use super::run_observer::Answer;
use super::series::Series;
use super::tally::Tally;
use crate::base::Failure;
use crate::engine::host::Host;
use crate::engine::systems::{Account, System};
use crate::input::trace::{Op, Request};

/// A request of the host, and the sectors that it touches.
#[derive(Clone, Copy, Debug)]
struct Handed {
    request: Request,
    sectors: u64,
    /// Its number among all requests.
    number: usize,
}

/// The requests of one system.
pub(super) struct UnderWay {
    pace: Pace,
    gaps: Gaps,
    /// When the request before arrived, by the record.
    before: Nanos,
    /// The time of the last completion.
    now: Nanos,
    /// In the order of their numbers, from `first` on; idle work and completed requests are `None`.
    handed: VecDeque<Option<Handed>>,
    first: u64,
    /// The number of outstanding ones, idle work included.
    count: u32,
    pub(super) tally: Tally,
    /// Over the whole run, whatever of it counts.
    pub(super) series: Series,
    written: u64,
    /// Requests so far.
    issued: usize,
    /// Each of them, over the whole run, if that is wanted.
    pub(super) responses: Option<Responses>,
    /// Those since they were taken last, if somebody wants them.
    answers: Option<Vec<Answer>>,
}

impl UnderWay {
    pub(super) fn new(pace: Pace, gaps: Gaps, now: Nanos) -> Self {
        Self {
            pace,
            gaps,
            before: now,
            now,
            handed: VecDeque::new(),
            first: 0,
            count: 0,
            tally: Tally::new(),
            series: Series::new(),
            written: 0,
            issued: 0,
            responses: None,
            answers: None,
        }
    }

    /// From now on, every request is recorded.
    pub(super) fn record(&mut self) {
        self.responses = Some(Responses::default());
    }

    /// From now on, keeps each answer until it is taken.
    pub(super) fn keep_answers(&mut self) {
        self.answers = Some(Vec::new());
    }

    /// The answers since they were taken last.
    pub(super) fn take_answers(&mut self) -> Vec<Answer> {
        self.answers.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Whether there are any.
    pub(super) fn has_answers(&self) -> bool {
        self.answers.as_ref().is_some_and(|answers| !answers.is_empty())
    }

    /// Bytes written by completed requests.
    pub(super) const fn written(&self) -> u64 {
        self.written
    }

    /// Issues a request at its time. Its completion is noted later.
    #[inline]
    pub(super) fn serve(
        &mut self,
        system: &mut dyn System,
        host: &mut Host,
        request: &Request,
        arrival: Nanos,
        must: &mut &[u32],
    ) -> Result<(), Failure> {
        let at = self.wait(system, arrival)?;
        system.account(account(request.op));
        let number = system.begin(at);
        let sectors = host.serve(system, request, must)?;
        system.end();
        if let Some(responses) = &mut self.responses {
            responses.issue(request.op);
        }
        self.hand_over(number, Some(Handed { request: *request, sectors, number: self.issued }));
        self.issued += 1;
        Ok(())
    }

    /// The tally of the requests so far; a new one begins.
    pub(super) fn begin_tally(&mut self) -> Tally {
        std::mem::replace(&mut self.tally, Tally::new())
    }

    /// Waits for all completions.
    pub(super) fn finish(&mut self, system: &mut dyn System) {
        self.note_until(system, None);
    }

    /// Waits until the next request may be issued, and returns that time.
    #[inline]
    fn wait(&mut self, system: &mut dyn System, arrival: Nanos) -> Result<Nanos, Failure> {
        if self.pace.open_loop {
            self.idle(system, arrival)?;
            return Ok(arrival);
        }
        let gap = arrival.since(self.before);
        self.before = arrival;
        if self.gaps == Gaps::Rests && gap > Nanos::ZERO {
            self.note_until(system, None);
            let rested = self.now + gap;
            self.idle(system, rested)?;
            return Ok(rested.max(self.now));
        }
        while self.count >= self.pace.queue_depth.get()
            && let Some(done) = system.next_done(None)
        {
            self.note(done);
        }
        Ok(self.now)
    }

    /// Lets time pass until the next request arrives. With no outstanding request, the system may do idle work.
    fn idle(&mut self, system: &mut dyn System, arrival: Nanos) -> Result<(), Failure> {
        let mut work = Work::Left;
        loop {
            self.note_until(system, Some(arrival));
            if self.count > 0 || self.now >= arrival || work == Work::Done {
                return Ok(());
            }
            system.account(Account::Idle);
            let number = system.begin(self.now);
            let outcome = system.maintain(system.at_a_time());
            system.end();
            self.hand_over(number, None);
            work = match outcome {
                Ok(work) => work,
                // The next write reports it.
                Err(StoreWriteError::ReadOnly) => Work::Done,
                Err(error) => {
                    return Err(Failure::Violation(format!("idle work failed: {error}")));
                }
            };
        }
    }

    fn note_until(&mut self, system: &mut dyn System, moment: Option<Nanos>) {
        while self.count > 0
            && let Some(done) = system.next_done(moment)
        {
            self.note(done);
        }
    }

    fn hand_over(&mut self, number: u64, handed: Option<Handed>) {
        if self.handed.is_empty() {
            self.first = number;
        }
        self.handed.push_back(handed);
        self.count += 1;
    }

    fn note(&mut self, done: Done) {
        self.now = self.now.max(done.ended);
        self.count -= 1;
        // Idle work that a request has overtaken is not among them any more.
        let at = done.number.checked_sub(self.first).map(|at| at as usize);
        let handed = at.and_then(|at| self.handed.get_mut(at)).and_then(Option::take);
        if let Some(Handed { request, sectors, number }) = handed {
            let (time, waited) = (done.ended.since(done.at), done.begun.since(done.at));
            self.tally.note(&request, sectors, time, waited);
            self.written += if request.op == Op::Write { request.length } else { 0 };
            self.series.note(time.as_micros_f64(), self.written);
            if let Some(responses) = &mut self.responses {
                responses.complete(number, time);
            }
            if let Some(answers) = &mut self.answers {
                answers.push(Answer { op: request.op, took: time });
            }
        }
        while self.handed.front().is_some_and(Option::is_none) {
            self.handed.pop_front();
            self.first += 1;
        }
    }
}

/// The account of a request.
pub(crate) const fn account(op: Op) -> Account {
    match op {
        Op::Read => Account::Read,
        Op::Write => Account::Write,
        Op::Trim => Account::Trim,
        Op::Flush => Account::Flush,
    }
}
