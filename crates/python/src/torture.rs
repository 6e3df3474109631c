//! Power cuts: in every operation of a workload, in random worlds, or in every small world.

use std::time::Instant;

use pyo3::prelude::*;
use sim::Failure;
use torture::exhaustive::{BrokenEntry, Order, Shard, SmallScript, Until, WalkCounts};
use torture::exhaustive::{exhaustive, replay};
use torture::setup::SetupError;
use torture::told::Report;
use torture::worlds::{self as random, Choice, Kept, Reported};
use torture::{Cut, Cuts, Faults, FtlName, Nested, Plan, Setup, System};

use crate::failed::{bad, raised};
use crate::typed::plain;
use crate::watched::{Watch, watched};

/// What is tried.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TortureRequest {
    ftl: String,
    device: String,
    system: String,
    requests: u32,
    seed: u64,
    seeds: u32,
    cuts: String,
    at: Vec<String>,
    nested: Option<String>,
    faults: String,
    format: bool,
    bytes: bool,
}

/// The worlds that are tried.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct WorldRange {
    ftl: String,
    seed: u64,
    worlds: u64,
    lives: Option<String>,
}

/// The small worlds that are tried.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SmallRange {
    ftl: String,
    bound: u8,
    shard: Option<String>,
    device: Option<String>,
}

/// After this many worlds with broken promises no other is begun, as in the program.
const BROKEN_MAX: usize = 20;

/// The error of a device explains itself.
fn unfit(error: SetupError) -> Failure {
    match error {
        SetupError::Device(error) => error.into(),
        SetupError::Chip(error) => error.into(),
        other => Failure::Arguments(other.to_string()),
    }
}

fn ftl(name: &str) -> PyResult<FtlName> {
    let found = FtlName::ALL.into_iter().find(|ftl| ftl.name() == name);
    found.ok_or_else(|| bad(&format!("`{name}` is no FTL: give hybrid or paged")))
}

impl TortureRequest {
    fn plan(&self) -> PyResult<Plan> {
        let cuts = if self.at.is_empty() {
            Cuts::parse(&self.cuts).map_err(|reason| bad(&reason))?
        } else {
            Cuts::At(self.at()?)
        };
        let nested = self.nested.as_deref().map(Nested::parse).transpose();
        Ok(Plan {
            requests: self.requests,
            history: matches!(cuts, Cuts::At(_) | Cuts::Sample(0)),
            cuts,
            nested: nested.map_err(|reason| bad(&reason))?,
            faults: Faults::parse(&self.faults).map_err(|reason| bad(&reason.to_string()))?,
            bytes: self.bytes,
            format: self.format,
            faults_named: self.faults.clone(),
            ..Plan::default()
        })
    }

    fn at(&self) -> PyResult<Vec<Cut>> {
        let cut = |text: &String| text.parse::<Cut>().map_err(|error| bad(&error.to_string()));
        self.at.iter().map(cut).collect()
    }

    fn setups(&self) -> PyResult<Vec<Setup>> {
        let ftl = ftl(&self.ftl)?;
        let system = System::ALL.into_iter().find(|system| system.name() == self.system);
        let system = system.ok_or_else(|| {
            let names = System::ALL.map(System::name).join(", ");
            bad(&format!("`{}` is no configuration: give one of {names}", self.system))
        })?;
        let setups = match self.device.as_str() {
            "all" => Setup::all_of(ftl),
            device => Setup::of(ftl, device, system).map(|setup| vec![setup]),
        };
        setups.map_err(|error| raised(&unfit(error)))
    }
}

/// Cuts the power in every operation of workloads, and counts what was lost.
#[pyfunction]
pub(crate) fn cuts<'py>(
    py: Python<'py>,
    asked: TortureRequest,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (plan, setups, at) = (asked.plan()?, asked.setups()?, asked.at()?);
    let seeds = torture::seeds(asked.seed, asked.seeds.into()).map_err(|reason| bad(&reason))?;
    let outcome = watched(py, progress.as_ref(), &Watch::default(), |watch| {
        let outcome = torture::torture(&setups, seeds, &plan, watch);
        let nothing = outcome.unmet(&at).or_else(|| outcome.untried(&plan));
        nothing.map_or(Ok(outcome), |reason| Err(Failure::Arguments(reason)))
    })?;
    plain(py, &Report::of(outcome).counts())
}

/// Lives in random worlds, and counts what was lost.
#[pyfunction]
pub(crate) fn worlds<'py>(
    py: Python<'py>,
    sought: WorldRange,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let kept = sought.lives.as_deref().map(str::parse::<Kept>).transpose();
    let choice = Choice {
        ftl: ftl(&sought.ftl)?,
        seeds: torture::seeds(sought.seed, sought.worlds).map_err(|reason| bad(&reason))?,
        kept: kept.map_err(|reason| bad(&reason.to_string()))?,
        broken_max: BROKEN_MAX,
        told: Reported::Shrunk,
    };
    let outcome = watched(py, progress.as_ref(), &Watch::default(), |watch| {
        random::worlds(&choice, watch).map_err(unfit)
    })?;
    plain(py, &Report::of_worlds(outcome).counts())
}

/// Tries every small world of a shard, and counts what was lost.
#[pyfunction]
pub(crate) fn small<'py>(
    py: Python<'py>,
    sought: SmallRange,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let shard = sought.shard.as_deref().map(str::parse::<Shard>).transpose();
    let order = Order {
        ftl: ftl(&sought.ftl)?,
        bound: sought.bound,
        shard: shard.map_err(|reason| bad(&reason))?.unwrap_or(Shard::WHOLE),
        device: sought.device,
        broken_max: BROKEN_MAX,
        until: Until::Tried,
    };
    let begun = Instant::now();
    let walked = watched(py, progress.as_ref(), &Watch::default(), |watch| {
        exhaustive(&order, watch).map_err(Failure::Arguments)
    })?;
    plain(py, &WalkCounts::of(&order, &walked, begun.elapsed()))
}

/// Follows a script of a small world. Returns the operations on the device, and what was broken.
#[pyfunction]
pub(crate) fn script<'py>(
    py: Python<'py>,
    text: &str,
) -> PyResult<(Vec<String>, Bound<'py, PyAny>)> {
    let script: SmallScript =
        text.parse().map_err(|reason| bad(&format!("`{text}` is no script: {reason}")))?;
    let replayed = py.detach(|| replay(&script));
    let replayed = replayed.map_err(|reason| bad(&reason))?;
    let broken = plain(py, &BrokenEntry::followed(&script, &replayed))?;
    Ok((replayed.history, broken))
}
