//! Sources one after the other.

use std::sync::Arc;

use nand_model::part::Nanos;

use super::origin::Origin;
use super::reading::Reading;
use crate::base::Failure;
use crate::input::synth::Synth;
use crate::input::trace::{Op, Position, Request, reader};

/// The whole workload.
#[derive(Debug)]
pub struct Workload {
    /// The names of its sources.
    name: String,
    called: Option<String>,
    pub(super) sources: Vec<Origin>,
    pub(super) reading: Reading,
    /// The maximum number of requests.
    pub(super) first: u64,
}

impl Workload {
    pub(super) fn of(name: String, sources: Vec<Origin>, reading: Reading) -> Self {
        Self { name, called: None, sources, reading, first: u64::MAX }
    }

    /// These requests, in this order. Their times are counted from the first one's.
    pub fn of_requests(name: &str, mut requests: Vec<Request>) -> Result<Self, Failure> {
        let beginning = requests.first().map_or(Nanos::ZERO, |first| first.time);
        for (at, request) in requests.iter_mut().enumerate() {
            request.time = request.time.since(beginning);
            if let Some((expected, found)) = reader::excess(request).or_else(|| misshapen(request))
            {
                let place = Position::Request(at as u64 + 1);
                let reason = format!("{name}, {place}: expected {expected}, found {found}");
                return Err(Failure::Arguments(reason));
            }
        }
        let (name, requests) = (String::from(name), Arc::from(requests));
        let sources = vec![Origin::Requests { name: name.clone(), requests }];
        Ok(Self::of(name, sources, Reading::default()))
    }

    /// The requests in a file's content.
    pub fn of_bytes(name: &str, bytes: Vec<u8>, reading: Reading) -> Self {
        let (name, bytes) = (String::from(name), Arc::from(bytes));
        Self::of(name.clone(), vec![Origin::Bytes { name, bytes }], reading)
    }

    /// A synthetic workload by its name: `synth:zipf?requests=1000&seed=1`.
    pub fn synthetic(name: &str) -> Result<Self, Failure> {
        let synth = Synth::parse(name).map_err(Failure::Arguments)?;
        Ok(Self::of(name.into(), vec![Origin::Synth(synth)], Reading::default()))
    }

    /// Only its first requests, this many.
    #[must_use]
    pub fn first(self, requests: u64) -> Self {
        Self { first: requests, ..self }
    }

    /// Under that name in results, instead of its sources'.
    #[must_use]
    pub fn called(self, name: &str) -> Self {
        Self { called: Some(name.into()), ..self }
    }

    /// Its name in results.
    pub(crate) fn name(&self) -> &str {
        self.called.as_deref().unwrap_or(&self.name)
    }

    /// The names of its sources.
    pub fn sources(&self) -> &str {
        &self.name
    }

    /// The seed of the synthetic workload; `None` if there is none or several differ.
    pub fn seed(&self) -> Option<u64> {
        let mut seeds = self.sources.iter().filter_map(|source| match source {
            Origin::Synth(synth) => Some(synth.seed),
            _ => None,
        });
        let first = seeds.next()?;
        seeds.all(|seed| seed == first).then_some(first)
    }

    /// Whether it is made for the device, whatever its size.
    pub(super) fn is_synthetic(&self) -> bool {
        self.sources.iter().all(|source| matches!(source, Origin::Synth(_)))
    }
}

/// What is expected, and what was found instead, of a request that no reader of a file returns.
fn misshapen(request: &Request) -> Option<(String, String)> {
    let Request { op, offset, length, .. } = *request;
    if offset.checked_add(length).is_none() {
        let found = format!("{length} bytes from byte {offset} on");
        return Some(("an end of at most 64 bits".into(), found));
    }
    (length == 0 && op != Op::Flush).then(|| ("at least a byte".into(), "none".into()))
}
