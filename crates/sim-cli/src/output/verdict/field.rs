//! What a verdict is on.

use crate::engine::result::RunResult;
use crate::engine::systems::Chosen;
use crate::input::device::DeviceArgs;
use crate::input::device::Setup;
use crate::output::ranking::Pair;

/// Runs on one device, with what they were made of.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    /// The others are compared with the first.
    pub(crate) runs: &'a [&'a RunResult],
    /// Those with an SLC, beside the same system without.
    pub(crate) pairs: &'a [Pair<'a>],
    pub(crate) systems: &'a [Chosen],
    pub(crate) device: &'a DeviceArgs,
    pub(crate) setup: &'a Setup,
}
