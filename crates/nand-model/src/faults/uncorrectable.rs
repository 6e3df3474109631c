//! Pages that cannot be read back, whatever their wear.

use std::collections::BTreeSet;

use ftl_iface::Page;

use super::dice::{Chance, Subject, dice};
use super::{FaultInjector, Remains};

/// Which pages lose their content.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Uncorrectable {
    /// That a page loses what it is programmed with, until its block is erased.
    chance: Chance,
    /// Places that lose whatever they are programmed with.
    named: BTreeSet<Page>,
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

impl<D> FaultInjector<D> {
    /// Makes that page uncorrectable whenever it is programmed, now and after later erases, until it is lifted.
    pub fn uncorrectable(&mut self, page: Page) {
        self.faults.uncorrectable.named.insert(page);
    }

    /// Loses what the page holds now, until its block is erased.
    pub fn lose(&mut self, page: Page) {
        self.faults.torn.leave(page, Some(Remains::Uncorrectable));
    }

    /// Lets pages lose by chance what they are programmed with, at places that the seed picks.
    pub fn uncorrectable_by_chance(&mut self, chance: Chance) {
        self.faults.uncorrectable.chance = chance;
    }

    /// Makes the page read as what it was meant to hold: it is no longer uncorrectable by name, and what a failure or
    /// a cut left of it is forgotten.
    pub fn lift(&mut self, page: Page) {
        self.faults.uncorrectable.named.remove(&page);
        self.faults.torn.lift(page);
    }
}
