//! How the runner fails: with a sentence.

use std::path::Path;

/// What went wrong, in a sentence.
pub(crate) type Outcome<T> = Result<T, String>;

/// A file's fault, with its name.
pub(crate) fn said(file: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", file.display())
}
