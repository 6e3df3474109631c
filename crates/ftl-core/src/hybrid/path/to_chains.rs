//! Writes to the chains.

use ftl_iface::{NandDevice, Sector, SectorCount};

use crate::error::Fault;
use crate::hybrid::address::LogicalBlock;
use crate::hybrid::flash::{Content, Programmed};
use crate::hybrid::mlc::maps::MapId;
use crate::hybrid::mlc::{Append, Appended};
use crate::hybrid::state::Ftl;
use crate::layout::Slots;
use crate::probe::{Cause, Event, Probe};

/// Rounds in which room must be found for a log block: a fold of another chain, one of this, and the new block. Failing
/// blocks add a few; more than this means that the tables are inconsistent.
const ROUNDS_MAX: u32 = 32;

/// Whether a chain can take a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intake {
    /// It can; this is its map.
    Ready(MapId),
    /// Only after that chain, or any, has been folded.
    AfterFold(Option<LogicalBlock>),
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Appends a write to the chains of its logical blocks. Returns the number of pages.
    pub(crate) fn write_to_chains(
        &mut self,
        first: Sector,
        data: &[u8],
    ) -> Result<u32, Fault<D::Error>> {
        self.request_start = None;
        let outcome = self.append_run(first, data);
        // Work after the request may erase the copies that it replaced.
        self.request_start = None;
        outcome
    }

    fn append_run(&mut self, first: Sector, data: &[u8]) -> Result<u32, Fault<D::Error>> {
        let sector_bytes = self.shape.sector_bytes.as_usize();
        let slots = self.shape.chain.slots;
        let mut pages = 0;
        let mut rest = data;
        let mut sector = first;
        // An existing copy is released by the caller that made it.
        let has_copy = self.failed_page.is_some();
        let mut replaced = None;
        while !rest.is_empty() {
            let (logical, offset) = self.mlc.locate(sector);
            if let Some(other) = replaced.take_if(|replaced| *replaced != logical) {
                self.protect_last_log(other);
            }
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
            let cause = Cause::Host;
            if self.append_to_chain(logical, map, content, run, cause)? == Programmed::BlockFailed {
                replaced = Some(logical);
                continue;
            }
            if !has_copy && self.failed_page.is_some() {
                self.release_failed()?;
                // From here on only this page replaces the failed one, which may stay readable for a while, so the
                // request must not corrupt it any more.
                self.request_start = None;
            }
            rest = after;
            sector = sector + SectorCount::new(u32::from(held));
            pages += 1;
        }
        if let Some(last) = replaced {
            self.protect_last_log(last);
        }
        self.flash.tell(Event::ToMain { sectors: sector - first });
        Ok(pages)
    }

    /// Programs a page to a chain that has room, and removes its sectors from the log. If the block fails, the caller
    /// must find room and make the page again.
    pub(crate) fn append_to_chain(
        &mut self,
        logical: LogicalBlock,
        map: MapId,
        content: Content<'_>,
        slots: Slots<'_>,
        cause: Cause,
    ) -> Result<Programmed, Fault<D::Error>> {
        let end = self.mlc.last_log(logical).ok_or(Fault::Corrupt)?;
        let wear = self.wear.erase_count(end.block);
        let write = Append { end, content, slots, wear, trims: None };
        let appended = match self.mlc.append(&mut self.flash, logical, map, write, cause) {
            Err(Fault::BlockFailed) => {
                self.secure_failed(content, slots, self.shape.chain.slots)?;
                self.leave_last_log(logical, map)?;
                return Ok(Programmed::BlockFailed);
            }
            outcome => outcome?,
        };
        if let Some(log) = self.log.as_mut()
            && self.logged.get(logical)
        {
            for slot in 0..self.shape.chain.slots {
                if let Some(sector) = slots.get(slot).copy_of() {
                    // A virtual entry stays: the throttle has just made it, so that the next write is accepted.
                    log.index.remove_real(sector);
                }
            }
        }
        match appended {
            Appended::Open => {}
            Appended::FullInPlace => self.switch(logical)?,
        }
        Ok(Programmed::Done)
    }

    /// Ensures that the chain's last log block has a free page. If that needs a fold, it is done now: the running one
    /// is completed, and if that does not suffice, another is done. This is the worst case of a request.
    pub(crate) fn chain_with_room(
        &mut self,
        logical: LogicalBlock,
    ) -> Result<MapId, Fault<D::Error>> {
        for _ in 0..ROUNDS_MAX {
            match self.room_in_chain(logical)? {
                Intake::Ready(map) => return Ok(map),
                Intake::AfterFold(which) => self.fold_now(which)?,
            }
        }
        Err(Fault::Corrupt)
    }

    /// Whether the chain's last log block has a free page, after taking a new block if needed; else what must be folded
    /// first.
    pub(crate) fn room_in_chain(
        &mut self,
        logical: LogicalBlock,
    ) -> Result<Intake, Fault<D::Error>> {
        let map = self.mlc.map(&mut self.flash, logical)?;
        if self.mlc.has_room(logical, map)
            && let Some(map) = self.guard(logical, map)?
        {
            return Ok(Intake::Ready(map));
        }
        if !self.mlc.may_grow(logical) {
            return Ok(Intake::AfterFold(Some(logical)));
        }
        if !self.mlc.may_take_block() {
            self.give_up_wear_move();
        }
        if !self.mlc.may_take_block() {
            return Ok(Intake::AfterFold(None));
        }
        let block = self.take_free_block(Cause::Gc)?;
        let map = self.mlc.map(&mut self.flash, logical)?;
        self.mlc.grow(logical, map, block);
        Ok(Intake::Ready(map))
    }

    /// Switches the chain to its last log block, which holds every sector in place: it becomes the data block, and all
    /// blocks before it are freed.
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
}
