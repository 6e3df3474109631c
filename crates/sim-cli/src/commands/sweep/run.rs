//! One run of a plan.

use sim::engine::systems::Chosen;
use sim::input::device::Setup;

use crate::flags::options::Options;

/// One run of a plan.
#[derive(Debug)]
pub(super) struct Run {
    /// The name of its result: readable, and different whenever the result could differ.
    pub(super) id: String,
    /// The system's name in the plan.
    pub(super) device: String,
    /// The SLC size of the plan; `None` if the plan leaves that to the device, or the system does not use it.
    pub(super) slc: Option<u64>,
    /// The trace's name in the plan, with the seed.
    pub(super) trace: String,
    /// The same without the seed.
    pub(super) workload: String,
    pub(super) system: Chosen,
    pub(super) setup: Setup,
    pub(super) options: Options,
    /// The index of the run that its ratios refer to.
    pub(super) baseline: usize,
}

impl Run {
    /// The SLC that the run has, if the plan gives it one.
    pub(super) fn sized_slc(&self) -> Option<u64> {
        self.slc.filter(|size| *size > 0)
    }
}
