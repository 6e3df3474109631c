//! The requests of a workload, one by one.

use std::sync::Arc;

use nand_model::part::Nanos;

use super::origin::Origin;
use super::sources::Workload;
use crate::base::{Failure, Observer, show};
use crate::input::synth::Generator;
use crate::input::trace::reader::Reader;
use crate::input::trace::volumes::Volumes;
use crate::input::trace::{AddressSpace, LASTS_MOST, Position, Request, TraceError};

/// A source that is being read.
enum Open {
    Reader(Box<Reader>),
    Generator(Box<Generator>),
    /// The requests, and how many of them were returned.
    Given(Arc<[Request]>, usize),
}

/// Whether another source was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
enum NextSource {
    Open,
    /// The workload has no more.
    None,
}

/// The requests of a workload, one by one.
pub struct Stream<'a> {
    workload: &'a Workload,
    observer: &'a dyn Observer,
    capacity: u64,
    lengths: Vec<Option<u64>>,
    /// Requests until it ends.
    left: u64,
    /// The next source to open.
    next: usize,
    now: Option<Open>,
    /// The start time of the present source: each begins where the one before ended.
    from: Nanos,
    latest: Nanos,
    skipped: u64,
    volumes: Volumes,
}

impl Workload {
    /// The requests, on a device of that capacity.
    pub fn open<'a>(&'a self, capacity: u64, observer: &'a dyn Observer) -> Stream<'a> {
        Stream::new(self, capacity, observer)
    }
}

impl<'a> Stream<'a> {
    fn new(workload: &'a Workload, capacity: u64, observer: &'a dyn Observer) -> Self {
        Self {
            workload,
            observer,
            capacity,
            lengths: workload.sources.iter().map(Origin::length).collect(),
            left: workload.first,
            next: 0,
            now: None,
            from: Nanos::ZERO,
            latest: Nanos::ZERO,
            skipped: 0,
            volumes: Volumes::default(),
        }
    }

    /// The next request, or `None` after the last.
    #[inline]
    pub fn next_request(&mut self) -> Result<Option<Request>, Failure> {
        if self.left == 0 {
            return Ok(None);
        }
        loop {
            let request = match &mut self.now {
                Some(Open::Reader(reader)) => reader.next_request()?.map(|request| {
                    if reader.has_volumes() { self.volumes.place(request) } else { request }
                }),
                Some(Open::Generator(generator)) => generator.next(),
                Some(Open::Given(requests, returned)) => {
                    let request = requests.get(*returned).copied();
                    *returned += usize::from(request.is_some());
                    request
                }
                None => None,
            };
            if let Some(mut request) = request {
                request.time = Nanos::new(request.time.get().saturating_add(self.from.get()));
                if request.time > LASTS_MOST {
                    return Err(self.too_late());
                }
                self.latest = self.latest.max(request.time);
                self.left -= 1;
                return Ok(Some(request));
            }
            self.close();
            if self.open_next()? == NextSource::None {
                return Ok(None);
            }
        }
    }

    #[cold]
    pub(crate) fn too_late(&self) -> Failure {
        let (name, place) = self.place();
        TraceError::TooLate { name, place }.into()
    }

    /// The failure of that request, its last one, which does not fit into a device.
    #[cold]
    pub(crate) fn beyond(&self, request: &Request, space: AddressSpace) -> Failure {
        let (name, place) = self.place();
        TraceError::Beyond { name, place, end: request.end(), space }.into()
    }

    fn close(&mut self) {
        if let Some(Open::Reader(reader)) = self.now.take() {
            self.skipped += reader.skipped();
            if let Some(note) = reader.cut() {
                self.observer.note(&note);
            }
            if reader.empty() > 0 {
                let (name, count) = (reader.name(), show::count(reader.empty()));
                let requests = if reader.empty() == 1 { "request" } else { "requests" };
                self.observer
                    .note(&format!("{name}: {count} {requests} of length zero passed over"));
            }
        }
        self.from = self.latest;
    }

    /// Out of line, because an opened source needs much stack.
    #[cold]
    #[inline(never)]
    fn open_next(&mut self) -> Result<NextSource, Failure> {
        let Some(source) = self.workload.sources.get(self.next) else {
            return Ok(NextSource::None);
        };
        self.now = Some(match source {
            Origin::Synth(synth) => {
                let requests = synth.requests(self.capacity).map_err(Failure::Arguments)?;
                Open::Generator(Box::new(requests))
            }
            Origin::Requests { requests, .. } => Open::Given(Arc::clone(requests), 0),
            Origin::Bytes { .. } => self.reader(source)?,
            #[cfg(feature = "files")]
            Origin::File(_) | Origin::Stdin(_) => self.reader(source)?,
        });
        self.next += 1;
        Ok(NextSource::Open)
    }

