//! The simulator of hybrid SSDs behind the program `tandem`: it replays traces and reports results.
//!
//! ```text
//!   arguments ──▶ commands ──▶ output: tables, pages, JSON
//!                    │
//!   trace, synth ──▶ workload ──▶ replay: host ──▶ systems ──▶ ftl-core, ftl-rivals
//!   files, seeds     requests      verifies all reads            │
//!                                                            nand-model
//! ```
//!
//! # Shelves
//!
//! From the highest down. A room uses what is on lower shelves and knows nothing of higher ones: `tests/house.rs`
//! checks it.
//!
//! 1. [`commands`]: the command line, and for each command a file or a folder of its name.
//! 2. [`output`]: what people read of results. `text`: a run, `side_by_side`: several, `ranking`: these in one order,
//!    `verdict`: what to take, in words. `report`: pages with tables and charts; [`plot`](output::plot): charts as SVG.
//!    `json`, `csv`: for programs and spreadsheets. `table`: columns of text. `progress`: the bar.
//! 3. [`engine`]: from requests to results. [`replay`](engine::replay): requests served and timed. `host`: splits them
//!    into sectors and verifies what is read. [`systems`](engine::systems): what is below the host, an entry for each.
//!    [`image`](engine::image): a chip kept in a file. [`result`](engine::result): the content of a run's JSON.
//! 4. [`input`]: [`trace`](input::trace): requests from files. [`synth`](input::synth): synthetic requests.
//!    [`workload`](input::workload): these, one after the other. [`device`](input::device): the device and its flags.
//!    [`options`](input::options): what every command that replays takes. `size`, `spec`: sizes and names
//!    with parameters, as typed.
//! 5. `base`: what all of them use. [`Failure`]: why a run ended, and its exit code. `interrupt`: Ctrl-C. `notes`:
//!    notes beside results. `files`: files that are complete or absent. `show`: readable figures.
//!
//! [`own`]: the interface for an FTL from outside this repository; [`main_with`]: the program with it.
#![forbid(unsafe_code)]

use std::io::{BufWriter, ErrorKind, Write, stdout};
use std::process::ExitCode;

use clap::Parser;

use commands::Cli;

pub mod commands;
pub mod engine;
pub mod input;
pub mod output;

mod base;

pub use base::Failure;

/// What an FTL from outside this repository needs to be compared: see `docs/YOUR-SYSTEM.md`.
pub mod own {
    pub use crate::engine::systems::own::{Memory, Own, Registered, Wanted, of, register};
    pub use crate::input::spec::Parameter;
}

/// The whole program, with these systems added to its own: what `main` does.
pub fn main_with(systems: impl IntoIterator<Item = own::Registered>) -> ExitCode {
    if let Err(failure) = own::register(systems) {
        return ended_by(&failure);
    }
    // For bad arguments the program ends here, with exit code 2 and a message on standard error.
    let cli = Cli::parse();
    let mut out = BufWriter::new(stdout().lock());
    match commands::run(&cli, &mut out).and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has closed it, as `head` does.
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => ended_by(&failure),
    }
}

fn ended_by(failure: &Failure) -> ExitCode {
    eprintln!("error: {failure}");
    ExitCode::from(failure.exit_code())
}
