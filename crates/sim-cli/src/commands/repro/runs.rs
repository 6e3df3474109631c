//! The runs of all figures. Figures that need the same run share it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use sim::Failure;
use sim::engine::replay::Outcome;
use sim::engine::result::RunResult;
use sim::engine::systems::Chosen;

use super::kept::Folder;
pub(super) use super::run::{IN_MANY_RUNS, Length, Run, SLC};
use crate::base::interrupt;
use crate::base::terminal::Terminal;
use crate::flags::device::DeviceArgs;
use crate::flags::options::{Options, PaceArgs};
use crate::flags::workload::WorkloadArgs;

/// Finished runs.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) length: Length,
    done: Vec<(Run, Outcome)>,
}

impl Results {
    /// The result of a run. Every figure names its runs in advance.
    pub(super) fn outcome(&self, run: &Run) -> Result<&Outcome, Failure> {
        let run = self.length.whole(run.clone());
        let found = self.done.iter().find(|(done, _)| *done == run);
        found.map(|(_, outcome)| outcome).ok_or_else(|| {
            Failure::Violation(format!("{} on {} was not run", run.system, run.device))
        })
    }

    pub(super) fn result(&self, run: &Run) -> Result<&RunResult, Failure> {
        self.outcome(run).map(|outcome| &outcome.result)
    }

    /// The writes that the throttle turned away in a run.
    pub(super) fn throttled(&self, run: &Run) -> Result<u64, Failure> {
        Ok(self.result(run)?.throttle.map_or(0, |throttle| throttle.rejected_writes))
    }

    /// The RS of a run, against the conventional disk.
    pub(super) fn rs(&self, run: &Run) -> Result<f64, Failure> {
        let ratios = self.result(run)?.against(self.result(&base_of(run))?);
        Ok(ratios.rs.unwrap_or(f64::NAN))
    }
}

/// The conventional disk to which a run is compared.
pub(super) fn base_of(run: &Run) -> Run {
    Run { one_in: run.one_in, ..Run::conventional(run.workload, run.device) }
}

/// Does all runs that were not kept, each once, several at a time. Shows the progress on standard error.
pub(super) fn run_all(
    runs: Vec<Run>,
    length: Length,
    jobs: usize,
    kept: Option<&Folder>,
) -> Result<Results, Failure> {
    let mut wanted: Vec<Run> = Vec::new();
    for run in runs.into_iter().map(|run| length.whole(run)) {
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
            // A thread panics only between changes, so the list is consistent.
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(run) = next.filter(|_| !interrupt::is_requested()) else {
                return Ok(());
            };
            let mut outcome = one(&run, length)?;
            if !run.is_shown_in_detail() {
                // The details of all runs together would take much memory.
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
    Ok(Results { length, done })
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
    let trace = length.of(run).trace(run.workload);
    let workload = WorkloadArgs { passes: length.passes, ..WorkloadArgs::of(trace) };
    let device = DeviceArgs {
        device: run.device.into(),
        capacity: None,
        slc: Some(run.slc << 20),
        parallel: false,
    };
    let setup = device.setup()?;
    // Charts of places and of wear need the details of a report; no report is written.
    let report = Some(PathBuf::new());
    let options = Options { report, ..Options::quiet(workload, device, PaceArgs::default()) };
    let system = Chosen::parse(&run.system).map_err(Failure::Arguments)?;
    let outcomes = options.run_all(&setup, &[system], &Terminal)?;
    outcomes.into_iter().next().ok_or_else(|| Failure::Violation("a run brought no result".into()))
}

#[cfg(test)]
mod tests {
    use super::super::paper::Workload;
    use super::*;

    const SHORT: Length = Length { requests: 500, seed: 1, passes: 1, is_whole: false };

    #[test]
    fn a_run_that_was_kept_is_not_done_again_and_one_that_was_not_is() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::new(&place.path().join("runs")).unwrap();
        let run = Run::hybrid(Workload::Ntfs, "c3", 256);
        assert!(folder.find(&run, SHORT).is_none());
        let of = |run: &Run| vec![run.clone(), Run::conventional(run.workload, run.device)];
        let first = run_all(of(&run), SHORT, 1, Some(&folder)).unwrap();
        // It is the same run, because even its wall time is equal.
        let second = run_all(of(&run), SHORT, 1, Some(&folder)).unwrap();
        let (first, second) = (first.outcome(&run).unwrap(), second.outcome(&run).unwrap());
        assert_eq!(first.result.wall_s.to_bits(), second.result.wall_s.to_bits());
        let wear = |outcome: &Outcome| outcome.details.as_ref().unwrap().erases.clone();
        assert_eq!(wear(first), wear(second));
        assert!(folder.find(&run, Length { requests: 501, ..SHORT }).is_none());
        assert!(folder.find(&Run { slc: 128, ..run.clone() }, SHORT).is_none());
        std::fs::write(folder.path(&run, SHORT), "{").unwrap();
        assert!(folder.find(&run, SHORT).is_none(), "a torn file");
    }

    #[test]
    fn at_full_length_every_run_has_all_requests() {
        let run = Run { one_in: IN_MANY_RUNS, ..Run::conventional(Workload::Ext3, "c3") };
        let served = |length| {
            let results = run_all(vec![run.clone()], length, 1, None).unwrap();
            let requests = results.result(&run).unwrap().requests;
            requests.reads + requests.writes
        };
        assert_eq!(served(SHORT), SHORT.requests / IN_MANY_RUNS);
        assert_eq!(served(Length { is_whole: true, ..SHORT }), SHORT.requests);
    }
}
