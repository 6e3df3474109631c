//! Winning free blocks: what is newest in a victim is copied, page by page, until nothing refers to it.

use ftl_iface::{NandDevice, PageCount, Sector, Work};

use super::address::{BlockNumber, Mapped, Spot};
use super::candidates::{Judge, PACE_MAX};
use super::config::{Bursts, Victims};
use super::dirty::Old;
use super::door::{self, Seen};
use super::ftl::{PageFtl, Stream};
use super::map::leaf_named;
use super::numbers;
use super::shape::Area;
use super::write::{Before, Content, Written};
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::layout::{self, Kind, Slot};
use crate::probe::{Cause, Probe};

/// Blocks beyond the reserve below which each page of the host's pays for those that it will need.
const AHEAD: u32 = 3;
/// Blocks to be free beyond the reserve while the host is idle.
const IDLE: u32 = 2;

/// Map pages that a step writes, where the table has no room for what a victim holds.
pub(super) const FLUSHED: u32 = 2;

/// A block that is being emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Victim {
    pub(super) block: BlockNumber,
    /// The page to be looked at next.
    page: u16,
    /// And its slot.
    slot: u16,
    /// With no page left to be looked at, and something still leading there: the leaf to be searched next.
    pub(super) salvaged: u32,
    /// Pages copied out of it for each page of the host's.
    pace: u16,
    /// Where its copies go.
    stream: Stream,
    /// What it is emptied for.
    pub(super) cause: Cause,
}

/// What a step of reclaiming came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Something was done.
    Done,
    /// There is no block whose emptying would win anything.
    NoVictim,
}

