//! Workloads by the names of files, folders and patterns, standard input and synthetic workloads.

use std::path::Path;

use super::origin::Origin;
use super::reading::Reading;
use super::sources::Workload;
use super::stdin;
use crate::base::Failure;
use crate::input::spec;
use crate::input::synth::{self, Synth};
use crate::input::trace::names;

/// How often a workload is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Once, from its beginning to its end.
    Once,
    /// Several times: standard input is copied.
    Often,
}

/// Whether that is not a file, but with the prefix would be a synthetic workload.
fn is_synth(name: &str) -> bool {
    synth::names().any(|known| known == spec::base(name)) && !Path::new(name).exists()
}

impl Workload {
    /// The named sources, one after the other; `-` is standard input.
    pub fn named(names: &[String], reading: Reading, reads: Reads) -> Result<Self, Failure> {
        let mut sources = Vec::new();
        let mut files = Vec::new();
        for name in names {
            let other = match (name.as_str(), reads) {
                ("-", Reads::Often) => Origin::Stdin(Some(stdin::keep()?)),
                ("-", Reads::Once) => Origin::Stdin(None),
                (name, _) if name.starts_with(synth::PREFIX) => {
                    Origin::Synth(Synth::parse(name).map_err(Failure::Arguments)?)
                }
                (name, _) if is_synth(name) => {
                    let reason = format!(
                        "there is no file `{name}`: did you mean the synthetic workload `{}{name}`?",
                        synth::PREFIX
                    );
                    return Err(Failure::Arguments(reason));
                }
                (name, _) => {
                    files.extend(names::expand(name).map_err(Failure::Arguments)?);
                    continue;
                }
            };
            sources
                .extend(names::grouped(std::mem::take(&mut files)).into_iter().map(Origin::File));
            sources.push(other);
        }
        sources.extend(names::grouped(files).into_iter().map(Origin::File));
        if sources.iter().filter(|source| matches!(source, Origin::Stdin(_))).count() > 1 {
            let reason = "standard input can be read once: name `-` once, and say --passes";
            return Err(Failure::Arguments(reason.into()));
        }
        Ok(Self::of(names.join(" "), sources, reading))
    }
}
