//! Bad-block marks that do not take, as on a block that no longer programs at all.

use std::collections::BTreeSet;

use ftl_iface::Block;

/// Which marks fail.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct MarkFailures(pub(super) BTreeSet<Block>);

impl MarkFailures {
    pub(super) fn strikes(&self, block: Block) -> bool {
        self.0.contains(&block)
    }
}
