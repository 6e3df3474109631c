//! The rounds of a run that was to settle.

use serde::{Deserialize, Serialize};

/// The rounds of `--steady`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// Whether the last five agreed, and the rounds used up what was free before, for every system of the run.
    pub settled: bool,
    /// Every round, from the first on.
    pub rounds: Vec<Round>,
}

/// One replay of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Bytes programmed per byte that the host wrote; `None` if it wrote none.
    pub write_amplification: Option<f64>,
    /// What was programmed of the main memory when the run began and what was since, as a share of it: from 1 on, all
    /// pages that were free are used up. `None` without flash, and if less than a twentieth of what the round
    /// programmed went there.
    #[serde(default)]
    pub filled: Option<f64>,
    /// Mean response time of all requests, in microseconds.
    pub mean_us: Option<f64>,
    /// That of writes.
    pub write_mean_us: Option<f64>,
}
