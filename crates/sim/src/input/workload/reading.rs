//! How files are read.

use crate::input::trace::formats::As;

/// How files are read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Their format; by default it is detected from their content.
    pub format: Option<As>,
    /// Whether lines that do not match the format are skipped and counted.
    pub lenient: bool,
}
