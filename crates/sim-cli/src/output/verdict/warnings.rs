//! What a run cannot show, and what to do about it.

use ftl_iface::Region;
use nand_model::part::Part;
use sim::engine::comparison;
use sim::engine::result::{ByVerb, RunResult, ratio};
use sim::engine::systems::{self, SLC_MODE, part_name};
use sim::input::device::Fill;
use sim::input::synth::PREFIX;
use sim::show;

use super::field::Field;
use super::proposals::SmallerDisk;

/// The share of the disk that must be written for a meaningful run.
const TOUCHED_LEAST: f64 = 0.1;

/// From this share on, it makes little difference which part of the disk is written.
const TOUCHED_MOST: f64 = 0.9;

/// The most passes that finish in reasonable time.
const PASSES_MOST: u64 = 200;

/// How often a memory must be written over until speed and life hardly change any more.
const TIMES_LEAST: f64 = 3.0;

/// From this share of the response time on, requests that wait for earlier ones say how overloaded a disk is.
const OVERLOADED: f64 = 0.5;

/// The causes of work that makes room.
const MAKES_ROOM: [&str; 2] = ["gc", "write_back"];

/// The warnings on runs on one device: one for each cause, with all the systems that it concerns.
pub(super) fn of(field: &Field<'_>) -> Vec<String> {
    let left_out = field.left_out.iter().map(|told| format!("{told}."));
    let mut warnings: Vec<String> = left_out.collect();
    warnings.extend(never_used(field));
    warnings.extend(never_filled(field));
    let (idle, others): (Vec<_>, Vec<_>) = field.all().into_iter().partition(|run| is_idle(run));
    if !idle.is_empty() {
        warnings.push(format!(
            "Garbage collection never ran in {}, so its cost is not in these figures. {}.",
            named(field, &idle),
            replay_more(&idle, &field.setup.part),
        ));
    }
    warnings.extend(never_full(field));
    warnings.extend(unsteady(field, &others));
    warnings.extend(little_touched(field));
    warnings.extend(same_rounds(field));
    warnings.extend(overloaded(field));
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

/// The operations of a memory that make room in it.
fn making_room(run: &RunResult, part: &str) -> ByVerb {
    let Some(part) = run.parts.get(part) else { return ByVerb::default() };
    let causes = MAKES_ROOM.iter().filter_map(|cause| part.operations.get(*cause));
    causes.fold(ByVerb::default(), |sum, done| ByVerb {
        read: sum.read + done.read,
        program: sum.program + done.program,
        erase: sum.erase + done.erase,
    })
}

/// Whether pages were programmed, and nothing was done to make room for them.
fn is_idle(run: &RunResult) -> bool {
    let programs = run.parts.values().flat_map(|part| part.operations.values());
    let makes_room = run.parts.keys().any(|part| making_room(run, part) != ByVerb::default());
    // Memory that is written byte by byte needs no room.
    let is_flash = run.parts.contains_key(part_name(Region::Mlc))
        || run.parts.contains_key(part_name(Region::Slc));
    is_flash && programs.map(|done| done.program).sum::<u64>() > 0 && !makes_room
}

/// Caches of the MLC's own blocks that were never full: nothing went past them.
fn never_full(field: &Field<'_>) -> Option<String> {
    let programs = |run: &RunResult, part: &str| {
        let part = run.parts.get(part)?;
        Some(part.operations.values().map(|done| done.program).sum::<u64>())
    };
    let is_half_used = |run: &&RunResult| {
        programs(run, SLC_MODE).is_some_and(|programs| programs > 0)
            && programs(run, part_name(Region::Mlc)) == Some(0)
    };
    let runs: Vec<&RunResult> = field.all().into_iter().filter(is_half_used).collect();
    (!runs.is_empty()).then(|| {
        format!(
            "The cache of {} was never full: every write was as fast as one to SLC, and later ones will not be. {}.",
            named(field, &runs),
            replay_more(&runs, &field.setup.part)
        )
    })
}

/// Rounds repeat the requests of a generator, so they write the same sectors.
fn same_rounds(field: &Field<'_>) -> Option<String> {
    let first = field.runs.first().filter(|run| run.steady.is_some())?;
    let share = share_of(first.bytes_touched, field.setup.part.exported_bytes);
    let is_part = first.trace.contains(PREFIX) && (TOUCHED_LEAST..TOUCHED_MOST).contains(&share);
    is_part.then(|| {
        format!(
            "Each round writes the same {} of the disk, and is steady for these alone. With more requests=, a round \
             writes more of it.",
            show::percent(share)
        )
    })
}

/// In an open loop a disk that is too slow makes requests wait for each other without end.
fn overloaded(field: &Field<'_>) -> Option<String> {
    let share = |run: &RunResult| {
        let (waiting, all) = (run.response_by_cause_us.all().waiting, run.response_us.total);
        (all > 0.0).then(|| waiting / all)
    };
    let all = field.all();
    let runs = all.iter().filter(|run| run.open_loop);
    let runs: Vec<&RunResult> =
        runs.filter(|run| share(run).is_some_and(|share| share > OVERLOADED)).copied().collect();
    (!runs.is_empty()).then(|| {
        format!(
            "Most of the response time of {} is waiting for earlier requests: the disk is too slow for bursts of the \
             recording, and small differences between systems become large ones. Without --open-loop, each request \
             counts by itself.",
            named(field, &runs)
        )
    })
}

/// How to replay enough for all these runs.
fn replay_more(runs: &[&RunResult], part: &Part) -> String {
    if runs.iter().any(|run| run.partial) {
        return "Let the replay come to its end".into();
    }
    let passes: Option<Vec<u64>> = runs.iter().map(|run| passes(run, part)).collect();
    match passes.and_then(|passes| passes.into_iter().max()) {
        Some(passes) => format!("Replay more: --passes {passes}"),
        None => write_more(runs).into(),
    }
}

/// How to have more written, where more passes do not help.
fn write_more(runs: &[&RunResult]) -> &'static str {
    let is_synthetic = runs.iter().all(|run| run.trace.contains(PREFIX));
    if is_synthetic {
        "Replay more, with more requests="
    } else {
        "Replay a trace that writes more"
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
    if making_room(run, part_name(Region::Slc)).erase > 0 {
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

/// The memory that holds most of a disk.
fn main_memory(part: &Part) -> Region {
    if part.geometry.mlc().is_some() { Region::Mlc } else { Region::Slc }
}

/// How often the main memory was written over; `None` if it was not.
fn times_over(run: &RunResult, part: &Part) -> Option<f64> {
    let region = main_memory(part);
    let programs = run.region(region).pages.programs();
    ratio(programs, part.geometry.region(region)?.pages()).filter(|times| *times > 0.0)
}

/// Whether a run is so short that its speed and life may still change.
pub(crate) fn is_short(run: &RunResult, part: &Part) -> bool {
    run.steady.is_none() && times_over(run, part).is_some_and(|times| times < TIMES_LEAST)
}

/// Runs so short that a longer one may have another speed, and another life.
fn unsteady(field: &Field<'_>, runs: &[&RunResult]) -> Option<String> {
    let part = &field.setup.part;
    let main = main_memory(part);
    let short = runs.iter().filter(|run| is_short(run, part));
    let short: Vec<&RunResult> = short.copied().collect();
    let times = short.iter().filter_map(|run| times_over(run, part));
    let most = times.reduce(f64::max)?;
    let most = if most < 0.01 { "less than 0.01".into() } else { format!("at most {most:.2}") };
    let advice = if short.iter().any(|run| run.partial) {
        "Let the replay come to its end"
    } else {
        "`--steady` without `--passes` replays until the write amplification is stable"
    };
    let whose = if short.len() == field.all().len() {
        String::new()
    } else {
        format!(" of {}", named(field, &short))
    };
    Some(format!(
        "Speed and life{whose} may still change: the {main} was written over {most} times. {advice}.",
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
fn never_filled(field: &Field<'_>) -> Option<String> {
    let mut unfilled = all_unfilled(field);
    unfilled.retain(|(_, lacking)| lacking.programmed > 0);
    let shares = unfilled
        .iter()
        .map(|(run, lacking)| (lacking.programmed, share_of(lacking.programmed, run.slc_bytes)));
    let least = shares.clone().min_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let most = shares.map(|(_, share)| share).fold(0.0, f64::max);
    let [from, to] = [least.1, most].map(share_told);
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
        (None, None) => write_more(&runs).into(),
    };
    Some(format!(
        "The SLC of {} was never filled: {filled} of it was programmed, so garbage collection in it costs less \
         than it will. {advice}.",
        systems_of(&runs)
    ))
}

fn share_told(share: f64) -> String {
    if share < 0.001 { "less than 0.1 %".into() } else { show::percent(share) }
}

#[allow(clippy::cast_precision_loss)] // Shares are shown with few digits.
fn share_of(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// If hardly anything of a disk is written, the rest is cold data, far more than on a real disk.
fn little_touched(field: &Field<'_>) -> Option<String> {
    let (first, exported) = (field.runs.first()?, field.setup.part.exported_bytes);
    let touched = first.bytes_touched;
    let share = share_of(touched, exported);
    if share >= TOUCHED_LEAST || touched == 0 {
        return None;
    }
    // On another disk, that would be another load.
    let is_scaled = first.trace.contains(PREFIX) && !first.trace.contains("footprint=");
    let is_enough = |disk: &SmallerDisk| share_of(touched, disk.capacity) >= TOUCHED_LEAST;
    let smaller = field.smaller_disk(first.bytes_packed).filter(is_enough);
    let advice = match smaller.filter(|_| !is_scaled) {
        Some(SmallerDisk { capacity, slc }) => {
            let slc = slc.map_or_else(String::new, |slc| format!(" --slc {}", show::size(slc)));
            format!(
                "Use --capacity {}{slc} --fit pack: two to four times the {} touched",
                show::size(capacity),
                show::about(first.bytes_packed)
            )
        }
        None => write_more(field.runs).into(),
    };
    let rest = match field.setup.fill {
        Fill::Nothing => "The rest is empty, and all free blocks serve",
        Fill::InOrder | Fill::Random => "The rest is cold, and all spare blocks serve",
    };
    Some(format!(
        "Little of the disk was written: {} ({} of {}). {rest} the written part. {advice}.",
        share_told(share),
        show::about(touched),
        show::short(exported)
    ))
}
