//! Why a run ended.

use std::error::Error;
use std::path::PathBuf;

use nand_model::ChipError;
use nand_model::datasheet::DatasheetError;
use nand_model::part::SlcSizeError;

/// Why a run stopped early, or what it found wrong.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The device under test broke a promise: data is lost or wrong.
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
    /// A system does not fit a device.
    #[error("{0}")]
    Unfit(String),
    /// A trace cannot be replayed.
    #[error(transparent)]
    Trace(Box<dyn Error + Send + Sync>),
    /// The arguments contradict each other, or name something that does not exist.
    #[error("{0}")]
    Arguments(String),
    /// The run was stopped. The results so far are reported.
    #[error("stopped by Ctrl-C: {0}")]
    Interrupted(String),
    /// A result cannot be written to its file.
    #[error("{} cannot be written: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: std::io::Error,
    },
    /// The results could not be written.
    #[error("the output cannot be written: {0}")]
    Output(#[from] std::io::Error),
}
