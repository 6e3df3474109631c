//! What a verdict is on.

use sim::engine::comparison;
use sim::engine::result::RunResult;
use sim::engine::systems::Chosen;
use sim::input::device::Setup;
use sim::show;

use crate::flags::device::DeviceArgs;
use crate::output::ranking::Pair;

/// Runs on one device, with what they were made of.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    /// The others are compared with the first.
    pub(crate) runs: &'a [&'a RunResult],
    /// Those with an SLC, beside the same system without.
    pub(crate) pairs: &'a [Pair<'a>],
    pub(crate) systems: &'a [Chosen],
    /// Which systems do not fit the device, and why.
    pub(crate) left_out: &'a [String],
    pub(crate) device: &'a DeviceArgs,
    pub(crate) setup: &'a Setup,
}

impl<'a> Field<'a> {
    /// All runs: those of the systems, and those without SLC.
    pub(crate) fn all(&self) -> Vec<&'a RunResult> {
        comparison::with_and_without(self.runs, self.pairs)
    }

    /// The systems of these runs, with their SLC where both are compared.
    pub(super) fn named(&self, runs: &[&RunResult]) -> String {
        let all = self.all();
        let is_of = |run: &RunResult| runs.iter().any(|other| std::ptr::eq(*other, run));
        let names = all.iter().zip(comparison::labels(&all)).filter(|(run, _)| is_of(run));
        show::listed(names.map(|(run, label)| comparison::told(run, &label)), "and")
    }
}
