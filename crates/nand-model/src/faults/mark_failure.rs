//! Bad-block marks that do not take, as on a block that no longer programs at all.

use std::collections::BTreeSet;

use ftl_iface::Block;

use super::FaultInjector;

/// Which marks fail.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct MarkFailures(BTreeSet<Block>);

impl MarkFailures {
    pub(super) fn strikes(&self, block: Block) -> bool {
        self.0.contains(&block)
    }
}

impl<D> FaultInjector<D> {
    /// Lets every bad-block mark of that block fail.
    pub fn fail_mark(&mut self, block: Block) {
        self.faults.mark_failures.0.insert(block);
    }

    /// No mark fails any more.
    pub fn lift_mark_failures(&mut self) {
        self.faults.mark_failures = MarkFailures::default();
    }
}
