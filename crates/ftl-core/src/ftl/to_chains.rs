//! The way into the chains.

use ftl_iface::{NandDevice, Sector, SectorCount};

use super::Ftl;
use crate::address::{ChainBlock, LogicalBlock};
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::flash::{Content, Spot};
use crate::layout::Slots;
use crate::mlc::Append;
use crate::mlc::maps::MapId;
use crate::probe::{Cause, Event, Probe};

/// Rounds in which room must be found for a log block: a fold of another chain, one of this, and the new block. Where
/// blocks fail there are a few more; so many mean that the tables contradict themselves.
const ROUNDS_MAX: u32 = 32;

/// Whether a chain can take a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// It can; this is its map.
    Ready(MapId),
    /// Not before that chain, or any, was folded.
    AfterFold(Option<LogicalBlock>),
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Appends a write to the chains of its logical blocks. Says how many pages it took.
    pub(crate) fn write_to_chains(
        &mut self,
        first: Sector,
        data: &[u8],
    ) -> Result<u32, Fault<D::Error>> {
        self.own = None;
        let outcome = self.append_run(first, data);
        // What comes after the request may cost it the copies that it replaced.
        self.own = None;
        outcome
    }

    fn append_run(&mut self, first: Sector, data: &[u8]) -> Result<u32, Fault<D::Error>> {
        let sector_bytes = self.shape.sector_bytes.as_usize();
        let slots = self.shape.chain.slots;
        let mut pages = 0;
        let mut rest = data;
        let mut sector = first;
        // Whoever has it is to release it.
        let has_copy = self.failed_page.is_some();
        while !rest.is_empty() {
            let (logical, offset) = self.mlc.locate(sector);
            // Pages keep the alignment of the data block, so that a log block written in order can be switched.
            let (_, slot) = self.mlc.home(offset);
            let room = usize::from(slots - slot) * sector_bytes;
            let (chunk, after) = rest.split_at_checked(room).unwrap_or((rest, &[]));
            let held = (chunk.len() >> sector_bytes.trailing_zeros()) as u16;
            self.mlc.tell_lookup(&mut self.flash, logical);
            let map = self.chain_with_room(logical)?;
            let content = if held == slots {
                Content::Host(chunk)
            } else {
                self.flash.blank(0, slot);
                self.flash.put(slot, chunk);
                self.flash.blank(slot + held, slots - slot - held);
                Content::Buffer
            };
            let run = Slots::Run { first: sector, at: slot, count: held };
            self.note_own_page(logical, map)?;
            if !self.append_to_chain(logical, map, content, run, Cause::Host)? {
                continue;
            }
            if !has_copy && self.failed_page.is_some() {
                self.release_failed()?;
                // From here on this page alone stands for the one that failed, which may read well for a while: the
                // request may ruin it no more.
                self.own = None;
            }
            rest = after;
            sector = sector + SectorCount::new(u32::from(held));
            pages += 1;
        }
        self.flash.tell(Event::ChainWrite { sectors: sector - first });
        Ok(pages)
    }

    /// Programs a page to a chain that has room, and drops what the log held of its sectors. `false`: the block failed;
    /// room must be found again, and the page be made again.
    pub(crate) fn append_to_chain(
        &mut self,
        logical: LogicalBlock,
        map: MapId,
        content: Content<'_>,
        slots: Slots<'_>,
        cause: Cause,
    ) -> Result<bool, Fault<D::Error>> {
        let end = self.mlc.last_log(logical).ok_or(Fault::Corrupt)?;
        let wear = self.wear.erase_count(end.block);
        let write = Append { end, content, slots, wear, trims: None };
        let complete = match self.mlc.append(&mut self.flash, logical, map, write, cause) {
            Err(Fault::BlockFailed) => {
                self.secure_failed(content, slots, self.shape.chain.slots)?;
                return self.leave_last_log(logical, map).map(|()| false);
            }
            outcome => outcome?,
        };
        if let Some(log) = &mut self.log
            && self.logged.get(logical)
        {
            for slot in 0..self.shape.chain.slots {
                if let Some(sector) = slots.get(slot).copy_of() {
                    // A virtual entry stays: the throttle has just left it, so that the next write may enter.
                    log.index.remove_real(sector);
                }
            }
        }
        if complete {
            self.switch(logical)?;
        }
        Ok(true)
    }

    /// Sees to it that the chain's last log block has a free page. Where that takes a fold, it is done now: the one
    /// under way is ended, and if that does not help another is done. This is the worst case of a request.
    pub(crate) fn chain_with_room(
        &mut self,
        logical: LogicalBlock,
    ) -> Result<MapId, Fault<D::Error>> {
        for _ in 0..ROUNDS_MAX {
            match self.room_in_chain(logical)? {
                Room::Ready(map) => return Ok(map),
                Room::AfterFold(which) => self.fold_now(which)?,
            }
        }
        Err(Fault::Corrupt)
    }

    /// Whether the chain's last log block has a free page, if need be after taking a new block; else what must be
    /// folded first.
    pub(crate) fn room_in_chain(&mut self, logical: LogicalBlock) -> Result<Room, Fault<D::Error>> {
        let map = self.mlc.map(&mut self.flash, logical)?;
        if self.mlc.has_room(logical, map)
            && let Some(map) = self.guard(logical, map)?
        {
            return Ok(Room::Ready(map));
        }
        if !self.mlc.may_grow(logical) {
            return Ok(Room::AfterFold(Some(logical)));
        }
        if !self.mlc.may_take_block() {
            self.give_up_wear_move();
        }
        if !self.mlc.may_take_block() {
            return Ok(Room::AfterFold(None));
        }
        let block = self.take_free_block(Cause::Gc)?;
        let map = self.mlc.map(&mut self.flash, logical)?;
        self.mlc.grow(logical, map, block);
        Ok(Room::Ready(map))
    }

    /// The last log block holds every sector in its place: it becomes the data block, and all before it is free.
    fn switch(&mut self, logical: LogicalBlock) -> Result<(), Fault<D::Error>> {
        if self.mlc.fold.is_of(logical) {
            self.give_up_fold()?;
        }
        let (old, count) = self.mlc.chains.keep_last(logical, true);
        self.mlc.maps.forget(logical);
        self.free_blocks(old, count, Cause::Gc)?;
        self.flash.tell(Event::Switched { erased: u32::from(count) });
        Ok(())
    }

    /// Erases and frees `count` blocks from `first` on, as they are linked.
    pub(crate) fn free_blocks(
        &mut self,
        first: Option<ChainBlock>,
        count: u16,
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        let mut next = first;
        for _ in 0..count {
            let Some(block) = next else {
                break;
            };
            next = self.mlc.chains.next(block);
            self.free_block(block, cause)?;
        }
        Ok(())
    }

    /// Takes a free block, and erases it first where a power cut may have touched it. One that does not erase is lost,
    /// and the next is taken.
    pub(crate) fn take_free_block(&mut self, cause: Cause) -> Result<ChainBlock, Fault<D::Error>> {
        loop {
            let Some((block, suspect)) = self.mlc.chains.take_free() else {
                if self.give_up_wear_move() {
                    continue;
                }
                return Err(self.no_block_left());
            };
            if !suspect || planted(Bug::TrustFreeBlocks) {
                return Ok(block);
            }
            if self.erase_chain_block(block, cause)? {
                if self.wear.note_erase(block).is_some() {
                    self.wear.declined();
                }
                return Ok(block);
            }
        }
    }

    /// Erases a block of the chains. `false`: it did not erase, and is lost.
    fn erase_chain_block(
        &mut self,
        block: ChainBlock,
        cause: Cause,
    ) -> Result<bool, Fault<D::Error>> {
        let spot = Spot::chain(block, 0);
        let last = self.mlc.chains.free_count() == 0;
        // Seals are broken: a block that is taken out of a chain or a queue was in use.
        let erased =
            if last { self.flash.erase_last(spot, cause) } else { self.flash.erase(spot, cause) };
        match erased {
            Ok(()) => {
                self.throttle.note_chain_erase();
                Ok(true)
            }
            // What a mount may find in it is stale.
            Err(Fault::BlockFailed | Fault::ReadOnly) => {
                self.lose_chain_block(block);
                Ok(false)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Erases a block. It joins the free ones, unless it is so worn that cold data should move onto it, or does not
    /// erase.
    pub(crate) fn free_block(
        &mut self,
        block: ChainBlock,
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        if !self.erase_chain_block(block, cause)? {
            return Ok(());
        }
        if let Some(cold) = self.wear.note_erase(block) {
            // The move's own fold needs no other block, but the next write may.
            if self.wear_move.is_none() && self.mlc.chains.free_count() >= 2 {
                self.wear_move = Some(super::WearMove { cold, worn: block, under_way: false });
                return Ok(());
            }
            self.wear.declined();
        }
        self.mlc.chains.give_free(block);
        Ok(())
    }
}
