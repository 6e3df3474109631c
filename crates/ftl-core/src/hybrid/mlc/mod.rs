//! The chain region: block chains under a two-level map (section 3.5 of the paper).
//!
//! A logical block is as long as a physical one. Its *chain* is a data block, which holds every sector at its fixed
//! offset (in place), and log blocks, to which writes are appended in the order of arrival. [`chains`] holds the order
//! of blocks; [`maps`] holds, for a few chains, which page holds which sector; [`scan`] finds that out from the tags;
//! [`fold`] is the state of the running fold; [`sketch`] avoids most scans for reads. This module never uses the log;
//! `path` uses both.

pub mod chains;
pub mod fold;
mod image;
pub mod maps;
mod memory;
pub mod scan;
pub mod sketch;

use core::num::NonZeroU32;

use ftl_iface::{NandDevice, Sector, SectorCount};

use crate::config::{ChainVictims, Config};
use crate::error::Fault;
use crate::hybrid::address::{ChainBlock, LogicalBlock};
use crate::hybrid::flash::{Content, Flash, PageTag, Spot};
use crate::hybrid::shape::{Area, Shape};
use crate::layout::{Kind, Label, PageNote, Slot, Slots, Trim};
use crate::probe::{Cause, Event, Probe};
use crate::table::{Bits, BlockNumber, word};

use chains::Chains;
use fold::Fold;
use maps::{BlockSize, MapEntry, MapId, Maps};
pub use memory::MlcMemory;
use sketch::Sketches;

/// Where the newest copy of a sector is that is not in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewestCopy {
    /// Nowhere: it reads as zeros.
    Nowhere,
    /// In this slot of this page.
    At {
        /// The page.
        spot: Spot,
        /// The slot.
        slot: u16,
    },
    /// In this slot of the data block, unless its tag marks it as a hole.
    InPlace {
        /// The page.
        spot: Spot,
        /// The slot.
        slot: u16,
    },
}

/// The chain region.
#[derive(Debug)]
pub struct Mlc<'ram> {
    area: Area,
    sectors: NonZeroU32,
    slots: NonZeroU32,
    logical_blocks: BlockNumber,
    chain_log_blocks_max: u16,
    /// The blocks of each chain, and the free ones.
    pub chains: Chains<'ram>,
    /// The cached maps.
    pub maps: Maps<'ram>,
    /// What each chain's log blocks may hold.
    pub sketches: Sketches<'ram>,
    /// The fold under way.
    pub fold: Fold<'ram>,
    recent: Bits<'ram, LogicalBlock>,
    /// Chains whose last log block a power cut may have touched beyond its last page.
    pub sealed: Bits<'ram, LogicalBlock>,
    hand: BlockNumber,
    victims: ChainVictims,
    /// Free blocks that may not become log blocks: they replace a block that fails while a chain is folded.
    pub in_hand: BlockNumber,
}

impl<'ram> Mlc<'ram> {
    /// The chain region without chains.
    pub fn new(shape: &Shape, config: &Config, memory: MlcMemory<'ram>) -> Self {
        let keeps_maps = config.mapping_cache_entries > 0;
        let sectors = shape.sectors_per_block;
        let slots = NonZeroU32::new(u32::from(shape.chain.slots)).unwrap_or(NonZeroU32::MIN);
        Self {
            area: shape.chain,
            sectors,
            slots,
            logical_blocks: shape.logical_blocks,
            chain_log_blocks_max: u16::from(config.chain_log_blocks_max),
            chains: Chains::new(memory.first, memory.next, memory.has_data, shape.width()),
            maps: Maps::new(
                memory.owners,
                memory.maps,
                BlockSize { sectors, slots },
                keeps_maps,
                shape.width(),
            ),
            sketches: Sketches::new(memory.sketches, shape.logical_blocks, sectors),
            fold: Fold::new(memory.touched, memory.collected),
            recent: Bits::new(memory.recent),
            sealed: Bits::new(memory.sealed),
            hand: 0,
            victims: config.victims,
            in_hand: 0,
        }
    }

    /// Sectors per logical block.
    #[inline]
    pub fn sectors_per_block(&self) -> NonZeroU32 {
        self.sectors
    }

    /// The logical block that a sector belongs to, and its offset there.
    #[inline]
    pub fn locate(&self, sector: Sector) -> (LogicalBlock, u32) {
        let number = sector.get();
        (LogicalBlock::new((number / self.sectors) as BlockNumber), number % self.sectors)
    }

