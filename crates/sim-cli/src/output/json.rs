//! Results as JSON.

use std::io::Write;

use serde::Serialize;
use sim::Failure;

use crate::base::{files, interrupt};
use crate::flags::options::Options;

/// What the standard output of a command is left for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum StandardOutput {
    /// It has JSON or CSV, and takes nothing else.
    Taken,
    /// The result as text.
    Free,
}

/// Writes JSON if requested; to a file only if the run is complete.
pub(crate) fn write(
    options: &Options,
    result: &impl Serialize,
    out: &mut dyn Write,
) -> Result<StandardOutput, Failure> {
    let Some(path) = &options.json else {
        return Ok(StandardOutput::Free);
    };
    let text = text(result);
    if files::is_output(path) {
        out.write_all(&text)?;
        return Ok(StandardOutput::Taken);
    }
    if !interrupt::is_requested() {
        files::replace(path, &text)?;
    }
    Ok(StandardOutput::Free)
}

/// The JSON text of a result.
pub(crate) fn text(result: &impl Serialize) -> Vec<u8> {
    // Results are figures and names, which JSON can always represent.
    let mut text = serde_json::to_vec_pretty(result).unwrap_or_default();
    text.push(b'\n');
    text
}
