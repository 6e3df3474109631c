//! Winning free blocks: what is newest in a victim is copied, page by page, until nothing refers to it.

use ftl_iface::NandDevice;

use super::address::{BlockNumber, Spot};
use super::candidates::{Judge, PACE_MAX};
use super::config::Victims;
use super::copies::Page;
use super::shape::Area;
use super::store::PageFtl;
use super::under_way::{Stream, Victim};
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::probe::{Cause, Probe};

/// Blocks beyond the reserve below which each page of the host's pays for those that it will need.
const AHEAD: u32 = 3;
/// Steps a page of the host's that come on top of what it owes, where they win no room yet.
pub(super) const PREPARED_MAX: u16 = 4;
/// Map pages that a step writes, where the table has no room for what a victim holds.
pub(super) const FLUSHED: u32 = 2;

/// What a step of reclaiming came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Something was done.
    Done,
    /// Room was made in the table for what a victim holds.
    Prepared,
    /// There is no block whose emptying would win anything.
    NoVictim,
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Makes room for a page of the host's, for its entries, and for what that may call for.
    pub(super) fn make_room(&mut self) -> Result<(), Fault<D::Error>> {
        self.make_blocks()?;
        self.turn_epoch()?;
        self.make_entries(self.shape.slots_max().into())?;
        self.make_blocks()
    }

    /// The area that is short of free blocks, if one is.
    pub(super) fn short_area(&self, beyond: u32) -> Option<Area> {
        let fast = self.shape.fast.is_some() && self.is_short(Area::Fast, beyond);
        // Emptying one costs room in the other: the main area is helped first where it has next to none.
        if fast && (self.blocks.free(Area::Main) > 1 || self.blocks.free(Area::Fast) < 2) {
            return Some(Area::Fast);
        }
        self.is_short(Area::Main, beyond).then_some(Area::Main).or(fast.then_some(Area::Fast))
    }

    /// Whether an area has no more free blocks than its reserve and so many.
    pub(super) const fn is_short(&self, area: Area, beyond: u32) -> bool {
        self.blocks.free(area) <= self.shape.reserve(area) + beyond
    }

    /// Wins blocks until every area has its reserve and one more.
    fn make_blocks(&mut self) -> Result<(), Fault<D::Error>> {
        if self.short_area(0).is_none() {
            return Ok(());
        }
        self.waited = self.waited.saturating_add(1);
        self.win_blocks()
    }

    #[inline(never)]
    fn win_blocks(&mut self) -> Result<(), Fault<D::Error>> {
        // As many steps empty every block of the device twice.
        let map = self.shape.map_area();
        let slots =
            u32::from(self.shape.main.pages.max(map.pages)) * u32::from(self.shape.slots_max());
        for _ in 0..self.shape.blocks().saturating_mul(slots * 2).saturating_add(64) {
            let Some(area) = self.short_area(0) else { return Ok(()) };
            if self.reclaim_step(area)? == Step::NoVictim {
                break;
            }
        }
        Err(Fault::ReadOnly)
    }

    /// Copies one page's worth out of an area's victim.
    pub(super) fn reclaim_step(&mut self, area: Area) -> Result<Step, Fault<D::Error>> {
        if let Some(block) = self.blocks.failed_and_empty(area) {
            self.retire(block)?;
            return Ok(Step::Done);
        }
        let begun = self.victims[area as usize];
        let Some(victim) = begun.or_else(|| self.choose(area)) else {
            if self.table.is_empty() {
                return Ok(Step::NoVictim);
            }
            // Old places that map pages tell still count; once written anew they do not.
            self.flush_fullest()?;
            return Ok(Step::Done);
        };
        self.victims[area as usize] = Some(victim);
        let mut flushed = 0;
        while flushed < FLUSHED && self.prepares_for(victim) {
            self.flush_fullest()?;
            flushed += 1;
        }
        if flushed > 0 {
            return Ok(Step::Prepared);
        }
        self.make_entries(self.shape.slots_max().into())?;
        self.empty_some(area, victim)?;
        Ok(Step::Done)
    }

    /// A map page written amid copies costs pages that would endanger them: where such are left out, room for all
    /// that a victim holds is made before the first of it is copied.
    fn prepares_for(&self, victim: Victim) -> bool {
        let begins = (victim.page, victim.slot) == (0, 0);
        let copied = u32::from(self.blocks.references(victim.block));
        begins
            && self.guards()
            && self.shape.main.shares_cells()
            && self.table.len() + copied > self.shape.table_entries
    }

    /// The block that is emptied next, if emptying one wins anything.
    fn choose(&mut self, area: Area) -> Option<Victim> {
        // In need nothing counts but the room that is won.
        let need = self.blocks.free(area) <= self.shape.reserve(area);
        if (!need || planted(Bug::LevelInNeed))
            && let Some(block) = self.next_to_level(area)
        {
            let victim = self.victim_of(area, block);
            return Some(Victim { cause: Cause::WearLeveling, ..victim });
        }
        let victims = if need { Victims::Greedy } else { self.config.victims };
        let mut judge = Judge { victims, area, now: self.now(area) };
        let shape = self.shape.area(area);
        let candidates = self.candidates.get_mut(area as usize)?;
        let mut best = candidates.best(&mut self.blocks, shape, judge);
        if best.is_none() {
            judge.victims = Victims::Greedy;
            best = candidates.best(&mut self.blocks, shape, judge);
        }
        let block = best?;
        self.note_lifetime(block);
        Some(self.victim_of(area, block))
    }

    /// That block as a victim.
    pub(super) fn victim_of(&mut self, area: Area, block: BlockNumber) -> Victim {
        let stream = self.stream_of_copies(block);
        let cause = if area == Area::Fast { Cause::WriteBack } else { Cause::Gc };
        let pace = self.pace_of(area, block);
        Victim { block, page: 0, slot: 0, salvaged: 0, pace, stream, cause }
    }

    /// A victim with v slots in use among p is emptied while the host writes the p − v pages' worth that it wins.
    fn pace_of(&self, area: Area, block: BlockNumber) -> u16 {
        let full = self.shape.area(area).block_slots() as u16;
        let used = self.blocks.references(block);
        used.div_ceil(full.saturating_sub(used).max(1)).clamp(1, PACE_MAX)
    }

    /// Copies as much as a page of the host's owes to the area that it goes to, where that comes to be short of blocks.
    pub(super) fn pace(&mut self, stream: Stream) -> Result<(), Fault<D::Error>> {
        if self.shape.fast.is_some() && self.area_of(stream) == Area::Fast {
            if !self.comes_short(Area::Fast) {
                return Ok(());
            }
            if self.prepaid > 0 {
                self.prepaid -= 1;
                return Ok(());
            }
            // A step makes room for as many pages as a page of the main area takes up.
            let (fast, main) = (self.shape.map_area().slots, self.shape.main.slots);
            if self.reclaim_step(Area::Fast)? != Step::Prepared {
                self.prepaid = (main / fast.max(1)).saturating_sub(1);
            }
        }
        // What leaves the fast area takes up the main one, too.
        let (mut steps, mut prepared) = (0, 0);
        while self.comes_short(Area::Main) && steps < self.owed() + prepared {
            if self.reclaim_step(Area::Main)? == Step::Prepared && prepared < PREPARED_MAX {
                prepared += 1;
            }
            steps += 1;
        }
        Ok(())
    }

    /// Whether an area has so few free blocks that each page has to pay for those that it will need.
    const fn comes_short(&self, area: Area) -> bool {
        self.is_short(area, AHEAD)
    }

    /// Pages to be copied in the main area for one that is programmed there.
    fn owed(&self) -> u16 {
        let victim = self.victims.get(Area::Main as usize).copied().flatten();
        victim.map_or(1, |victim| victim.pace)
    }

    /// Fills a page with what is newest in the victim, and programs it.
    fn empty_some(&mut self, area: Area, mut victim: Victim) -> Result<(), Fault<D::Error>> {
        let pages = self.shape.area(area).pages;
        if victim.page >= pages {
            return self.salvage_step(area, victim);
        }
        let mut filled = 0;
        while victim.page < pages && self.blocks.references(victim.block) > 0 {
            let spot = Spot { block: victim.block, page: victim.page };
            match self.gather(&mut victim, spot, &mut filled)? {
                Page::Finished => (victim.page, victim.slot) = (victim.page + 1, 0),
                Page::Leaf(leaf) if filled == 0 => {
                    (victim.page, victim.slot) = (victim.page + 1, 0);
                    self.victims[area as usize] = Some(victim);
                    return self.write_leaf(leaf);
                }
                Page::Full | Page::Leaf(_) => break,
            }
        }
        self.victims[area as usize] = Some(victim);
        if filled > 0 {
            if planted(Bug::EraseFirst) && self.blocks.references(victim.block) == filled {
                self.door.erase(victim.block, Cause::Gc)?;
            }
            self.put_copies(victim, filled)?;
        }
        if self.blocks.references(victim.block) == 0 {
            self.victims[area as usize] = None;
        }
        Ok(())
    }
}
