//! `tandem replay`: a trace on one system.

use std::io::Write;

use sim::Failure;
use sim::engine::result::RunResult;
use sim::engine::systems::{Chosen, USUAL};

use crate::flags::options::Options;
use crate::output::ended;
use crate::output::json::{self, StandardOutput};
use crate::output::progress::Bar;
use crate::output::verdict::Field;
use crate::output::{report, text};

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
    let setup = args.options.setup()?;
    let systems = std::slice::from_ref(&args.system);
    let outcomes = args.options.run_all(&setup, systems, &Bar::new())?;
    let runs: Vec<&RunResult> = outcomes.iter().map(|outcome| &outcome.result).collect();
    let device = &args.options.device;
    let field = Field { runs: &runs, pairs: &[], systems, left_out: &[], device, setup: &setup };
    let verdict = field.verdict();
    report::write(&args.options, &field, &verdict, &outcomes)?;
    for result in &runs {
        if json::write(&args.options, result, out)? == StandardOutput::Free {
            text::write(result, &args.options, &setup, &verdict, out)?;
        }
    }
    ended::check(args.options.files(), outcomes.iter().map(|outcome| &outcome.result))
}
