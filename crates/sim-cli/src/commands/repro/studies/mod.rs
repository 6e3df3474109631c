//! Papers whose figures compare systems on some loads: the loads, the runs, and a page for each paper.
//!
//! # Modules
//!
//! - `ahdm`, `hong_shin`, `kinoshita`, `ko`: the figures of one paper each, the paper's and ours. `pslc`: the cache of
//!   today's SSDs. `gc`: schemes of garbage collection.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use nand_model::Time;
use nand_model::part::Part;
use sim::engine::replay::{self, Outcome};
use sim::engine::result::RunResult;
use sim::engine::systems::Chosen;
use sim::input::device::Setup;
use sim::input::trace::fit::FitChoice;
use sim::{Failure, Observer as _, show};

use super::page::Page;
use crate::base::interrupt;
use crate::base::terminal::Terminal;
use crate::flags::device::DeviceArgs;
use crate::flags::options::{Options, PaceArgs};
use crate::flags::workload::WorkloadArgs;

mod ahdm;
pub(super) mod gc;
mod hong_shin;
mod kinoshita;
mod ko;
pub(super) mod pslc;

pub(super) use ahdm::AHDM;
pub(super) use hong_shin::HONG_SHIN;
pub(super) use kinoshita::KINOSHITA;
pub(super) use ko::KO;

/// A paper.
pub(super) struct Study {
    /// Its page, and the folder of its charts.
    page: (&'static str, &'static str),
    loads: &'static [Load],
    device: On,
    /// The trials on every load, in the order that `write` expects.
    trials: fn() -> Vec<Trial>,
    pace: PaceArgs,
    /// The default number of requests of a load.
    requests: u64,
    write: fn(&mut Page, &StudyResults) -> Result<(), Failure>,
}

/// The device of a paper.
pub(super) enum On {
    /// A built-in device, at the capacity of each load.
    Builtin(&'static str, Time),
    /// The paper's own, as the text of its file.
    Own(&'static str),
}

/// A run: a system, and the part of the load that it replays.
pub(super) struct Trial {
    system: String,
    /// Bytes of SLC, if not the device's.
    slc: Option<u64>,
    /// The divisor of the load: only its first part is replayed.
    part: (u64, u64),
}

impl Trial {
    /// The whole of each load on that system.
    fn of(system: impl Into<String>) -> Self {
        Self { system: system.into(), slc: None, part: (1, 1) }
    }
}

/// One request after the other.
const ONE_BY_ONE: PaceArgs = PaceArgs { open_loop: false, queue_depth: NonZeroU32::MIN };

/// A load of a paper.
pub(super) struct Load {
    /// Its published name.
    name: &'static str,
    /// Its substitute; without one, it is omitted if its file is missing.
    stand_in: Option<&'static str>,
    /// Bytes that the disk exports.
    capacity: u64,
    published: Published,
    /// The assumptions of the substitute.
    assumed: &'static str,
}

/// The published figures of a load, from its paper or of the trace of that name; unpublished ones are omitted.
#[derive(Clone, Copy, Default)]
struct Published {
    requests: Option<&'static str>,
    /// Percent of the requests that write.
    writes: Option<f64>,
    /// The size of its data in gigabytes.
    gigabytes: Option<f64>,
}

impl Published {
    const NOTHING: Self = Self { requests: None, writes: None, gigabytes: None };

    const fn trace(requests: &'static str, writes: f64) -> Self {
        Self { requests: Some(requests), writes: Some(writes), gigabytes: None }
    }

    const fn of_gigabytes(self, gigabytes: f64) -> Self {
        Self { gigabytes: Some(gigabytes), ..self }
    }
}

/// The source of the loads.
pub(super) struct Loads<'a> {
    pub(super) requests: Option<u64>,
    pub(super) seed: u64,
    pub(super) folder: Option<&'a Path>,
    /// How much of a file to replay.
    pub(super) length: Cut,
}

/// The part of a file to replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// As many requests as of a synthetic load.
    AsLong,
    /// All.
    Full,
}

