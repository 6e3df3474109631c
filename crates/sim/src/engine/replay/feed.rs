//! Passes requests from one reader to all systems, in batches that the systems share.
//!
//! With a thread for each system, a trace is read and parsed once, however many systems replay it. A slow system blocks
//! the reader, so that memory does not grow; a stop stops all systems after the same request.

use std::sync::Arc;
#[cfg(feature = "threads")]
use std::sync::mpsc::{Receiver, SyncSender};

use nand_model::part::Nanos;

use super::steady;
use crate::base::{Failure, Observer, Stop};
use crate::engine::host::SharedWitness;
use crate::engine::result::Round;
use crate::input::trace::fit::Fit;
use crate::input::trace::touched::Touched;
use crate::input::trace::{AddressSpace, LASTS_MOST, Request};
use crate::input::workload::{Stream, Workload};

/// Requests that are passed on together.
#[derive(Debug, Default)]
pub(super) struct BatchContent {
    pub(super) requests: Vec<Request>,
    /// The stamps that their reads must find, in order.
    pub(super) must: Vec<u32>,
    /// Whether a round ends with them: the systems then tell how it went.
    pub(super) ends_round: bool,
}

pub(super) type Batch = Arc<BatchContent>;

/// Requests per batch: enough to make the cost of passing them on negligible, and few enough for a quick stop.
const BATCH: usize = 1024;

/// A batch with this many requested bytes is large enough.
const BATCH_BYTES: u64 = 128 << 20;

/// The most batches that wait for a system.
#[cfg(feature = "threads")]
pub(super) const WAITING: usize = 4;

/// Where requests go on the device.
#[derive(Clone, Copy)]
pub(super) struct Placement<'a> {
    pub(super) fit: &'a Fit,
    pub(super) space: AddressSpace,
    /// Bytes of its largest page.
    pub(super) page: u64,
}

/// What a system tells of each round, if the workload is replayed until all are steady.
#[cfg(feature = "threads")]
pub(super) type RoundReceiver = Receiver<Round>;

/// Receives a round of every system. False if one of them has ended.
#[cfg(feature = "threads")]
fn receive_round(receivers: &[RoundReceiver], told: &mut [Vec<Round>]) -> bool {
    let mut each = receivers.iter().zip(told);
    each.all(|(receiver, rounds)| receiver.recv().map(|round| rounds.push(round)).is_ok())
}

/// The reader.
pub(super) struct Feed<'a> {
    workload: &'a Workload,
    observer: &'a dyn Observer,
    fit: &'a Fit,
    space: AddressSpace,
    repeats: Repeats,
    stream: Stream<'a>,
    witness: SharedWitness,
    touched: Touched,
    pass: u32,
    /// Requests of each round.
    of_round: Vec<u64>,
    /// The start time of the present pass: each begins where the one before ended.
    from: Nanos,
    latest: Nanos,
    requests: u64,
    /// The most stamps of a batch so far: the next batch reserves as much.
    must: usize,
}

/// How often the workload is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeats {
    /// `None`: until all systems are steady.
    pub(super) passes: Option<u32>,
    pub(super) arrivals: Arrivals,
}

/// Whether the host goes by the times at which requests were recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrivals {
    /// So all passes together must not take longer than a clock counts.
    Matter,
    Ignored,
}

/// The counts of the reader.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fed {
    /// Requests passed on; of rounds, those of the last five.
    pub(super) requests: u64,
    /// Rounds of a run that was to settle, and whether it did.
    pub(super) rounds: Option<u32>,
    pub(super) settled: bool,
    /// How addresses were fitted.
    pub(super) fit: &'static str,
    /// Bad lines skipped in one pass.
    pub(super) skipped: u64,
    /// Bytes of the disk that were written.
    pub(super) touched: u64,
    /// The bytes that the trace reads and writes, in whole pages.
    pub(super) packed: u64,
    /// Whether it was stopped before the end.
    pub(super) partial: bool,
}

impl<'a> Feed<'a> {
    pub(super) fn new(
        workload: &'a Workload,
        Placement { fit, space, page }: Placement<'a>,
        repeats: Repeats,
        witness: SharedWitness,
        observer: &'a dyn Observer,
    ) -> Self {
        let stream = workload.open(space.capacity, observer);
        let (from, latest) = (Nanos::ZERO, Nanos::ZERO);
        Self {
            workload,
            observer,
            fit,
            space,
            repeats,
            stream,
            witness,
            touched: Touched::new(page),
            pass: 0,
            of_round: vec![0],
            from,
            latest,
            requests: 0,
            must: 0,
        }
    }

