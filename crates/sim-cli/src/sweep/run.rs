//! One run of a plan.

use crate::replay::Options;
use crate::systems::{Chosen, Setup};

/// One run of a plan.
#[derive(Debug)]
pub(super) struct Run {
    /// Under which its result is kept: readable, and another one wherever something differs that changes the result.
    pub(super) id: String,
    /// As the plan names it.
    pub(super) device: String,
    /// The SLC size that the plan asks for; none where it leaves that to the device, or the system has no use for it.
    pub(super) slc: Option<u64>,
    /// As the plan names it, the seed included.
    pub(super) trace: String,
    /// The same without the seed.
    pub(super) workload: String,
    pub(super) system: Chosen,
    pub(super) setup: Setup,
    pub(super) options: Options,
    /// The run to which its ratios are.
    pub(super) baseline: usize,
}
