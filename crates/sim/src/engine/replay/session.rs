//! One system's replay.

use std::time::Duration;

use ftl_iface::{PageCount, SectorCount, Work};
use nand_model::part::Nanos;

use super::batches::Batches;
use super::fill;
use super::looks::Looks;
use super::measurement::{Clocked, Measurement, Moment};
use super::options::{Gaps, Pace};
use super::outcome::Details;
use super::record::Record;
use super::run_observer::RunObserver;
use super::under_way::UnderWay;
use super::window::Window;
use crate::base::clock::{Clock, ThreadClock};
use crate::base::{Failure, Stop};
use crate::engine::host::{Host, SharedWitness};
use crate::engine::systems::{Account, Session, System};
use crate::input::device::Fill;

/// A replay.
pub(super) struct Replay<'a, B> {
    kind: Kind<'a>,
    pub(super) batches: B,
    witness: SharedWitness,
    host: Option<Host>,
    /// Present once the replay is done.
    pub(super) measured: Option<Measured>,
}

/// What a session ends with; the data for charts and the record, if they are wanted.
pub(super) struct Measured {
    pub(super) measurement: Measurement,
    pub(super) details: Option<Details>,
    pub(super) record: Option<Record>,
}

/// What is replayed, and how.
pub(super) struct Kind<'a> {
    /// The system, as it was named.
    pub(super) name: String,
    pub(super) pace: Pace,
    pub(super) gaps: Gaps,
    pub(super) fill: Fill,
    /// Whether details for charts are wanted, too.
    pub(super) detailed: bool,
    /// Whether a record is wanted, too.
    pub(super) recorded: bool,
    /// By which it is stopped.
    pub(super) stop: Stop,
    /// Who looks on.
    pub(super) run_observer: Option<&'a dyn RunObserver>,
}

impl Kind<'_> {
    /// No request yet, from now on.
    fn under_way(&self, now: Nanos) -> UnderWay {
        let mut under_way = UnderWay::new(self.pace, self.gaps, now);
        if self.recorded {
            under_way.record();
        }
        under_way
    }
}

/// Requests announced to a system at a time: few enough that their table entries are still in the processor's cache at
/// the last one.
const FORESEEN: usize = 32;

impl<B: Batches> Session for Replay<'_, B> {
    fn prepare(&mut self, system: &mut dyn System, filled: SectorCount) -> Result<(), Failure> {
        let mut host = Host::new(system, filled, self.witness.clone());
        fill::prepare(system, &mut host, self.kind.fill, filled, &self.kind.stop)?;
        self.host = Some(host);
        Ok(())
    }

    fn replay(&mut self, system: &mut dyn System) -> Result<(), Failure> {
        let host = self.host.take().filter(Host::fits_witness);
        let Some(mut host) = host else {
            let what = "the system does not begin with the device's capacity";
            return Err(Failure::Violation(what.into()));
        };
        rest(system, &self.kind.stop)?;
        // Operations of the preparation still running on other dies must not delay the first request.
        system.wait_until(system.hardware().at_rest);
        if self.kind.detailed {
            system.sample_writes();
        }
        let begin = system.now();
        let mut under_way = self.kind.under_way(begin);
        let mut looks = Looks::of(self.kind.run_observer, begin);
        looks.begin(system, &mut under_way);
        let mut window = Window::new(Moment::of(system, host.verified()));
        let start = Clock::now();
        let mut busy = Duration::ZERO;
        let mut firsts = Vec::with_capacity(FORESEEN);
        while let Some(batch) = self.batches.next() {
            let handed_over = ThreadClock::now();
            let mut must = batch.must.as_slice();
            for requests in batch.requests.chunks(FORESEEN) {
                firsts.clear();
                firsts.extend(requests.iter().map(|request| host.first_sector(request)));
                system.prefetch(&firsts);
                for request in requests {
                    let arrival = begin + request.time;
                    under_way.serve(system, &mut host, request, arrival, &mut must)?;
                }
                looks.after(requests.len(), system, &mut under_way);
            }
            busy += handed_over.elapsed();
            if batch.ends_round {
                under_way.finish(system);
                let now = Moment::of(system, host.verified());
                self.batches.round(window.end_round(now, under_way.begin_tally()));
            }
        }
        under_way.finish(system);
        looks.end(system, &mut under_way);
        let clocked = Clocked { whole: start.elapsed(), busy };
        let (series, responses) = (under_way.series, under_way.responses);
        let (before, tally, rounds) = window.close(under_way.tally);
        let measurement = Measurement {
            name: self.kind.name.clone(),
            pace: self.kind.pace,
            before,
            after: Moment::of(system, host.verified()),
            tally,
            rounds: self.batches.hears_rounds().then_some(rounds),
            clocked,
        };
        let details = || measurement.details(series.stretches(), system.sampled_writes());
        let details = self.kind.detailed.then(details);
        let record = responses.map(|responses| measurement.record(responses));
        self.measured = Some(Measured { measurement, details, record });
        Ok(())
    }
}

impl<'a, B: Batches> Replay<'a, B> {
    pub(super) fn new(kind: Kind<'a>, batches: B, witness: SharedWitness) -> Self {
        Self { kind, batches, witness, host: None, measured: None }
    }
}

/// Pages of idle work at a time.
const AT_REST: PageCount = PageCount::new(64);

/// Lets the system do the idle work that the preparation left, which is not on the trace's account.
pub(crate) fn rest(system: &mut dyn System, stop: &Stop) -> Result<(), Failure> {
    system.account(Account::Idle);
    loop {
        system.begin(system.now());
        let work = system.maintain(AT_REST);
        system.end();
        while system.next_done(None).is_some() {}
        let failed = |error| Failure::Violation(format!("idle work failed: {error}"));
        if work.map_err(failed)? == Work::Done || stop.is_requested() {
            return Ok(());
        }
    }
}