    /// The next batch; empty after the last.
    pub(super) fn batch(&mut self) -> Result<Batch, Failure> {
        let mut requests = Vec::with_capacity(BATCH);
        let mut bytes = 0;
        let mut ends_round = false;
        while requests.len() < BATCH && bytes < BATCH_BYTES {
            match self.stream.next_request()? {
                Some(request) => {
                    let Some(mut placed) = self.fit.place(request, self.space.capacity) else {
                        return Err(self.stream.beyond(&request, self.space));
                    };
                    // If the trace's clock was set back, requests still do not arrive before earlier ones.
                    self.latest = self.latest.max(self.from + placed.time);
                    if self.latest > LASTS_MOST {
                        if self.repeats.arrivals == Arrivals::Matter {
                            return Err(self.stream.too_late());
                        }
                        self.latest = LASTS_MOST;
                    }
                    placed.time = self.latest;
                    // A flush may have any length.
                    bytes = bytes.saturating_add(placed.length);
                    self.touched.add(&request, &placed, self.space.capacity);
                    requests.push(placed);
                }
                None if self.repeats.passes.is_some_and(|passes| self.pass + 1 < passes) => {
                    self.again();
                }
                None => {
                    ends_round = self.repeats.passes.is_none();
                    break;
                }
            }
        }
        if let Some(round) = self.of_round.last_mut() {
            *round += requests.len() as u64;
        }
        // Locked once for all requests, and only after they are read, because hosts may wait for the witness meanwhile.
        let mut must = Vec::with_capacity(self.must);
        let mut witness = self.witness.lock();
        for request in &requests {
            witness.follow(request, &mut must);
        }
        self.requests += requests.len() as u64;
        self.must = self.must.max(must.len());
        Ok(Arc::new(BatchContent { requests, must, ends_round }))
    }

    /// Begins the workload once more.
    fn again(&mut self) {
        self.pass += 1;
        self.from = self.latest;
        self.stream = self.workload.open(self.space.capacity, self.observer);
    }

    /// The progress, from 0 to 1.
    fn fraction(&self) -> Option<f64> {
        let passes = f64::from(self.repeats.passes.unwrap_or(steady::MOST as u32));
        self.stream.fraction().map(|here| (f64::from(self.pass) + here) / passes)
    }
}

/// The reader, batch after batch, until the end, a stop, or a steady state.
pub(super) struct Turns<'a> {
    feed: Feed<'a>,
    stop: Stop,
    /// What each system told of each round.
    told: Vec<Vec<Round>>,
    settled: bool,
    partial: bool,
}

impl<'a> Turns<'a> {
    /// The batches of that reader, for so many systems.
    pub(super) fn of(feed: Feed<'a>, systems: usize) -> Self {
        let (stop, told) = (feed.observer.stop(), vec![Vec::new(); systems]);
        Self { feed, stop, told, settled: false, partial: false }
    }

    /// Whether the workload is replayed round after round until all systems are steady.
    pub(super) fn has_rounds(&self) -> bool {
        self.feed.repeats.passes.is_none()
    }

    /// The batch after that one, which every system has; `None` after the last. `receive` adds what each system tells
    /// of a round, and returns whether all of them did.
    pub(super) fn after(
        &mut self,
        batch: &BatchContent,
        receive: impl FnOnce(&mut [Vec<Round>]) -> bool,
    ) -> Result<Option<Batch>, Failure> {
        self.feed.observer.at(self.feed.fraction(), self.feed.requests);
        if self.stop.is_requested() {
            self.partial = true;
            return Ok(None);
        }
        if batch.ends_round {
            if !receive(&mut self.told) {
                return Ok(None);
            }
            self.settled = self.told.iter().all(|rounds| steady::is_settled(rounds));
            if self.settled || self.told.first().is_none_or(|rounds| rounds.len() >= steady::MOST) {
                return Ok(None);
            }
            self.feed.again();
            self.feed.of_round.push(0);
        }
        let next = self.feed.batch()?;
        Ok((!next.requests.is_empty() || next.ends_round).then_some(next))
    }

    /// Passes on that batch and all following ones, until the end, a stop, or the failure of a system.
    #[cfg(feature = "threads")]
    pub(super) fn run(
        mut self,
        first: Batch,
        receivers: &[RoundReceiver],
        outlets: &[SyncSender<Batch>],
    ) -> Result<Fed, Failure> {
        let mut next = Some(first);
        while let Some(batch) = next {
            if outlets.iter().any(|outlet| outlet.send(Arc::clone(&batch)).is_err()) {
                break;
            }
            next = self.after(&batch, |told| receive_round(receivers, told))?;
        }
        Ok(self.fed())
    }

    /// The counts so far.
    pub(super) fn fed(&self) -> Fed {
        let feed = &self.feed;
        Fed {
            requests: feed.of_round.iter().rev().take(steady::WINDOW).sum(),
            rounds: feed.repeats.passes.is_none().then(|| feed.pass + 1),
            settled: self.settled,
            fit: feed.fit.name(),
            skipped: feed.stream.skipped(),
            touched: feed.touched.written(),
            packed: feed.touched.packed(),
            partial: self.partial,
        }
    }
}
