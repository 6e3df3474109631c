//! The runs: fills from empty, copies onto a drive at rest that is filled to some level, and copies onto a full disk.

use sim::Failure;

use super::copy::{Copied, CopyRun, DriveScale, Level};
use super::drives::SoldDrive;
use super::full_disk;
use super::simulated::Simulated;

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
pub(super) struct CacheResults {
    pub(super) shape: DriveScale,
    /// In the order of its systems.
    pub(super) full_disk: Vec<Copied>,
    /// By drive: the fill, and what it is at each level.
    pub(super) fills: Vec<Copied>,
    pub(super) levels: Vec<Vec<AtLevel>>,
}

/// What the tasks came to.
fn copied(tasks: &[CopyRun], jobs: usize) -> Result<Vec<Copied>, Failure> {
    let outcomes = super::super::all(tasks.len(), jobs, |at| tasks[at].run())?;
    Ok(tasks.iter().zip(&outcomes).map(|(task, outcome)| task.copied(outcome)).collect())
}

/// Does all runs, several at a time.
pub(super) fn run(
    drives: &[SoldDrive],
    shape: DriveScale,
    jobs: usize,
) -> Result<CacheResults, Failure> {
    let simulated = drives.iter().map(|drive| Simulated::of(drive, shape));
    let simulated = simulated.collect::<Result<Vec<_>, _>>()?;
    let mut tasks = full_disk::tasks(shape)?;
    let others = tasks.len();
    tasks.extend(simulated.iter().map(Simulated::fill));
    let mut full_disk = copied(&tasks, jobs)?;
    let fills = full_disk.split_off(others);
    let levels =
        simulated.iter().map(|drive| at_levels(drive, shape, jobs)).collect::<Result<_, _>>()?;
    Ok(CacheResults { shape, full_disk, fills, levels })
}

/// What a drive is at each level.
fn at_levels(
    drive: &Simulated<'_>,
    shape: DriveScale,
    jobs: usize,
) -> Result<Vec<AtLevel>, Failure> {
    let tasks: Vec<CopyRun> = shape.levels.iter().map(|level| drive.rest(*level)).collect();
    let rests = copied(&tasks, jobs)?;
    let cached: Vec<f64> = rests.iter().map(|rest| drive.cached(rest)).collect();
    let places = shape.levels.iter().zip(&cached);
    let tasks: Vec<CopyRun> = places
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
