//! What a run cannot show, and what to do about it.

use ftl_iface::Region;
use nand_model::part::Part;

use crate::result::RunResult;
use crate::show;

/// The share of the disk that must be written for a meaningful run.
const TOUCHED_LEAST: f64 = 0.1;

/// The most passes that finish in reasonable time.
const PASSES_MOST: u64 = 200;

/// The least disk that is proposed.
const DISK_LEAST: u64 = 256 << 20;

/// Mean erases of a block from which on a lifetime is more than a guess.
const ERASES_LEAST: f64 = 0.02;

/// The warnings on runs on one device.
pub(super) fn of(runs: &[&RunResult], part: &Part) -> Vec<String> {
    let mut warnings = Vec::new();
    for run in runs {
        warnings.extend(never_filled(run, part));
    }
    let idle: Vec<&str> = runs
        .iter()
        .filter(|run| Region::ALL.iter().all(|region| run.region(*region).erases == 0))
        .map(|run| run.system.as_str())
        .collect();
    if !idle.is_empty() {
        warnings.push(format!(
            "Garbage collection never ran in {}: no block was erased, so its cost is not in these figures. {}.",
            show::listed(&idle, "and"),
            more_passes(runs[0], part),
        ));
    }
    warnings.extend(runs.iter().filter_map(|run| guessed(run, part)));
    warnings.extend(little_touched(runs, part));
    warnings
}

/// How to replay as much as a tenth of the disk, if passes can.
fn more_passes(run: &RunResult, part: &Part) -> String {
    let passes =
        u64::from(run.passes) * (part.exported_bytes / 10).div_ceil(run.bytes_written.max(1));
    let passes = passes.max(10 * u64::from(run.passes));
    if run.bytes_written > 0 && passes <= PASSES_MOST {
        format!("Replay more: --passes {passes}")
    } else {
        "Replay a trace that writes more".into()
    }
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
        more_passes(run, part)
    ))
}

/// A log that was never filled shows its gain but not its cost.
#[allow(clippy::cast_precision_loss)] // Shares are shown with few digits.
fn never_filled(run: &RunResult, part: &Part) -> Option<String> {
    // A chip of SLC alone has no log to be filled.
    part.geometry.mlc()?;
    let page = part.geometry.slc().filter(|_| run.slc_bytes > 0)?.page_bytes;
    let programmed = run.slc.pages.programs() * u64::from(page.get());
    if programmed >= run.slc_bytes {
        return None;
    }
    let filled = show::percent(programmed as f64 / run.slc_bytes as f64);
    let passes = (2 * run.slc_bytes).div_ceil(programmed.max(1)) * u64::from(run.passes);
    let smaller = (programmed / 4).max(1 << 20);
    let smaller = format!("--slc {}", show::size(1 << smaller.ilog2()));
    let advice = if passes <= PASSES_MOST {
        format!("Use --passes {passes} to fill it twice, or less of it with {smaller}")
    } else {
        format!("Use less of it with {smaller}")
    };
    Some(format!(
        "The SLC of {} was never filled: {filled} of it was programmed, so garbage collection in it costs nothing \
         yet. {advice}.",
        run.system
    ))
}

/// If hardly anything of a disk is written, the rest is cold data, far more than on a real disk.
#[allow(clippy::cast_precision_loss)] // As above.
fn little_touched(runs: &[&RunResult], part: &Part) -> Option<String> {
    let touched = runs.first()?.bytes_touched;
    let share = touched as f64 / part.exported_bytes.max(1) as f64;
    if share >= TOUCHED_LEAST || touched == 0 {
        return None;
    }
    let fitting = (2 * touched).next_power_of_two().max(DISK_LEAST);
    let advice = if fitting < part.exported_bytes {
        let fitting = show::size(fitting);
        format!("Use --capacity {fitting} --fit pack for a disk about as large as the data")
    } else {
        "Replay a trace that writes more of it".into()
    };
    Some(format!(
        "Only {} of the disk was written ({} of {}): the rest is cold, and all spare blocks serve the written part. \
         {advice}.",
        show::percent(share),
        show::about(touched),
        show::size(part.exported_bytes)
    ))
}
