//! The program `tandem`: the command line over the simulator, [`sim`], and what people read of its results.
//!
//! ```text
//!   arguments ──▶ commands ──▶ flags ──▶ sim: a device, systems, requests ──▶ results
//!                    │                                                          │
//!                    └──▶ output: tables, pages, JSON ◀─────────────────────────┘
//! ```
//!
//! # Layers
//!
//! From the highest down. A module uses those of lower layers only.
//!
//! 1. [`commands`]: the command line, and for each command a file or a folder of its name.
//! 2. [`output`]: what people read of results. `text`: a run, `side_by_side`: several, `ranking`: these in one order,
//!    `verdict`: what to take, in words. `report`: pages with tables and charts; [`plot`](output::plot): charts as SVG.
//!    `json`, `csv`: for programs and spreadsheets. `table`: columns of text. `progress`: the bar. `ended`: the end of
//!    a run that was stopped.
//! 3. [`flags`]: what several commands are told. [`device`](flags::device): which device;
//!    [`workload`](flags::workload): which requests; [`options`](flags::options): what every command that replays
//!    takes; `choices`: values that are one of a few.
//! 4. `base`: what all of them use. `exit`: exit codes. `interrupt`: Ctrl-C. `notes`: notes beside results; `terminal`:
//!    both, for a run. `files`: files that are complete or absent.
//!
//! [`own`]: the interface for an FTL from outside this repository; [`main_with`]: the program with it.
#![forbid(unsafe_code)]

use std::io::{BufWriter, ErrorKind, Write, stdout};
use std::process::ExitCode;

use base::exit;
use commands::Cli;

pub mod commands;
pub mod flags;
pub mod output;

mod base;

pub use sim::Failure;

/// What an FTL from outside this repository needs to be compared: see `docs/YOUR-SYSTEM.md`.
pub mod own {
    pub use sim::engine::systems::own::{Memory, Own, Registered, Wanted, of, register};
    pub use sim::input::spec::Parameter;
}

/// The whole program, with these systems added to its own: what `main` does.
pub fn main_with(systems: impl IntoIterator<Item = own::Registered>) -> ExitCode {
    if let Err(failure) = own::register(systems) {
        return ended_by(&failure);
    }
    // For bad arguments the program ends here, with exit code 2 and a message on standard error.
    let cli = Cli::of_the_command_line();
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
    ExitCode::from(exit::code(failure))
}
