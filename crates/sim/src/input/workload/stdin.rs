//! Standard input, which can be read once.

use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::input::trace::TraceError;

/// The copy of standard input.
pub(super) type KeptInput = NamedTempFile;

/// The name of standard input in messages.
pub(super) const STDIN: &str = "standard input";

/// The length of a file, if it has one.
pub(super) fn length_of(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|data| data.len())
}

/// Copies it to a temporary file.
pub(super) fn keep() -> Result<KeptInput, TraceError> {
    let not_kept = |reason| TraceError::NotKept { folder: std::env::temp_dir(), reason };
    let mut file = NamedTempFile::new().map_err(not_kept)?;
    io::copy(&mut io::stdin().lock(), &mut file).map_err(not_kept)?;
    file.flush().map_err(not_kept)?;
    Ok(file)
}
