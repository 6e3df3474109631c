//! Replays, comparisons and profiles.

use std::num::NonZeroU32;
use std::sync::Arc;

use nand_model::part::Nanos;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim::engine::comparison::{ComparedSystems, Comparison};
use sim::engine::replay::{Outcome, Pace, Passes, Record, run_chosen};
use sim::engine::result::RunResult;
use sim::engine::systems::Several;
use sim::input::size;
use sim::input::trace::TraceError;
use sim::input::trace::fit::FitChoice;
use sim::{Failure, Options};

use crate::device::Device;
use crate::failed::bad;
use crate::system::chosen;
use crate::typed::{self, plain};
use crate::watched::{Watch, watched};
use crate::workload::Workload;

/// How a workload is replayed.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked<'py> {
    fit: Option<String>,
    passes: u32,
    steady: bool,
    open_loop: bool,
    queue_depth: u32,
    bytes_a_day: Option<Bound<'py, PyAny>>,
    record: bool,
}

impl Asked<'_> {
    fn options(&self) -> PyResult<Options> {
        let usual = Options::default();
        let fit = self.fit.as_deref().map(FitChoice::parse).transpose();
        let many = |count: u32, what: &str| {
            NonZeroU32::new(count).ok_or_else(|| bad(&format!("{what}: give at least 1")))
        };
        let (passes, queue_depth) =
            (many(self.passes, "passes")?, many(self.queue_depth, "queue_depth")?);
        let two = |reason| Err(bad(reason));
        if self.steady && self.passes > 1 {
            return two("a steady run ends by itself: leave out steady, or passes");
        }
        if self.open_loop && self.queue_depth > 1 {
            return two("requests come when they arrive: leave out open_loop, or queue_depth");
        }
        let a_day = typed::size(self.bytes_a_day.as_ref())?;
        let a_day = a_day.map(|bytes| size::a_day(&bytes.to_string())).transpose();
        Ok(Options {
            fit: fit.map_err(|reason| bad(&reason))?,
            passes: if self.steady { Passes::UntilSteady } else { Passes::Times(passes) },
            pace: Pace { open_loop: self.open_loop, queue_depth },
            bytes_a_day: a_day.map_err(|reason| bad(&reason))?.unwrap_or(usual.bytes_a_day),
            record: self.record,
            ..usual
        })
    }
}

/// Operations and response times of requests, and the wear of blocks by memory.
type Arrays<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<u64>>, Bound<'py, PyDict>);

/// A result, and its arrays if they were asked for.
type Ran<'py> = (Bound<'py, PyAny>, Option<Arrays<'py>>);

/// The arrays of a record: the numbers stay where they are, and Python owns them.
fn arrays(py: Python<'_>, record: Record) -> PyResult<Arrays<'_>> {
    let ops: Vec<u8> = record.responses.ops.into_iter().map(|op| op as u8).collect();
    let times: Vec<u64> = record.responses.times.into_iter().map(Nanos::get).collect();
    let wear = PyDict::new(py);
    for (name, blocks) in record.wear {
        wear.set_item(name, blocks.into_pyarray(py))?;
    }
    Ok((ops.into_pyarray(py), times.into_pyarray(py), wear))
}

/// Replays the workload on each system.
#[pyfunction]
pub(crate) fn replay<'py>(
    workload: &Bound<'py, Workload>,
    device: &Bound<'py, Device>,
    systems: Vec<Bound<'py, PyAny>>,
    asked: Asked<'py>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Vec<Ran<'py>>> {
    let (py, watch) = (workload.py(), Arc::new(Watch::default()));
    let systems: Vec<_> =
        systems.iter().map(|system| chosen(system, &watch)).collect::<PyResult<_>>()?;
    let (workload, setup, options) = (&workload.get().0, &device.get().setup, asked.options()?);
    let outcomes = watched(py, progress.as_ref(), &watch, |watch| {
        sim::run_all(workload, &options, setup, &systems, watch)
    })?;
    let ran = |Outcome { result, record, .. }: Outcome| {
        let arrays = record.map(|record| arrays(py, record)).transpose()?;
        Ok((plain(py, &result)?, arrays))
    };
    outcomes.into_iter().map(ran).collect()
}

/// Replays the workload on several systems, and compares them with the first.
#[pyfunction]
pub(crate) fn compare<'py>(
    workload: &Bound<'py, Workload>,
    device: &Bound<'py, Device>,
    systems: Vec<Bound<'py, PyAny>>,
    asked: Asked<'py>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, Vec<Option<Arrays<'py>>>)> {
    let (py, watch) = (workload.py(), Arc::new(Watch::default()));
    let several = |system: &Bound<'py, PyAny>| match system.extract::<String>() {
        Ok(name) => Several::parse(&name).map_err(|reason| bad(&reason)),
        Err(_) => chosen(system, &watch).map(Several::One),
    };
    let several: Vec<_> = systems.iter().map(several).collect::<PyResult<_>>()?;
    let (workload, setup, options) = (&workload.get().0, &device.get().setup, asked.options()?);
    let (compared_systems, outcomes) = watched(py, progress.as_ref(), &watch, |watch| {
        let mut compared_systems = ComparedSystems::default();
        let choose = || {
            compared_systems = ComparedSystems::of(&several, setup, watch)?;
            Ok(compared_systems.all())
        };
        let outcomes = run_chosen(workload, &options, setup, choose, watch)?;
        Ok((compared_systems, outcomes))
    })?;
    let all: Vec<&RunResult> = outcomes.iter().map(|outcome| &outcome.result).collect();
    let (runs, pairs) = (&all[..compared_systems.systems().len()], compared_systems.pairs(&all));
    let comparison = plain(py, &Comparison::of(runs, &pairs))?;
    let compared = compared_systems.systems().len();
    let records = outcomes.into_iter().take(compared).map(|outcome| outcome.record);
    let records = records.map(|record| record.map(|record| arrays(py, record)).transpose());
    Ok((comparison, records.collect::<PyResult<_>>()?))
}

/// Counts the requests of a workload on a disk of that capacity.
#[pyfunction]
pub(crate) fn profile<'py>(
    workload: &Bound<'py, Workload>,
    passes: u32,
    capacity: &Bound<'py, PyAny>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, watch) = (workload.py(), Watch::default());
    let capacity = typed::size(Some(capacity))?.unwrap_or(0);
    let workload = &workload.get().0;
    let profile = watched(py, progress.as_ref(), &watch, |watch| {
        let profile = sim::input::profile::profile(workload, passes, capacity, watch)?;
        if profile.is_empty() {
            return Err(Failure::from(TraceError::Empty(workload.sources().into())));
        }
        Ok(profile)
    })?;
    plain(py, &profile)
}
