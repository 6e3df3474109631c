//! The binary `tandem`. Everything it does is in the library beside it.

use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;

use clap::Parser;
use sim_cli::Failure;
use sim_cli::cli::Cli;

fn main() -> ExitCode {
    // Bad arguments leave here with exit code 2 and a message on standard error.
    let cli = Cli::parse();
    let mut out = BufWriter::new(stdout().lock());
    let outcome = sim_cli::run(&cli, &mut out).and_then(|()| Ok(out.flush()?));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the output has seen enough, as `head` does.
        Err(Failure::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}
