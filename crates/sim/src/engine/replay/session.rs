//! One system's replay.

use std::time::Duration;

use ftl_iface::{PageCount, SectorCount, Work};
use nand_model::part::Nanos;

use super::batches::Batches;
use super::fill;
use super::measurement::{Clocked, Measurement, Moment};
use super::options::Pace;
use super::outcome::Details;
use super::record::Record;
use super::under_way::UnderWay;
use super::window::Window;
use crate::base::clock::Clock;
use crate::base::{Failure, Stop};
use crate::engine::host::{Host, PREPARED_AT_ONCE, SharedWitness};
use crate::engine::systems::{Account, Session, System};
use crate::input::device::Fill;
use crate::input::trace::{Op, Request};

/// A replay.
pub(super) struct Replay<B> {
    kind: Kind,
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
pub(super) struct Kind {
    /// The system, as it was named.
    pub(super) name: String,
    pub(super) pace: Pace,
    pub(super) fill: Fill,
    /// Whether details for charts are wanted, too.
    pub(super) detailed: bool,
    /// Whether a record is wanted, too.
    pub(super) recorded: bool,
    /// By which it is stopped.
    pub(super) stop: Stop,
}

/// Requests announced to a system at a time: few enough that their table entries are still in the processor's cache at
/// the last one.
const FORESEEN: usize = 32;

impl<B: Batches> Session for Replay<B> {
    /// Brings the device to the state that the fill says: the unfilled part is written in order, which maps every
    /// logical block, and pages at random then.
    fn prepare(&mut self, system: &mut dyn System, filled: SectorCount) -> Result<(), Failure> {
        let mut host = Host::new(system, filled, self.witness.clone());
        let fill = self.kind.fill;
        let (capacity, sector) = (host.capacity(), u64::from(system.sector_bytes().get()));
        let filled =
            if fill == Fill::Nothing { capacity } else { u64::from(filled.get()) * sector };
        let in_order = (filled..capacity).step_by(PREPARED_AT_ONCE as usize).map(|offset| {
            let length = u64::from(PREPARED_AT_ONCE).min(capacity - offset);
            Request { time: Nanos::ZERO, op: Op::Write, offset, length }
        });
        for request in in_order.chain(fill::random_writes(fill, capacity, sector)) {
            if self.kind.stop.is_requested() {
                let before = "the device was being prepared, and no request was served";
                return Err(Failure::Interrupted(before.into()));
            }
            host.serve(system, &request, &mut [].as_slice())?;
        }
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
        let mut under_way = UnderWay::new(self.kind.pace, begin);
        if self.kind.recorded {
            under_way.record();
        }
        let mut window = Window::new(Moment::of(system, host.verified()));
        let start = Clock::now();
        let mut busy = Duration::ZERO;
        let mut firsts = Vec::with_capacity(FORESEEN);
        while let Some(batch) = self.batches.next() {
            let handed_over = Clock::now();
            let mut must = batch.must.as_slice();
            for requests in batch.requests.chunks(FORESEEN) {
                firsts.clear();
                firsts.extend(requests.iter().map(|request| host.first_sector(request)));
                system.foresee(&firsts);
                for request in requests {
                    let arrival = begin + request.time;
                    under_way.serve(system, &mut host, request, arrival, &mut must)?;
                }
            }
            busy += handed_over.elapsed();
            if batch.ends_round {
                under_way.finish(system);
                let now = Moment::of(system, host.verified());
                self.batches.round(window.end_round(now, under_way.begin_tally()));
            }
        }
        under_way.finish(system);
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

impl<B: Batches> Replay<B> {
    pub(super) fn new(kind: Kind, batches: B, witness: SharedWitness) -> Self {
        Self { kind, batches, witness, host: None, measured: None }
    }
}

/// Pages of idle work at a time.
const AT_REST: PageCount = PageCount::new(64);

/// Lets the system do the idle work that the preparation left, which is not on the trace's account.
fn rest(system: &mut dyn System, stop: &Stop) -> Result<(), Failure> {
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