    /// A reader of a source's bytes. The observer hears of the format, if that was not obvious.
    fn reader(&self, source: &Origin) -> Result<Open, TraceError> {
        let reader = source.reader(&self.workload.reading)?;
        if let Some(taken) = reader.taken() {
            self.observer.note(&format!("{}: {taken}", reader.name()));
        }
        Ok(Open::Reader(Box::new(reader)))
    }

    /// The origin of the last request: the source's name, and the position in it.
    pub(crate) fn place(&self) -> (String, Position) {
        match (&self.now, self.next.checked_sub(1).map(|at| &self.workload.sources[at])) {
            (Some(Open::Reader(reader)), _) => (reader.name().into(), reader.place()),
            (Some(Open::Generator(generator)), Some(Origin::Synth(synth))) => {
                (synth.name.clone(), Position::Request(generator.made()))
            }
            (Some(Open::Given(_, returned)), Some(Origin::Requests { name, .. })) => {
                (name.clone(), Position::Request(*returned as u64))
            }
            _ => (String::new(), Position::Request(0)),
        }
    }

    /// The overall progress, from 0 to 1; `None` if that is not known.
    #[allow(clippy::cast_precision_loss)] // A progress bar shows three digits.
    pub fn fraction(&self) -> Option<f64> {
        let done = match &self.now {
            Some(Open::Reader(reader)) => reader.position(),
            Some(Open::Generator(generator)) => generator.made(),
            Some(Open::Given(_, returned)) => *returned as u64,
            // Nothing was opened yet, or the last source has ended.
            None => {
                if self.next == 0 {
                    0
                } else {
                    u64::MAX
                }
            }
        };
        let at = self.next.saturating_sub(1);
        let here = (*self.lengths.get(at)?)?.max(1);
        let sources = self.lengths.len() as f64;
        let read = (at as f64 + (done as f64 / here as f64).min(1.0)) / sources;
        let first = self.workload.first;
        let asked = if first == u64::MAX { 0.0 } else { (first - self.left) as f64 / first as f64 };
        Some(read.max(asked))
    }

    /// Bad lines skipped so far.
    pub fn skipped(&self) -> u64 {
        let here = match &self.now {
            Some(Open::Reader(reader)) => reader.skipped(),
            _ => 0,
        };
        self.skipped + here
    }
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use super::*;
    use crate::input::workload::{Reading, Reads};

    fn named(names: &[&str]) -> Workload {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Workload::named(&names, Reading::default(), Reads::Once).unwrap()
    }

    #[test]
    fn a_workload_ends_after_its_first_requests_where_that_is_asked_for() {
        let names = ["synth:uniform?requests=3", "synth:sequential?requests=3"];
        let workload = named(&names).first(4);
        let mut stream = workload.open(1 << 30, &());
        assert!((0..4).all(|_| stream.next_request().unwrap().is_some()));
        assert_eq!((stream.next_request().unwrap(), stream.fraction()), (None, Some(1.0)));
    }

    #[test]
    fn sources_follow_each_other_in_order_and_in_time() {
        let first = "synth:sequential?requests=2&interval_us=5";
        let workload = named(&[first, "synth:uniform?requests=2"]);
        let mut stream = workload.open(1 << 30, &());
        let mut times = Vec::new();
        while let Some(request) = stream.next_request().unwrap() {
            times.push(request.time.get() / 1_000);
        }
        assert_eq!(times, [0, 5, 5, 1_005]);
    }

    #[test]
    fn a_stream_knows_how_far_it_is() {
        let workload = named(&["synth:uniform?requests=4"]);
        let mut stream = workload.open(1 << 30, &());
        stream.next_request().unwrap();
        assert_eq!(stream.fraction(), Some(0.25));
        assert_eq!(stream.place(), ("synth:uniform?requests=4".into(), Position::Request(1)));
        while stream.next_request().unwrap().is_some() {}
        assert_eq!(stream.fraction(), Some(1.0));
    }

    #[test]
    fn a_seed_is_told_where_there_is_one() {
        let seed = |names: &[&str]| named(names).seed();
        assert_eq!(seed(&["synth:uniform?seed=7"]), Some(7));
        assert_eq!(seed(&["synth:uniform?seed=7", "synth:zipf?seed=8"]), None);
        assert_eq!(seed(&["x.csv"]), None);
    }
}
