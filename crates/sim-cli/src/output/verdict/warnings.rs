//! What a run cannot show, and what to do about it.

use ftl_iface::Region;
use nand_model::part::Part;
use sim::engine::result::RunResult;
use sim::engine::systems;
use sim::show;

use super::field::Field;

/// The share of the disk that must be written for a meaningful run.
const TOUCHED_LEAST: f64 = 0.1;

/// The most passes that finish in reasonable time.
const PASSES_MOST: u64 = 200;

/// Mean erases of a block from which on a lifetime is more than a guess.
const ERASES_LEAST: f64 = 0.02;

/// The warnings on runs on one device.
pub(super) fn of(field: &Field<'_>) -> Vec<String> {
    let (runs, part) = (field.runs, &field.setup.part);
    let mut warnings = Vec::new();
    for run in runs {
        warnings.extend(never_filled(run, field));
    }
    let is_idle =
        |run: &&&RunResult| Region::ALL.iter().all(|region| run.region(*region).erases == 0);
    let idle: Vec<&RunResult> = runs.iter().filter(is_idle).copied().collect();
    if !idle.is_empty() {
        let names: Vec<&str> = idle.iter().map(|run| run.system.as_str()).collect();
        warnings.push(format!(
            "Garbage collection never ran in {}: no block was erased, so its cost is not in these figures. {}.",
            show::listed(&names, "and"),
            replay_more(&idle, part),
        ));
    }
    warnings.extend(runs.iter().filter_map(|run| guessed(run, part)));
    warnings.extend(little_touched(field));
    warnings
}

/// How to replay enough for all these runs.
fn replay_more(runs: &[&RunResult], part: &Part) -> String {
    if runs.iter().any(|run| run.partial) {
        return "Let the replay come to its end".into();
    }
    let passes: Option<Vec<u64>> = runs.iter().map(|run| passes(run, part)).collect();
    match passes.and_then(|passes| passes.into_iter().max()) {
        Some(passes) => format!("Replay more: --passes {passes}"),
        None => "Replay a trace that writes more".into(),
    }
}

/// The passes that write a tenth of the disk and fill the SLC twice, if so many are reasonable.
fn passes(run: &RunResult, part: &Part) -> Option<u64> {
    let so_far = u64::from(run.passes);
    let of_disk = (part.exported_bytes / 10).div_ceil(run.bytes_written.max(1)) * so_far;
    let twice = |programmed: u64| (2 * run.slc_bytes).div_ceil(programmed.max(1)) * so_far;
    let of_slc = slc_programmed(run, part).map_or(0, twice);
    let passes = of_disk.max(of_slc).max(10 * so_far);
    (run.bytes_written > 0 && passes <= PASSES_MOST).then_some(passes)
}

/// The bytes programmed in the SLC whose size the user chose; `None` if there is no such SLC.
fn slc_programmed(run: &RunResult, part: &Part) -> Option<u64> {
    // A chip of SLC alone has no log to be filled.
    part.geometry.mlc()?;
    let page = part.geometry.slc()?.page_bytes;
    let is_sized = run.slc_bytes > 0 && systems::uses_slc(&run.system);
    is_sized.then(|| run.slc.pages.programs() * u64::from(page.get()))
}

/// Whether, and by how much, the SLC of a run was not filled.
pub(crate) fn unfilled(run: &RunResult, part: &Part) -> Option<Unfilled> {
    let programmed = slc_programmed(run, part).filter(|bytes| *bytes < run.slc_bytes)?;
    Some(Unfilled { programmed, passes: passes(run, part).filter(|_| !run.partial) })
}

/// An SLC that was never filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfilled {
    /// The bytes programmed in it.
    pub(crate) programmed: u64,
    /// The passes that fill it twice, if so many are reasonable.
    pub(crate) passes: Option<u64>,
}

/// A lifetime that follows from a few erases.
fn guessed(run: &RunResult, part: &Part) -> Option<String> {
    let of = |region: &Region| {
        let figures = run.region(*region);
        let mean = figures.erase_count.mean;
        let is_guess = figures.lifetime_years.is_some() && mean < ERASES_LEAST;
        is_guess.then(|| format!("{mean:.4} times in its {region}"))
    };
    let few: Vec<String> = Region::ALL.iter().filter_map(of).collect();
    let first = few.first()?;
    Some(format!(
        "The life of {} is a guess: a block was erased {first} on average. {}.",
        run.system,
        replay_more(&[run], part)
    ))
}

/// A log that was never filled shows its gain but not its cost.
#[allow(clippy::cast_precision_loss)] // Shares are shown with few digits.
fn never_filled(run: &RunResult, field: &Field<'_>) -> Option<String> {
    let Unfilled { programmed, passes } = unfilled(run, &field.setup.part)?;
    let name = &run.system;
    if programmed == 0 {
        return Some(format!(
            "Nothing was written to the SLC of {name}: the run does not show its use."
        ));
    }
    let filled = show::percent(programmed as f64 / run.slc_bytes as f64);
    let smaller = field.smaller_slc(programmed, run.slc_bytes).map(show::size);
    let advice = match (passes, smaller) {
        (Some(passes), Some(slc)) => {
            format!("Replay more with --passes {passes}, or take less SLC with --slc {slc}")
        }
        (Some(passes), None) => format!("Replay more with --passes {passes}"),
        (None, Some(slc)) => format!("Take less SLC with --slc {slc}"),
        (None, None) => "Replay a trace that writes more".into(),
    };
    Some(format!(
        "The SLC of {name} was never filled: {filled} of it was programmed, so garbage collection in it costs nothing \
         yet. {advice}.",
    ))
}

/// If hardly anything of a disk is written, the rest is cold data, far more than on a real disk.
#[allow(clippy::cast_precision_loss)] // As above.
fn little_touched(field: &Field<'_>) -> Option<String> {
    let (first, exported) = (field.runs.first()?, field.setup.part.exported_bytes);
    let touched = first.bytes_touched;
    let share = touched as f64 / exported.max(1) as f64;
    if share >= TOUCHED_LEAST || touched == 0 {
        return None;
    }
    let advice = match field.smaller_disk(first.bytes_packed) {
        Some(fitting) => format!(
            "Use --capacity {} --fit pack for a disk about as large as the data",
            show::size(fitting)
        ),
        None => "Replay a trace that writes more of it".into(),
    };
    Some(format!(
        "Only {} of the disk was written ({} of {}): the rest is cold, and all spare blocks serve the written part. \
         {advice}.",
        show::percent(share),
        show::about(touched),
        show::short(exported)
    ))
}
