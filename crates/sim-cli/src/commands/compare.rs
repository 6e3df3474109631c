//! `tandem compare`: systems side by side, on the same requests, each in its own thread, and each that has an SLC
//! without it, too.

use std::io::Write;
use std::path::PathBuf;

use sim::Failure;
use sim::engine::comparison::{ComparedSystems, Comparison};
use sim::engine::replay::Outcome;
use sim::engine::result::RunResult;
use sim::engine::systems::Several;
use sim::input::device::Setup;
use sim::input::trace::fit::FitChoice;

use crate::base::terminal::Terminal;
use crate::base::{files, interrupt};
use crate::flags::options::Options;
use crate::output::ended;
use crate::output::json::{self, StandardOutput};
use crate::output::progress::Bar;
use crate::output::ranking::Pair;
use crate::output::table::{Edge, Table};
use crate::output::verdict::Field;
use crate::output::{csv, ranking, report, side_by_side, text};

/// The arguments of `compare`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The systems, separated by commas, or all; ratios are to the first [default: conventional,hybrid, and paged if
    /// the device has space for it; with an SLC of the MLC's own cells page-mlc,pslc,paged]
    #[arg(long, value_delimiter = ',', value_parser = Several::parse, value_name = "SYSTEMS")]
    systems: Vec<Several>,
    /// Write CSV, a line for each system with its SLC and without, to this file; `-` is standard output, which then
    /// replaces the table
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    options: Options,
}

/// Replays a trace on all systems and compares them with the first.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    args.options.check()?;
    one_output(args)?;
    args.csv
        .iter()
        .filter(|path| !files::is_output(path))
        .try_for_each(|path| files::check(path))?;
    let args = &fitting(args);
    let setup = args.options.setup()?;
    let mut compared_systems = ComparedSystems::default();
    let choose = || {
        compared_systems = ComparedSystems::of(&args.systems, &setup, &Terminal)?;
        Ok(compared_systems.all())
    };
    let outcomes = args.options.run_chosen(&setup, choose, &Bar::new())?;
    let all: Vec<&RunResult> = outcomes.iter().map(|outcome| &outcome.result).collect();
    let (systems, device) = (compared_systems.systems(), &args.options.device);
    let runs = &all[..systems.len()];
    let pairs = compared_systems.pairs(&all);
    let left_out = compared_systems.left_out();
    let field = Field { runs, pairs: &pairs, systems, left_out, device, setup: &setup };
    let verdict = field.verdict();
    report::write(&args.options, &field, &verdict, &outcomes)?;
    let asked = || args.options.files().chain(args.csv.as_deref());
    if write_files(args, &field, out)? == StandardOutput::Free {
        tell(args, &field, &outcomes, out)?;
        verdict.write(out)?;
        let is_read = all.iter().any(|run| run.verified_reads > 0);
        let verified = "All sectors read were verified: each held the data last written.";
        writeln!(out, "\n{}", if is_read { verified } else { "Nothing was read." })?;
    }
    ended::check(asked(), all.into_iter())
}

/// A trace of files is fitted to the device, if nothing else is asked for: what for, a note says.
fn fitting(args: &Args) -> Args {
    let mut args = args.clone();
    let workload = &mut args.options.workload;
    if workload.fit.is_none() && !workload.is_from_stdin() {
        workload.fit = Some(FitChoice::Auto);
    }
    args
}

/// Only one of the outputs can replace the table.
fn one_output(args: &Args) -> Result<(), Failure> {
    let asked = [&args.csv, &args.options.json];
    if asked.iter().all(|path| path.as_deref().is_some_and(files::is_output)) {
        let reason =
            "CSV and JSON cannot both go to standard output: give one of them a file's name";
        return Err(Failure::Arguments(reason.into()));
    }
    Ok(())
}

