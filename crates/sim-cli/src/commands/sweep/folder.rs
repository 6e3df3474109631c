//! The folder of a sweep's results.

use std::path::{Path, PathBuf};

use sim::Failure;

use super::run::Run;

/// The folder of a sweep.
pub(super) struct Folder<'a> {
    pub(super) path: &'a Path,
}

impl Folder<'_> {
    /// The result's file of a run.
    pub(super) fn result(&self, run: &Run) -> PathBuf {
        self.path.join("runs").join(format!("{}.json", run.id))
    }

    pub(super) fn make(&self) -> Result<(), Failure> {
        let path = self.path.join("runs");
        std::fs::create_dir_all(&path).map_err(|reason| Failure::File { path, reason })
    }
}
