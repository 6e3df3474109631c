//! The folder of a sweep's results.

use std::path::{Path, PathBuf};

use super::run::Run;
use crate::base::Failure;

/// The folder of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct Folder<'a> {
    /// Its path.
    pub path: &'a Path,
}

impl Folder<'_> {
    /// The result's file of a run.
    pub fn result(&self, run: &Run) -> PathBuf {
        self.path.join("runs").join(format!("{}.json", run.id))
    }

    /// Makes it, if it is missing.
    pub fn make(&self) -> Result<(), Failure> {
        let path = self.path.join("runs");
        std::fs::create_dir_all(&path).map_err(|reason| Failure::File { path, reason })
    }
}
