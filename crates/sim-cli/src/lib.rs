//! Traces in, answers out: the simulator of hybrid SSDs behind the binary `tandem`.
//!
//! ```text
//!   arguments ──▶ cli ──▶ a command ──▶ tables on standard output
//!                            │
//!                    nand-model, and what stands on it
//! ```
//!
//! # Rooms
//!
//! - [`cli`]: the command line as a whole. Each command is one room with its own flags:
//!   [`devices`] lists and describes devices, [`chip`] runs one.
//! - `table`, `show`: columns of text, and figures as people read them.
//! - [`Failure`]: why a run ended, and its exit code.
#![forbid(unsafe_code)]

use std::io::Write;

pub mod chip;
pub mod cli;
pub mod devices;

mod failure;
mod show;
mod table;

pub use failure::Failure;

/// Runs what the command line asks for. Tables go to `out`.
pub fn run(cli: &cli::Cli, out: &mut dyn Write) -> Result<(), Failure> {
    match &cli.command {
        Some(cli::Command::Devices(args)) => devices::run(args, out),
        Some(cli::Command::Chip(args)) => chip::run(args, out),
        None => Ok(write!(out, "{}", cli::help())?),
    }
}

/// The README's example is compiled and run with the documentation's own.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
