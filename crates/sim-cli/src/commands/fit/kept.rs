//! Measures that are kept in a file, so that a long search resumes where it was stopped.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use sim::Failure;

use super::constraints::Figures;

/// Measures by the name of the workload, and the file with a line for each: the figures as JSON, a tab, the name.
pub(super) struct Kept {
    known: HashMap<String, Figures>,
    file: Option<Mutex<File>>,
}

impl Kept {
    /// Nothing is kept.
    pub(super) fn nowhere() -> Self {
        Self { known: HashMap::new(), file: None }
    }

    /// What that file has, and what will be added to it. A line that was cut by a kill is measured again.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let wrong = |reason: std::io::Error| {
            Failure::Arguments(format!("{} cannot be written: {reason}", path.display()))
        };
        let text = fs::read_to_string(path).unwrap_or_default();
        let known = text.lines().filter_map(|line| {
            let (figures, name) = line.split_once('\t')?;
            Some((name.to_owned(), serde_json::from_str(figures).ok()?))
        });
        let known = known.collect();
        let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(wrong)?;
        if !text.is_empty() && !text.ends_with('\n') {
            writeln!(file).map_err(wrong)?;
        }
        Ok(Self { known, file: Some(Mutex::new(file)) })
    }

    pub(super) fn get(&self, name: &str) -> Option<Figures> {
        self.known.get(name).copied()
    }

    /// Keeps new measures, and returns them.
    pub(super) fn put(&self, name: &str, figures: Figures) -> Result<Figures, Failure> {
        if let Some(file) = &self.file {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let figures = serde_json::to_string(&figures).unwrap_or_default();
            writeln!(file, "{figures}\t{name}")?;
        }
        Ok(figures)
    }
}
