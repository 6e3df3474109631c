//! Erases that fail. The block is left as anything, and nothing may be programmed to it until an erase succeeds.

use std::collections::BTreeMap;

use ftl_iface::Block;

use super::dice::{Chance, Subject, When, dice};

/// Which erases fail.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct EraseFailures {
    pub(super) chance: Chance,
    pub(super) named: BTreeMap<Block, When>,
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
