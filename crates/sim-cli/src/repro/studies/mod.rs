//! Papers whose figures compare systems on some loads: the loads, the runs, and a page for each paper.
//!
//! # Rooms
//!
//! - `hong_shin`, `kinoshita`: the figures of a paper each, as the paper has them and as they come out.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::page::Page;
use crate::device::DeviceArgs;
use crate::replay::{self, Options, Pace, Progress};
use crate::result::RunResult;
use crate::systems::Chosen;
use crate::trace::fit::FitChoice;
use crate::workload::WorkloadArgs;
use crate::{Failure, interrupt};

mod hong_shin;
mod kinoshita;

pub(super) use hong_shin::HONG_SHIN;
pub(super) use kinoshita::KINOSHITA;

/// A paper.
pub(super) struct Study {
    /// Its page, and the folder of its charts.
    page: (&'static str, &'static str),
    loads: &'static [Load],
    /// Every system, in the order in which `write` wants them, on every load.
    systems: fn() -> Vec<String>,
    open_loop: bool,
    /// Of a load that is made up, unless another number is asked for.
    requests: u64,
    write: fn(&mut Page, &Brought) -> Result<(), Failure>,
}

/// A load of a paper.
pub(super) struct Load {
    /// Its published name.
    name: &'static str,
    /// What stands in for it, and what of it that agrees with.
    stand_in: &'static str,
    fit: &'static str,
    /// Bytes that the disk exports.
    capacity: u64,
}

/// Where loads come from.
pub(super) struct Loads<'a> {
    pub(super) requests: Option<u64>,
    pub(super) seed: u64,
    pub(super) folder: Option<&'a Path>,
}

impl Loads<'_> {
    /// The trace of a load: its file, or what stands in for it.
    fn trace(&self, load: &Load, usual: u64) -> (String, Option<FitChoice>) {
        let files = self.folder.and_then(|folder| std::fs::read_dir(folder).ok());
        let paths = files.into_iter().flatten().flatten().map(|file| file.path());
        let is_meant = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
            name.is_some_and(|name| name.split('.').next() == Some(load.name))
        };
        if let Some(path) = paths.into_iter().find(is_meant) {
            return (path.to_string_lossy().into_owned(), Some(FitChoice::Pack));
        }
        let requests = self.requests.unwrap_or(usual);
        let joint = if load.stand_in.contains('?') { '&' } else { '?' };
        (format!("{}{joint}requests={requests}&seed={}", load.stand_in, self.seed), None)
    }
}

/// What the runs brought: by load, by system.
pub(super) struct Brought {
    results: Vec<Vec<RunResult>>,
}

impl Study {
    /// Does the runs and writes the page. Says where it is.
    pub(super) fn make(
        &self,
        folder: &Path,
        loads: &Loads<'_>,
        jobs: usize,
    ) -> Result<PathBuf, Failure> {
        let mut page = Page::new(folder, self.page)?;
        let systems = (self.systems)();
        let one = |at: usize| {
            let load = &self.loads[at / systems.len()];
            self.one(load, &systems[at % systems.len()], loads)
        };
        let results = all(self.loads.len() * systems.len(), jobs, one)?;
        let mut results = results.into_iter();
        let by_load = self.loads.iter().map(|_| results.by_ref().take(systems.len()).collect());
        let brought = Brought { results: by_load.collect() };
        (self.write)(&mut page, &brought)?;
        self.tell_loads(&mut page, loads);
        page.finish()
    }

    fn one(&self, load: &Load, system: &str, loads: &Loads<'_>) -> Result<RunResult, Failure> {
        let (trace, fit) = loads.trace(load, self.requests);
        let workload = WorkloadArgs {
            traces: vec![trace],
            format: None,
            columns: None,
            lenient: true,
            fit,
            passes: 1,
        };
        let capacity = Some(load.capacity);
        let device = DeviceArgs { device: "c3".into(), capacity, slc: None, parallel: false };
        let setup = device.setup()?;
        let pace = Pace { open_loop: self.open_loop, ..Pace::default() };
        let options = Options { workload, device, pace, json: None, report: None };
        let system = Chosen::parse(system).map_err(Failure::Arguments)?;
        let outcomes = replay::run_all(&options, &setup, &[system], &Progress::hidden())?;
        let outcome = outcomes.into_iter().next();
        outcome
            .map(|outcome| outcome.result)
            .ok_or_else(|| Failure::Violation("a run brought no result".into()))
    }

    fn tell_loads(&self, page: &mut Page, loads: &Loads<'_>) {
        page.heading("The loads");
        let heads = ["", "what was replayed", "what of it agrees with the paper's"];
        let mut rows = vec![heads.map(String::from)];
        for load in self.loads {
            let (trace, fit) = loads.trace(load, self.requests);
            let told = if fit.is_some() { "the file itself, packed" } else { load.fit };
            rows.push([load.name.into(), format!("`{trace}`"), told.into()]);
        }
        page.table(&rows);
    }
}

/// Does all of so many runs, some at a time, and gives what they brought in their order.
fn all(
    count: usize,
    jobs: usize,
    one: impl Fn(usize) -> Result<RunResult, Failure> + Sync,
) -> Result<Vec<RunResult>, Failure> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new((0..count).map(|_| None).collect::<Vec<Option<RunResult>>>());
    let work = || -> Result<(), Failure> {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count || interrupt::is_requested() {
                return Ok(());
            }
            let result = one(at)?;
            eprintln!("{} of {count} runs: {} ({:.1} s)", at + 1, result.system, result.wall_s);
            done.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(result);
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
    let results: Option<Vec<RunResult>> = done.into_iter().collect();
    results.ok_or_else(|| Failure::Interrupted("figures need all of the runs".into()))
}

/// Change against a base, in percent, with its sign.
fn change(figure: f64, base: f64) -> String {
    format!("{:+.0} %", 100.0 * (figure / base - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_study_makes_its_page_with_every_load_and_chart() {
        for study in [&HONG_SHIN, &KINOSHITA] {
            let folder = tempfile::tempdir().unwrap();
            let loads = Loads { requests: Some(300), seed: 1, folder: None };
            let path = study.make(folder.path(), &loads, 2).unwrap();
            let page = std::fs::read_to_string(path).unwrap();
            assert!(study.loads.iter().all(|load| page.contains(load.name)), "{page}");
            assert!(page.contains("| paper") || page.contains("paper's best |"), "{page}");
            assert!(folder.path().join(study.page.1).join("share.svg").exists());
            assert!(!page.contains("NaN"), "{page}");
        }
    }

    #[test]
    fn a_load_s_own_file_is_taken_where_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hm_0.csv.gz");
        std::fs::write(&file, "").unwrap();
        let loads = Loads { requests: None, seed: 7, folder: Some(folder.path()) };
        let [own, other] = ["hm_0", "prxy_0"].map(|name| {
            let load = KINOSHITA.loads.iter().find(|load| load.name == name).unwrap();
            loads.trace(load, 50).0
        });
        assert_eq!(Path::new(&own), file);
        assert!(other.starts_with("synth:") && other.ends_with("&requests=50&seed=7"), "{other}");
    }
}
