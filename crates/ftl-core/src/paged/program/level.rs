//! Static wear leveling. Data that is never replaced keeps its block from being erased, so all others wear instead. If
//! the erase count of the last opened block exceeds that of the least worn block in use by more than the threshold, the
//! least worn block is emptied, at the pace of any victim. Its data goes to the most worn of the blocks that may be
//! opened. So the emptied block is free for hot data, and a worn one rests.

use ftl_iface::NandDevice;

use crate::paged::plan::address::BlockNumber;
use crate::paged::plan::shape::Area;
use crate::paged::rules;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::Victim;
use crate::probe::{Cause, Probe};

/// Blocks examined whenever one is opened.
const LOOKED_AT: u32 = 16;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Notes that a block was erased and opened, and examines a few others.
    pub(crate) fn note_opened(&mut self, area: Area, block: BlockNumber) {
        let shape = self.shape.area(area);
        if !self.levels_wear() {
            return;
        }
        let Some(level) = self.leveling.get_mut(area as usize) else { return };
        level.worn = self.blocks.wear(block);
        level.since = level.since.saturating_add(1);
        level.least = level.least.filter(|least| self.blocks.may_be_victim(*least));
        for _ in 0..LOOKED_AT.min(shape.blocks) {
            let met = BlockNumber::new(shape.first_block + level.hand);
            level.hand = if level.hand + 1 >= shape.blocks { 0 } else { level.hand + 1 };
            let is_less = |least| self.blocks.wear(met) < self.blocks.wear(least);
            if self.blocks.may_be_victim(met) && level.least.is_none_or(is_less) {
                level.least = Some(met);
            }
        }
    }

    /// Returns the block of an area that is being emptied.
    pub(crate) fn begun(&self, area: Area) -> Option<Victim> {
        self.victims.get(area as usize).copied().flatten()
    }

    /// Whether a block is being emptied for wear leveling: its data goes to a worn block, which then rests.
    pub(crate) fn is_leveling(&self, area: Area) -> bool {
        self.levels_wear()
            && self.begun(area).is_some_and(|victim| victim.cause == Cause::WearLeveling)
    }

    /// Returns the block to empty for wear leveling: at most one for as many opened blocks as the threshold says. So
    /// each wears by that much before the next is needed, and leveling adds no more than that share of all programs.
    pub(crate) fn due_to_level(&self, area: Area) -> Option<BlockNumber> {
        if !self.levels_wear() {
            return None;
        }
        let level = self.leveling.get(area as usize)?;
        let least = level.least.filter(|least| self.blocks.may_be_victim(*least))?;
        let apart = level.worn.saturating_sub(self.blocks.wear(least));
        let due = rules::is_leveling_due(apart, level.since, self.config.wear_leveling.threshold);
        Some(least).filter(|_| due)
    }

    /// Takes it.
    pub(crate) fn next_to_level(&mut self, area: Area) -> Option<BlockNumber> {
        let least = self.due_to_level(area)?;
        if self.begun(area).is_some_and(|victim| victim.block == least) {
            return None;
        }
        let level = self.leveling.get_mut(area as usize)?;
        (level.least, level.since) = (None, 0);
        Some(least)
    }
}
