//! The simulator of hybrid SSDs behind the program `tandem`: it replays traces and reports results.
//!
//! ```text
//!   arguments ──▶ cli ──▶ a command ──▶ tables and JSON on standard output
//!                            │
//!   trace, synth ──▶ workload ──▶ replay: host ──▶ systems ──▶ ftl-core, ftl-rivals
//!   files, seeds     requests      verifies all reads            │
//!                                                            nand-model
//! ```
//!
//! # Modules
//!
//! - [`cli`]: the command line as a whole. Each command is one module with its own flags: [`devices`] lists and
//!   describes devices, [`chip`] tries one out, [`bounds`] computes its speed limits, [`single`] replays a trace on a
//!   system, [`compare`] on several, [`sweep`] by a plan; all use [`replay`]. `device`: the flags that choose a
//!   device. [`serve`] lets real hosts use one. [`repro`] reproduces a paper's figures, [`fit`] searches for workloads
//!   that match its description. [`torture`]: cuts the power at every operation. [`footprint`]: what firmware needs
//!   for a configuration. [`completions`]: for shells. [`man`]: manual pages. `help`: examples for all of them.
//! - [`trace`]: requests from files. [`synth`]: synthetic requests. [`workload`]: both, one after the other.
//!   [`profile`]: statistics of either.
//! - `host`: splits requests into sectors and verifies what is read. [`systems`]: the systems below it, an entry for
//!   each.
//! - [`result`]: the content of a run's JSON.
//! - [`image`]: a chip kept in a file.
//! - [`plot`]: charts as SVG. `report`: pages with tables and charts. `files`: files that are written atomically.
//! - `verdict`: the verdict of a comparison, in words.
//! - `csv`: results for spreadsheets. `side_by_side`: figures of several runs. `table`, `show`: columns of text, and
//!   readable figures. `size`, `spec`: sizes and names with parameters, as typed. `interrupt`:
//!   Ctrl-C. `notes`: notes beside results.
//! - [`own`]: the interface for an FTL from outside this repository; [`main_with`] is the program with it.
//! - [`Failure`]: why a run ended, and its exit code.
#![forbid(unsafe_code)]

use std::io::{BufWriter, ErrorKind, Write, stdout};
use std::process::ExitCode;

use clap::Parser;

pub mod bounds;
pub mod chip;
pub mod cli;
pub mod compare;
pub mod completions;
pub mod device;
pub mod devices;
pub mod fit;
#[cfg(unix)]
pub mod image;
pub mod man;
pub mod plot;
pub mod profile;
pub mod replay;
pub mod repro;
pub mod result;
#[cfg(unix)]
pub mod serve;
pub mod single;
pub mod sweep;
pub mod synth;
pub mod systems;
pub mod torture;
pub mod trace;
pub mod workload;

mod csv;
mod failure;
mod files;
#[cfg(unix)]
pub mod footprint;
mod help;
mod host;
mod interrupt;
mod notes;
mod report;
mod show;
mod side_by_side;
mod size;
mod spec;
mod table;
mod verdict;

pub use failure::Failure;

/// What an FTL from outside this repository needs to be compared: see `docs/YOUR-SYSTEM.md`.
pub mod own {
    pub use crate::spec::Parameter;
    pub use crate::systems::own::{Memory, Own, Registered, Wanted, of, register};
}

/// The whole program, with these systems added to its own: what `main` does.
pub fn main_with(systems: impl IntoIterator<Item = own::Registered>) -> ExitCode {
    if let Err(failure) = own::register(systems) {
        return ended_by(&failure);
    }
    // For bad arguments the program ends here, with exit code 2 and a message on standard error.
    let cli = cli::Cli::parse();
    let mut out = BufWriter::new(stdout().lock());
    match run(&cli, &mut out).and_then(|()| Ok(out.flush()?)) {
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

/// Runs the command. Tables go to `out`.
pub fn run(cli: &cli::Cli, out: &mut dyn Write) -> Result<(), Failure> {
    match &cli.command {
        Some(cli::Command::Devices(args)) => devices::run(args, out),
        Some(cli::Command::Chip(args)) => chip::run(args, out),
        Some(cli::Command::Bounds(args)) => bounds::run(args, out),
        Some(cli::Command::Replay(args)) => single::run(args, out),
        Some(cli::Command::Compare(args)) => compare::run(args, out),
        Some(cli::Command::Sweep(args)) => sweep::run(args, out),
        Some(cli::Command::Torture(args)) => torture::run(args, out),
        #[cfg(unix)]
        Some(cli::Command::Serve(args)) => serve::run(args, out),
        #[cfg(unix)]
        Some(cli::Command::Image(args)) => image::command::run(args, out),
        Some(cli::Command::Repro(args)) => repro::run(args, out),
        Some(cli::Command::Fit(args)) => fit::run(args, out),
        Some(cli::Command::Synth(args)) => synth::command::run(args, out),
        Some(cli::Command::Profile(args)) => profile::run(args, out),
        #[cfg(unix)]
        Some(cli::Command::Size(args)) => footprint::run(args, out),
        Some(cli::Command::Completions(args)) => completions::run(args, cli::program(), out),
        Some(cli::Command::Man(args)) => man::run(args, cli::program(), out),
        Some(cli::Command::Systems) => Ok(systems::list().write_rows(out)?),
        None => Ok(write!(out, "{}", cli::help())?),
    }
}
