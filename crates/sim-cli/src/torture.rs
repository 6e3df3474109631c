//! `tandem torture`: power fails in every operation of a workload, and everything is compared after it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ftl_core::Cause;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use torture::report::{Count, cause_name};
use torture::{Cut, Cuts, Fate, Faults, Nested, Outcome, Plan, Setup, System};

use crate::Failure;
use crate::files;
use crate::interrupt;
use crate::replay;
use crate::show;
use crate::table::{Edge, Table};

/// What was typed after `torture`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The device: a built-in name, a device file, or `all` for every small one, each with and without a log
    #[arg(long, default_value = "tiny", value_name = "DEVICE")]
    device: String,
    /// How the FTL is configured: hybrid, conventional (no log), or small (everything as small as it can be)
    #[arg(long, default_value = "hybrid", value_parser = system, value_name = "SYSTEM")]
    system: System,
    /// Requests of the workload
    #[arg(long, default_value_t = 300, value_name = "N")]
    requests: u32,
    /// The first seed
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    /// Workloads, each with a seed of its own
    #[arg(long, default_value_t = 1, value_name = "N")]
    seeds: u32,
    /// Each fate of each operation (exhaustive), or about so many of them in each workload
    #[arg(long, default_value = "exhaustive", value_parser = cuts, value_name = "CUTS")]
    cuts: Cuts,
    /// These cuts alone, as a failure names them, each in the life that the one before began; tells what the device
    /// was asked before each violation
    #[arg(long, value_delimiter = ',', value_name = "OPERATION:FATE", conflicts_with = "cuts")]
    at: Vec<Cut>,
    /// Cut again within the mount that follows a cut, and after it; `every` tries all operations of each mount
    #[arg(long, value_parser = nested, default_missing_value = "some", num_args = 0..=1, value_name = "HOW")]
    nested: Option<Nested>,
    /// Faults beside the cuts: some of program, erase, mark, uncorrectable, factory, bits, beyond, all
    #[arg(long, default_value = "", value_name = "FAULTS", hide_default_value = true)]
    faults: String,
    /// Cut the format that comes before the workload, and not the workload
    #[arg(long)]
    format: bool,
    /// Keep and compare every byte, not only the stamps by which writes are told apart
    #[arg(long)]
    bytes: bool,
    /// Write the counts as JSON to a file, or to standard output with `-`
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn system(name: &str) -> Result<System, String> {
    let found = System::ALL.into_iter().find(|system| system.name() == name);
    found.ok_or_else(|| {
        format!("there is no system `{name}` here: take hybrid, conventional or small")
    })
}

fn cuts(text: &str) -> Result<Cuts, String> {
    match text {
        "exhaustive" => Ok(Cuts::Exhaustive),
        number => number
            .parse()
            .map(Cuts::Sample)
            .map_err(|_| "give a number of cuts, or `exhaustive`".into()),
    }
}

fn nested(how: &str) -> Result<Nested, String> {
    match how {
        "some" => Ok(Nested::USUAL),
        "every" => Ok(Nested::EVERY_MOUNT),
        other => Err(format!("`{other}` is neither `some` nor `every`")),
    }
}

/// Bytes exported from which on a single cut takes seconds.
const LARGE: u64 = 256 << 20;

/// Violations that are told in full; the others are counted.
const VIOLATIONS_TOLD: usize = 10;

/// Runs the torture. A violation is a failure of this command.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let unfit = |error: torture::setup::SetupError| Failure::Unfit(error.to_string());
    let setups = match args.device.as_str() {
        "all" => Setup::all().map_err(unfit)?,
        device => vec![Setup::new(device, args.system).map_err(unfit)?],
    };
    let faults =
        Faults::parse(&args.faults).map_err(|error| Failure::Arguments(error.to_string()))?;
    let cuts = if args.at.is_empty() { args.cuts.clone() } else { Cuts::At(args.at.clone()) };
    let plan = Plan {
        requests: args.requests,
        history: matches!(cuts, Cuts::At(_) | Cuts::Sample(0)),
        cuts,
        nested: args.nested,
        faults,
        bytes: args.bytes,
        format: args.format,
        faults_named: args.faults.clone(),
        ..Plan::default()
    };
    let seeds = args.seed..args.seed + u64::from(args.seeds);
    let progress = progress();
    let tried = progress.clone();
    interrupt::end_with(move || {
        let tried = show::count(tried.position());
        format!("{tried} cuts were tried; what they showed is told at the end only")
    });
    if let Some(note) = slow(&setups) {
        eprintln!("{note}");
    }
    let outcome = torture::torture(&setups, seeds, &plan, &|| progress.inc(1));
    progress.finish_and_clear();
    if let Some(path) = &args.json {
        write_json(path, &outcome, out)?;
    }
    if args.json.as_ref().is_none_or(|path| path.as_os_str() != "-") {
        tell(&outcome, out)?;
    }
    match outcome.violations.len() {
        0 => Ok(()),
        number => Err(Failure::Violation(format!(
            "{number} of the promises that were put to the test are broken"
        ))),
    }
}

