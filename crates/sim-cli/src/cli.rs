//! The command line: commands, and help that teaches by example.

use clap::{CommandFactory, Parser, Subcommand};

use crate::{chip, compare, devices, profile, replay, sweep, synth, torture};

const EXAMPLES: &str = "\
Examples:
  tandem compare mine.csv         a disk with and without SLC, on a trace of yours
  tandem replay mine.csv.gz       one system: every figure, and --json FILE for programs
  tandem compare synth:zipf?requests=200000 --slc 64MiB --systems conventional,hybrid,hybrid?filter=off
  tandem profile mine.csv         its sizes, what is written again and again, and how often
  tandem synth ntfs --requests 100000 --seed 7 -o made.csv.zst
  tandem devices                  what is built in, in a table
  tandem devices c3 spi-nand-1g   every figure of two of them
  tandem chip tiny                program, read, erase; then cut the power and see what is left
  tandem chip ./my-part.toml      the same on a part of your own: copy and edit a file of devices/
  tandem torture                  power cuts at every operation on a small device: tried, lost, stuck
  tandem torture --device all --cuts 500 --nested --faults all

Exit codes: 0 done; 1 the run found a violation (data lost, verification failed);
2 bad arguments or input.";

/// What was typed.
#[derive(Debug, Parser)]
#[command(
    name = "tandem",
    version,
    about = "Designs and compares hybrid SLC/MLC solid-state disks on a NAND chip that fails like a real one",
    after_help = EXAMPLES
)]
pub struct Cli {
    /// What to do; without it, help is shown.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Replay a trace on several systems and compare them with the first
    #[command(after_help = synthetic())]
    Compare(compare::Args),
    /// Replay a trace on one system
    #[command(after_help = synthetic())]
    Replay(replay::Args),
    /// Run a plan: devices, SLC sizes, systems, traces and seeds, all with all, on all cores; resumable
    Sweep(sweep::Args),
    /// Write a synthetic workload to a file
    #[command(after_help = synthetic())]
    Synth(synth::command::Args),
    /// Say what a workload looks like: sizes, update ratios, hit counts
    #[command(after_help = synthetic())]
    Profile(profile::Args),
    /// List the systems that can be compared, with their parameters
    Systems,
    /// List the devices that are built in, or every figure of some
    Devices(devices::Args),
    /// Run a device: times, energy, a whole block, and what a power cut leaves
    Chip(chip::Args),
    /// Cut the power at every operation of a workload, mount, and compare everything
    Torture(torture::Args),
}

/// What can be named instead of a file.
fn synthetic() -> String {
    format!("Synthetic workloads, such as synth:zipf?requests=200000&seed=7:\n{}", synth::list())
}

/// The help of the whole program, as `tandem help` shows it.
pub fn help() -> String {
    Cli::command().render_help().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_example_of_the_help_parses() {
        let examples: Vec<&str> =
            EXAMPLES.lines().filter(|line| line.starts_with("  tandem")).collect();
        assert_eq!(examples.len(), 11);
        for example in examples {
            let words = example.trim().split("  ").next().unwrap().split_whitespace();
            Cli::try_parse_from(words).unwrap_or_else(|error| panic!("{example}: {error}"));
        }
    }
}