/// Writes the CSV and the JSON that were asked for.
fn write_files(
    args: &Args,
    field: &Field<'_>,
    out: &mut dyn Write,
) -> Result<StandardOutput, Failure> {
    let mut output = StandardOutput::Free;
    if let Some(path) = &args.csv {
        let text = as_csv(field);
        if files::is_output(path) {
            out.write_all(text.as_bytes())?;
            output = StandardOutput::Taken;
        } else if !interrupt::is_requested() {
            // Only a complete result is written to a file.
            files::replace(path, text.as_bytes())?;
        }
    }
    let by_json = match args.options.json {
        Some(_) => json::write(&args.options, &Comparison::of(field.runs, field.pairs), out)?,
        None => StandardOutput::Free,
    };
    Ok(if by_json == StandardOutput::Taken { by_json } else { output })
}

/// The runs as text, side by side.
fn tell(
    args: &Args,
    field: &Field<'_>,
    outcomes: &[Outcome],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let Some(first) = field.runs.first() else { return Ok(()) };
    text::heading(first, &args.options, field.setup, out)?;
    let all: Vec<&RunResult> = outcomes.iter().map(|outcome| &outcome.result).collect();
    table(&all, out)?;
    hardware(&all, field.setup, out)?;
    ratios(field.runs, first, out)
}

/// One line per run, below a line of names.
fn as_csv(field: &Field<'_>) -> String {
    let names = csv::FIGURES.iter().map(|(name, _)| *name);
    let mut text = csv::line(["device"].into_iter().chain(names).chain(["slc_gain"]));
    for run in &field.all() {
        let ratios = field.runs.first().map(|first| run.against(first));
        let figures = csv::figures(run, ratios.as_ref());
        let pair = field.pairs.iter().find(|pair| std::ptr::eq(pair.with, *run));
        let gain = pair.and_then(Pair::gain).map_or_else(String::new, |gain| gain.to_string());
        let device = [field.setup.part.name.clone()].into_iter();
        text += &csv::line(device.chain(figures).chain([gain]));
    }
    text
}

fn table(runs: &[&RunResult], out: &mut dyn Write) -> Result<(), Failure> {
    let labels = ranking::labels(runs).into_iter().map(|label| (label, Edge::Right));
    let mut table = Table::new([(String::new(), Edge::Left)].into_iter().chain(labels));
    for row in side_by_side::rows(runs) {
        table.row(row);
    }
    Ok(table.write(out)?)
}

/// Names the memories of systems that use others than the device's.
fn hardware(runs: &[&RunResult], setup: &Setup, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new([("", Edge::Left), ("", Edge::Left)]);
    let others = text::other_hardware(runs.iter().copied(), setup);
    if others.is_empty() {
        return Ok(());
    }
    for row in others {
        table.row(row);
    }
    writeln!(out, "\nSystems whose hardware is not the device's:")?;
    Ok(table.write_rows(out)?)
}

/// So many systems beside the first have their ratios explained, each by itself.
const EXPLAINED: usize = 2;

/// The paper's ratios to the first system.
fn ratios(runs: &[&RunResult], first: &RunResult, out: &mut dyn Write) -> Result<(), Failure> {
    let others = &runs[1..];
    if others.len() <= EXPLAINED {
        return others.iter().try_for_each(|run| explain(run, first, out));
    }
    writeln!(out, "\nAgainst {}:", first.system)?;
    let names = others.iter().map(|run| (run.system.as_str(), Edge::Right));
    let mut table = Table::new([("", Edge::Left)].into_iter().chain(names));
    for row in side_by_side::ratio_rows(others, first) {
        table.row(&row[..row.len() - 1]);
    }
    Ok(table.write(out)?)
}

/// Explains the paper's ratios of a system.
fn explain(run: &RunResult, first: &RunResult, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "\n{} against {}:", run.system, first.system)?;
    let mut table = Table::new([("", Edge::Left), ("", Edge::Right), ("", Edge::Left)]);
    for row in side_by_side::ratio_rows(&[run], first) {
        table.row(row);
    }
    Ok(table.write_rows(out)?)
}
