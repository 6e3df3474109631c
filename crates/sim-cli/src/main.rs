//! The binary `tandem`. All its code is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    sim_cli::main_with([])
}
