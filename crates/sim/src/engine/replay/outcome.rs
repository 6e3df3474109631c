//! The outcomes of runs.

use serde::{Deserialize, Serialize};

use super::record::Record;
use super::series::Stretch;
use crate::engine::result::RunResult;
use crate::engine::systems::ChainWrite;

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The content of its JSON.
    pub result: RunResult,
    /// The additional data for charts, if requested.
    pub details: Option<Details>,
    /// Its requests and blocks one by one, if requested.
    pub record: Option<Record>,
}

/// The data for charts of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Details {
    /// Distributions of reads and of writes: shares of the requests, and the microseconds within which they were
    /// answered.
    pub latencies: [Vec<(f64, f64)>; 2],
    /// Erases of each block, by region.
    pub erases: [Vec<u32>; 2],
    /// The response time over the run.
    #[serde(default)]
    pub series: Vec<Stretch>,
    /// A sample of the pages of new data written to chains.
    pub chain_writes: Vec<ChainWrite>,
}
