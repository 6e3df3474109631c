//! Programs that fail. The page reads as anything; the block's earlier pages stay readable.

use std::collections::BTreeMap;

use ftl_iface::Page;

use super::FaultInjector;
use super::dice::{Chance, Subject, When, dice};

/// Which programs fail.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct ProgramFailures {
    chance: Chance,
    named: BTreeMap<Page, When>,
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

impl<D> FaultInjector<D> {
    /// Lets programs of that page fail.
    pub fn fail_program(&mut self, page: Page, when: When) {
        self.faults.program_failures.named.insert(page, when);
    }

    /// Lets programs fail by chance, at places that the seed picks.
    pub fn fail_programs(&mut self, chance: Chance) {
        self.faults.program_failures.chance = chance;
    }

    /// No program fails any more. What failed before stays as it is.
    pub fn lift_program_failures(&mut self) {
        self.faults.program_failures = ProgramFailures::default();
    }
}
