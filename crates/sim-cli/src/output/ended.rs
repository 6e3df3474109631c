//! The end of a run after its results were shown.

use std::path::Path;

use sim::engine::result::RunResult;
use sim::{Failure, show};

use crate::base::files;

/// A failure if Ctrl-C stopped a run, before any file was written.
pub(crate) fn check<'a>(
    mut files: impl Iterator<Item = &'a Path>,
    mut results: impl Iterator<Item = &'a RunResult>,
) -> Result<(), Failure> {
    let Some(part) = results.find(|result| result.partial) else {
        return Ok(());
    };
    let served = show::count(part.requests.total());
    let mut done = format!("{served} requests were served, and all figures are of these");
    if files.any(|path| !files::is_output(path)) {
        done += "; no file was written";
    }
    Err(Failure::Interrupted(done))
}
