//! Why a run ended.

use nand_model::ChipError;
use nand_model::datasheet::DatasheetError;

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
    /// The results could not be written.
    #[error("the output cannot be written: {0}")]
    Output(#[from] std::io::Error),
}

impl Failure {
    /// What the process tells its caller: 1 for a violation, 2 for bad input.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Violation(_) => 1,
            Self::Device(_) | Self::Chip(_) | Self::Output(_) => 2,
        }
    }
}
