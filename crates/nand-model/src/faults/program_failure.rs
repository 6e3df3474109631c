//! Programs that fail. The page reads as anything; the block's earlier pages stay readable.

use std::collections::BTreeMap;

use ftl_iface::Page;

use super::dice::{Chance, Subject, When, dice};

/// Which programs fail.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct ProgramFailures {
    pub(super) chance: Chance,
    pub(super) named: BTreeMap<Page, When>,
}

impl ProgramFailures {
    pub(super) fn strikes(&mut self, seed: u64, page: Page, cycles: u32) -> bool {
        let detail = u64::from(page.index().get());
        let dice = || dice(seed, Subject::ProgramFailure, page.block(), cycles, detail);
        let by_chance = self.chance.comes_up(dice);
        let Some(when) = self.named.get(&page) else {
            return by_chance;
        };
        let (strikes, left) = when.strike();
        match left {
            Some(when) => self.named.insert(page, when),
            None => self.named.remove(&page),
        };
        strikes || by_chance
    }
}
