//! `tandem torture`: power fails in every operation of a workload, or in random worlds, and acknowledged data must
//! survive. `tell` writes tables and JSON. `small` tries every small world.

mod small;
mod tell;

use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use torture::setup::SetupError;
use torture::told::Report;
use torture::worlds::{self, Choice, Kept, Reported};
use torture::{Cut, Cuts, Faults, FtlName, Nested, Plan, Setup, System, Watcher};

use self::small::{Small, SmallArgs};
use crate::base::{files, interrupt, notes};
use crate::flags::numbers;
use crate::output::progress::Lines;
use sim::{Failure, show};

/// The arguments of `torture`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The FTL: the page store, or the hybrid
    #[arg(long, default_value = FtlName::default().name(), value_parser = ftl(), value_name = "FTL")]
    ftl: FtlName,
    /// Test this many random worlds. Each is drawn from a seed: a device, a configuration, faults, and sixty lives with
    /// power cuts in any operation. A failing world is shrunk to a minimal one that still fails
    #[arg(long, value_parser = numbers::some::<u64>, value_name = "N", conflicts_with_all = FIXED)]
    worlds: Option<u64>,
    /// Repeat only these lives of one world, as a failure prints them; shows the operations on the device
    #[arg(long, value_name = "LIFE:STEPS/…", requires = "worlds")]
    lives: Option<Kept>,
    /// The device: a built-in name, a device file, or `all` for every small device in several configurations
    #[arg(long, default_value = "tiny", value_name = "DEVICE")]
    device: String,
    /// The configuration of the FTL: `usual`; `conventional`, the hybrid without its log; or `small`, with everything
    /// as small as possible
    #[arg(long, default_value = System::default().name(), value_parser = system(), value_name = "SYSTEM")]
    system: System,
    /// The number of requests in the workload
    #[arg(long, default_value_t = 300, value_parser = numbers::some::<u32>, value_name = "N")]
    requests: u32,
    /// The first seed
    #[arg(long, default_value_t = 1, value_parser = numbers::any::<u64>, value_name = "S")]
    seed: u64,
    /// The number of workloads, each with its own seed
    #[arg(long, default_value_t = 1, value_parser = numbers::some::<u32>, value_name = "N")]
    seeds: u32,
    /// Test every outcome of every operation (exhaustive), or about this many of them in each workload
    #[arg(long, default_value = "exhaustive", value_parser = Cuts::parse, value_name = "CUTS")]
    cuts: Cuts,
    /// Only these power cuts, as a failure prints them, each in the life after the previous cut; shows the operations
    /// on the device before each violation
    #[arg(long, value_delimiter = ',', value_name = "OPERATION:FATE", conflicts_with = "cuts")]
    at: Vec<Cut>,
    /// Cut the power again during and after the mount that follows a cut; `every` tests all operations of each mount
    #[arg(long, value_parser = Nested::parse, default_missing_value = "some", num_args = 0..=1, value_name = "HOW")]
    nested: Option<Nested>,
    /// Faults in addition to the power cuts: any of program, erase, mark, uncorrectable, factory, bits, beyond, all
    #[arg(long, default_value = "", value_name = "FAULTS", hide_default_value = true)]
    faults: String,
    /// Cut the power in the format before the workload, not in the workload
    #[arg(long)]
    format: bool,
    /// Store and compare every byte, not only one stamp for each write
    #[arg(long)]
    bytes: bool,
    #[command(flatten)]
    small: SmallArgs,
    /// Write the counts as JSON to a file, or to standard output with `-`
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The arguments that random worlds draw, and so do not take.
const FIXED: [&str; 10] =
    ["device", "system", "requests", "seeds", "cuts", "at", "nested", "faults", "format", "bytes"];

// With few names, the library suggests the one meant, and shells offer them.

fn ftl() -> impl TypedValueParser<Value = FtlName> {
    // The default comes first.
    PossibleValuesParser::new(FtlName::ALL.map(FtlName::name).into_iter().rev()).map(|name| {
        let found = FtlName::ALL.into_iter().find(|ftl| ftl.name() == name);
        found.unwrap_or_default()
    })
}

fn system() -> impl TypedValueParser<Value = System> {
    // Of either FTL, not of the hybrid alone; scripts have it by its old name.
    let named = System::ALL.map(|system| match system {
        System::Usual => PossibleValue::new(system.name()).alias("hybrid"),
        _ => PossibleValue::new(system.name()),
    });
    PossibleValuesParser::new(named).map(|name| {
        let found = System::ALL.into_iter().find(|system| system.name() == name);
        found.unwrap_or_default()
    })
}

