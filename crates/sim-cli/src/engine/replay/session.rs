//! One system's replay, in its own thread.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use ftl_iface::SectorCount;
use nand_model::part::Nanos;

use super::feed::Batch;
use super::measurement::{Clocked, Measurement, Moment};
use super::outcome::Details;
use super::under_way::UnderWay;
use crate::base::{Failure, interrupt};
use crate::engine::host::{Host, PREPARED_AT_ONCE, SharedWitness};
use crate::engine::systems::{Session, System};
use crate::input::options::Pace;
use crate::input::trace::{Op, Request};

/// A replay.
pub(super) struct Replay {
    /// The system, as it was named.
    pub(super) name: String,
    pace: Pace,
    batches: Receiver<Batch>,
    /// Whether details for charts are wanted, too.
    detailed: bool,
    witness: SharedWitness,
    host: Option<Host>,
    /// Present once the replay is done; with the data for charts, if wanted.
    pub(super) measured: Option<(Measurement, Option<Details>)>,
}

/// Requests announced to a system at a time: few enough that their table entries are still in the processor's cache at
/// the last one.
const FORESEEN: usize = 32;

impl Session for Replay {
    /// Maps every logical block, by writing the unfilled part of the device in order.
    fn prepare(&mut self, system: &mut dyn System, filled: SectorCount) -> Result<(), Failure> {
        let mut host = Host::new(system, filled, self.witness.clone());
        let capacity = host.capacity();
        let filled = u64::from(filled.get()) * u64::from(system.sector_bytes().get());
        for offset in (filled..capacity).step_by(PREPARED_AT_ONCE as usize) {
            if interrupt::is_requested() {
                let before = "the device was being prepared, and no request was served";
                return Err(Failure::Interrupted(before.into()));
            }
            let length = u64::from(PREPARED_AT_ONCE).min(capacity - offset);
            let request = Request { time: Nanos::ZERO, op: Op::Write, offset, length };
            host.serve(system, &request, &mut [].as_slice())?;
        }
        self.host = Some(host);
        Ok(())
    }

    fn replay(&mut self, system: &mut dyn System) -> Result<(), Failure> {
        let host = self.host.take().filter(Host::fits_witness);
        let Some(mut host) = host else {
            let what = "the system does not begin with all of the device's capacity written";
            return Err(Failure::Violation(what.into()));
        };
        // Operations of the preparation still running on other dies must not delay the first request.
        system.wait_until(system.hardware().at_rest);
        if self.detailed {
            system.sample_writes();
        }
        let before = Moment::of(system, host.verified());
        let mut under_way = UnderWay::new(self.pace, before.now);
        let start = Instant::now();
        let mut busy = Duration::ZERO;
        let mut firsts = Vec::with_capacity(FORESEEN);
        for batch in &self.batches {
            let handed_over = Instant::now();
            let mut must = batch.must.as_slice();
            for requests in batch.requests.chunks(FORESEEN) {
                firsts.clear();
                firsts.extend(requests.iter().map(|request| host.first_sector(request)));
                system.foresee(&firsts);
                for request in requests {
                    let arrival = before.now + request.time;
                    under_way.serve(system, &mut host, request, arrival, &mut must)?;
                }
            }
            busy += handed_over.elapsed();
        }
        under_way.finish(system);
        let clocked = Clocked { whole: start.elapsed(), busy };
        let measurement = Measurement {
            name: self.name.clone(),
            pace: self.pace,
            before,
            after: Moment::of(system, host.verified()),
            tally: under_way.tally,
            clocked,
        };
        let details = self.detailed.then(|| measurement.details(system.sampled_writes()));
        self.measured = Some((measurement, details));
        Ok(())
    }
}

impl Replay {
    pub(super) fn new(
        name: String,
        pace: Pace,
        detailed: bool,
        batches: Receiver<Batch>,
        witness: SharedWitness,
    ) -> Self {
        Self { name, pace, batches, detailed, witness, host: None, measured: None }
    }
}
