//! The device that a file keeps.

use nand_model::Chip;
use nand_model::faults::FaultInjector;

/// A chip with its faults.
pub type Device = FaultInjector<Chip>;