/// Where the search in a victim's page stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    /// All of it was looked at.
    Finished,
    /// The page to be programmed is full.
    Full,
    /// It is the newest map page of its leaf.
    Leaf(super::address::Leaf),
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
    const fn is_short(&self, area: Area, beyond: u32) -> bool {
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

    /// Work for an idle host: what makes room, then what begins to go, and then the scrub, if there is one.
    pub(super) fn work(&mut self, budget: PageCount) -> Result<Work, Fault<D::Error>> {
        for _ in 0..budget.get() {
            if !self.idle_step()? {
                return Ok(Work::Done);
            }
        }
        let short = self.short_area(IDLE).is_some() || self.expects_bursts();
        let waits = short || self.may_refresh() || self.scrub.is_some();
        Ok(if waits { Work::Left } else { Work::Done })
    }

    /// One step of what is most urgent. `false`: nothing waits.
    fn idle_step(&mut self) -> Result<bool, Fault<D::Error>> {
        // First what the next write would have to win; what is weak comes before what it need not.
        if let Some(area) = self.short_area(0)
            && self.reclaim_step(area)? == Step::Done
        {
            return Ok(true);
        }
        if self.may_refresh() {
            self.refresh_step()?;
            return Ok(true);
        }
        if let Some(area) = self.short_area(IDLE)
            && self.reclaim_step(area)? == Step::Done
        {
            return Ok(true);
        }
        if self.expects_bursts() && self.reclaim_step(Area::Fast)? == Step::Done {
            return Ok(true);
        }
        self.scrub_step()
    }

    /// Whether the fast area is to have more room for a burst: half of it, as long as the main area has room for what
    /// leaves it.
    fn expects_bursts(&self) -> bool {
        let Some(fast) = &self.shape.fast else { return false };
        matches!(self.config.bursts, Bursts::ToFast(_))
            && self.blocks.free(Area::Fast) <= fast.blocks / 2
            && !self.is_short(Area::Main, IDLE)
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
            return Ok(Step::Done);
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
            self.prepaid = (main / fast.max(1)).saturating_sub(1);
            self.reclaim_step(Area::Fast)?;
        }
        // What leaves the fast area takes up the main one, too.
        let mut steps = 0;
        while self.comes_short(Area::Main) && steps < self.owed() {
            self.reclaim_step(Area::Main)?;
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

    /// Takes what is newest in a page, from a slot on, into the page buffer.
    fn gather(
        &mut self,
        victim: &mut Victim,
        spot: Spot,
        filled: &mut u16,
    ) -> Result<Page, Fault<D::Error>> {
        let (seen, whole) = self.read_victim(spot, *filled, victim.cause)?;
        let from = &mut victim.slot;
        let Seen::Page(tag) = seen else {
            return Ok(Page::Finished);
        };
        if door::is_map(tag.kind) {
            let leaf = leaf_named(self.door.slot(0)).filter(|leaf| leaf.get() < self.shape.leaves);
            let newest = leaf.filter(|leaf| self.map.spot(*leaf) == Some(spot));
            return Ok(newest.map_or(Page::Finished, Page::Leaf));
        }
        self.keep_tag();
        let slots = self.shape.area_at(spot.block).slots;
        let room = self.shape_of(self.copies()).slots;
        let start = *filled;
        while *from < slots {
            let slot = layout::slot(self.kept, usize::from(*from));
            let newest = match slot.copy_of() {
                Some(sector) if sector.get() < self.shape.capacity.get() => {
                    self.is_newest(sector, spot, *from)?
                }
                _ => false,
            };
            let dropped = planted(Bug::DropLastSlot) && *from + 1 == slots && slots > 1;
            if newest && !dropped {
                if *filled == room {
                    return Ok(Page::Full);
                }
                if whole {
                    self.move_slot(start + *from, *filled);
                    self.door.hold(*filled, slot);
                } else {
                    self.take_slot(spot, *from, (*filled, victim.cause))?;
                }
                *filled += 1;
            }
            *from += 1;
        }
        Ok(Page::Finished)
    }

    /// Reads a page of a victim behind what was gathered so far, where most of the block is likely to be copied; its
    /// tag alone where little is, or where the page cannot be read as a whole. Says whether it was read whole.
    fn read_victim(
        &mut self,
        spot: Spot,
        filled: u16,
        cause: Cause,
    ) -> Result<(Seen, bool), Fault<D::Error>> {
        let area = self.shape.area_at(spot.block);
        let left = u32::from(area.pages - spot.page) * u32::from(area.slots);
        if 2 * u32::from(self.blocks.references(spot.block)) >= left {
            let bytes = self.shape.sector_bytes.as_usize();
            let start = usize::from(filled) * bytes;
            let page = start..start + usize::from(area.slots) * bytes;
            if let Some(page) = self.buffer.get_mut(page) {
                let seen = self.door.read(spot, 0, page, cause)?;
                if seen != Seen::Unreadable {
                    return Ok((seen, true));
                }
            }
        }
        Ok((self.door.read(spot, 0, &mut [], cause)?, false))
    }

    /// Moves a slot of a page that was read whole to where copies are gathered.
    fn move_slot(&mut self, from: u16, to: u16) {
        let bytes = self.shape.sector_bytes.as_usize();
        numbers::copy_piece(self.buffer, bytes, from.into(), to.into());
    }

    /// Keeps the tag read last.
    pub(super) fn keep_tag(&mut self) {
        let kept = core::mem::take(&mut self.kept);
        self.kept = self.door.change_tag(kept);
    }

    /// Whether a slot holds the newest copy of a sector. Where it does not, but its map page says so still, that is
    /// not counted any more.
    fn is_newest(
        &mut self,
        sector: Sector,
        spot: Spot,
        slot: u16,
    ) -> Result<bool, Fault<D::Error>> {
        let place = self.place(spot, slot);
        let entry = self.table.get(sector);
        if let Some(entry) = entry
            && (entry.place == place || entry.old == Old::Released)
        {
            return Ok(entry.place == place);
        }
        let mapped = self.mapped(sector, Cause::Gc)? == Mapped::At(place);
        if mapped && entry.is_some() {
            self.table.release(sector);
            self.blocks.release(spot.block, 1);
            return Ok(false);
        }
        Ok(mapped)
    }

    /// Reads a slot into the page buffer. What cannot be read is lost, and its copy says so.
    fn take_slot(
        &mut self,
        spot: Spot,
        slot: u16,
        (to, cause): (u16, Cause),
    ) -> Result<(), Fault<D::Error>> {
        let holds = layout::slot(self.kept, usize::from(slot));
        let bytes = self.shape.sector_bytes.as_usize();
        let start = usize::from(to) * bytes;
        let data = self.buffer.get_mut(start..start + bytes).unwrap_or(&mut []);
        let holds = match (self.door.read(spot, slot, data, cause)?, holds) {
            (Seen::Page(_), holds) => holds,
            (_, Slot::Holds(sector)) => Slot::Lost(sector),
            (_, holds) => holds,
        };
        self.door.hold(to, holds);
        Ok(())
    }

    /// Programs what was gathered, and notes where it is.
    pub(super) fn put_copies(
        &mut self,
        victim: Victim,
        filled: u16,
    ) -> Result<(), Fault<D::Error>> {
        self.door.hold_no_more(filled);
        let bytes = self.shape.sector_bytes.as_usize();
        if let Some(rest) = self.buffer.get_mut(usize::from(filled) * bytes..)
            && !rest.is_empty()
        {
            rest.fill(0xFF);
        }
        let stream = victim.stream;
        let cause = victim.cause;
        let spot = self.program(stream, Written::New(Kind::Sectors), Content::Buffer, cause)?;
        if spot.page == 0 && self.shape.area_of(victim.block) == Area::Main {
            // What is copied is as old as it was.
            self.blocks.inherit(spot.block, victim.block);
        }
        for slot in 0..filled {
            let Some(sector) = self.door.held(slot).copy_of() else { continue };
            self.remember(sector, self.place(spot, slot), Before::In(victim.block))?;
        }
        Ok(())
    }
}
