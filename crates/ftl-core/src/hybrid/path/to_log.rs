//! Writes to the log, and moving sectors out of its tail.

use ftl_iface::{NandDevice, Sector, SectorCount};

use super::to_chains::Intake;
use crate::error::Fault;
use crate::hybrid::address::LogicalBlock;
use crate::hybrid::flash::{Content, Gathered, Programmed};
use crate::hybrid::mlc::maps::MapId;
use crate::hybrid::rules;
use crate::hybrid::slc::Demotion;
use crate::hybrid::state::Ftl;
use crate::layout::{Slot, Slots};
use crate::probe::{Cause, Event, Probe, Rejection};
use crate::table::BlockNumber;

/// Whether the log can take what is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
enum LogRoom {
    /// It can.
    Left,
    /// It cannot, and the chains must.
    Full,
}

impl<D: NandDevice, P: Probe> Ftl<'_, D, P> {
    /// Makes room for a hot write: first that many pages in the log, because reclaiming removes entries, and then an
    /// entry for each sector. Returns how many of them the log holds already. `None`: there is no room, and the write
    /// must go to the chains.
    #[inline]
    pub(crate) fn enter_log(
        &mut self,
        first: Sector,
        count: SectorCount,
        pages: u32,
    ) -> Result<Option<SectorCount>, Fault<D::Error>> {
        let mut log = self.the_log()?;
        if log.free_pages() < pages {
            if self.reclaim_pages(pages)? == LogRoom::Full {
                self.flash.tell(Event::Rejected(Rejection::Space));
                return Ok(None);
            }
            log = self.the_log()?;
        }
        let window = log.window();
        let updates = log.index.reserve(first, count, window);
        match updates {
            None => self.flash.tell(Event::Rejected(Rejection::Index)),
            // For those already in the log this was done before.
            Some(updates) if updates < count => self.note_logged(first, count),
            Some(_) => {}
        }
        Ok(updates)
    }

    /// Appends an accepted hot write to the log's head; `updates` of its sectors are updates. Returns the number of
    /// pages.
    #[inline]
    pub(crate) fn write_to_log(
        &mut self,
        first: Sector,
        count: SectorCount,
        updates: SectorCount,
        data: &[u8],
    ) -> Result<u32, Fault<D::Error>> {
        self.write_back.note_hot_write(updates, count);
        self.flash.tell(Event::ToFast { sectors: count });
        let sector_bytes = self.shape.sector_bytes.as_usize();
        let slots = self.shape.log.map_or(1, |area| usize::from(area.slots)).max(1);
        let mut pages = 0;
        let mut sector = first;
        let mut rest = data;
        let mut has_failed = false;
        while !rest.is_empty() {
            if has_failed && !self.the_log()?.has_room() {
                return Ok(pages + self.write_to_chains(sector, rest)?);
            }
            let (chunk, after) = rest.split_at_checked(slots * sector_bytes).unwrap_or((rest, &[]));
            let held = SectorCount::new((chunk.len() >> sector_bytes.trailing_zeros()) as u32);
            let content = self.page_content(chunk, slots);
            let run = Slots::Run { first: sector, at: 0, count: held.get() as u16 };
            let log = self.log.as_mut().ok_or(Fault::Corrupt)?;
            match log.append(&mut self.flash, content, run, Cause::Host) {
                Err(Fault::BlockFailed) => {
                    has_failed = true;
                    if self.after_failure(content, run)? == LogRoom::Left {
                        continue;
                    }
                    pages += self.write_to_chains(sector, chunk)?;
                    self.release_failed()?;
                    (rest, sector) = (after, sector + held);
                    continue;
                }
                outcome => outcome?,
            }
            if has_failed {
                self.release_failed()?;
            }
            if self.mlc.fold.is_active() {
                self.uncollect(sector, held);
            }
            rest = after;
            sector = sector + held;
            pages += 1;
        }
        Ok(pages)
    }

    /// Handles a failed program to the log. Returns whether the page can go there once more.
    #[cold]
    #[inline(never)]
    fn after_failure(
        &mut self,
        content: Content<'_>,
        slots: Slots<'_>,
    ) -> Result<LogRoom, Fault<D::Error>> {
        let count = self.the_log()?.area().slots;
        self.secure_failed(content, slots, count)?;
        let may_stay = rules::may_stay_in_log(self.the_log()?.has_room());
        Ok(if may_stay { LogRoom::Left } else { LogRoom::Full })
    }

    /// Reclaims until that many pages of the log are free, unless that needs more steps than reclaiming one block
    /// without waiting for a fold. Longer work is left to housekeeping, which usually has done it before.
    #[inline(never)]
    fn reclaim_pages(&mut self, pages: u32) -> Result<LogRoom, Fault<D::Error>> {
        let mut steps = self.the_log()?.data_pages() + 1;
        while self.the_log()?.free_pages() < pages {
            if steps == 0 || !self.the_log()?.has_tail() {
                return Ok(LogRoom::Full);
            }
            self.reclaim_step()?;
            steps -= 1;
        }
        Ok(LogRoom::Left)
    }

    /// Notes that sectors will be written to the log. Kept out of line, because most hot writes do not need it.
    #[inline(never)]
    fn note_logged(&mut self, first: Sector, count: SectorCount) {
        let (from, offset) = self.mlc.locate(first);
        let end = offset + count.get();
        let more = (end.saturating_sub(1) / self.mlc.sectors_per_block()) as BlockNumber;
        for number in from.get()..=from.get() + more {
            let logical = LogicalBlock::new(number);
            self.logged.set(logical, true);
            self.mlc.fold.leave_logged(logical);
        }
    }

    /// Notifies the running fold of sectors that were written to the log.
    #[inline(never)]
    fn uncollect(&mut self, first: Sector, count: SectorCount) {
        for sector in first.run(count) {
            let (logical, offset) = self.mlc.locate(sector);
            self.mlc.fold.uncollect(logical, offset);
        }
    }

    /// The content of a page: the host's own buffer where it fills the page, else the page buffer with it.
    fn page_content<'a>(&mut self, chunk: &'a [u8], slots: usize) -> Content<'a> {
        let sector_bytes = self.shape.sector_bytes.as_usize();
        if chunk.len() == slots * sector_bytes {
            return Content::Host(chunk);
        }
        let held = (chunk.len() >> sector_bytes.trailing_zeros()) as u16;
        self.flash.put(0, chunk);
        self.flash.blank(held, slots as u16 - held);
        Content::Buffer
    }

    /// One step towards a free block in the log: a page of the tail is copied, or the tail is erased or, if a sector
    /// must go to a chain that has no room, a step is done towards that room. There must be a tail.
    pub(crate) fn reclaim_step(&mut self) -> Result<(), Fault<D::Error>> {
        let log = self.log.as_mut().ok_or(Fault::Corrupt)?;
        if !log.has_tail() {
            return Err(Fault::Corrupt);
        }
        let Some(demotion) = log.next_demotion(&mut self.flash)? else {
            let (valid, kept) = log.drop_tail(&mut self.flash)?;
            self.throttle.note_fast_erase();
            self.flash.tell(Event::Reclaimed { valid, kept });
            return Ok(());
        };
        let (logical, _) = self.mlc.locate(demotion.sector);
        if rules::must_prove_before_reclaim(self.unproved.get(logical)) {
            self.prove(logical)?;
            return Ok(());
        }
        let leaves = self.write_back.tail_sector_leaves(self.mlc.has_log(logical));
        let log = self.the_log()?;
        if leaves || log.has_kept_enough() || log.free_pages() == 0 {
            self.move_to_chain(demotion)
        } else {
            match self.keep_in_log(demotion)? {
                Programmed::Done => Ok(()),
                Programmed::BlockFailed => self.keep_again(demotion),
            }
        }
    }

    /// Copies valid sectors of the tail again after a failed program to the head: at once, because the failed page may
    /// read as a younger copy.
    #[cold]
    #[inline(never)]
    fn keep_again(&mut self, first: Demotion) -> Result<(), Fault<D::Error>> {
        while self.the_log()?.has_room() {
            if self.keep_in_log(first)? == Programmed::Done {
                return self.release_failed();
            }
        }
        if self.failed_page.is_some() {
            return self.write_failed();
        }
        let (logical, _) = self.mlc.locate(first.sector);
        self.move_again(first, logical)
    }

    /// Copies consecutive valid sectors of the tail's list to the head, at most one page.
    fn keep_in_log(&mut self, first: Demotion) -> Result<Programmed, Fault<D::Error>> {
        let log = self.log.as_mut().ok_or(Fault::Corrupt)?;
        let slots = log.area().slots;
        let mut page = Gathered::new();
        let walk = log.walk();
        let mut next = Some(first);
        while let Some(demotion) = next.take() {
            let copy = log.spot(demotion.slot);
            self.flash.gather(&mut page, copy, demotion.sector, Cause::Gc)?;
            log.note_demotion(true);
            if page.count() < slots {
                next = log.next_demotion(&mut self.flash)?.filter(|demotion| {
                    let (logical, _) = self.mlc.locate(demotion.sector);
                    let has_log = self.mlc.has_log(logical);
                    !self.unproved.get(logical) && !self.write_back.tail_sector_leaves(has_log)
                });
            }
        }
        log.note_kept_page();
        self.flash.leave_empty(&mut page, slots);
        match log.append(&mut self.flash, Content::Buffer, page.slots(), Cause::Gc) {
            Err(Fault::BlockFailed) => {
                log.walk_again(walk);
                self.after_failure(Content::Buffer, page.slots()).map(|_| Programmed::BlockFailed)
            }
            outcome => {
                outcome?;
                self.uncollect_copies(page.list());
                Ok(Programmed::Done)
            }
        }
    }

    /// Notifies the running fold of sectors that were copied within the log.
    pub(crate) fn uncollect_copies(&mut self, holds: &[Slot]) {
        if rules::must_keep_entries(self.mlc.fold.is_active()) {
            for sector in holds.iter().filter_map(|slot| slot.copy_of()) {
                self.uncollect(sector, SectorCount::new(1));
            }
        }
    }

    /// Writes a sector of the tail to its chain, together with those of the tail that share its page there.
    fn move_to_chain(&mut self, demotion: Demotion) -> Result<(), Fault<D::Error>> {
        let (logical, _) = self.mlc.locate(demotion.sector);
        match self.room_in_chain(logical)? {
            Intake::Ready(map) => match self.copy_to_chain(demotion, logical, map)? {
                Programmed::Done => Ok(()),
                Programmed::BlockFailed => self.move_again(demotion, logical),
            },
            Intake::AfterFold(which) => self.fold_a_little(which),
        }
    }

    /// Moves a sector to its chain after a failed program: at once, because the failed page may read as a younger copy.
    #[cold]
    #[inline(never)]
    pub(crate) fn move_again(
        &mut self,
        demotion: Demotion,
        logical: LogicalBlock,
    ) -> Result<(), Fault<D::Error>> {
        loop {
            let map = self.chain_with_room(logical)?;
            // A fold may have collected it.
            let still = self.the_log()?.index.find(demotion.sector) == Some(demotion.slot);
            if !still || self.copy_to_chain(demotion, logical, map)? == Programmed::Done {
                self.protect_last_log(logical);
                return self.release_failed();
            }
        }
    }

    /// Programs a page of the chain with that sector and those that share its page.
    fn copy_to_chain(
        &mut self,
        demotion: Demotion,
        logical: LogicalBlock,
        map: MapId,
    ) -> Result<Programmed, Fault<D::Error>> {
        let (_, offset) = self.mlc.locate(demotion.sector);
        let log = self.log.as_mut().ok_or(Fault::Corrupt)?;
        let walk = log.walk();
        log.note_demotion(false);
        let (page, _) = self.mlc.home(offset);
        let slots = self.shape.chain.slots;
        let mut gathered = Gathered::new();
        for slot in 0..slots {
            let neighbour =
                self.mlc.sector(logical, u32::from(page) * u32::from(slots) + u32::from(slot));
            match log.index.find(neighbour).filter(|at| log.is_in_tail(*at)) {
                Some(at) => {
                    let copy = log.spot(at);
                    self.flash.gather(&mut gathered, copy, neighbour, Cause::WriteBack)?;
                }
                None => self.flash.leave_empty(&mut gathered, slot + 1),
            }
        }
        let slots = gathered.slots();
        let placed =
            self.append_to_chain(logical, map, Content::Buffer, slots, Cause::WriteBack)?;
        if placed == Programmed::BlockFailed {
            self.the_log()?.walk_again(walk);
        }
        Ok(placed)
    }
}
