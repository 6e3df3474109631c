//! Passes requests from one reader to all systems, in batches that the systems share.
//!
//! A trace is read and parsed once, in a separate thread, however many systems replay it. A slow system blocks the
//! reader, so that memory does not grow; a stop stops all systems after the same request.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use nand_model::part::Nanos;

use super::progress::Progress;
use crate::base::{Failure, interrupt};
use crate::engine::host::SharedWitness;
use crate::input::trace::fit::Fit;
use crate::input::trace::{AddressSpace, LASTS_MOST, Request, TraceError};
use crate::input::workload::{Stream, Workload};

/// Requests that are passed on together.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pub(super) requests: Vec<Request>,
    /// The stamps that their reads must find, in order.
    pub(super) must: Vec<u32>,
}

pub(super) type Batch = Arc<Requests>;

/// Requests per batch: enough to make the cost of passing them on negligible, and few enough for a quick stop.
const BATCH: usize = 1024;

/// A batch with this many requested bytes is large enough.
const BATCH_BYTES: u64 = 128 << 20;

/// The most batches that wait for a system.
pub(super) const WAITING: usize = 4;

/// The reader.
pub(super) struct Feed<'a> {
    workload: &'a Workload,
    fit: Fit,
    space: AddressSpace,
    passes: u32,
    stream: Stream<'a>,
    witness: SharedWitness,
    pass: u32,
    /// The start time of the present pass: each begins where the one before ended.
    from: Nanos,
    latest: Nanos,
    requests: u64,
    /// The most stamps of a batch so far: the next batch reserves as much.
    must: usize,
}

/// The counts of the reader.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fed {
    /// Requests passed on.
    pub(super) requests: u64,
    /// Bad lines skipped in one pass.
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
        space: AddressSpace,
        passes: u32,
        witness: SharedWitness,
    ) -> Self {
        let stream = workload.open(space.capacity);
        let (from, latest) = (Nanos::ZERO, Nanos::ZERO);
        Self {
            workload,
            fit,
            space,
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

    /// The next batch; empty after the last.
    pub(super) fn batch(&mut self) -> Result<Batch, Failure> {
        let mut requests = Vec::with_capacity(BATCH);
        let mut bytes = 0;
        while requests.len() < BATCH && bytes < BATCH_BYTES {
            match self.stream.next_request()? {
                Some(request) => {
                    let Some(mut placed) = self.fit.place(request, self.space.capacity) else {
                        return Err(self.beyond(&request));
                    };
                    // If the trace's clock was set back, requests still do not arrive before earlier ones.
                    self.latest = self.latest.max(self.from + placed.time);
                    if self.latest > LASTS_MOST {
                        return Err(self.stream.too_late());
                    }
                    placed.time = self.latest;
                    // A flush may have any length.
                    bytes = bytes.saturating_add(placed.length);
                    requests.push(placed);
                }
                None if self.pass + 1 < self.passes => {
                    self.pass += 1;
                    self.from = self.latest;
                    self.stream = self.workload.open(self.space.capacity);
                }
                None => break,
            }
        }
        // Locked once for all requests, and only after they are read, because hosts may wait for the witness meanwhile.
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
        TraceError::Beyond { name, place, end: request.end(), space: self.space }.into()
    }

    /// Passes on that batch and all following ones, until the end, a stop, or the failure of a system.
    pub(super) fn run(
        mut self,
        first: Batch,
        outlets: &[SyncSender<Batch>],
        progress: &dyn Progress,
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

    /// The progress, from 0 to 1.
    fn fraction(&self) -> Option<f64> {
        let passes = f64::from(self.passes);
        self.stream.fraction().map(|here| (f64::from(self.pass) + here) / passes)
    }
}
