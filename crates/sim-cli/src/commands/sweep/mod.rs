//! `tandem sweep`: a plan's runs, on all cores, and a table of their results.
//!
//! ```text
//!   plan.toml ──▶ runs ──▶ a result's file each ──▶ table on standard output, table.csv, table.json, report.html
//!                   ▲              │
//!                   └── what is there is not run again
//! ```
//!
//! A result's file is complete or absent, so a sweep may be killed at any time; the same command resumes it. Machines
//! share a sweep by `--shard`: copy the files of `runs` together, and the same command without it collects them. On a
//! cluster, `--on slurm` does all of that.
//!
//! # Modules
//!
//! Plans, runs and their results are the library's: [`sim::engine::sweep`].
//!
//! - `args`: arguments. `collect`: from results to tables. `which`: the system to take. `curves`: figures over the
//!   SLC's size. `advice`: how large it should be. `doubts`: what the runs cannot show. `page`: the report. `slurm`:
//!   sweeps on a cluster.

use std::io::Write;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sim::Failure;
use sim::engine::sweep::{self, Folder, Plan, Row, Run};

use crate::base::terminal::Terminal;
use crate::base::{files, interrupt};
use crate::output::json;
use crate::output::progress::Lines;
use crate::output::ranking::RULE;
use crate::output::table::write_sentence;

mod advice;
mod args;
mod collect;
mod curves;
mod doubts;
mod page;
mod slurm;
mod which;

use advice::OnDevice;
pub use args::Args;
use args::{Shard, Where};

/// Does the remaining runs of the plan and collects the existing results.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let plan = Plan::load(&args.plan)?;
    let folder = Folder { path: &args.out };
    folder.make()?;
    let is_left = |run: &Run| sweep::read(&folder.result(run)).is_none();
    if let Some(Where::Slurm) = args.cluster.on {
        let is_left: Vec<bool> = plan.runs.iter().map(is_left).collect();
        return slurm::submit(args, &folder, &is_left, out);
    }
    interrupt::listen();
    let shard = args.shard.unwrap_or(Shard { number: 1, of: 1 });
    let left: Vec<&Run> = (0..plan.runs.len())
        .filter(|number| shard.has(*number) && !args.collect)
        .map(|number| &plan.runs[number])
        .filter(|run| is_left(run))
        .collect();
    let (bar, lines) = (bar(left.len()), Lines::new());
    let failures = sweep::work(&left, args.jobs, &Terminal, |run, result| {
        if let Some(result) = result {
            files::replace(&folder.result(run), &json::text(&result))?;
        }
        bar.inc(1);
        lines.tell(&bar, || format!("{} of {} runs", bar.position(), left.len()));
        Ok(())
    });
    bar.finish_and_clear();
    let rows = sweep::rows(&plan, &folder);
    let devices = advice::by_device(&plan, &rows);
    if !rows.is_empty() {
        collect::write(&plan, &rows, &folder)?;
        page::write(&plan, &rows, &devices, &folder)?;
    }
    tell(&plan, &rows, &folder, out)?;
    answer(&plan, &devices, out)?;
    doubts(&rows, out)?;
    missing(rows.len(), plan.runs.len(), out)?;
    sweep::ended(&left, failures)?;
    let (done, all) = (rows.len(), plan.runs.len());
    if interrupt::is_requested() && done < all {
        let kept =
            format!("{done} of {all} runs are done and kept; the same command does the rest");
        return Err(Failure::Interrupted(kept));
    }
    Ok(())
}

/// Reports which results exist, and which are missing.
fn tell(
    plan: &Plan,
    rows: &[Row<'_>],
    folder: &Folder<'_>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (done, all) = (rows.len(), plan.runs.len());
    let path = folder.path.display();
    if done > 0 {
        collect::table(rows, out)?;
        let beside = "table.csv, table.json and report.html";
        writeln!(out, "\n{done} of {all} runs are in {path}, with {beside}.")?;
    } else {
        writeln!(out, "0 of {all} runs are in {path}.")?;
    }
    Ok(())
}

/// Says which system to take, and how large its SLC should be, or why that cannot be said.
fn answer(plan: &Plan, devices: &[OnDevice<'_, '_>], out: &mut dyn Write) -> Result<(), Failure> {
    let systems = which::said(devices);
    if !systems.is_empty() {
        writeln!(out, "\nWhich system has the most speed for the money?")?;
        for sentence in &systems {
            write_sentence(sentence, out)?;
        }
        write_sentence(RULE, out)?;
    }
    let answers = advice::said(devices);
    if !answers.is_empty() {
        writeln!(out, "\nHow large should the SLC be?")?;
        for sentence in &answers {
            write_sentence(sentence, out)?;
        }
        write_sentence(advice::MEANING, out)?;
    } else if let Some(reason) = advice::reason(plan).filter(|_| !devices.is_empty()) {
        writeln!(out, "For an answer to how large the SLC should be, {reason}.")?;
    }
    Ok(())
}

/// Says what the runs cannot show.
fn doubts(rows: &[Row<'_>], out: &mut dyn Write) -> Result<(), Failure> {
    let doubts = doubts::said(rows);
    if !doubts.is_empty() {
        writeln!(out, "\nWhat these runs cannot show:")?;
    }
    for sentence in &doubts {
        write_sentence(sentence, out)?;
    }
    Ok(())
}

/// Says how many results are missing.
fn missing(done: usize, all: usize, out: &mut dyn Write) -> Result<(), Failure> {
    if done < all {
        let hint = "the same command, without --shard or --collect, goes on where this one ended";
        writeln!(out, "PARTIAL: {} missing; {hint}.", all - done)?;
    }
    Ok(())
}

/// A bar on standard error, if that is a terminal; else lines take its place.
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
