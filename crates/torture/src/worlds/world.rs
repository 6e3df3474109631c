//! A world: a device, its FTL, and its possible faults.

use super::behaviour::{Before, Behaviour};
use super::draw;
use super::script::Extent;
use crate::dice::{Dice, mix};
use crate::faults::Faults;
use crate::setup::{FtlName, Setup, SetupError};

/// A device, its FTL, and its possible faults.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) seed: u64,
    pub(super) setup: Setup,
    pub(super) faults: Faults,
    /// Whether the device stores every byte, or only stamps.
    pub(super) bytes: bool,
    pub(super) behaviour: Behaviour,
}

impl World {
    pub(super) fn draw(ftl: FtlName, seed: u64) -> Result<Self, SetupError> {
        let mut dice = Dice::new(mix(seed, 20));
        let behaviour = Behaviour::draw(seed);
        let setup = draw::setup(ftl, &mut dice, behaviour.tight)?;
        let mut faults = Faults::NONE;
        if dice.percent(50) {
            faults.program = dice.pick(&[40, 150, 400]);
            faults.erase = dice.pick(&[15, 40, 100]);
            faults.mark = if dice.percent(40) { 2 } else { 0 };
            faults.again = 2;
            faults.then_cut = Dice::new(mix(seed, 23)).pick(&[0, 2]);
        }
        if dice.percent(20) {
            faults.uncorrectable = 60;
        }
        faults.factory_bad = dice.percent(20).into();
        faults.bits = dice.percent(25);
        // What is no page of ours may be read in parts: stamps stand for whole sectors.
        let bytes = dice.percent(15) || matches!(behaviour.before, Before::Painted(_));
        Ok(Self { seed, setup, faults, bytes, behaviour })
    }

    pub(super) fn extent(&self) -> Extent {
        let geometry = &self.setup.part.geometry;
        let longest = [geometry.slc(), geometry.mlc()]
            .into_iter()
            .flatten()
            .map(|region| region.block_bytes() / self.setup.sector_bytes() as u64);
        let block = longest.max().unwrap_or(1).max(1) as u32;
        Extent { capacity: self.setup.capacity(), block }
    }
}
