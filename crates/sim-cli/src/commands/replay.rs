//! `tandem replay`: a trace on one system.

use std::io::Write;

use crate::base::Failure;
use crate::engine::replay;
use crate::engine::result::RunResult;
use crate::engine::systems::{Chosen, USUAL};
use crate::input::options::Options;
use crate::output::progress::Bar;
use crate::output::verdict::Field;
use crate::output::{json, report, text};

/// The arguments of `replay`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The system, with optional parameters: `paged?filter=off`. `tandem systems` lists them
    #[arg(long, default_value = USUAL, value_parser = Chosen::parse, value_name = "SYSTEM")]
    system: Chosen,
    #[command(flatten)]
    options: Options,
}

/// Replays a trace on one system.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    args.options.check()?;
    let setup = args.options.device.setup()?;
    let systems = std::slice::from_ref(&args.system);
    let outcomes = replay::run_all(&args.options, &setup, systems, &Bar::new())?;
    let runs: Vec<&RunResult> = outcomes.iter().map(|outcome| &outcome.result).collect();
    let device = &args.options.device;
    let field = Field { runs: &runs, pairs: &[], systems, device, setup: &setup };
    let verdict = field.verdict();
    report::write(&args.options, &field, &verdict, &outcomes)?;
    for result in &runs {
        if !json::write(&args.options, result, out)? {
            text::write(result, &args.options, &setup, &verdict, out)?;
        }
    }
    replay::ended(args.options.files(), outcomes.iter().map(|outcome| &outcome.result))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn outcome(system: &str) -> Failure {
        let workload = "synth:sequential?requests=200&reads=80&size=1KiB&footprint=4KiB&seed=2";
        let words = ["replay", workload, "--device", "tiny", "--system", system];
        let Line { args } = Line::try_parse_from(words).unwrap_or_else(|error| panic!("{error}"));
        run(&args, &mut Vec::new()).expect_err("a violation")
    }

    #[test]
    fn a_write_that_is_lost_is_a_violation_told_with_its_sector() {
        let failure = outcome("liar");
        assert_eq!(failure.exit_code(), 1);
        let told = failure.to_string();
        assert!(told.contains("sector") && told.contains("must hold write"), "{told}");
    }

    #[test]
    fn a_breach_of_rules_is_a_violation_too() {
        let failure = outcome("liar?breach=on");
        assert_eq!((failure.exit_code(), failure.to_string().contains("breach")), (1, true));
    }
}
