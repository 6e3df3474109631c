//! Blocks that were bad when the part left the factory.

use std::collections::BTreeSet;

use ftl_iface::Block;

/// The factory's bad blocks. They may be read; programs and erases are breaches, as of any bad block.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct FactoryBad(pub(super) BTreeSet<Block>);

impl FactoryBad {
    pub(super) fn contains(&self, block: Block) -> bool {
        !self.0.is_empty() && self.0.contains(&block)
    }
}
