//! The answers to the page, each as JSON: progress, a frame, a result, an error.

use serde::Serialize;
use sim::RunResult;
use sim::engine::outage::Findings;

use crate::catalogue::Catalogue;
use crate::frame::Frame;

/// To whom an answer goes, part by part.
pub type Tell<'a> = &'a (dyn Fn(&AnswerPart<'_>) + Sync);

/// A part of an answer.
#[derive(Debug, Serialize)]
#[serde(tag = "told", rename_all = "snake_case")]
pub enum AnswerPart<'a> {
    /// What there is to choose from.
    Catalogue(Catalogue),
    /// A run begins.
    Begun {
        /// The command that does the same.
        command: &'a str,
        /// Its requests.
        requests: u64,
    },
    /// Something worth knowing, in a sentence.
    Note {
        /// The sentence.
        sentence: &'a str,
    },
    /// A moment of a run.
    Frame(&'a Frame),
    /// A run has ended.
    Result(Box<RunResult>),
    /// Power failed, and this is what was found.
    Found(Box<Findings>),
    /// It cannot be answered.
    Failed {
        /// Why not.
        reason: String,
    },
}

impl AnswerPart<'_> {
    /// It as JSON.
    pub fn text(&self) -> String {
        // Figures and names, which JSON can always represent.
        serde_json::to_string(self).unwrap_or_default()
    }
}
