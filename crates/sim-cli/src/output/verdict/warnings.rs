//! What a run cannot show, and what to do about it.

use ftl_iface::Region;
use sim::engine::result::{RunResult, ratio};
use sim::engine::systems::{SLC_MODE, part_name};
use sim::input::device::Fill;
use sim::input::synth::PREFIX;
use sim::show;

use super::enough::{
    Unfilled, could_settle, is_enough, is_idle, is_little, is_short, replay_more, times_over,
    unfilled, write_more,
};
use super::field::Field;
use super::proposals::SmallerDisk;

/// From this share on, it makes little difference which part of the disk is written.
const TOUCHED_MOST: f64 = 0.9;

/// From this share of the response time on, requests that wait for earlier ones say how overloaded a disk is.
const OVERLOADED: f64 = 0.5;

/// The warnings on runs on one device: one for each cause, with all the systems that it concerns.
pub(super) fn of(field: &Field<'_>) -> Vec<String> {
    let left_out = field.left_out.iter().map(|told| format!("{told}."));
    let mut warnings: Vec<String> = left_out.collect();
    warnings.extend(overloaded(field));
    warnings.extend(never_used(field));
    warnings.extend(never_filled(field));
    let (idle, others): (Vec<_>, Vec<_>) = field.all().into_iter().partition(|run| is_idle(run));
    warnings.extend(never_ran(field, &idle));
    warnings.extend(never_full(field));
    warnings.extend(unsteady(field, &others));
    warnings.extend(little_touched(field));
    warnings.extend(same_rounds(field));
    warnings
}

/// The systems of these runs, all of which have their SLC.
fn systems_of(runs: &[&RunResult]) -> String {
    show::listed(runs.iter().map(|run| run.system.as_str()), "and")
}

/// Runs in which nothing was moved to make room.
fn never_ran(field: &Field<'_>, idle: &[&RunResult]) -> Option<String> {
    (!idle.is_empty()).then(|| {
        format!(
            "Garbage collection never ran in {}: no block of data was erased, so its cost is not in these figures. {}.",
            field.named(idle),
            replay_more(field, idle),
        )
    })
}

/// Caches of the MLC's own blocks that were never full: nothing went past them.
fn never_full(field: &Field<'_>) -> Option<String> {
    let programs = |run: &RunResult, part: &str| Some(run.parts.get(part)?.pages().programs());
    let is_half_used = |run: &&RunResult| {
        programs(run, SLC_MODE).is_some_and(|programs| programs > 0)
            && programs(run, part_name(Region::Mlc)) == Some(0)
    };
    let runs: Vec<&RunResult> = field.all().into_iter().filter(is_half_used).collect();
    (!runs.is_empty()).then(|| {
        format!(
            "The cache of {} was never full: nothing was written past it, and what is will be slower and wear the \
             flash more. {}.",
            field.named(&runs),
            replay_more(field, &runs)
        )
    })
}

/// Rounds repeat the requests of a generator, so they write the same sectors.
fn same_rounds(field: &Field<'_>) -> Option<String> {
    let first = field.runs.first().filter(|run| run.steady.is_some())?;
    let share = share_of(first.bytes_touched, field.setup.part.exported_bytes);
    let is_part = first.trace.contains(PREFIX) && share < TOUCHED_MOST;
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
            field.named(&runs)
        )
    })
}

/// Runs so short that a longer one may have another speed, and another life.
fn unsteady(field: &Field<'_>, runs: &[&RunResult]) -> Option<String> {
    let short: Vec<&RunResult> = runs.iter().filter(|run| is_short(run)).copied().collect();
    let times = short.iter().filter_map(|run| times_over(run));
    let most = times.reduce(f64::max)?;
    let why = if short.iter().any(|run| run.steady.is_some()) {
        "pages of the main memory are still free that were free before".into()
    } else {
        // An upper bound is not rounded down.
        let most = (most * 100.0).ceil() / 100.0;
        format!("the main memory was programmed at most {most:.2} times over")
    };
    let advice = if short.iter().any(|run| run.partial) {
        "Let the replay come to its end"
    } else if !field.all().iter().all(|run| could_settle(run)) {
        write_more(&short)
    } else {
        "`--steady` without `--passes` replays until the write amplification is stable"
    };
    let whose = if short.len() == field.all().len() {
        String::new()
    } else {
        format!(" of {}", field.named(&short))
    };
    Some(format!("Speed and life{whose} may still change: {why}. {advice}."))
}

/// The runs whose SLC was not filled, each with what was.
fn all_unfilled<'a>(field: &Field<'a>) -> Vec<(&'a RunResult, Unfilled)> {
    let with = |run: &&'a RunResult| Some((*run, unfilled(run, field.setup)?));
    field.runs.iter().filter_map(with).collect()
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
    let shares = unfilled.iter().map(|(run, lacking)| share_of(lacking.programmed, run.slc_bytes));
    let least = shares.clone().reduce(f64::min)?;
    let most = shares.fold(0.0, f64::max);
    let [from, to] = [least, most].map(share_told);
    let filled = if from == to { from } else { format!("{from} to {to}") };
    let runs: Vec<&RunResult> = unfilled.iter().map(|(run, _)| *run).collect();
    let present = runs.iter().map(|run| run.slc_bytes).min().unwrap_or(0);
    let programmed = unfilled.iter().map(|(_, lacking)| lacking.programmed).min().unwrap_or(0);
    let smaller = field.smaller_slc(programmed, present).map(show::size);
    let advice = match smaller {
        Some(slc) => format!("{}; or take less SLC, with --slc {slc}", replay_more(field, &runs)),
        None => replay_more(field, &runs),
    };
    Some(format!(
        "The SLC of {} was never filled: metadata apart, the run programmed {filled} of it, so garbage collection in \
         it costs less than it will. {advice}.",
        systems_of(&runs)
    ))
}

fn share_told(share: f64) -> String {
    if share < 0.001 { "less than 0.1 %".into() } else { show::percent(share) }
}

fn share_of(part: u64, whole: u64) -> f64 {
    ratio(part, whole).unwrap_or(0.0)
}

/// If hardly anything of a disk is written, the rest is cold data, far more than on a real disk.
fn little_touched(field: &Field<'_>) -> Option<String> {
    let (first, exported) = (field.runs.first()?, field.setup.part.exported_bytes);
    let touched = first.bytes_touched;
    if !is_little(first, &field.setup.part) {
        return None;
    }
    // On another disk, that would be another load.
    let is_scaled = first.trace.contains(PREFIX) && !first.trace.contains("footprint=");
    let smaller = field.smaller_disk(first.bytes_packed);
    let smaller = smaller.filter(|disk| is_enough(touched, disk.capacity));
    let advice = match smaller.filter(|_| !is_scaled) {
        Some(SmallerDisk { capacity, slc }) => {
            let smaller = slc.map_or_else(String::new, |slc| format!(" --slc {}", show::size(slc)));
            let keeps_slc = slc.is_none() && field.runs.iter().any(|run| run.slc_bytes > 0);
            format!(
                "Use --capacity {}{smaller} --fit pack: two to four times the {} read or written{}",
                show::size(capacity),
                show::about(first.bytes_packed),
                if keeps_slc { ", with as much SLC as now" } else { "" }
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
        share_told(share_of(touched, exported)),
        show::about(touched),
        show::short(exported)
    ))
}
