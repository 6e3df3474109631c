//! The log region: a circular log under a small hash table (section 3.3 of the paper).
//!
//! [`ring`] is the order of blocks between tail and head, [`index`] the hash table. [`Log`] joins them: it
//! programs the head and reports, sector by sector, what must leave the tail. It only reports these demotions;
//! where a sector goes is decided above.

mod image;
pub mod index;
mod listed;
mod memory;
pub mod ring;

use ftl_iface::{BlockCount, NandDevice, Sector};

use crate::error::Fault;
use crate::hybrid::address::LogBlock;
use crate::hybrid::flash::{Content, Flash, Spot};
use crate::hybrid::rules;
use crate::hybrid::shape::Area;
use crate::layout::{Kind, Label, Slot, Slots, Tag};
use crate::probe::{Cause, Probe};

use index::{Entry, Index, IndexShape, LogSequence, LogSlot, Window};
use listed::{Listed, list_by_tags};
pub use memory::LogMemory;
use ring::Ring;

/// The log.
#[derive(Debug)]
pub struct Log<'ram> {
    area: Area,
    data_pages: u16,
    ring: Ring<'ram>,
    /// Where each sector is.
    pub index: Index<'ram>,
    head_codes: &'ram mut [u32],
    tail_codes: &'ram mut [u32],
    /// The progress through the tail, once its summary is read.
    tail: Option<TailWalk>,
    expire_stride: u32,
    /// The low bits of the stamp of the head's last page.
    last_stamp: u32,
}

/// The progress through the tail block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TailWalk {
    next: u32,
    valid: u32,
    kept: u32,
    kept_pages: u32,
}

/// Whether sectors of the log found entries in the hash table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub enum Mapped {
    /// All of them.
    Fully,
    /// Some have none: the table is full, perhaps of entries that are stale by the chains.
    #[default]
    TableFull,
}

/// A sector that must leave the tail block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demotion {
    /// The sector.
    pub sector: Sector,
    /// Where it is stored.
    pub slot: LogSlot,
}

impl<'ram> Log<'ram> {
    /// An empty log over the blocks that are not bad.
    pub fn new(area: Area, shape: IndexShape, memory: LogMemory<'ram>) -> Self {
        let LogMemory { bad, head_codes, tail_codes, index_low, index_high } = memory;
        let index = Index::new(shape, index_low, index_high);
        let expire_stride = index.expire_stride(area.block_count());
        Self {
            area,
            data_pages: area.data_pages(),
            ring: Ring::new(area.short_blocks(), bad),
            index,
            head_codes,
            tail_codes,
            tail: None,
            expire_stride,
            last_stamp: 0,
        }
    }

    /// Shape of the region.
    #[inline]
    pub fn area(&self) -> &Area {
        &self.area
    }

