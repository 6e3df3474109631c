//! The command line: commands, and help that teaches by example.

use std::io::Write;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use sim::Failure;

use crate::output::table::terminal_columns;

pub mod bounds;
pub mod chip;
pub mod compare;
pub mod completions;
pub mod devices;
pub mod fit;
pub mod formats;
mod help;
#[cfg(unix)]
pub mod image;
pub mod man;
pub mod profile;
pub mod replay;
pub mod repro;
#[cfg(unix)]
pub mod serve;
#[cfg(unix)]
pub mod size;
pub mod sweep;
pub mod synth;
pub mod systems;
pub mod torture;

/// The parsed command line.
#[derive(Debug, Parser)]
#[command(
    name = "tandem",
    version,
    long_version = env!("TANDEM_VERSION"),
    about = "Designs and compares hybrid SLC/MLC solid-state disks on a NAND chip that fails like a real one",
    after_help = help::program()
)]
pub struct Cli {
    /// The command; without one, this help is shown.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Replay a trace on several systems and compare them with the first
    #[command(after_help = help::replaying("compare"))]
    Compare(compare::Args),
    /// Replay a trace on one system
    #[command(after_help = help::replaying("replay"))]
    Replay(replay::Args),
    /// Run a plan: every combination of devices, SLC sizes, systems, traces and seeds, on all cores; resumable
    #[command(after_help = help::examples("sweep"))]
    Sweep(sweep::Args),
    /// Serve a system as a disk for real hosts, over NBD, until Ctrl-C; optionally with power cuts
    #[cfg(unix)]
    #[command(after_help = help::examples("serve"))]
    Serve(serve::Args),
    /// Check the file of a served disk, or recover a damaged one
    #[cfg(unix)]
    #[command(after_help = help::examples("image"))]
    Image(image::Args),
    /// Reproduce the tables and figures of a paper, its values beside ours
    #[command(after_help = help::examples("repro"))]
    Repro(repro::Args),
    /// Search for workloads that match everything a paper reports about its own
    #[command(after_help = help::examples("fit"))]
    Fit(fit::Args),
    /// Write a synthetic workload to a file
    #[command(after_help = help::replaying("synth"))]
    Synth(synth::Args),
    /// Profile a workload: request sizes, update ratios, hit counts
    #[command(after_help = help::replaying("profile"))]
    Profile(profile::Args),
    /// List the systems that can be compared, whether they survive power cuts, and their parameters
    #[command(after_help = help::examples("systems"))]
    Systems,
    /// List the formats of traces that can be read
    #[command(after_help = help::formats())]
    Formats,
    /// List the built-in devices, or show every figure of some
    #[command(after_help = help::examples("devices"))]
    Devices(devices::Args),
    /// Try out a device: times, energy, a whole block, and what a power cut leaves
    #[command(after_help = help::examples("chip"))]
    Chip(chip::Args),
    /// Compare the speed limits of a device's dies and buses with the speed of workloads
    #[command(after_help = help::examples("bounds"))]
    Bounds(bounds::Args),
    /// Cut the power at every operation of a workload, mount, and check all data
    #[command(after_help = help::examples("torture"))]
    Torture(torture::Args),
    /// Show what firmware needs for a device and a configuration: RAM by table, code, worst cases, mounts
    #[cfg(unix)]
    #[command(after_help = help::examples("size"))]
    Size(size::Args),
    /// Write the completion script of a shell
    #[command(after_help = help::examples("completions"))]
    Completions(completions::Args),
    /// Write a manual page: of the program, or of a command
    #[command(after_help = help::examples("man"))]
    Man(man::Args),
}

/// Runs the command. Tables go to `out`.
pub fn run(cli: &Cli, out: &mut dyn Write) -> Result<(), Failure> {
    match &cli.command {
        Some(Command::Devices(args)) => devices::run(args, out),
        Some(Command::Chip(args)) => chip::run(args, out),
        Some(Command::Bounds(args)) => bounds::run(args, out),
        Some(Command::Replay(args)) => replay::run(args, out),
        Some(Command::Compare(args)) => compare::run(args, out),
        Some(Command::Sweep(args)) => sweep::run(args, out),
        Some(Command::Torture(args)) => torture::run(args, out),
        #[cfg(unix)]
        Some(Command::Serve(args)) => serve::run(args, out),
        #[cfg(unix)]
        Some(Command::Image(args)) => image::run(args, out),
        Some(Command::Repro(args)) => repro::run(args, out),
        Some(Command::Fit(args)) => fit::run(args, out),
        Some(Command::Synth(args)) => synth::run(args, out),
        Some(Command::Profile(args)) => profile::run(args, out),
        #[cfg(unix)]
        Some(Command::Size(args)) => size::run(args, out),
        Some(Command::Completions(args)) => completions::run(args, program(), out),
        Some(Command::Man(args)) => man::run(args, program(), out),
        Some(Command::Systems) => systems::run(out),
        Some(Command::Formats) => formats::run(out),
        None => Ok(write!(out, "{}", help())?),
    }
}

impl Cli {
    /// What was typed. For bad arguments the program ends here.
    pub(crate) fn of_the_command_line() -> Self {
        let matches = as_wide_as_the_terminal().get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut program()).exit())
    }
}

/// The command line with all its commands, for completions and the manual.
pub fn program() -> clap::Command {
    Cli::command()
}

/// The help of the whole program, as `tandem help` shows it.
pub fn help() -> String {
    as_wide_as_the_terminal().render_help().to_string()
}

fn as_wide_as_the_terminal() -> clap::Command {
    // clap takes 0 for a line without an end.
    let columns = Some(terminal_columns()).filter(|columns| *columns != usize::MAX);
    program().term_width(columns.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
