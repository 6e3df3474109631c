//! Why a run ended.

use std::path::PathBuf;

use nand_model::ChipError;
use nand_model::datasheet::DatasheetError;
use nand_model::part::SlcSizeError;

use crate::interrupt;
use crate::trace::TraceError;

/// Why a run ended before it was done, or found something wrong. Each kind has its exit code.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The device under test broke a promise: data are lost, or are not what was written.
    #[error("violation: {0}")]
    Violation(String),
    /// A device file, or a device's name, is wrong.
    #[error(transparent)]
    Device(#[from] DatasheetError),
    /// The device cannot be simulated.
    #[error(transparent)]
    Chip(#[from] ChipError),
    /// The SLC cannot have that size.
    #[error(transparent)]
    SlcSize(#[from] SlcSizeError),
    /// A system and a device do not go together.
    #[error("the system does not fit the device: {0}")]
    Unfit(String),
    /// A trace cannot be replayed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// What was typed contradicts itself, or names what is not there.
    #[error("{0}")]
    Arguments(String),
    /// Ctrl-C came before the end. What was done until then is reported.
    #[error("stopped by Ctrl-C: {0}")]
    Interrupted(String),
    /// A result cannot be written to its file.
    #[error("{} cannot be written: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: std::io::Error,
    },
    /// The results could not be written.
    #[error("the output cannot be written: {0}")]
    Output(#[from] std::io::Error),
}

impl Failure {
    /// What the process tells its caller: 1 for a violation, 2 for bad input, 130 for a run that Ctrl-C stopped.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Violation(_) => 1,
            Self::Interrupted(_) => interrupt::EXIT_CODE,
            _ => 2,
        }
    }
}