impl Loads<'_> {
    /// The file of a load, if it exists.
    fn file(&self, load: &Load) -> Option<PathBuf> {
        let files = self.folder.and_then(|folder| std::fs::read_dir(folder).ok());
        let paths = files.into_iter().flatten().flatten().map(|file| file.path());
        let is_meant = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
            name.is_some_and(|name| name.split('.').next() == Some(load.name))
        };
        paths.into_iter().find(is_meant)
    }

    /// Reads what is replayed of each load's file: a line that cannot be replayed is told at once, and not after the
    /// runs before it.
    fn check_files(&self, loads: &[Load], first: Option<u64>) -> Result<(), Failure> {
        let stop = Terminal.stop();
        for (path, load) in loads.iter().filter_map(|load| Some((self.file(load)?, load))) {
            let args = WorkloadArgs { first, ..WorkloadArgs::of(path.to_string_lossy()) };
            let workload = args.workload()?;
            let mut stream = workload.open(load.capacity, &Terminal);
            while stream.next_request()?.is_some() {
                if stop.is_requested() {
                    let before = "the traces were being read for the first time";
                    return Err(Failure::Interrupted(before.into()));
                }
            }
        }
        Ok(())
    }

    /// The trace of a load: its file, or its substitute. `None` if there is neither.
    fn trace(&self, load: &Load, usual: u64) -> Option<(String, Option<FitChoice>)> {
        if let Some(path) = self.file(load) {
            return Some((path.to_string_lossy().into_owned(), Some(FitChoice::Pack)));
        }
        let (requests, stand_in) = (self.requests.unwrap_or(usual), load.stand_in?);
        let joint = if stand_in.contains('?') { '&' } else { '?' };
        Some((format!("{stand_in}{joint}requests={requests}&seed={}", self.seed), None))
    }

    /// Requests after which a trial ends; `None` for all.
    fn first(&self, trial: &Trial, usual: u64) -> Option<u64> {
        let (part, of) = trial.part;
        let requests = self.requests.unwrap_or(usual);
        let is_all = part == of && self.length == Cut::Full;
        (!is_all).then(|| (requests * part / of).max(1))
    }
}

/// The results: by load, by trial.
pub(super) struct StudyResults {
    loads: Vec<&'static Load>,
    results: Vec<Vec<RunResult>>,
    /// Erases of each SLC block.
    slc_erases: Vec<Vec<Vec<u32>>>,
}

impl StudyResults {
    /// Each load with its runs.
    fn each(&self) -> impl Iterator<Item = (&'static Load, &Vec<RunResult>)> {
        self.loads.iter().copied().zip(&self.results)
    }
}

impl Study {
    /// Reads the files of its loads.
    pub(super) fn check_files(&self, loads: &Loads<'_>) -> Result<(), Failure> {
        loads.check_files(self.loads, loads.first(&Trial::of("all"), self.requests))
    }

    /// Does the runs and writes the page. Returns its path.
    pub(super) fn make(
        &self,
        folder: &Path,
        loads: &Loads<'_>,
        jobs: usize,
    ) -> Result<PathBuf, Failure> {
        let mut page = Page::new(folder, self.page)?;
        let trials = (self.trials)();
        let there = self.loads.iter().filter(|load| loads.trace(load, self.requests).is_some());
        let there: Vec<&'static Load> = there.collect();
        let one = |at: usize| {
            let load = there[at / trials.len()];
            self.one(load, &trials[at % trials.len()], loads)
        };
        let outcomes = all(there.len() * trials.len(), jobs, one)?;
        let (mut results, mut erases): (Vec<RunResult>, Vec<Vec<u32>>) = outcomes
            .into_iter()
            .map(|outcome| (outcome.result, slc_erases(outcome.details)))
            .unzip();
        let (mut results, mut erases) = (results.drain(..), erases.drain(..));
        let each = trials.len();
        let brought = StudyResults {
            results: there.iter().map(|_| results.by_ref().take(each).collect()).collect(),
            slc_erases: there.iter().map(|_| erases.by_ref().take(each).collect()).collect(),
            loads: there,
        };
        (self.write)(&mut page, &brought)?;
        self.tell_loads(&mut page, loads, &brought);
        page.finish()
    }