    /// The logical block that a page of the chains belongs to.
    pub fn owner(&self, page: &PageTag<'_>) -> Option<LogicalBlock> {
        let logical = page.any_place().map(|sector| self.locate(sector).0);
        logical.filter(|logical| logical.get() < self.logical_blocks)
    }

    /// The sector with that offset in a logical block.
    #[inline]
    pub fn sector(&self, logical: LogicalBlock, offset: u32) -> Sector {
        Sector::new(word(logical.get()) * self.sectors.get() + offset)
    }

    /// Whether the chain has a log block.
    #[inline]
    pub fn has_log(&self, logical: LogicalBlock) -> bool {
        self.chains.first_log(logical).is_some()
    }

    /// The page and slot of the sector with that offset in a data block.
    #[inline]
    pub fn home(&self, offset: u32) -> (u16, u16) {
        ((offset / self.slots) as u16, (offset % self.slots) as u16)
    }

    /// The chain's log block with that ordinal.
    fn log_block(&self, logical: LogicalBlock, ordinal: u16) -> Option<ChainBlock> {
        self.chains.logs(logical).nth(usize::from(ordinal))
    }

    /// Whether the chain's last log block has a free page.
    #[inline]
    pub fn has_room(&self, logical: LogicalBlock, map: MapId) -> bool {
        self.has_log(logical) && self.maps.next_page(map) < self.area.pages
    }

    /// Whether the chain may take another log block before it must be folded. A chain without a data block may have one
    /// log block more, so that a fold of a chain at its limit always frees a block.
    pub fn may_grow(&self, logical: LogicalBlock) -> bool {
        // While a chain is folded, its frozen blocks will soon be free, so one block may follow them. No more than one:
        // after each power cut, which abandons the fold, the chain would exceed the map's limit by one more.
        let limit = match self.fold.job() {
            Some(job) if job.logical == logical => {
                (job.frozen + 1).min(self.chain_log_blocks_max + 2)
            }
            _ => self.chain_log_blocks_max + 1,
        };
        self.chains.count(logical) < limit
    }

    /// Whether a free block may become a log block: one must be left for the fold that frees the next, and some for
    /// blocks that may fail meanwhile.
    #[inline]
    pub fn may_take_block(&self) -> bool {
        let kept = if self.fold.is_active() { self.in_hand } else { 1 + self.in_hand };
        self.chains.free_count() > kept
    }

    /// Gives the chain a new log block, which is erased.
    pub fn grow(&mut self, logical: LogicalBlock, map: MapId, block: ChainBlock) {
        if !self.has_log(logical) {
            self.sketches.blank(logical);
        }
        self.chains.push_log(logical, block);
        self.sealed.set(logical, false);
        self.maps.set_next_page(map, 0, true);
        self.maps.set_last_note(map, PageNote::Nothing.code(self.area.slots));
    }

    /// Lets the chain's last log block take no more pages.
    pub fn seal(&mut self, logical: LogicalBlock) {
        self.sealed.set(logical, true);
        if let Some(map) = self.maps.lookup(logical) {
            self.maps.set_next_page(map, self.area.pages, false);
        }
    }

