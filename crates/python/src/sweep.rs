//! Sweeps: the runs of a plan, on all cores.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use sim::engine::result::RunResult;
use sim::engine::sweep::{Collection, Folder, Plan, Run, beside, ended, read, work};
use sim::{Failure, files, whole};

use crate::failed::{bad, raised};
use crate::typed::{plain, toml_of};
use crate::watched::{QuietWatch, Watch, watched};

/// A folder keeps the results, if there is one: then those that are there are not made again.
struct Results<'a> {
    folder: Option<Folder<'a>>,
    /// By the runs' names.
    made: Mutex<Vec<(String, RunResult)>>,
}

impl Results<'_> {
    fn of(&self, run: &Run) -> Option<RunResult> {
        if let Some(folder) = &self.folder {
            return read(&folder.result(run));
        }
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.iter().find(|(id, _)| *id == run.id).map(|(_, result)| result.clone())
    }

    fn keep(&self, run: &Run, result: RunResult) -> Result<(), Failure> {
        let Some(folder) = &self.folder else {
            let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            made.push((run.id.clone(), result));
            return Ok(());
        };
        // Results are figures and names, which JSON can always represent.
        let mut text = serde_json::to_vec_pretty(&result).unwrap_or_default();
        text.push(b'\n');
        whole::replace(&folder.result(run), &text)
    }
}

/// The results of a plan, a path or a table, and why runs failed, if any did.
#[pyfunction]
#[pyo3(signature = (plan, out=None, jobs=None, progress=None))]
pub(crate) fn sweep<'py>(
    plan: &Bound<'py, PyAny>,
    out: Option<PathBuf>,
    jobs: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, Option<PyErr>)> {
    let (py, watch) = (plan.py(), Watch::default());
    let jobs = jobs.map(|jobs| NonZeroUsize::new(jobs).ok_or_else(|| bad("jobs: give at least 1")));
    let jobs = jobs.transpose()?;
    let plan = loaded(plan)?;
    out.as_deref().map_or(Ok(()), check_folder).map_err(|failure| raised(&failure))?;
    let folder = out.as_deref().map(|path| Folder { path });
    let results = Results { folder, made: Mutex::default() };
    let failed = watched(py, progress.as_ref(), &watch, |watch| {
        folder.iter().try_for_each(Folder::make)?;
        let left: Vec<&Run> = plan.runs.iter().filter(|run| results.of(run).is_none()).collect();
        Ok(done(&left, jobs, &results, watch).err())
    })?;
    let results: Vec<_> = plan.runs.iter().map(|run| results.of(run)).collect();
    let rows = beside(&plan, &results);
    let collection = plain(py, &Collection::of(&plan, &rows))?;
    Ok((collection, failed.map(|failure| raised(&failure))))
}

/// Checks that the folder can be made: its parent must exist, so that a mistyped path does not become a new tree.
fn check_folder(out: &Path) -> Result<(), Failure> {
    if out.is_dir() { Ok(()) } else { files::check(out) }
}

fn loaded(plan: &Bound<'_, PyAny>) -> PyResult<Plan> {
    let plan = match plan.extract::<PathBuf>() {
        Ok(path) => Plan::load(&path),
        Err(_) => Plan::of_table(&toml_of(plan, "the plan")?),
    };
    plan.map_err(|failure| raised(&failure))
}

/// Does the runs that are left.
fn done(
    left: &[&Run],
    jobs: Option<NonZeroUsize>,
    results: &Results<'_>,
    watch: &Watch,
) -> Result<(), Failure> {
    let over = AtomicUsize::new(0);
    let failures = work(left, jobs, &QuietWatch(watch), |run, result| {
        let kept = result.map_or(Ok(()), |result| results.keep(run, result));
        let count = over.fetch_add(1, Ordering::Relaxed) + 1;
        #[allow(clippy::cast_precision_loss)] // A bar shows few digits.
        watch.set(Some(count as f64 / left.len() as f64), count as u64);
        kept
    });
    ended(left, failures)
}
