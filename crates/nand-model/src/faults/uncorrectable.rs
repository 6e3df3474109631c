//! Pages that cannot be read back, whatever their wear.

use std::collections::BTreeSet;

use ftl_iface::Page;

use super::dice::{Chance, Subject, dice};

/// Which pages lose their content.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Uncorrectable {
    /// That a page loses what it is programmed with, until its block is erased.
    pub(super) chance: Chance,
    /// Places that lose whatever they are programmed with.
    pub(super) named: BTreeSet<Page>,
}

impl Uncorrectable {
    pub(super) fn is_named(&self, page: Page) -> bool {
        !self.named.is_empty() && self.named.contains(&page)
    }

    pub(super) fn strikes(&self, seed: u64, page: Page, cycles: u32) -> bool {
        let detail = u64::from(page.index().get());
        self.chance.comes_up(|| dice(seed, Subject::Uncorrectable, page.block(), cycles, detail))
    }
}
