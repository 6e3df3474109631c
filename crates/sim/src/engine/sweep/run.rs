//! One run of a plan.

use crate::base::Failure;
use crate::engine::replay::Options;
use crate::engine::systems::Chosen;
use crate::input::device::Setup;
use crate::input::workload::{Reading, Reads, Workload};

/// One run of a plan.
#[derive(Debug)]
pub struct Run {
    /// The name of its result: readable, and different whenever the result could differ.
    pub id: String,
    /// The system's name in the plan.
    pub device: String,
    /// The SLC size of the plan; `None` if the plan leaves that to the device, or the system does not use it.
    pub slc: Option<u64>,
    /// The trace's name in the plan, with the seed.
    pub trace: String,
    /// The same without the seed.
    pub workload: String,
    /// The system.
    pub system: Chosen,
    /// The device, with what is written to it before.
    pub setup: Setup,
    /// How the trace is replayed.
    pub options: Options,
    /// The paths or synthetic workloads that are the trace.
    pub(super) paths: Vec<String>,
    /// How they are read.
    pub(super) reading: Reading,
    /// The index of the run that its ratios refer to.
    pub(super) baseline: usize,
}

impl Run {
    /// The SLC that the run has, if the plan gives it one.
    pub fn sized_slc(&self) -> Option<u64> {
        self.slc.filter(|size| *size > 0)
    }

    /// Its requests.
    pub(super) fn requests(&self) -> Result<Workload, Failure> {
        let workload = Workload::named(&self.paths, self.reading.clone(), Reads::Once)?;
        Ok(workload.called(&self.trace))
    }
}
