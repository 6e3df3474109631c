//! Winning free blocks: what is newest in a victim is copied, page by page, until nothing refers to it.

use ftl_iface::{NandDevice, PageCount, Sector, Work};

use super::address::{BlockNumber, Mapped, Spot};
use super::dirty::Old;
use super::door::{self, Seen};
use super::ftl::{PageFtl, Stream};
use super::map::leaf_named;
use super::shape::Area;
use super::write::{Before, Content, Written};
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::layout::{self, Kind, Slot};
use crate::probe::{Cause, Probe};

/// Blocks beyond the reserve below which each page of the host's pays for those that it will need.
const AHEAD: u16 = 3;

/// The most pages copied for one page of the host's: twenty of 21 slots of a victim in use.
const PACE_MAX: u16 = 21;

/// A block that is being emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Victim {
    pub(super) block: BlockNumber,
    /// The page to be looked at next.
    page: u16,
    /// And its slot.
    slot: u16,
    /// Pages copied out of it for each page of the host's.
    pace: u16,
}

/// What a step of reclaiming came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
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
    fn short_area(&self, beyond: u16) -> Option<Area> {
        let short = |area| self.blocks.free(area) <= self.shape.reserve(area) + beyond;
        let fast = self.shape.fast.is_some() && short(Area::Fast);
        // Emptying one costs room in the other: the main area is helped first where it has next to none.
        if fast && (self.blocks.free(Area::Main) > 1 || self.blocks.free(Area::Fast) < 2) {
            return Some(Area::Fast);
        }
        short(Area::Main).then_some(Area::Main).or(fast.then_some(Area::Fast))
    }

    /// Wins blocks until every area has its reserve and one more.
    fn make_blocks(&mut self) -> Result<(), Fault<D::Error>> {
        // As many steps empty every block of the device twice.
        let map = self.shape.map_area();
        let pages = u32::from(self.shape.blocks())
            * u32::from(self.shape.main.pages.max(map.pages))
            * u32::from(self.shape.slots_max());
        for _ in 0..pages * 2 + 64 {
            let Some(area) = self.short_area(0) else { return Ok(()) };
            if self.reclaim_step(area)? == Step::NoVictim {
                break;
            }
        }
        Err(Fault::ReadOnly)
    }

    /// Work for an idle host.
    pub(super) fn work(&mut self, budget: PageCount) -> Result<Work, Fault<D::Error>> {
        /// Blocks to be free beyond the reserve while the host is idle.
        const IDLE: u16 = 2;
        for _ in 0..budget.get() {
            let Some(area) = self.short_area(IDLE) else { return Ok(Work::Done) };
            if self.reclaim_step(area)? == Step::NoVictim {
                return Ok(Work::Done);
            }
        }
        Ok(if self.short_area(IDLE).is_some() { Work::Left } else { Work::Done })
    }

    /// Copies one page's worth out of an area's victim.
    fn reclaim_step(&mut self, area: Area) -> Result<Step, Fault<D::Error>> {
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
        // Room for all that a victim holds is made before: a map page written amid copies costs pages that endanger it.
        let slots = u32::from(self.shape.slots_max());
        let ahead = if begun.is_none() { self.blocks.references(victim.block).into() } else { 0 };
        self.make_entries(slots.max(ahead))?;
        self.empty_some(area, victim)?;
        Ok(Step::Done)
    }

    /// The block with the fewest references, if emptying it wins anything. What leaves the fast area always does.
    fn choose(&self, area: Area) -> Option<Victim> {
        let full = self.shape.area(area).block_slots() as u16;
        let blocks = self.blocks.of(area).filter(|block| self.blocks.may_be_victim(*block));
        let block = blocks.min_by_key(|block| self.blocks.references(*block))?;
        let wins = area == Area::Fast || self.blocks.references(block) < full;
        wins.then_some(Victim { block, page: 0, slot: 0, pace: self.pace_of(area, block) })
    }

    /// A victim with v slots in use among p is emptied while the host writes the p − v pages' worth that it wins.
    fn pace_of(&self, area: Area, block: BlockNumber) -> u16 {
        let full = self.shape.area(area).block_slots() as u16;
        let used = self.blocks.references(block);
        used.div_ceil(full.saturating_sub(used).max(1)).clamp(1, PACE_MAX)
    }

    /// Copies as much as a page of the host's owes to the area that it goes to, where that comes to be short of blocks.
    pub(super) fn pace(&mut self, stream: Stream) -> Result<(), Fault<D::Error>> {
        let area = self.area_of(stream);
        if self.blocks.free(area) > self.shape.reserve(area) + AHEAD {
            return Ok(());
        }
        let steps = self.victims[area as usize].map_or(1, |victim| victim.pace);
        for _ in 0..steps {
            self.reclaim_step(area)?;
        }
        Ok(())
    }

    /// Fills a page with what is newest in the victim, and programs it.
    fn empty_some(&mut self, area: Area, mut victim: Victim) -> Result<(), Fault<D::Error>> {
        let pages = self.shape.area(area).pages;
        let stream = self.copies();
        let mut filled = 0;
        self.door.hold_nothing();
        while victim.page < pages && self.blocks.references(victim.block) > 0 {
            let spot = Spot { block: victim.block, page: victim.page };
            match self.gather(spot, &mut victim.slot, &mut filled)? {
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
            self.put_copies(stream, filled)?;
        }
        if self.blocks.references(victim.block) == 0 {
            self.victims[area as usize] = None;
        } else if victim.page >= pages {
            // Something refers to a page that cannot be read: the block is left alone.
            self.blocks.fail(victim.block);
            self.victims[area as usize] = None;
        }
        Ok(())
    }

    /// Takes what is newest in a page, from a slot on, into the page buffer.
    fn gather(
        &mut self,
        spot: Spot,
        from: &mut u16,
        filled: &mut u16,
    ) -> Result<Page, Fault<D::Error>> {
        let Seen::Page(tag) = self.door.read(spot, 0, &mut [], Cause::Gc)? else {
            return Ok(Page::Finished);
        };
        if door::is_map(tag.kind) {
            let leaf = leaf_named(self.door.slot(0)).filter(|leaf| leaf.get() < self.shape.leaves);
            let newest = leaf.filter(|leaf| self.map.spot(*leaf) == Some(spot));
            return Ok(newest.map_or(Page::Finished, Page::Leaf));
        }
        self.keep_tag(spot);
        let slots = self.shape.area(self.shape.area_of(spot.block)).slots;
        let room = self.shape_of(self.copies()).slots;
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
                self.take_slot(spot, *from, slot, *filled)?;
                *filled += 1;
            }
            *from += 1;
        }
        Ok(Page::Finished)
    }

    /// Keeps the tag read last.
    pub(super) fn keep_tag(&mut self, spot: Spot) {
        let slots = self.shape.area(self.shape.area_of(spot.block)).slots;
        for slot in 0..slots {
            layout::put_slot(self.kept, usize::from(slot), self.door.slot(slot));
        }
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
        let (leaf, at) = self.shape.leaf_of(sector);
        if self.map.spot(leaf).is_none() {
            return Ok(false);
        }
        let page = self.map.load(&mut self.door, leaf, Cause::Gc)?;
        let mapped = self.map.get(page, at) == Mapped::At(place);
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
        holds: Slot,
        to: u16,
    ) -> Result<(), Fault<D::Error>> {
        let bytes = self.shape.sector_bytes.as_usize();
        let start = usize::from(to) * bytes;
        let data = self.buffer.get_mut(start..start + bytes).unwrap_or(&mut []);
        let holds = match (self.door.read(spot, slot, data, Cause::Gc)?, holds) {
            (Seen::Page(_), holds) => holds,
            (_, Slot::Holds(sector)) => Slot::Lost(sector),
            (_, holds) => holds,
        };
        self.door.hold(to, holds);
        Ok(())
    }

    /// Programs what was gathered, and notes where it is.
    fn put_copies(&mut self, stream: Stream, filled: u16) -> Result<(), Fault<D::Error>> {
        let bytes = self.shape.sector_bytes.as_usize();
        if let Some(rest) = self.buffer.get_mut(usize::from(filled) * bytes..) {
            rest.fill(0xFF);
        }
        let spot = self.program(stream, Written::New(Kind::Sectors), Content::Buffer, Cause::Gc)?;
        for slot in 0..filled {
            let Some(sector) = self.door.held(slot).copy_of() else { continue };
            let before = match self.table.get(sector) {
                Some(_) => Before::Unknown,
                None => match self.lookup(sector)? {
                    Mapped::At(place) => Before::At(place),
                    Mapped::Nowhere | Mapped::Lost => Before::Unknown,
                },
            };
            self.remember(sector, self.place(spot, slot), before)?;
        }
        Ok(())
    }
}
