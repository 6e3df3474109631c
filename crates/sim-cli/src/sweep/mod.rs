//! `tandem sweep`: a plan's runs, on all cores, and a table of their results.
//!
//! ```text
//!   plan.toml ──▶ runs ──▶ a result's file each ──▶ table on standard output, table.csv, table.json, report.html
//!                   ▲              │
//!                   └── what is there is not run again
//! ```
//!
//! A result's file is whole or not there, so that a sweep may be killed whenever one likes; the same command goes on
//! where it was. Machines share a sweep by `--shard`: copy the files of `runs` together, and the same command without
//! it collects them.
//!
//! # Rooms
//!
//! - `plan`: from TOML to runs. `names`: under which name a result is kept. `collect`: from results to tables.
//!   `page`: the report.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::replay::{self, Outcome, Progress};
use crate::{Failure, files, interrupt};

mod collect;
mod names;
mod page;
mod plan;

use collect::Row;
use plan::{Plan, Run};

/// What was typed after `sweep`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The plan: lists of devices, SLC sizes, systems, traces and seeds, as TOML
    #[arg(value_name = "PLAN.toml")]
    plan: PathBuf,
    /// The folder for the results; it is made if need be
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Runs at a time; all cores if left out. A run of a 20-GiB device takes up to 150 MB of memory
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Do each N-th run from the I-th on, and leave the others to other machines
    #[arg(long, value_parser = Shard::parse, value_name = "I/N")]
    shard: Option<Shard>,
}

/// Which of the runs are done here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shard {
    /// From 1 to `of`.
    number: usize,
    of: usize,
}

impl Shard {
    fn parse(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            Some(Self { number: number.parse().ok()?, of: of.parse().ok()? })
        });
        let possible = numbers.filter(|shard| (1..=shard.of).contains(&shard.number));
        possible.ok_or_else(|| "write I/N with I from 1 to N, as in 2/8".into())
    }

    const fn has(self, run: usize) -> bool {
        run % self.of == self.number - 1
    }
}

/// The folder of a sweep.
struct Folder<'a> {
    path: &'a Path,
}

impl Folder<'_> {
    /// The result's file of a run.
    fn result(&self, run: &Run) -> PathBuf {
        self.path.join("runs").join(format!("{}.json", run.id))
    }

    fn make(&self) -> Result<(), Failure> {
        let path = self.path.join("runs");
        std::fs::create_dir_all(&path).map_err(|reason| Failure::File { path, reason })
    }
}

/// Does what is left of the plan and collects what is there.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let plan = Plan::load(&args.plan)?;
    let folder = Folder { path: &args.out };
    folder.make()?;
    interrupt::listen();
    let shard = args.shard.unwrap_or(Shard { number: 1, of: 1 });
    let left: Vec<&Run> = (0..plan.runs.len())
        .filter(|number| shard.has(*number))
        .map(|number| &plan.runs[number])
        .filter(|run| collect::read(&folder.result(run)).is_none())
        .collect();
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok());
    let failures = work(&left, jobs.map_or(1, NonZeroUsize::get), &folder);
    let rows = collect::rows(&plan, &folder);
    collect::write(&plan, &rows, &folder)?;
    page::write(&plan, &rows, &folder)?;
    tell(&plan, &rows, &folder, out)?;
    ended(&left, failures)?;
    let (done, all) = (rows.len(), plan.runs.len());
    if interrupt::is_requested() && done < all {
        let kept =
            format!("{done} of {all} runs are done and kept; the same command does the rest");
        return Err(Failure::Interrupted(kept));
    }
    Ok(())
}

/// Says what is there, and what is not.
fn tell(
    plan: &Plan,
    rows: &[Row<'_>],
    folder: &Folder<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    collect::table(rows, out)?;
    let (done, all) = (rows.len(), plan.runs.len());
    let path = folder.path.display();
    writeln!(
        out,
        "\n{done} of {all} runs are in {path}, with table.csv, table.json and report.html."
    )?;
    if done < all {
        let hint = "the same command, without --shard, goes on where this one ended";
        writeln!(out, "PARTIAL: {} are missing; {hint}.", all - done)?;
    }
    Ok(())
}

/// A run that failed, by its place among those that were left.
type Failed = (usize, Failure);

/// Does the runs, so many at a time. A run that fails does not keep the others from being done.
fn work(left: &[&Run], jobs: usize, folder: &Folder<'_>) -> Vec<Failed> {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let bar = bar(left.len());
    thread::scope(|scope| {
        for _ in 0..jobs.min(left.len()) {
            scope.spawn(|| {
                while !interrupt::is_requested() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(run) = left.get(number) else { break };
                    if let Err(failure) = one(run, folder) {
                        let mut failures =
                            failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                        failures.push((number, failure));
                    }
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    let mut failures = failures.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    failures.sort_by_key(|(number, _)| *number);
    failures
}

fn one(run: &Run, folder: &Folder<'_>) -> Result<(), Failure> {
    let systems = std::slice::from_ref(&run.system);
    let outcomes = match replay::run_all(&run.options, &run.setup, systems, &Progress::hidden()) {
        // Ctrl-C: the run is left for another time.
        Err(Failure::Interrupted(_)) => return Ok(()),
        outcomes => outcomes?,
    };
    for Outcome { mut result, .. } in outcomes {
        if !result.partial {
            result.trace.clone_from(&run.trace);
            files::replace(&folder.result(run), &replay::json(&result))?;
        }
    }
    Ok(())
}

/// A bar on standard error, if that is a terminal.
fn bar(runs: usize) -> ProgressBar {
    let target = ProgressDrawTarget::stderr();
    let bar = ProgressBar::with_draw_target(Some(runs as u64), target);
    // The template is the program's own; a test draws it.
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style);
    }
    bar
}

const TEMPLATE: &str = "{bar:30} {pos} of {len} runs, {eta} left";

/// The sweep's own end: that of the worst of its runs.
fn ended(left: &[&Run], failures: Vec<Failed>) -> Result<(), Failure> {
    let count = failures.len();
    let mut reasons = String::new();
    let mut violated = false;
    for (number, failure) in failures {
        violated |= failure.exit_code() == 1;
        let run = left[number];
        let place = [run.system.name.as_str(), " on ", &run.device, ", ", &run.trace].concat();
        reasons += &["\n  ", &place, ": ", &failure.to_string()].concat();
    }
    let summary = format!("{count} of {} runs failed:{reasons}", left.len());
    match (count, violated) {
        (0, _) => Ok(()),
        (_, true) => Err(Failure::Violation(summary)),
        (_, false) => Err(Failure::Arguments(summary)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_part_the_runs_without_rest() {
        let shards: Vec<Shard> =
            (1..=3).map(|number| Shard::parse(&format!("{number}/3")).unwrap()).collect();
        for run in 0..20 {
            assert_eq!(shards.iter().filter(|shard| shard.has(run)).count(), 1, "{run}");
        }
        for wrong in ["", "1", "0/3", "4/3", "1/0", "a/b", "-1/2"] {
            assert!(Shard::parse(wrong).unwrap_err().contains("2/8"), "{wrong}");
        }
    }

    #[test]
    fn the_template_can_be_drawn() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
