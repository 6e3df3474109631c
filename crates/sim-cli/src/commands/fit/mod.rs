//! `tandem fit chang`: workloads that agree with everything that a paper reports about its own, and their results in
//! the comparison.
//!
//! The traces of the paper were never published, and its description fits more than one workload. Each that agrees with
//! all of it is as good as any other, so the answer is an *envelope*: the speed-up over all workloads that agree. The
//! search ignores the results to be reproduced (RS, ES, the hybrid's rows of Table 3).
//!
//! # Modules
//!
//! - `candidate`: workloads, as points within stated bounds. `constraints`: the paper's statements as measures.
//!   `search`: from random candidates to those that fit.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

use clap::ValueEnum;
use sim::Failure;
use sim::input::synth::{self, Synth};

use crate::base::interrupt;
use crate::commands::repro::paper::{MONTH, RS, Workload};
use crate::flags::numbers;
use crate::output::table::{Edge, Table};

mod candidate;
mod constraints;
mod kept;
mod search;

use constraints::{CONSTRAINTS, Extent, Figures, FitRun, Lengths, Measured};
use kept::Kept;
use search::{Explored, Search, Tried};

/// The arguments of `fit`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The paper: chang is L.-P. Chang, "A Hybrid Approach to NAND-Flash-Based Solid-State Disks", 2010
    #[arg(value_enum, value_name = "PAPER")]
    paper: FitPaper,
    /// The workload of the paper: ntfs or ext3
    #[arg(value_enum, value_name = "WORKLOAD", default_value = "ntfs")]
    workload: FileSystem,
    /// Independent searches, each from its own random workloads
    #[arg(long, default_value_t = 8, value_parser = numbers::some::<u32>, value_name = "N")]
    starts: u32,
    /// Candidates to try in short runs of a second or two, over all starts
    #[arg(long, default_value_t = 2400, value_parser = numbers::some::<u32>, value_name = "N")]
    tries: u32,
    /// Candidates of each start to run at the paper's length, 5 to 30 seconds each
    #[arg(long, default_value_t = 60, value_parser = numbers::some::<u32>, value_name = "N")]
    months: u32,
    /// Requests of a short run
    #[arg(long, default_value_t = SHORT, value_parser = numbers::within::<u64>(1_000, u64::MAX), value_name = "N")]
    short: u64,
    /// Keep all measurements in this file, and reuse those in it, so that a stopped search resumes
    #[arg(long, value_name = "FILE")]
    kept: Option<PathBuf>,
    /// Requests of each run, by default a month as in the paper; the run on C1 has at most 300,000
    #[arg(long, default_value_t = MONTH, value_parser = numbers::within::<u64>(1_000, u64::MAX), value_name = "N")]
    requests: u64,
    /// The seed of the candidates
    #[arg(long, default_value_t = 1, value_parser = numbers::any::<u64>, value_name = "S")]
    seed: u64,
    /// Workloads in parallel; by default one for each core. The result does not depend on it
    #[arg(long, value_name = "N", value_parser = numbers::any::<NonZeroUsize>)]
    jobs: Option<NonZeroUsize>,
    /// Do not search: measure this synthetic workload (synth:NAME) and report how well it agrees
    #[arg(long, value_parser = synthetic, value_name = "WORKLOAD",
          conflicts_with_all = ["starts", "tries", "months", "short", "kept", "requests", "seed", "jobs"])]
    check: Option<String>,
}

/// Papers whose workloads can be searched for.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum FitPaper {
    /// The hybrid of SLC log and MLC block chains
    Chang,
}

/// Its workloads.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum FileSystem {
    /// A laptop under Windows XP
    Ntfs,
    /// The same under Linux
    Ext3,
}

/// The name of a synthetic workload, with its prefix.
fn synthetic(text: &str) -> Result<String, String> {
    let synth = Synth::parse(text)?;
    let name = synth.name.trim_start_matches(synth::PREFIX);
    Ok(format!("{}{name}", synth::PREFIX))
}

/// Requests of a short run: a tenth of a month.
const SHORT: u64 = 240_000;

/// Requests of the run on C1, at most: its figure does not depend on the length.
const PART: u64 = 300_000;

