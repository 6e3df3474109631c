//! Erases that fail. The block is left as anything, and nothing may be programmed to it until an erase succeeds.

use std::collections::BTreeMap;

use ftl_iface::Block;

use super::FaultInjector;
use super::dice::{Chance, Subject, When, dice};

/// Which erases fail.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct EraseFailures {
    chance: Chance,
    named: BTreeMap<Block, When>,
}

impl EraseFailures {
    pub(super) fn strikes(&mut self, seed: u64, block: Block, cycles: u32) -> bool {
        let dice = || dice(seed, Subject::EraseFailure, block, cycles, 0);
        let by_chance = self.chance.comes_up(dice);
        let Some(when) = self.named.get(&block) else {
            return by_chance;
        };
        let (strikes, left) = when.strike();
        match left {
            Some(when) => self.named.insert(block, when),
            None => self.named.remove(&block),
        };
        strikes || by_chance
    }
}

impl<D> FaultInjector<D> {
    /// Lets erases of that block fail.
    pub fn fail_erase(&mut self, block: Block, when: When) {
        self.faults.erase_failures.named.insert(block, when);
    }

    /// Lets erases fail by chance, at places that the seed picks.
    pub fn fail_erases(&mut self, chance: Chance) {
        self.faults.erase_failures.chance = chance;
    }

    /// No erase fails any more. What failed before stays as it is.
    pub fn lift_erase_failures(&mut self) {
        self.faults.erase_failures = EraseFailures::default();
    }
}