    fn setup(&self, load: &Load, trial: &Trial) -> Result<(Setup, DeviceArgs), Failure> {
        let (name, time) = match self.device {
            On::Builtin(name, time) => (name, time),
            On::Own(_) => ("c3", Time::Serial),
        };
        let parallel = time == Time::Overlapped;
        let capacity = Some(load.capacity);
        let device = DeviceArgs { device: name.into(), capacity, slc: trial.slc, parallel };
        let On::Own(text) = self.device else { return Ok((device.setup()?, device)) };
        let mut part = Part::parse(text, "the paper's device")?;
        if let Some(bytes) = trial.slc {
            part = part.with_slc_bytes(bytes)?;
        }
        Ok((Setup { time, ..Setup::of(part) }, device))
    }

    fn one(&self, load: &Load, trial: &Trial, loads: &Loads<'_>) -> Result<Outcome, Failure> {
        let trace = loads.trace(load, self.requests);
        let missing = || Failure::Violation(format!("{} has no trace", load.name));
        let (trace, fit) = trace.ok_or_else(missing)?;
        let first = loads.first(trial, self.requests);
        let workload = WorkloadArgs { fit, first, ..WorkloadArgs::of(trace) };
        let (setup, device) = self.setup(load, trial)?;
        // Charts of wear need the details of a report; no report is written.
        let report = Some(PathBuf::new());
        let options = Options { report, ..Options::quiet(workload, device, self.pace) };
        let system = Chosen::parse(&trial.system).map_err(Failure::Arguments)?;
        let outcomes = options.run_all(&setup, &[system], &Terminal)?;
        let outcome = outcomes.into_iter().next();
        outcome.ok_or_else(|| Failure::Violation("a run brought no result".into()))
    }

    /// What was replayed, which figures of it are published, and the measured ones.
    fn tell_loads(&self, page: &mut Page, loads: &Loads<'_>, brought: &StudyResults) {
        page.heading("The loads, and how well they fit");
        let heads = [
            "",
            "requests, published",
            "replayed",
            "writes, published",
            "replayed",
            "data, published",
            "disk here",
            "written",
        ];
        let mut rows = vec![heads.map(String::from)];
        for (load, runs) in brought.each() {
            // Some trials end early.
            let Some(run) = runs.iter().max_by_key(|run| run.requests.total()) else { continue };
            let Published { requests, writes, gigabytes } = load.published;
            rows.push([
                load.name.into(),
                told(requests),
                show::count(run.requests.total()),
                told(writes.map(|percent| format!("{percent} %"))),
                format!("{:.1} %", writes_percent(run)),
                told(gigabytes.map(|gigabytes| format!("{gigabytes} GB"))),
                show::about(load.capacity),
                show::about(run.bytes_touched),
            ]);
        }
        page.table(&rows);
        let whole = Trial::of("");
        let mut rows = vec![["", "what was replayed", "assumed"].map(String::from)];
        for load in &brought.loads {
            let Some((trace, fit)) = loads.trace(load, self.requests) else { continue };
            let assumed = match (fit, loads.first(&whole, self.requests)) {
                (None, _) => load.assumed.into(),
                (Some(_), None) => "nothing: the file itself, packed".into(),
                (Some(_), Some(first)) => {
                    format!("nothing: the file itself, its first {first} requests, packed")
                }
            };
            rows.push([load.name.into(), format!("`{trace}`"), assumed]);
        }
        page.table(&rows);
    }
}

/// What is published, or that nothing is.
fn told(published: Option<impl Into<String>>) -> String {
    published.map_or_else(|| "-".into(), Into::into)
}

#[allow(clippy::cast_precision_loss)] // Figures show few digits.
fn writes_percent(run: &RunResult) -> f64 {
    100.0 * run.requests.writes as f64 / run.requests.total() as f64
}

/// A row of a table: its name, and a cell for each column; missing cells are empty.
fn row<const N: usize>(
    name: impl Into<String>,
    cells: impl IntoIterator<Item = String>,
) -> [String; N] {
    let mut cells = [name.into()].into_iter().chain(cells);
    std::array::from_fn(|_| cells.next().unwrap_or_default())
}

fn slc_erases(details: Option<replay::Details>) -> Vec<u32> {
    details.map_or_else(Vec::new, |details| {
        let [slc, _] = details.erases;
        slc
    })
}