/// Runs the torture. A violation is a failure of this command.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    interrupt::listen();
    let progress = Progress::new(TRANSITIONS);
    let small = args.small.report(args.ftl, &progress);
    progress.bar.finish_and_clear();
    let told = match small? {
        Some(small) => Tested::Small(small),
        None => Tested::Cuts(Box::new(match args.worlds {
            Some(number) => random_worlds(args, number)?,
            None => fixed_devices(args)?,
        })),
    };
    // Of an interrupted run no file tells.
    let file =
        args.json.as_deref().filter(|path| !files::is_output(path) && interrupt::is_requested());
    let json = args.json.as_deref().filter(|_| file.is_none());
    let violations = match told {
        Tested::Small(small) => small.write(json, out).map(|()| small.violations())?,
        Tested::Cuts(report) => {
            tell::write(&report, json, out).map(|()| report.violations.len())?
        }
    };
    match violations {
        0 if interrupt::is_requested() => {
            let unwritten = if file.is_some() { "; no file was written" } else { "" };
            let done = format!("what is told above is what was tried until then{unwritten}");
            Err(Failure::Interrupted(done))
        }
        0 => Ok(()),
        number => Err(Failure::Violation(format!(
            "{number} of the promises that were put to the test are broken"
        ))),
    }
}

/// What there is to tell.
enum Tested {
    Cuts(Box<Report>),
    Small(Small),
}

/// The error of a device explains itself.
fn unfit(error: SetupError) -> Failure {
    match error {
        SetupError::Device(error) => error.into(),
        SetupError::Chip(error) => error.into(),
        other => Failure::Arguments(other.to_string()),
    }
}

fn fixed_devices(args: &Args) -> Result<Report, Failure> {
    let setups = match args.device.as_str() {
        "all" => Setup::all_of(args.ftl).map_err(unfit)?,
        device => {
            vec![Setup::of(args.ftl, device, args.system).map_err(unfit)?]
        }
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
    for setup in setups.iter().filter(|setup| setup.pages() > LARGE) {
        notes::tell(&format!(
            "{} has {} pages, each of which is read after each cut: this takes some {} s a cut. Devices of a few \
             hundred pages, such as tiny, show the same",
            setup.device,
            show::count(setup.pages()),
            setup.pages().div_ceil(CHECKED)
        ));
    }
    let seeds = torture::seeds(args.seed, args.seeds.into()).map_err(Failure::Arguments)?;
    let progress = Progress::new(CUTS);
    let outcome = torture::torture(&setups, seeds, &plan, &progress);
    progress.bar.finish_and_clear();
    if !interrupt::is_requested()
        && let Some(reason) = outcome.unmet(&args.at).or_else(|| outcome.untried(&plan))
    {
        return Err(Failure::Arguments(reason));
    }
    Ok(Report::of(outcome))
}

/// From this many pages on a device takes so long that a note explains why.
const LARGE: u64 = 50_000;

/// Pages of a device that are checked in a second, about.
const CHECKED: u64 = 125_000;

/// After this many worlds with broken promises no other is begun.
const BROKEN_MAX: usize = 20;

fn random_worlds(args: &Args, number: u64) -> Result<Report, Failure> {
    let choice = Choice {
        ftl: args.ftl,
        seeds: torture::seeds(args.seed, number).map_err(Failure::Arguments)?,
        kept: args.lives.clone(),
        broken_max: BROKEN_MAX,
        told: Reported::Shrunk,
    };
    let progress = Progress::new(CUTS);
    let outcome = worlds::worlds(&choice, &progress).map_err(unfit)?;
    progress.bar.finish_and_clear();
    Ok(Report::of_worlds(outcome))
}

/// A count on standard error: as it grows, or in a line now and then if that is no terminal.
struct Progress {
    bar: ProgressBar,
    lines: Lines,
    counted: &'static str,
}

impl Progress {
    fn new(counted: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        // The template is the program's own; a test draws it.
        if let Ok(style) = ProgressStyle::with_template(&template(counted)) {
            bar.set_style(style.with_key("rate", rate));
        }
        // The first cut may take long.
        bar.enable_steady_tick(Duration::from_millis(500));
        Self { bar, lines: Lines::new(), counted }
    }
}

/// Whole cuts per second: the library's own rate has four decimals.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // No machine tries so many.
fn rate(state: &ProgressState, out: &mut dyn fmt::Write) {
    // Writing to a line in memory cannot fail.
    let _ = out.write_str(&show::count(state.per_sec() as u64));
}

const CUTS: &str = "cuts";
const TRANSITIONS: &str = "transitions";

fn template(counted: &str) -> String {
    format!("{{human_pos}} {counted}, {{rate}}/s, {{elapsed}}")
}

impl Watcher for Progress {
    fn tried(&self, cuts: u64) {
        self.bar.inc(cuts);
        self.lines.tell(&self.bar, || {
            format!("{} {} so far", show::count(self.bar.position()), self.counted)
        });
    }

    fn goes_on(&self) -> bool {
        !interrupt::is_requested()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_can_be_drawn() {
        assert!(ProgressStyle::with_template(&template(CUTS)).is_ok());
    }
}
