//! `tandem compare`: systems side by side, on the same requests, each in its own thread.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use crate::base::{Failure, files, interrupt};
use crate::engine::replay;
use crate::engine::result::{Ratios, RunResult};
use crate::engine::systems::{Chosen, Several, hardware_name, has_all};
use crate::input::device::Setup;
use crate::input::options::Options;
use crate::output::progress::Bar;
use crate::output::table::{Edge, Table};
use crate::output::{csv, json, report, side_by_side, text, verdict};

/// The arguments of `compare`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The systems, separated by commas, or all; ratios are to the first [default: conventional,hybrid, and paged if
    /// the device has space for it]
    #[arg(long, value_delimiter = ',', value_parser = Several::parse, value_name = "SYSTEMS")]
    systems: Vec<Several>,
    /// Write CSV, a line for each system, to this file; `-` is standard output, which then replaces the table
    #[arg(long, value_name = "FILE.csv", conflicts_with = "json")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    options: Options,
}

/// A comparison, as in its JSON.
#[derive(Debug, Serialize)]
struct Comparison<'a> {
    runs: &'a [RunResult],
    ratios: BTreeMap<&'a str, Ratios>,
}

/// Those of the named systems that fit the device, or the usual ones.
fn systems(named: &[Several], setup: &Setup) -> Result<Vec<Chosen>, Failure> {
    let usual =
        if named.is_empty() { Several::usual().map_err(Failure::Arguments)? } else { Vec::new() };
    let mut systems: Vec<Chosen> = Vec::new();
    for several in named.iter().chain(&usual) {
        systems.extend(several.on(setup)?);
    }
    if systems.is_empty() {
        return Err(Failure::Unfit("no system fits the device: see above".into()));
    }
    for (at, system) in systems.iter().enumerate() {
        if systems[..at].iter().any(|other| other.name == system.name) {
            let reason =
                format!("`{}` is named twice: a comparison has each system once", system.name);
            return Err(Failure::Arguments(reason));
        }
    }
    Ok(systems)
}

/// Replays a trace on all systems and compares them with the first.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    args.options.check()?;
    args.csv
        .iter()
        .filter(|path| !files::is_output(path))
        .try_for_each(|path| files::check(path))?;
    let setup = args.options.device.setup()?;
    let choose = || systems(&args.systems, &setup);
    let outcomes = replay::run_chosen(&args.options, &setup, choose, &Bar::new())?;
    report::write(&args.options, &setup, &outcomes)?;
    let runs: Vec<RunResult> = outcomes.into_iter().map(|outcome| outcome.result).collect();
    let Some(first) = runs.first() else {
        return Ok(()); // The command line names at least one system.
    };
    let asked = args.options.files().chain(args.csv.as_deref());
    if let Some(path) = &args.csv {
        let text = as_csv(&runs, first, &setup.part.name);
        if files::is_output(path) {
            out.write_all(text.as_bytes())?;
            return replay::ended(asked, runs.iter());
        }
        // Only a complete result is written to a file.
        if !interrupt::is_requested() {
            files::replace(path, text.as_bytes())?;
        }
    }
    let ratios = runs.iter().map(|run| (run.system.as_str(), run.against(first))).collect();
    let comparison = Comparison { runs: &runs, ratios };
    if json::write(&args.options, &comparison, out)? {
        return replay::ended(asked, runs.iter());
    }
    text::heading(first, &args.options, &setup, out)?;
    table(&runs, out)?;
    hardware(&runs, &setup, out)?;
    for run in &runs[1..] {
        writeln!(out)?;
        explain(run, first, out)?;
    }
    verdict::of(&runs.iter().collect::<Vec<_>>(), &setup.part).write(out)?;
    writeln!(out, "\nAll sectors read were verified: each held the data last written.")?;
    replay::ended(asked, runs.iter())
}

/// One line per run, below a line of names.
fn as_csv(runs: &[RunResult], first: &RunResult, device: &str) -> String {
    let names = csv::FIGURES.iter().map(|(name, _)| *name);
    let mut text = csv::line(["device"].into_iter().chain(names));
    for run in runs {
        let ratios = run.against(first);
        let figures = csv::figures(run, Some(&ratios));
        text += &csv::line([device.to_owned()].into_iter().chain(figures));
    }
    text
}

fn table(runs: &[RunResult], out: &mut dyn Write) -> Result<(), Failure> {
    let systems = runs.iter().map(|run| (run.system.as_str(), Edge::Right));
    let mut table = Table::new([("", Edge::Left)].into_iter().chain(systems));
    let runs: Vec<&RunResult> = runs.iter().collect();
    for row in side_by_side::rows(&runs) {
        table.row(row);
    }
    Ok(table.write(out)?)
}

/// Names the memories of systems that use others than the device's.
fn hardware(runs: &[RunResult], setup: &Setup, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new([("", Edge::Left), ("", Edge::Left)]);
    let others = runs.iter().filter(|run| !has_all(&setup.part, &run.parts));
    let mut any = false;
    for run in others {
        table.row([run.system.clone(), hardware_name(&run.parts)]);
        any = true;
    }
    if any {
        writeln!(out, "\nSystems whose hardware is not the device's:")?;
        table.write_rows(out)?;
    }
    Ok(())
}

/// Explains the paper's ratios.
fn explain(run: &RunResult, first: &RunResult, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{} against {}:", run.system, first.system)?;
    let mut table = Table::new([("", Edge::Left), ("", Edge::Right), ("", Edge::Left)]);
    for row in side_by_side::ratio_rows(run, first) {
        table.row(row);
    }
    Ok(table.write_rows(out)?)
}
