//! B. Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid state drives"
//! (SIGMETRICS 2013).
//!
//! The d-choices algorithm looks at `d` blocks, drawn at random, and collects the one with the fewest valid units. It
//! needs no order of all blocks. The paper finds it close to greedy collection even for small `d`, such as 10.
//!
//! *Our choices.* The paper draws among all blocks; ours draws among the full ones, with replacement. If all that were
//! drawn are entirely valid, ours takes the least valid of all blocks. Host writes and copies fill separate blocks, as
//! in the other systems here.

use ftl_iface::{Bytes, Cause, NandDevice, Probe, Region, SectorCount};

use crate::kit::{
    Area, AreaPlan, Dice, Fault, Mapped, Policy, Request, Stream, Unfit, Unit, Units, Victims,
};

const MLC: usize = 0;
const HOST: Stream = Stream::new(MLC, 0);
const COPIES: Stream = Stream::new(MLC, 1);

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub struct DChoicesConfig {
    /// The FTL's sector size.
    pub sector: Bytes,
    /// Sectors that the host may use.
    pub capacity: SectorCount,
    /// Blocks that are filled in parallel.
    pub lanes: u32,
    /// Blocks that are drawn for each victim.
    pub choices: u32,
}

/// The rules.
#[derive(Clone, Debug)]
pub struct DChoices {
    choices: u32,
    dice: Dice,
}

/// The paper's algorithm over the MLC of that device.
pub fn new<D: NandDevice, P: Probe>(
    device: D,
    probe: P,
    config: &DChoicesConfig,
) -> Result<Mapped<D, P, DChoices>, Unfit> {
    let plan = AreaPlan::whole(device.geometry(), Region::Mlc, 2, config.lanes);
    let units = Units::new(device, probe, &[plan], config.sector, config.capacity)?;
    units.fits(MLC, 0)?;
    let choices = config.choices.max(1);
    Ok(Mapped::new(units, DChoices { choices, dice: Dice::new(1) }))
}

impl DChoices {
    /// The least valid of the blocks that were drawn.
    fn victim(&mut self, area: &mut Area) -> Option<u32> {
        let blocks = area.blocks();
        // Few blocks are not full when room is short. Where many are bad, fewer are drawn.
        let drawn = (0..self.choices.saturating_mul(4)).map(|_| self.dice.below(blocks));
        let full = drawn.filter(|block| area.is_full(*block)).take(self.choices as usize);
        let least = full.min_by_key(|block| area.valid(*block));
        let gains = least.filter(|block| !area.is_wholly_valid(*block));
        gains.or_else(|| Victims::Greedy.choose(area))
    }
}

impl<D: NandDevice, P: Probe> Policy<D, P> for DChoices {
    #[inline]
    fn write(
        &mut self,
        units: &mut Units<D, P>,
        unit: Unit,
        data: &[u8],
        _: Request,
    ) -> Result<(), Fault<D::Error>> {
        while units.area(MLC).is_short() {
            let victim = self.victim(units.area_mut(MLC)).ok_or(Fault::Full)?;
            units.collect(MLC, victim, Cause::Gc, |_| (COPIES, Cause::Gc))?;
        }
        units.put(HOST, unit, data, Cause::Host)
    }

    /// The state of its dice.
    fn ram_bytes(&self) -> u64 {
        8
    }

    fn check(&self, _: &Units<D, P>) -> Result<(), String> {
        Ok(())
    }
}