/// A count on standard error, if that is a terminal.
fn progress() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    // The template is the program's own; a test draws it.
    if let Ok(style) = ProgressStyle::with_template("{human_pos} cuts, {per_sec}, {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// What is said before a run that will seem to stand still.
fn slow(setups: &[Setup]) -> Option<String> {
    let large = setups.iter().find(|setup| setup.part.exported_bytes > LARGE)?;
    let (name, bytes) = (&large.part.name, show::size(large.part.exported_bytes));
    Some(format!(
        "{name} exports {bytes}, and all of it is mounted and compared after each cut, so that one may take minutes: \
         try a small device first (--device tiny), or few cuts (--cuts 3)"
    ))
}

fn tell(outcome: &Outcome, out: &mut dyn Write) -> Result<(), Failure> {
    let tally = &outcome.tally;
    let mut table = columns("power failed in an operation for");
    for cause in Cause::ALL {
        row(&mut table, cause_name(cause), tally.by_cause(cause));
    }
    table.write(out)?;
    writeln!(out)?;
    let mut table = columns("and left");
    for (number, name) in Fate::ROWS.iter().enumerate() {
        row(&mut table, name, tally.by_fate(number));
    }
    row(&mut table, "all", tally.total());
    table.write(out)?;
    let Count { tried, lost, stuck } = tally.total();
    writeln!(
        out,
        "\n{} cuts, {} of them in the life after another: {} lost something, {} left a device that is stuck",
        show::count(tried),
        show::count(tally.nested),
        show::count(lost),
        show::count(stuck)
    )?;
    for violation in outcome.violations.iter().take(VIOLATIONS_TOLD) {
        writeln!(out, "\n{violation}")?;
        for line in &violation.history {
            writeln!(out, "    {line}")?;
        }
    }
    let untold = outcome.violations.len().saturating_sub(VIOLATIONS_TOLD);
    if untold > 0 {
        writeln!(out, "\nand {untold} more")?;
    }
    Ok(())
}

fn columns(first: &str) -> Table {
    let numbers = ["tried", "lost", "stuck"].map(|name| (name, Edge::Right));
    Table::new([(first, Edge::Left)].into_iter().chain(numbers))
}

fn row(table: &mut Table, name: &str, count: Count) {
    if count.tried > 0 {
        let Count { tried, lost, stuck } = count;
        table.row([name.to_owned(), show::count(tried), show::count(lost), show::count(stuck)]);
    }
}

/// A run's counts, as the JSON has them.
#[derive(Debug, Serialize)]
struct Counts<'a> {
    total: Count,
    nested: u64,
    operations: u64,
    by_cause: Vec<(&'static str, Count)>,
    by_fate: Vec<(&'static str, Count)>,
    violations: Vec<Told<'a>>,
}

/// A violation, as the JSON has it.
#[derive(Debug, Serialize)]
struct Told<'a> {
    device: &'a str,
    system: System,
    seed: u64,
    cuts: Vec<String>,
    sentence: String,
    replay: String,
}

fn write_json(path: &Path, outcome: &Outcome, out: &mut dyn Write) -> Result<(), Failure> {
    let tally = &outcome.tally;
    let told = outcome.violations.iter().map(|violation| Told {
        device: &violation.device,
        system: violation.system,
        seed: violation.seed,
        cuts: violation.cuts.iter().map(Cut::to_string).collect(),
        sentence: format!("{}: {}", violation.doing, violation.breach),
        replay: violation.replay(),
    });
    let fates = Fate::ROWS.iter().enumerate();
    let counts = Counts {
        total: tally.total(),
        nested: tally.nested,
        operations: outcome.operations,
        by_cause: Cause::ALL.map(|cause| (cause_name(cause), tally.by_cause(cause))).into(),
        by_fate: fates.map(|(number, name)| (*name, tally.by_fate(number))).collect(),
        violations: told.collect(),
    };
    let json = replay::json(&counts);
    if path.as_os_str() == "-" {
        return Ok(out.write_all(&json)?);
    }
    files::replace(path, &json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_can_be_drawn() {
        assert!(ProgressStyle::with_template("{human_pos} cuts, {per_sec}, {elapsed}").is_ok());
    }

    #[test]
    fn what_is_typed_for_cuts_is_a_number_or_all_of_them() {
        assert_eq!(cuts("exhaustive"), Ok(Cuts::Exhaustive));
        assert_eq!(cuts("500"), Ok(Cuts::Sample(500)));
        assert!(cuts("many").is_err());
        assert!(nested("all").is_err() && system("fancy").is_err());
    }
}
