//! Finished runs, kept in a folder, so that a page of many long runs can be resumed.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sim::Failure;
use sim::engine::replay::{Details, Outcome};
use sim::engine::result::{RunResult, SCHEMA};
use sim::input::synth::Synth;

use super::run::{Length, Run};
use crate::base::files;

/// The content of a file.
#[derive(Serialize, Deserialize)]
struct KeptRun {
    /// The version, the run and the workload's parameters: with others the figures may be others.
    made: String,
    result: RunResult,
    details: Option<Details>,
}

/// The folder.
#[derive(Clone, Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// That folder, created if needed.
    pub(super) fn new(path: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(path).map_err(|reason| Failure::File { path: path.into(), reason })?;
        Ok(Self(path.into()))
    }

    /// The result of a run, if it was kept. A truncated file, or one of another version, counts as absent.
    pub(super) fn find(&self, run: &Run, length: Length) -> Option<Outcome> {
        let text = fs::read(self.path(run, length)).ok()?;
        let kept: KeptRun = serde_json::from_slice(&text).ok()?;
        let KeptRun { made, result, details } = kept;
        (made == said(run, length) && !result.partial).then_some(Outcome {
            result,
            details,
            record: None,
        })
    }

    /// Keeps the result of a run.
    pub(super) fn keep(&self, run: &Run, length: Length, outcome: &Outcome) -> Result<(), Failure> {
        let Outcome { result, details, .. } = outcome.clone();
        let kept = KeptRun { made: said(run, length), result, details };
        let text = serde_json::to_vec(&kept)
            .map_err(|reason| Failure::Violation(format!("a run could not be kept: {reason}")))?;
        files::replace(&self.path(run, length), &text)
    }

    /// Its path.
    pub(super) fn path(&self, run: &Run, length: Length) -> PathBuf {
        let Length { requests, seed, passes, .. } = length.of(run);
        let Run { workload, device, system, slc, .. } = run;
        let name = workload.name();
        let name = format!("{name}-{device}-{slc}MiB-{system}-{requests}x{passes}-{seed}");
        let plain = |letter: char| {
            if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' }
        };
        let name: String = name.chars().map(plain).collect();
        self.0.join(format!("{name}.json"))
    }
}

/// Everything on which a run's result depends.
fn said(run: &Run, length: Length) -> String {
    let length = length.of(run);
    // A workload may change and keep its name.
    let workload = Synth::parse(&length.trace(run.workload));
    format!("{} {SCHEMA} {run:?} {workload:?} {}", env!("CARGO_PKG_VERSION"), length.passes)
}