/// Searches for workloads that fit, and reports their results in the comparison.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    interrupt::listen();
    let FitPaper::Chang = args.paper;
    let workload = match args.workload {
        FileSystem::Ntfs => Workload::Ntfs,
        FileSystem::Ext3 => Workload::Ext3,
    };
    if let Some(name) = &args.check {
        return check(workload, name, out);
    }
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok());
    let search = Search {
        workload,
        starts: args.starts.min(args.tries),
        tries: args.tries.div_ceil(args.starts),
        months: args.months,
        short: args.short.min(args.requests),
        month: args.requests,
        part: args.requests.min(PART),
        seed: args.seed,
        jobs: jobs.map_or(1, NonZeroUsize::get),
        kept: args.kept.as_deref().map_or_else(|| Ok(Kept::nowhere()), Kept::open)?,
    };
    let Explored { tried: count, months: tried } = search.run()?;
    let fitting: Vec<&Tried> = tried.iter().filter(|tried| tried.fits()).collect();
    let name = workload.name();
    writeln!(
        out,
        "{name}: {count} workloads tried, {} agree with the paper, of {} tried over a month\n",
        fitting.len(),
        tried.len()
    )?;
    match tried.first() {
        None => writeln!(out, "None was near enough to try it over a month.")?,
        Some(best) => {
            constraints_of(workload, &best.measured, "nearest", out)?;
            if fitting.is_empty() {
                writeln!(out, "\nNone agrees with all of it. The nearest, above, is")?;
                writeln!(out, "'{}'", search.name(best))?;
            } else {
                envelope(workload, &search, fitting, out)?;
            }
        }
    }
    if interrupt::is_requested() {
        let done = format!("{count} of {} workloads were tried", args.tries);
        return Err(Failure::Interrupted(done));
    }
    Ok(())
}

/// How far one workload agrees, and its results.
fn check(workload: Workload, name: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let figures = constraints::measure(workload, Lengths { month: name, part: name }, Extent::All)?;
    constraints_of(workload, &figures, "measured", out)?;
    let shown = |what| figures.get(what).unwrap_or(f64::NAN);
    writeln!(
        out,
        "\n32,768 entries turn {:.1} % of the writes away. RS on C3: {:.2}; the paper: {:.2}; ES {:.1} %, alpha {:.3}, \
         p2 {:.4}",
        shown(Measured::TurnedAway),
        shown(Measured::Rs),
        told(workload),
        shown(Measured::Es) * 100.0,
        shown(Measured::Alpha),
        shown(Measured::HybridP2),
    )?;
    Ok(())
}

/// RS on C3 in the paper.
fn told(workload: Workload) -> f64 {
    let told = RS.iter().find(|(device, of, _)| *device == "c3" && *of == workload);
    told.map_or(f64::NAN, |(_, _, rs)| *rs)
}

/// The paper's statements, and how one workload agrees with them.
fn constraints_of(
    workload: Workload,
    figures: &Figures,
    title: &'static str,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut table = Table::new([
        ("", Edge::Left),
        ("from", Edge::Right),
        ("to", Edge::Right),
        (title, Edge::Right),
        ("off by", Edge::Right),
    ]);
    for constraint in CONSTRAINTS {
        let Some((least, most)) = constraint.bounds(workload) else { continue };
        let measured = figures.get(constraint.what);
        let off = match measured {
            Some(value) if constraint.miss(workload, value, FitRun::Month) > 0.0 => {
                format!(
                    "{:.0} %",
                    (constraint.miss(workload, value, FitRun::Month).exp() - 1.0) * 100.0
                )
            }
            Some(_) => "-".into(),
            None => "not tried".into(),
        };
        let shown = |value: f64| format!("{value:.3}");
        let measured = measured.map_or_else(|| "-".into(), shown);
        table.row([constraint.title.into(), shown(least), shown(most), measured, off]);
    }
    Ok(table.write(out)?)
}

/// The speed-up over all that fit.
fn envelope(
    workload: Workload,
    search: &Search,
    mut fitting: Vec<&Tried>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let rs = |tried: &Tried| tried.measured.get(Measured::Rs).unwrap_or(f64::NAN);
    fitting.sort_by(|one, other| rs(one).total_cmp(&rs(other)));
    let median = fitting[fitting.len() / 2];
    writeln!(
        out,
        "\nRS on C3 over all that agree: {:.2} at least, {:.2} in the middle, {:.2} at most; the paper: {:.2}",
        rs(fitting[0]),
        rs(median),
        rs(fitting[fitting.len() - 1]),
        told(workload),
    )?;
    // In quotes, for shells.
    writeln!(out, "The one in the middle: '{}'", search.name(median))?;
    writeln!(out, "All of them:")?;
    for tried in fitting {
        let shown = |what| tried.measured.get(what).unwrap_or(f64::NAN);
        writeln!(
            out,
            "start {}: RS {:.3}, ES {:.1} %, alpha {:.3}, p2 {:.4}, {:.1} % turned away  '{}'",
            tried.start + 1,
            shown(Measured::Rs),
            shown(Measured::Es) * 100.0,
            shown(Measured::Alpha),
            shown(Measured::HybridP2),
            shown(Measured::TurnedAway),
            search.name(tried)
        )?;
    }
    Ok(())
}
