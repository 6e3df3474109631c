//! What a run brings.

use serde::{Deserialize, Serialize};

use crate::result::RunResult;
use crate::systems::ChainWrite;

/// What a run brings.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// What its JSON holds.
    pub(crate) result: RunResult,
    /// What charts show beside that, where it was asked for.
    pub(crate) details: Option<Details>,
}

/// What charts show of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Details {
    /// Of reads and of writes: shares of the requests, and the microseconds within which they were answered.
    pub(crate) latencies: [Vec<(f64, f64)>; 2],
    /// Erases of each block, by region.
    pub(crate) erases: [Vec<u32>; 2],
    /// A sample of the pages of new data written to chains.
    pub(crate) chain_writes: Vec<ChainWrite>,
}
