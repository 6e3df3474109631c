//! The runs that the figures are made of. Figures that need the same run share it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use ftl_iface::Bytes;

use super::kept::Folder;
use super::paper::Workload;
use crate::device::DeviceArgs;
use crate::replay::{self, Options, Outcome, Pace, Progress};
use crate::result::RunResult;
use crate::systems::Chosen;
use crate::workload::WorkloadArgs;
use crate::{Failure, interrupt};

/// One run: what is replayed on what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) workload: Workload,
    pub(super) device: &'static str,
    /// With its parameters.
    pub(super) system: String,
    /// MiB of SLC; the conventional disk has none.
    pub(super) slc: u64,
    /// Another sector size than the device's.
    pub(super) sector: Option<u32>,
    /// It gets one in so many of the requests.
    pub(super) one_in: u64,
}

/// Bytes that the paper's disk exports.
pub(crate) const EXPORTED: u64 = 20 << 30;

/// Bytes that C1 exports here. Its blocks have 128 KiB, and tables of two bytes an entry, the paper's and ours, number
/// no more than 65,534 of them.
pub(crate) const EXPORTED_BY_C1: u64 = 7 << 30;

/// The paper's size of SLC, in MiB, where nothing else is said.
pub(super) const SLC: u64 = 256;

impl Run {
    pub(super) fn conventional(workload: Workload, device: &'static str) -> Self {
        // What the device has beside its MLC, the system leaves alone.
        Self { workload, device, system: "conventional".into(), slc: SLC, sector: None, one_in: 1 }
    }

    pub(super) fn hybrid(workload: Workload, device: &'static str, slc: u64) -> Self {
        // Half as many entries as places, whatever this house would choose.
        Self { slc, system: "hybrid?entries=half".into(), ..Self::conventional(workload, device) }
    }
}

/// How long the runs are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    pub(super) requests: u64,
    pub(super) seed: u64,
    pub(super) passes: u32,
}

/// Figure 11 has more runs than all others together, and each is longer for its small sectors: they get one request in
/// so many. Figure 8b, whose disks are written whole first, gets as many.
pub(super) const IN_MANY_RUNS: u64 = 3;

impl Length {
    /// That of a run.
    pub(super) fn of(self, run: &Run) -> Self {
        Self { requests: (self.requests / run.one_in).max(1), ..self }
    }

    /// The workload's name in full.
    pub(super) fn trace(&self, workload: Workload) -> String {
        format!("synth:{}?requests={}&seed={}", workload.name(), self.requests, self.seed)
    }
}

/// Runs that are done.
#[derive(Debug, Default)]
pub(super) struct Results {
    done: Vec<(Run, Outcome)>,
}

impl Results {
    /// What a run brought. Every figure names its runs before they are done.
    pub(super) fn outcome(&self, run: &Run) -> Result<&Outcome, Failure> {
        let found = self.done.iter().find(|(done, _)| done == run);
        found.map(|(_, outcome)| outcome).ok_or_else(|| {
            Failure::Violation(format!("{} on {} was not run", run.system, run.device))
        })
    }

    pub(super) fn result(&self, run: &Run) -> Result<&RunResult, Failure> {
        self.outcome(run).map(|outcome| &outcome.result)
    }

    /// The RS of a run, against the conventional disk that has the same sectors.
    pub(super) fn rs(&self, run: &Run) -> Result<f64, Failure> {
        let ratios = self.result(run)?.against(self.result(&base_of(run))?);
        Ok(ratios.rs.unwrap_or(f64::NAN))
    }
}

/// The conventional disk to which a run is compared.
pub(super) fn base_of(run: &Run) -> Run {
    let Run { sector, one_in, .. } = *run;
    Run { sector, one_in, ..Run::conventional(run.workload, run.device) }
}

/// Does all runs, so many at a time, each once, and those not at all that were kept. Tells on standard error how far it
/// is.
pub(super) fn run_all(
    runs: Vec<Run>,
    length: Length,
    jobs: usize,
    kept: Option<&Folder>,
) -> Result<Results, Failure> {
    let mut wanted: Vec<Run> = Vec::new();
    for run in runs {
        if !wanted.contains(&run) {
            wanted.push(run);
        }
    }
    let count = wanted.len();
    let mut done = Vec::new();
    wanted.retain(|run| {
        let found = kept.and_then(|folder| folder.find(run, length));
        let is_missing = found.is_none();
        done.extend(found.map(|outcome| (run.clone(), outcome)));
        is_missing
    });
    if !done.is_empty() {
        eprintln!("{} of {count} runs were kept", done.len());
    }
    let queue = Mutex::new(VecDeque::from(wanted));
    let done = Mutex::new(done);
    let start = Instant::now();
    let work = || -> Result<(), Failure> {
        loop {
            // A thread that panics here has done so in between, and leaves the list whole.
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(run) = next.filter(|_| !interrupt::is_requested()) else {
                return Ok(());
            };
            let mut outcome = one(&run, length)?;
            if run.one_in > 1 || run.slc != SLC {
                // No figure shows these by block or by place, and they would add up.
                outcome.details = None;
            }
            if let Some(folder) = kept.filter(|_| !outcome.result.partial) {
                folder.keep(&run, length, &outcome)?;
            }
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((run, outcome));
            tell(&done, count, start);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(outcome) => outcome,
            Err(_) => Err(Failure::Violation("a run stopped without a word".into())),
        })
    })?;
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    if interrupt::is_requested() {
        let done = format!("{} of {count} runs were done; figures need all of them", done.len());
        return Err(Failure::Interrupted(done));
    }
    Ok(Results { done })
}

fn tell(done: &[(Run, Outcome)], count: usize, start: Instant) {
    let Some((run, outcome)) = done.last() else {
        return;
    };
    let seconds = start.elapsed().as_secs();
    let (at, name) = (done.len(), run.workload.name());
    let of = format!("{} on {}, {} MiB of SLC, {name}", run.system, run.device, run.slc);
    eprintln!("{at} of {count} runs, {seconds} s: {of} ({:.1} s)", outcome.result.wall_s);
}

fn one(run: &Run, length: Length) -> Result<Outcome, Failure> {
    let workload = WorkloadArgs {
        traces: vec![length.of(run).trace(run.workload)],
        format: None,
        columns: None,
        lenient: false,
        fit: None,
        passes: length.passes,
        first: None,
    };
    let device = DeviceArgs {
        device: run.device.into(),
        capacity: (run.device == "c1").then_some(EXPORTED_BY_C1),
        slc: Some(run.slc << 20),
        parallel: false,
    };
    let mut setup = device.setup()?;
    if let Some(sector) = run.sector {
        setup.part.sector_bytes = Bytes::new(sector);
    }
    // Charts of places and of wear need the details that a report asks for; none is written.
    let report = Some(PathBuf::new());
    let options = Options { workload, device, pace: Pace::default(), json: None, report };
    let system = Chosen::parse(&run.system).map_err(Failure::Arguments)?;
    let outcomes = replay::run_all(&options, &setup, &[system], &Progress::hidden())?;
    outcomes.into_iter().next().ok_or_else(|| Failure::Violation("a run brought no result".into()))
}
