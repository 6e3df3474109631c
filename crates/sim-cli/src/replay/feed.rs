//! Requests on their way from one reader to all systems: in batches that the systems share.
//!
//! A trace is read and parsed once, however many systems replay it, and in a thread of its own. A system that is behind
//! holds the reader up, so that memory does not grow; a run that is stopped stops all systems after the same request.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use nand_model::part::Nanos;

use super::progress::Progress;
use crate::Failure;
use crate::host::SharedWitness;
use crate::interrupt;
use crate::trace::fit::Fit;
use crate::trace::{Request, Room, TraceError};
use crate::workload::{Stream, Workload};

/// Requests that go to the systems together.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pub(super) requests: Vec<Request>,
    /// What their reads must find: the stamps of sectors, in their order.
    pub(super) must: Vec<u32>,
}

pub(super) type Batch = Arc<Requests>;

/// So many that handing them over costs next to nothing for each, and so few that a stop is quick.
const BATCH: usize = 1024;

/// Bytes asked for, from which on a batch is large enough.
const BATCH_BYTES: u64 = 128 << 20;

/// Batches that may wait for a system.
pub(super) const WAITING: usize = 4;

/// The reader.
pub(super) struct Feed<'a> {
    workload: &'a Workload,
    fit: Fit,
    room: Room,
    passes: u32,
    stream: Stream<'a>,
    witness: SharedWitness,
    pass: u32,
    /// When the pass under way began: each begins where the one before ended.
    from: Nanos,
    latest: Nanos,
    requests: u64,
    /// The most that a batch's reads had to find: the next has room for as much from the first.
    must: usize,
}

/// What the reader did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fed {
    /// Requests handed out.
    pub(super) requests: u64,
    /// Bad lines passed over in one pass.
    pub(super) skipped: u64,
    /// Bytes of the disk that were written.
    pub(super) touched: u64,
    /// Whether it was stopped before the end.
    pub(super) partial: bool,
}

impl<'a> Feed<'a> {
    pub(super) fn new(
        workload: &'a Workload,
        fit: Fit,
        room: Room,
        passes: u32,
        witness: SharedWitness,
    ) -> Self {
        let stream = workload.open(room.capacity);
        let (from, latest) = (Nanos::ZERO, Nanos::ZERO);
        Self {
            workload,
            fit,
            room,
            passes,
            stream,
            witness,
            pass: 0,
            from,
            latest,
            requests: 0,
            must: 0,
        }
    }

    /// The next batch; an empty one after the last.
    pub(super) fn batch(&mut self) -> Result<Batch, Failure> {
        let mut requests = Vec::with_capacity(BATCH);
        let mut bytes = 0;
        while requests.len() < BATCH && bytes < BATCH_BYTES {
            match self.stream.next_request()? {
                Some(request) => {
                    let Some(mut placed) = self.fit.place(request, self.room.capacity) else {
                        return Err(self.beyond(&request));
                    };
                    // A clock that was set back does not let requests arrive before those that came earlier.
                    self.latest = self.latest.max(self.from + placed.time);
                    placed.time = self.latest;
                    // A flush may say any length.
                    bytes = bytes.saturating_add(placed.length);
                    requests.push(placed);
                }
                None if self.pass + 1 < self.passes => {
                    self.pass += 1;
                    self.from = self.latest;
                    self.stream = self.workload.open(self.room.capacity);
                }
                None => break,
            }
        }
        // Once for all of them, and not before they are here: hosts may be waiting for the witness meanwhile.
        let mut must = Vec::with_capacity(self.must);
        let mut witness = self.witness.lock();
        for request in &requests {
            witness.follow(request, &mut must);
        }
        self.requests += requests.len() as u64;
        self.must = self.must.max(must.len());
        Ok(Arc::new(Requests { requests, must }))
    }

    #[cold]
    fn beyond(&self, request: &Request) -> Failure {
        let (name, place) = self.stream.place();
        TraceError::Beyond { name, place, end: request.end(), room: self.room }.into()
    }

    /// Hands out that batch and all that follow, until the end, a stop, or a system that wants no more.
    pub(super) fn run(
        mut self,
        first: Batch,
        outlets: &[SyncSender<Batch>],
        progress: &Progress,
    ) -> Result<Fed, Failure> {
        let mut batch = first;
        let mut partial = false;
        while !batch.requests.is_empty() {
            if outlets.iter().any(|outlet| outlet.send(Arc::clone(&batch)).is_err()) {
                break;
            }
            progress.at(self.fraction(), self.requests);
            if interrupt::is_requested() {
                partial = true;
                break;
            }
            batch = self.batch()?;
        }
        let touched = self.witness.lock().written();
        Ok(Fed { requests: self.requests, skipped: self.stream.skipped(), touched, partial })
    }

    /// How far it is, from 0 to 1.
    fn fraction(&self) -> Option<f64> {
        let passes = f64::from(self.passes);
        self.stream.fraction().map(|here| (f64::from(self.pass) + here) / passes)
    }
}