    /// Programs the next page of the chain's last log block. There must be room.
    ///
    /// `slots` lists what each slot holds.
    pub fn append<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        logical: LogicalBlock,
        map: MapId,
        write: Append<'_>,
        cause: Cause,
    ) -> Result<Appended, Fault<D::Error>> {
        let page = self.maps.next_page(map);
        let Last { ordinal, block } = write.end;
        let in_order = self.maps.in_order(map) && self.is_in_place(logical, page, &write);
        let kind = if write.trims.is_some() {
            Kind::Trim
        } else if in_order {
            Kind::ChainInPlace
        } else {
            Kind::Chain
        };
        let Append { content, slots, wear, .. } = write;
        let says_wear = page == 0 || kind == Kind::ChainInPlace;
        let note = if says_wear { wear } else { self.maps.last_note(map) };
        let label = Label { kind, note, slots };
        flash.program(Spot::chain(block, page), label, content, cause)?;
        let start = self.sector(logical, 0);
        for slot in 0..self.area.slots {
            if let Some(sector) = slots.get(slot).copy_of() {
                // The chain is known, so the offset needs no division.
                let offset = (sector - start).get();
                self.maps.set(map, offset, MapEntry::Log { ordinal, page, slot });
                self.sketches.add(logical, offset);
                self.fold.touch(logical, offset);
            }
        }
        self.maps.set_last_note(map, write.says(start).code(self.area.slots));
        self.recent.set(logical, true);
        self.maps.set_next_page(map, page + 1, in_order);
        let is_complete = in_order && page + 1 == self.area.pages;
        Ok(if is_complete { Appended::FullInPlace } else { Appended::Open })
    }

    /// The block to which [`append`](Self::append) programs.
    #[inline]
    pub fn last_log(&self, logical: LogicalBlock) -> Option<Last> {
        let mut last = Last { ordinal: 0, block: self.chains.first_log(logical)? };
        while let Some(block) = self.chains.next(last.block) {
            last = Last { ordinal: last.ordinal + 1, block };
        }
        Some(last)
    }

    fn is_in_place(&self, logical: LogicalBlock, page: u16, write: &Append<'_>) -> bool {
        let first = self.sector(logical, u32::from(page) * u32::from(self.area.slots));
        write.trims.is_none()
            && (0..self.area.slots).all(|slot| {
                let place = first + SectorCount::new(u32::from(slot));
                write.slots.get(slot) == Slot::Holds(place)
            })
    }

    /// Chooses a chain to fold: of those that would free a block, the next in the hand's order that was not written
    /// since the hand's last visit, or the least used of the next few of them.
    pub fn victim(&mut self) -> Option<LogicalBlock> {
        let first = self.idle()?;
        match self.victims {
            ChainVictims::Idle => Some(first),
            ChainVictims::LeastUsed => Some(self.least_used(first)),
        }
    }

    /// The least used of a few chains that were not written for a turn of the hand; one of them is given. Only a few,
    /// because a hand that turns too fast would find every chain idle.
    #[inline(never)]
    fn least_used(&mut self, first: LogicalBlock) -> LogicalBlock {
        const COMPARED: usize = 4;
        let mut best = first;
        for _ in 1..COMPARED {
            let Some(other) = self.idle() else { break };
            // Parts in use per log block, compared without a division.
            let [(parts, blocks), (least, of)] = [other, best]
                .map(|chain| (self.sketches.parts(chain), u32::from(self.chains.log_count(chain))));
            if parts * of < least * blocks {
                best = other;
            }
        }
        best
    }

    /// The next chain in the hand's order that would free a block and was not written since the hand's last visit.
    fn idle(&mut self) -> Option<LogicalBlock> {
        for _ in 0..2 * word(self.logical_blocks) {
            self.hand = if self.hand + 1 < self.logical_blocks { self.hand + 1 } else { 0 };
            let logical = LogicalBlock::new(self.hand);
            if !self.chains.is_long(logical) {
                continue;
            }
            if self.recent.get(logical) {
                self.recent.set(logical, false);
            } else {
                return Some(logical);
            }
        }
        None
    }

    /// Reports whether the chain's map was cached for a page write.
    pub fn tell_lookup<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        logical: LogicalBlock,
    ) {
        let cached = !self.has_log(logical) || self.maps.lookup(logical).is_some();
        flash.tell(Event::Lookup { cached });
    }
}

/// The last log block of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    /// Which of the chain's log blocks, counted from the oldest.
    pub ordinal: u16,
    /// The block.
    pub block: ChainBlock,
}

/// What a log block is after a page was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Appended {
    /// A log block.
    Open,
    /// Full, with every sector in place, so that it can become the data block.
    FullInPlace,
}

/// A page to be appended to a chain.
#[derive(Clone, Copy, Debug)]
pub struct Append<'a> {
    /// The chain's [`last_log`](Mlc::last_log), where it goes.
    pub end: Last,
    /// Its content.
    pub content: Content<'a>,
    /// What its slots will hold.
    pub slots: Slots<'a>,
    /// The block's erase count.
    pub wear: u32,
    /// Which sectors it trims, if it is a trim page.
    pub trims: Option<Trim>,
}

impl Append<'_> {
    /// The note of a page that the next page repeats, in a chain that starts with that sector.
    #[inline]
    fn says(&self, start: Sector) -> PageNote {
        let offset = |sector: Sector| (sector - start).get();
        match (self.trims, self.slots) {
            (Some(trim), _) => {
                PageNote::Trimmed { first: offset(trim.first), count: trim.count.get() }
            }
            (None, Slots::Run { first, count, .. }) => PageNote::held_run(offset(first), count),
            (None, Slots::Listed(slots)) => {
                let held = slots.iter().map(|slot| slot.copy_of());
                let first = held.clone().flatten().next().map_or(0, offset);
                let mask = held.rfold(0, |mask, copy| mask << 1 | u32::from(copy.is_some()));
                PageNote::held_slots(first, mask)
            }
        }
    }
}
