//! The runs: each load on each disk by each scheme. Those that know the future have it from a run before.

use std::sync::{Arc, OnceLock};

use sim::Failure;
use sim::engine::replay::Outcome;
use sim::engine::result::RunResult;
use sim::engine::systems::{Chosen, Diary, Future, diarist, foreseeing};
use sim::input::device::Setup;

use super::super::{Load, Loads, ONE_BY_ONE};
use super::grid::{Built, CHIP, DiskShape, Grid, PASSES, SCHEMES};
use crate::base::terminal::Terminal;
use crate::flags::device::DeviceArgs;
use crate::flags::options::Options;
use crate::flags::workload::WorkloadArgs;

/// What was programmed and written in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Programs {
    /// Pages programmed, whatever for.
    pub(super) programmed: u64,
    /// Pages that the host wrote.
    pub(super) written: u64,
    /// Pages of the disk, each of which was written before.
    pub(super) filled: u64,
}

#[allow(clippy::cast_precision_loss)] // Figures show few digits.
impl Programs {
    /// Of the load alone.
    pub(super) fn amplification(self) -> f64 {
        self.programmed as f64 / self.written.max(1) as f64
    }

    /// Of the fill and the load.
    pub(super) fn with_fill(self) -> f64 {
        (self.programmed + self.filled) as f64 / (self.written + self.filled).max(1) as f64
    }
}

/// The results of a load: by disk, by scheme; `None` where a scheme does not fit a disk.
pub(super) struct LoadResults {
    pub(super) load: &'static Load,
    pub(super) by_shape: Vec<(DiskShape, Vec<Option<Programs>>)>,
}

/// A run.
struct Planned {
    load: &'static Load,
    chosen: Chosen,
    setup: Setup,
}

impl Planned {
    fn run(&self, grid: &Grid, loads: &Loads<'_>) -> Result<Outcome, Failure> {
        let missing = || Failure::Violation(format!("{} has no trace", self.load.name));
        let (trace, fit) = loads.trace(self.load, grid.requests).ok_or_else(missing)?;
        let (passes, first) = if fit.is_some() { (PASSES, loads.requests) } else { (1, None) };
        let workload = WorkloadArgs { fit, passes, first, ..WorkloadArgs::of(trace) };
        let device = DeviceArgs { device: CHIP.into(), capacity: None, slc: None, parallel: false };
        let options = Options::quiet(workload, device, ONE_BY_ONE);
        let outcomes =
            options.run_all(&self.setup, std::slice::from_ref(&self.chosen), &Terminal)?;
        let outcome = outcomes.into_iter().next();
        outcome.ok_or_else(|| Failure::Violation("a run brought no result".into()))
    }

    fn programs(&self, run: &RunResult) -> Programs {
        let operations = run.parts.values().flat_map(|part| part.operations.values());
        Programs {
            programmed: operations.map(|done| done.program).sum(),
            // A page is a sector of these disks.
            written: run.requests.sectors_written,
            filled: self.setup.part.exported_bytes / u64::from(self.setup.part.sector_bytes.get()),
        }
    }
}

fn given(name: &str, system: Arc<dyn sim::engine::systems::Given>) -> Result<Chosen, Failure> {
    Chosen::given(name, system).map_err(Failure::Arguments)
}

/// The future of each load, from a diary of a run on the first disk.
fn futures(
    grid: &Grid,
    there: &[&'static Load],
    loads: &Loads<'_>,
    jobs: usize,
) -> Result<Vec<Arc<Future>>, Failure> {
    let futures: Vec<OnceLock<Arc<Future>>> = there.iter().map(|_| OnceLock::new()).collect();
    let one = |at: usize| {
        let (load, shape, diary) = (there[at], grid.shapes[0], Diary::default());
        let chosen = given("diarist", diarist(diary.clone()))?;
        let task = Planned { load, chosen, setup: shape.setup(load)? };
        let outcome = task.run(grid, loads)?;
        futures[at].get_or_init(|| Arc::new(diary.future()));
        Ok(outcome)
    };
    super::super::all(there.len(), jobs, one)?;
    Ok(futures.into_iter().map(|future| future.into_inner().unwrap_or_default()).collect())
}

/// Does all runs, several at a time.
pub(super) fn all(
    grid: &Grid,
    loads: &Loads<'_>,
    jobs: usize,
) -> Result<Vec<LoadResults>, Failure> {
    let there = grid.loads.iter().filter(|load| loads.trace(load, grid.requests).is_some());
    let there: Vec<&'static Load> = there.collect();
    let futures = futures(grid, &there, loads, jobs)?;
    let (mut tasks, mut is_there) = (Vec::new(), Vec::new());
    for (load, future) in there.iter().zip(&futures) {
        for (shape, scheme) in
            grid.shapes.iter().flat_map(|shape| SCHEMES.iter().map(move |scheme| (*shape, scheme)))
        {
            let chosen = match scheme.system {
                Built::Named(system) => Chosen::parse(system).map_err(Failure::Arguments)?,
                Built::Foreseeing(reach) => {
                    given(scheme.name, foreseeing(Arc::clone(future), reach))?
                }
            };
            let task = Planned { load, chosen, setup: shape.setup(load)? };
            let fits = task.chosen.unfit(&task.setup)?.is_none();
            is_there.push(fits);
            tasks.extend(fits.then_some(task));
        }
    }
    let outcomes = super::super::all(tasks.len(), jobs, |at| tasks[at].run(grid, loads))?;
    let mut done =
        tasks.iter().zip(&outcomes).map(|(task, outcome)| task.programs(&outcome.result));
    let mut cells = is_there.into_iter().map(|fits| fits.then(|| done.next()).flatten());
    let of_load = |load: &&'static Load| {
        let row = |shape: &DiskShape| (*shape, cells.by_ref().take(SCHEMES.len()).collect());
        LoadResults { load, by_shape: grid.shapes.iter().map(row).collect() }
    };
    Ok(there.iter().map(of_load).collect())
}
