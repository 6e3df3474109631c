//! What a run cannot show, and what to do about it.

use ftl_iface::Region;
use nand_model::part::Part;
use sim::engine::comparison;
use sim::engine::result::RunResult;
use sim::engine::systems;
use sim::input::synth::PREFIX;
use sim::show;

use super::field::Field;

/// The share of the disk that must be written for a meaningful run.
const TOUCHED_LEAST: f64 = 0.1;

/// The most passes that finish in reasonable time.
const PASSES_MOST: u64 = 200;

/// Mean cycles of the main memory from which on speed and life hardly change any more.
const CYCLES_LEAST: f64 = 1.0;

/// The warnings on runs on one device: one for each cause, with all the systems that it concerns.
pub(super) fn of(field: &Field<'_>) -> Vec<String> {
    let left_out = field.left_out.iter().map(|told| format!("{told}."));
    let mut warnings: Vec<String> = left_out.collect();
    warnings.extend(never_used(field));
    warnings.extend(never_filled(field));
    // What is written byte by byte is never erased.
    let is_idle = |run: &&RunResult| {
        let regions = Region::ALL.map(|region| run.region(region));
        let programs = regions.iter().any(|region| region.pages.programs() > 0);
        programs && regions.iter().all(|region| region.erases == 0)
    };
    let (idle, others): (Vec<_>, Vec<_>) = field.all().into_iter().partition(is_idle);
    if !idle.is_empty() {
        warnings.push(format!(
            "Garbage collection never ran in {}: no block was erased, so its cost is not in these figures. {}.",
            named(field, &idle),
            replay_more(&idle, &field.setup.part),
        ));
    }
    warnings.extend(unsteady(field, &others));
    warnings.extend(little_touched(field));
    warnings
}

/// The systems of these runs, with their SLC where both are compared.
fn named(field: &Field<'_>, runs: &[&RunResult]) -> String {
    let all = field.all();
    let is_of = |run: &RunResult| runs.iter().any(|other| std::ptr::eq(*other, run));
    let names = all.iter().zip(comparison::labels(&all)).filter(|(run, _)| is_of(run));
    let names: Vec<String> = names.map(|(run, label)| comparison::told(run, &label)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    show::listed(&names, "and")
}

/// The systems of these runs, all of which have their SLC.
fn systems_of(runs: &[&RunResult]) -> String {
    let names: Vec<&str> = runs.iter().map(|run| run.system.as_str()).collect();
    show::listed(&names, "and")
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

/// The passes that write a tenth of the disk and fill the SLC twice, if so many are reasonable. With `--steady` there
/// is no number of passes to propose.
fn passes(run: &RunResult, part: &Part) -> Option<u64> {
    if run.steady.is_some() {
        return None;
    }
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
    // What was written before the replay may have filled it.
    if run.slc.pages.gc_read > 0 {
        return None;
    }
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

/// Runs so short that a longer one may have another speed, and another life.
fn unsteady(field: &Field<'_>, runs: &[&RunResult]) -> Option<String> {
    let geometry = &field.setup.part.geometry;
    let cycles = |run: &RunResult| {
        let of = |region: &Region| {
            let pages = geometry.region(*region)?.pages();
            Some(run.region(*region).cycles(pages)).filter(|cycles| *cycles > 0.0)
        };
        of(&Region::Mlc).or_else(|| of(&Region::Slc))
    };
    let short = runs.iter().filter(|run| run.steady.is_none() && run.bytes_written > 0);
    let short = short.filter_map(|run| Some((*run, cycles(run)?)));
    let (short, cycles): (Vec<&RunResult>, Vec<f64>) =
        short.filter(|(_, cycles)| *cycles < CYCLES_LEAST).unzip();
    let most = cycles.into_iter().reduce(f64::max)?;
    let advice = if short.iter().any(|run| run.partial) {
        "Let the replay come to its end"
    } else if short.iter().any(|run| run.passes > 1) {
        "`--steady`, in place of `--passes`, replays until the write amplification is stable"
    } else {
        "`--steady` replays until the write amplification is stable"
    };
    let whose = if short.len() == field.all().len() {
        String::new()
    } else {
        format!(" of {}", named(field, &short))
    };
    Some(format!(
        "Speed and life{whose} may still change: the most worn memory was written only {most:.2} times. {advice}.",
    ))
}

/// The runs whose SLC was not filled, each with what was.
fn all_unfilled<'a>(field: &Field<'a>) -> Vec<(&'a RunResult, Unfilled)> {
    let part = &field.setup.part;
    field.runs.iter().filter_map(|run| Some((*run, unfilled(run, part)?))).collect()
}

/// An SLC in which nothing was written.
fn never_used(field: &Field<'_>) -> Option<String> {
    let unfilled = all_unfilled(field);
    let unused = unfilled.iter().filter(|(_, lacking)| lacking.programmed == 0);
    let unused: Vec<&RunResult> = unused.map(|(run, _)| *run).collect();
    (!unused.is_empty()).then(|| {
        let names = systems_of(&unused);
        format!("Nothing was written to the SLC of {names}: the run does not show its use.")
    })
}

/// A log that was never filled shows its gain but not its cost.
#[allow(clippy::cast_precision_loss)] // Shares are shown with few digits.
fn never_filled(field: &Field<'_>) -> Option<String> {
    let mut unfilled = all_unfilled(field);
    unfilled.retain(|(_, lacking)| lacking.programmed > 0);
    let shares = unfilled.iter().map(|(run, lacking)| {
        let share = lacking.programmed as f64 / run.slc_bytes as f64;
        (lacking.programmed, share)
    });
    let least = shares.clone().min_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let most = shares.map(|(_, share)| share).fold(0.0, f64::max);
    let [from, to] = [least.1, most].map(show::percent);
    let filled = if from == to { from } else { format!("{from} to {to}") };
    let runs: Vec<&RunResult> = unfilled.iter().map(|(run, _)| *run).collect();
    // What helps the one that wrote least helps all.
    let passes: Option<Vec<u64>> = unfilled.iter().map(|(_, lacking)| lacking.passes).collect();
    let passes = passes.and_then(|passes| passes.into_iter().max());
    let present = runs.iter().map(|run| run.slc_bytes).min().unwrap_or(0);
    let smaller = field.smaller_slc(least.0, present).map(show::size);
    let advice = match (passes, smaller) {
        (Some(passes), Some(slc)) => {
            format!("Replay more with --passes {passes}, or take less SLC with --slc {slc}")
        }
        (Some(passes), None) => format!("Replay more with --passes {passes}"),
        (None, Some(slc)) => format!("Take less SLC with --slc {slc}"),
        (None, None) => "Replay a trace that writes more".into(),
    };
    Some(format!(
        "The SLC of {} was never filled: {filled} of it was programmed, so garbage collection in it costs less \
         than it will. {advice}.",
        systems_of(&runs)
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
    // On another disk, that would be another load.
    let is_scaled = first.trace.contains(PREFIX) && !first.trace.contains("footprint=");
    let smaller = field.smaller_disk(first.bytes_packed).filter(|_| !is_scaled);
    let advice = match smaller {
        Some(fitting) => {
            format!("Use --capacity {} --fit pack: two to four times the data", show::size(fitting))
        }
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
