//! The runs: fills from empty, copies onto a drive at rest that is filled to some level, and copies onto a full disk.

use std::num::NonZeroU32;

use sim::Failure;
use sim::engine::replay::{self, Gaps, Options, Outcome, Pace};
use sim::engine::systems::Chosen;
use sim::input::device::Setup;
use sim::input::trace::Request;
use sim::input::workload::Workload;

use super::curve::{self, Step};
use super::drives::{DIVISOR, Drive};
use super::full_disk;
use super::simulated::Simulated;
use crate::base::terminal::Terminal;

/// How large the drives are, and what is tried on them.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// The device files are made so many times smaller.
    pub(super) smaller: u64,
    /// Requests of a copy onto a full disk.
    pub(super) copied: u64,
    pub(super) levels: &'static [Level],
    /// Seconds of rest between two copies, for a drive as sold.
    pub(super) pauses: &'static [f64],
}

/// A level to which a drive is filled, in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) name: &'static str,
    pub(super) percent: u64,
}

impl Shape {
    /// The device files as they are.
    pub(super) const SOLD: Self = Self {
        smaller: 1,
        copied: 3_200,
        levels: &[
            Level { name: "empty", percent: 0 },
            Level { name: "half full", percent: 50 },
            Level { name: "nine tenths full", percent: 90 },
        ],
        pauses: &[10.0, 60.0, 300.0],
    };

    /// How many times smaller the simulated drives are.
    #[allow(clippy::cast_precision_loss)] // It is small.
    pub(super) fn divisor(self) -> f64 {
        DIVISOR * self.smaller as f64
    }
}

/// What a copy came to.
pub(super) struct Copied {
    pub(super) steps: Vec<Step>,
    /// Gigabytes per second, over all of it.
    pub(super) mean: f64,
}

/// What a drive came to that was filled to a level and had rested.
pub(super) struct AtLevel {
    pub(super) level: Level,
    /// Bytes that it took at full speed.
    pub(super) cached: f64,
    /// A copy that fills it.
    pub(super) rest: Copied,
    /// By pause: bytes at full speed after a copy that filled the cache.
    pub(super) again: Vec<f64>,
}

/// What the runs brought.
pub(super) struct Results {
    pub(super) shape: Shape,
    /// In the order of its systems.
    pub(super) full_disk: Vec<Copied>,
    /// By drive: the fill, and what it is at each level.
    pub(super) fills: Vec<Copied>,
    pub(super) levels: Vec<Vec<AtLevel>>,
}

/// A run: requests of which so many are under way. Where their times move on, the host rests.
pub(super) struct Task {
    pub(super) setup: Setup,
    pub(super) system: &'static str,
    pub(super) requests: Vec<Request>,
    pub(super) depth: NonZeroU32,
    /// The first request of the copy that is told.
    pub(super) from: usize,
}

impl Task {
    fn run(&self) -> Result<Outcome, Failure> {
        let workload = Workload::of_requests("a copy", self.requests.clone())?;
        let pace = Pace { open_loop: false, queue_depth: self.depth };
        let options = Options { pace, gaps: Gaps::Rests, record: true, ..Options::default() };
        let system = Chosen::parse(self.system).map_err(Failure::Arguments)?;
        let outcomes = replay::run_all(&workload, &options, &self.setup, &[system], &Terminal)?;
        let outcome = outcomes.into_iter().next();
        outcome.ok_or_else(|| Failure::Violation("a run brought no result".into()))
    }

    /// What its copy came to.
    #[allow(clippy::cast_precision_loss)] // Figures show few digits.
    fn copied(&self, outcome: &Outcome) -> Copied {
        let each = self.requests.first().map_or(0, |request| request.length);
        let times = outcome.record.iter().flat_map(|record| &record.responses.times);
        let times: Vec<f64> = times.skip(self.from).map(|time| time.as_micros_f64()).collect();
        let took = times.iter().sum::<f64>() / f64::from(self.depth.get());
        let mean = times.len() as f64 * each as f64 / took / 1e3;
        Copied { steps: curve::steps(&times, each, self.depth.get()), mean }
    }
}

/// What the tasks came to.
fn copied(tasks: &[Task], jobs: usize) -> Result<Vec<Copied>, Failure> {
    let outcomes = super::super::all(tasks.len(), jobs, |at| tasks[at].run())?;
    Ok(tasks.iter().zip(&outcomes).map(|(task, outcome)| task.copied(outcome)).collect())
}

/// Does all runs, several at a time.
pub(super) fn run(drives: &[Drive], shape: Shape, jobs: usize) -> Result<Results, Failure> {
    let simulated = drives.iter().map(|drive| Simulated::of(drive, shape));
    let simulated = simulated.collect::<Result<Vec<_>, _>>()?;
    let mut tasks = full_disk::tasks(shape)?;
    let others = tasks.len();
    tasks.extend(simulated.iter().map(Simulated::fill));
    let mut full_disk = copied(&tasks, jobs)?;
    let fills = full_disk.split_off(others);
    let levels =
        simulated.iter().map(|drive| at_levels(drive, shape, jobs)).collect::<Result<_, _>>()?;
    Ok(Results { shape, full_disk, fills, levels })
}

/// What a drive is at each level.
fn at_levels(drive: &Simulated<'_>, shape: Shape, jobs: usize) -> Result<Vec<AtLevel>, Failure> {
    let tasks: Vec<Task> = shape.levels.iter().map(|level| drive.rest(*level)).collect();
    let rests = copied(&tasks, jobs)?;
    let cached: Vec<f64> = rests.iter().map(|rest| drive.cached(rest)).collect();
    let places = shape.levels.iter().zip(&cached);
    let tasks: Vec<Task> = places
        .flat_map(|(level, cached)| {
            shape.pauses.iter().map(|pause| drive.again(*level, *cached, *pause))
        })
        .collect();
    let again = copied(&tasks, jobs)?;
    let again: Vec<f64> = again.iter().map(|copied| drive.cached(copied)).collect();
    let mut again = again.chunks(shape.pauses.len().max(1));
    let found = shape.levels.iter().zip(rests).zip(cached);
    Ok(found
        .map(|((level, rest), cached)| {
            let again = again.next().map(<[f64]>::to_vec).unwrap_or_default();
            AtLevel { level: *level, cached, rest, again }
        })
        .collect())
}