    /// The order of blocks.
    pub fn ring(&self) -> &Ring<'ram> {
        &self.ring
    }

    /// The order of blocks, for a mount.
    pub fn ring_mut(&mut self) -> &mut Ring<'ram> {
        &mut self.ring
    }

    /// Pages of a block that hold data.
    pub fn data_pages(&self) -> u16 {
        self.data_pages
    }

    /// The window in which virtual sectors are kept.
    #[inline]
    pub fn window(&self) -> Window {
        Window {
            head: LogSequence::new(self.ring.sequence()),
            blocks: BlockCount::new(u32::from(self.ring.used())),
        }
    }

    /// Pages that can be programmed before a block must be reclaimed.
    #[inline]
    pub fn free_pages(&self) -> u32 {
        let blocks = u32::from(self.ring.good() - self.ring.used());
        u32::from(self.data_pages - self.ring.head_page()) + blocks * u32::from(self.data_pages)
    }

    /// Whether a page can be programmed before a block must be reclaimed.
    pub fn has_room(&self) -> bool {
        self.ring.turns() && self.free_pages() > 0
    }

    /// Pages that the log can hold at most.
    pub fn pages(&self) -> u32 {
        u32::from(self.ring.good()) * u32::from(self.data_pages)
    }

    /// The page and slot of a place in the log.
    #[inline]
    pub fn spot(&self, slot: LogSlot) -> (Spot, u16) {
        let (block, page, slot) = self.split(slot);
        (Spot::log(block, page), slot)
    }

    /// Block, page and slot of a place in the log.
    #[inline]
    pub fn split(&self, slot: LogSlot) -> (LogBlock, u16, u16) {
        // A page has a power of two of slots.
        let shift = self.area.slots.trailing_zeros();
        let page = slot.get() >> shift;
        let in_page = slot.get() - (page << shift);
        // The shape was checked, so this is at least 1; `max` shows that to the compiler, too.
        let pages = u32::from(self.area.pages).max(1);
        let block = page / pages;
        let in_block = page - block * pages;
        (LogBlock::new(block as u16), in_block as u16, in_page as u16)
    }

    /// The block of a place in the log.
    pub fn block_of(&self, slot: LogSlot) -> LogBlock {
        self.split(slot).0
    }

    /// A place in the log.
    #[inline]
    pub fn place(&self, block: LogBlock, page: u16, slot: u16) -> LogSlot {
        let page = u32::from(block.get()) * u32::from(self.area.pages) + u32::from(page);
        LogSlot::new(page * u32::from(self.area.slots) + u32::from(slot))
    }

    /// Programs a backup to the next page of the head. There must be a free page. Its sectors are not mapped, because
    /// only a mount after a power cut looks for them.
    pub fn append_backup<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        slots: Slots<'_>,
    ) -> Result<(), Fault<D::Error>> {
        let page = self.program(flash, Kind::Backup, Content::Buffer, slots, Cause::Backup)?;
        self.blank_codes(page);
        self.end_page(flash)
    }

    /// Programs the next page of the head and maps its sectors there. There must be a free page, and each sector must
    /// have an entry. If the block fails, the head moves on without it, and the caller must make the page again; there
    /// may be no free page then.
    pub fn append<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        content: Content<'_>,
        slots: Slots<'_>,
        cause: Cause,
    ) -> Result<(), Fault<D::Error>> {
        let page = self.program(flash, Kind::Log, content, slots, cause)?;
        let block = self.ring.head();
        for slot in 0..self.area.slots {
            let holds = slots.get(slot);
            let at = usize::from(page) * usize::from(self.area.slots) + usize::from(slot);
            if let Some(code) = self.head_codes.get_mut(at) {
                *code = holds.code();
            }
            if let Some(sector) = holds.copy_of() {
                let mapped = self.index.set(sector, self.place(block, page, slot));
                debug_assert!(mapped, "{sector} has no entry");
            }
        }
        self.end_page(flash)
    }

    /// Programs the next page of the head, and opens a block first if there is none. Returns the page's number.
    #[inline]
    fn program<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        kind: Kind,
        content: Content<'_>,
        slots: Slots<'_>,
        cause: Cause,
    ) -> Result<u16, Fault<D::Error>> {
        if self.ring.head_page() == self.data_pages {
            self.advance(flash)?;
        }
        let page = self.ring.head_page();
        let spot = Spot::log(self.ring.head(), page);
        // If the page before it becomes unreadable, this note shows when that one was programmed.
        let note = if page == 0 {
            self.ring.wear()
        } else {
            flash.stamp().distance_to_next(self.last_stamp)
        };
        match flash.program(spot, Label { kind, note, slots }, content, cause) {
            Ok(()) => {
                self.last_stamp = flash.stamp().low();
                Ok(page)
            }
            Err(fault) => Err(self.leave_head(flash, fault)),
        }
    }

    /// Gives up a head whose program failed: without a summary, so that it is read by its tags; or, if it holds
    /// nothing, as a bad block. Returns the fault to pass on.
    #[cold]
    #[inline(never)]
    fn leave_head<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        fault: Fault<D::Error>,
    ) -> Fault<D::Error> {
        if !matches!(fault, Fault::BlockFailed) {
            return fault;
        }
        if self.ring.head_page() > 0 || self.ring.used() == 1 {
            let start = usize::from(self.ring.head_page()) * usize::from(self.area.slots);
            let codes = self.head_codes.iter_mut().skip(start);
            codes.for_each(|code| *code = Slot::Empty.code());
            self.ring.close_head(self.data_pages);
            return fault;
        }
        // A mount takes a block whose first page reads as erased for a free one, even between blocks in use.
        let fault = match flash.erase(Spot::log(self.ring.head(), 0), Cause::Gc) {
            // Another block had failed; the caller must make the page again.
            Ok(()) => return fault,
            Err(fault) => fault,
        };
        if matches!(fault, Fault::BlockFailed) {
            self.ring.retire_head(self.data_pages);
        }
        fault
    }

    /// Moves on to the next page of the head; after the last data page, writes the summary.
    #[inline]
    fn end_page<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
    ) -> Result<(), Fault<D::Error>> {
        self.ring.fill_page();
        if self.ring.head_page() == self.data_pages { self.close(flash) } else { Ok(()) }
    }

    /// Writes the summary at the end of the head block, from the codes that were noted or read last.
    pub fn close<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
    ) -> Result<(), Fault<D::Error>> {
        let (head, wear) = (self.ring.head(), self.ring.wear());
        match flash.program_summary(head, self.data_pages, wear, self.head_codes) {
            // Without a summary the block is read by its tags.
            Err(Fault::BlockFailed) => Ok(()),
            outcome => outcome,
        }
    }

    /// Takes the next block as head.
    fn advance<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
    ) -> Result<(), Fault<D::Error>> {
        let suspect = rules::must_erase_log_block(self.ring.next_is_suspect());
        if self.ring.used() < self.ring.good() && suspect {
            let next = Spot::log(self.ring.after(self.ring.head()), 0);
            if let Err(fault) = flash.erase(next, Cause::Gc) {
                if matches!(fault, Fault::BlockFailed) {
                    self.ring.retire_next();
                }
                return Err(fault);
            }
        }
        if !self.ring.advance() {
            return Err(Fault::Corrupt);
        }
        let window = self.window();
        self.index.expire(window, self.expire_stride);
        Ok(())
    }

    /// Whether more than `window` blocks are in use from tail to head, so that the tail should be reclaimed.
    #[inline]
    pub fn is_over(&self, window: BlockCount) -> bool {
        u32::from(self.ring.used())
            > window.get().min(u32::from(self.ring.good()).saturating_sub(1))
    }

    /// Whether there is a tail to reclaim: a block that is not the head.
    #[inline]
    pub fn has_tail(&self) -> bool {
        self.ring.used() > 1
    }

    /// Whether reclaiming the tail has begun.
    #[inline]
    pub fn is_reclaiming(&self) -> bool {
        self.tail.is_some()
    }

    /// The next valid sector of the tail block, or `None` when nothing in it is valid any more. It stays the next one
    /// until the index maps it elsewhere or not at all.
    pub fn next_demotion<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
    ) -> Result<Option<Demotion>, Fault<D::Error>> {
        let block = self.ring.tail();
        let mut walk = if let Some(walk) = self.tail {
            walk
        } else {
            self.list_tail(flash, block)?;
            TailWalk::default()
        };
        let slots = u32::from(self.area.slots).max(1);
        let mut found = None;
        let codes = self.tail_codes.get(..self.head_codes.len()).unwrap_or(&[]);
        let codes = rules::slots_of_tail(codes, self.area.slots);
        while let Some(code) = codes.get(walk.next as usize) {
            // A sector number read from flash may be beyond the capacity.
            let held = Slot::from_code(*code).copy_of();
            if let Some(sector) = held.filter(|sector| self.index.covers(*sector)) {
                let (page, slot) = ((walk.next / slots) as u16, (walk.next % slots) as u16);
                let place = self.place(block, page, slot);
                if self.index.find(sector) == Some(place) {
                    found = Some(Demotion { sector, slot: place });
                    break;
                }
            }
            walk.next += 1;
        }
        self.tail = Some(walk);
        Ok(found)
    }

    /// Lists what the tail's slots hold: from its summary or, if that cannot be read, from the hash table. The hash
    /// table also has the pages that became unreadable after they were mapped.
    fn list_tail<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        tail: LogBlock,
    ) -> Result<(), Fault<D::Error>> {
        let count = self.head_codes.len();
        let codes = self.tail_codes.get_mut(..count).unwrap_or(&mut []);
        match flash.read_summary(tail, self.data_pages, Cause::Gc, codes) {
            Ok(_) => return Ok(()),
            Err(Fault::Uncorrectable | Fault::Corrupt) => {}
            Err(fault) => return Err(fault),
        }
        codes.fill(Slot::Empty.code());
        for (sector, entry) in self.index.iter() {
            let Entry::Real(place) = entry else { continue };
            let (block, page, slot) = self.split(place);
            let at = usize::from(page) * usize::from(self.area.slots) + usize::from(slot);
            if block == tail
                && let Some(code) =
                    self.tail_codes.get_mut(..count).and_then(|codes| codes.get_mut(at))
            {
                *code = Slot::Holds(sector).code();
            }
        }
        Ok(())
    }

    /// Notes that the sector returned last has been moved: within the log (`kept`) or out of it.
    pub fn note_demotion(&mut self, kept: bool) {
        if let Some(walk) = &mut self.tail {
            walk.next += 1;
            walk.valid += 1;
            walk.kept += u32::from(kept);
        }
    }

    /// The progress through the tail.
    pub(crate) fn walk(&self) -> Option<TailWalk> {
        self.tail
    }

    /// Resets the progress through the tail: what came after that point was not moved.
    pub(crate) fn walk_again(&mut self, walk: Option<TailWalk>) {
        self.tail = walk;
    }

    /// Notes that a page of sectors of the tail was copied to the head.
    pub fn note_kept_page(&mut self) {
        if let Some(walk) = &mut self.tail {
            walk.kept_pages += 1;
        }
    }

    /// Whether the tail block has kept so much already that the rest must leave: each block reclaimed must free at
    /// least a quarter of its pages, or a log full of valid sectors would be copied for ever.
    pub fn has_kept_enough(&self) -> bool {
        let pages = u32::from(self.data_pages);
        self.tail.is_some_and(|walk| (walk.kept_pages + 1) * 4 > pages * 3)
    }

    /// Whether a place is in the tail block.
    pub fn is_in_tail(&self, slot: LogSlot) -> bool {
        self.split(slot).0 == self.ring.tail()
    }

    /// Erases the tail block, in which nothing is valid any more. Returns how many sectors were valid and how many of
    /// them were kept in the log.
    pub fn drop_tail<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
    ) -> Result<(u32, u32), Fault<D::Error>> {
        match flash.erase(Spot::log(self.ring.tail(), 0), Cause::Gc) {
            Ok(()) => self.ring.drop_tail(),
            Err(Fault::BlockFailed) => self.ring.retire_tail(),
            Err(fault) => return Err(fault),
        }
        let walk = self.tail.take().unwrap_or_default();
        Ok((walk.valid, walk.kept))
    }

    /// Maps a sector to a place that a mount found; places must come from the oldest to the newest.
    pub fn restore(&mut self, place: LogSlot, sector: Sector) -> Mapped {
        let placed = self.index.set(sector, place)
            || self.index.place_moving(sector, place, self.tail_codes);
        if placed { Mapped::Fully } else { Mapped::TableFull }
    }

    /// Reads the list of a block's sectors, for a mount, from its summary. It overwrites the head's list. `None`: the
    /// block has no readable summary.
    pub fn read_summary<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        block: LogBlock,
    ) -> Result<Option<Tag>, Fault<D::Error>> {
        let codes = &mut *self.head_codes;
        match flash.read_summary(block, self.data_pages, Cause::Mount, codes) {
            Ok(tag) => Ok(Some(tag)),
            Err(Fault::Uncorrectable) if !rules::is_torn_summary_void() => {
                Ok(Some(Tag { kind: Kind::Summary, stamp: flash.stamp(), note: self.ring.wear() }))
            }
            Err(Fault::Uncorrectable | Fault::Corrupt) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Reads the list of a block's sectors, for a mount, from the tags of its pages.
    pub fn read_tags<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        block: LogBlock,
    ) -> Result<Listed, Fault<D::Error>> {
        let codes = &mut *self.head_codes;
        list_by_tags(flash, block, (self.data_pages, self.area.slots), codes)
    }

    /// Forgets what the slots of that page hold, in the codes read last.
    pub fn blank_codes(&mut self, page: u16) {
        let start = usize::from(page) * usize::from(self.area.slots);
        let codes = self.head_codes.iter_mut().skip(start).take(usize::from(self.area.slots));
        codes.for_each(|code| *code = Slot::Empty.code());
    }

    /// Closes the head without a summary, because a power cut may have affected more of it than can be detected.
    pub fn close_early(&mut self) {
        self.ring.close_head(self.data_pages);
    }

    /// What a slot of the codes read last holds.
    pub fn code(&self, page: u16, slot: u16) -> Slot {
        let at = usize::from(page) * usize::from(self.area.slots) + usize::from(slot);
        self.head_codes.get(at).map_or(Slot::Empty, |code| Slot::from_code(*code))
    }
}