/// Does all runs, several at a time, and returns their results in order.
fn all(
    count: usize,
    jobs: usize,
    one: impl Fn(usize) -> Result<Outcome, Failure> + Sync,
) -> Result<Vec<Outcome>, Failure> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new((0..count).map(|_| None).collect::<Vec<Option<Outcome>>>());
    let work = || -> Result<(), Failure> {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count || interrupt::is_requested() {
                return Ok(());
            }
            let outcome = one(at)?;
            let RunResult { system, wall_s, .. } = &outcome.result;
            eprintln!("{} of {count} runs: {system} ({wall_s:.1} s)", at + 1);
            done.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(outcome);
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
    let outcomes: Option<Vec<Outcome>> = done.into_iter().collect();
    outcomes.ok_or_else(|| Failure::Interrupted("figures need all of the runs".into()))
}

/// Change against a base, in percent, with its sign.
fn change(figure: f64, base: f64) -> String {
    format!("{:+.0} %", 100.0 * (figure / base - 1.0))
}

/// The same with two digits, as in papers.
fn fine_change(figure: f64, base: f64) -> String {
    format!("{:+.2} %", 100.0 * (figure / base - 1.0))
}

/// Megabytes that the host transferred per second of the device's time.
#[allow(clippy::cast_precision_loss)] // Figures show few digits.
fn throughput(run: &RunResult, sector: u64) -> f64 {
    let sectors = run.requests.sectors_read + run.requests.sectors_written;
    (sectors * sector) as f64 / run.elapsed_us
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDIES: [&Study; 4] = [&AHDM, &HONG_SHIN, &KINOSHITA, &KO];

    const SHORT: Loads<'_> =
        Loads { requests: Some(300), seed: 1, folder: None, length: Cut::AsLong };

    #[test]
    fn each_study_makes_its_page_with_every_load_and_chart() {
        for study in STUDIES {
            let folder = tempfile::tempdir().unwrap();
            let path = study.make(folder.path(), &SHORT, 2).unwrap();
            let page = std::fs::read_to_string(path).unwrap();
            for load in study.loads {
                assert_eq!(page.contains(load.name), load.stand_in.is_some(), "{page}");
            }
            assert!(page.contains("paper"), "{page}");
            let charts = std::fs::read_dir(folder.path().join(study.page.1)).unwrap().count();
            assert!(charts > 0 && charts == page.matches(".svg)").count(), "{page}");
            assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
        }
    }

    #[test]
    fn a_bad_line_of_a_load_s_file_is_told_before_the_runs() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hm_0.csv");
        std::fs::write(file, "0,W,0,4096\n1,W,4096,4096\n2,X,0,4096\n").unwrap();
        let loads = Loads { folder: Some(folder.path()), ..SHORT };
        let told = KINOSHITA.check_files(&loads).unwrap_err().to_string();
        assert!(told.contains("hm_0.csv") && told.contains("line 3"), "{told}");
        let short = Loads { requests: Some(2), ..loads };
        KINOSHITA.check_files(&short).unwrap();
    }

    #[test]
    fn a_load_s_own_file_is_taken_where_it_is_there_and_cut_unless_all_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hm_0.csv.gz");
        std::fs::write(&file, "").unwrap();
        let loads = Loads { requests: None, seed: 7, folder: Some(folder.path()), ..SHORT };
        let [own, other] = ["hm_0", "prxy_0"].map(|name| {
            let load = KINOSHITA.loads.iter().find(|load| load.name == name).unwrap();
            loads.trace(load, 50).unwrap().0
        });
        assert_eq!(Path::new(&own), file);
        assert!(other.starts_with("synth:") && other.ends_with("requests=50&seed=7"), "{other}");
        let (whole, half) = (Trial::of("ko"), Trial { part: (1, 2), ..Trial::of("ko") });
        assert_eq!([&whole, &half].map(|trial| loads.first(trial, 50)), [Some(50), Some(25)]);
        let full = Loads { length: Cut::Full, ..loads };
        assert_eq!([&whole, &half].map(|trial| full.first(trial, 50)), [None, Some(25)]);
    }
}
