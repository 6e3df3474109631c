//! Finding out which page of a chain holds which sector, from the tags of its log blocks.
//!
//! The data block is not read, because it holds its sectors in place. Log blocks are read from the oldest to the
//! newest and from the first page to the last, so what is found later is newer.

use ftl_iface::{NandDevice, PageCount, PageIndex, Pairing};

use crate::error::Fault;
use crate::hybrid::address::{ChainBlock, LogicalBlock};
use crate::hybrid::flash::{Flash, PageTag, Seen, Spot};
use crate::hybrid::rules;
use crate::layout::{Kind, PageNote, Tag, Trim};
use crate::probe::{Cause, Event, Probe};

use super::maps::{MapEntry, MapId};
use super::{Mlc, NewestCopy};

/// A log block that is being scanned.
#[derive(Clone, Copy, Debug)]
struct Scanned {
    logical: LogicalBlock,
    map: MapId,
    block: ChainBlock,
    /// Which of the chain's log blocks it is.
    ordinal: u16,
    /// Whether power may have failed while it was the chain's last.
    may_be_torn: bool,
}

/// Pages of a block that cannot be read, from the first to the last.
#[derive(Clone, Copy, Debug)]
struct Gap {
    first: u16,
    last: u16,
}

impl Mlc<'_> {
    /// The chain's map: from the cache, or by a scan.
    #[inline]
    pub fn map<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        logical: LogicalBlock,
    ) -> Result<MapId, Fault<D::Error>> {
        match self.maps.lookup(logical) {
            Some(map) => Ok(map),
            None => self.scan(flash, logical),
        }
    }

    fn scan<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        logical: LogicalBlock,
    ) -> Result<MapId, Fault<D::Error>> {
        let map = self.maps.claim(logical);
        // The scan makes the sketch exact.
        self.sketches.blank(logical);
        let outcome = self.scan_into(flash, logical, map);
        if outcome.is_err() {
            // An incomplete map must not be used.
            self.maps.forget(logical);
            self.sketches.fill(logical);
        }
        outcome.map(|()| map)
    }

    fn scan_into<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        logical: LogicalBlock,
        map: MapId,
    ) -> Result<(), Fault<D::Error>> {
        let mut read = 0;
        let sealed = self.sealed.get(logical);
        let (mut block, mut ordinal) = (self.chains.first_log(logical), 0);
        while let Some(at) = block {
            let next = self.chains.next(at);
            let may_be_torn = sealed || next.is_some();
            read +=
                self.scan_block(flash, Scanned { logical, map, block: at, ordinal, may_be_torn })?;
            ordinal += 1;
            block = next;
        }
        if self.fold.seals(logical, ordinal) || sealed {
            self.maps.set_next_page(map, self.area.pages, false);
        }
        if ordinal > 0 {
            flash.tell(Event::Scanned { pages: read });
        }
        Ok(())
    }

    /// Enters the pages of one log block into a map. Returns the number of reads.
    #[inline(always)]
    fn scan_block<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        at: Scanned,
    ) -> Result<u32, Fault<D::Error>> {
        let (mut read, mut end, mut in_order) = (0, 0, true);
        let mut note = PageNote::Nothing;
        let mut lost: Option<Gap> = None;
        for page in 0..self.area.pages {
            let spot = Spot::chain(at.block, page);
            read += 1;
            match flash.look_here(spot, Cause::Scan)? {
                Seen::Erased => {
                    if rules::may_be_skipped(flash.may_be_left_out(spot)) {
                        continue;
                    }
                    break;
                }
                Seen::Unreadable => {
                    in_order = false;
                    note = PageNote::Nothing;
                    lost = Some(Gap { first: lost.map_or(page, |gap| gap.first), last: page });
                    // What it held is unknown here, so the sketch must allow everything.
                    self.sketches.fill(at.logical);
                }
                Seen::Page(found) => {
                    let tag = found.tag();
                    let is_trim = tag.kind == Kind::Trim;
                    let noted = match lost.take() {
                        Some(gap) => self.note_after(flash, at, gap, (spot, tag))?,
                        None if is_trim => self.note_trim(flash, at.logical, at.map, spot)?,
                        None => Some(self.note_page(&found, at, page)),
                    };
                    read += u32::from(is_trim);
                    in_order &= tag.kind == Kind::ChainInPlace;
                    note = noted.unwrap_or(PageNote::Nothing);
                    if noted.is_none() {
                        lost = Some(Gap { first: page, last: page });
                    }
                }
            }
            in_order &= end == page;
            end = page + 1;
        }
        self.maps.set_next_page(at.map, end, in_order);
        self.maps.set_last_note(at.map, note.code(self.area.slots));
        Ok(read)
    }

    /// Enters a page that follows unreadable ones. Returns its note; `None` if it cannot be read any more.
    #[cold]
    #[inline(never)]
    fn note_after<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        at: Scanned,
        gap: Gap,
        (spot, tag): (Spot, Tag),
    ) -> Result<Option<PageNote>, Fault<D::Error>> {
        self.note_lost(flash, at, gap, tag)?;
        // The search for a torn page has read others.
        match flash.look(spot, Cause::Scan)? {
            Seen::Page(found) if found.tag() == tag => {
                if tag.kind == Kind::Trim {
                    return self.note_trim(flash, at.logical, at.map, spot);
                }
                Ok(Some(self.note_page(&found, at, spot.page())))
            }
            _ => Ok(None),
        }
    }

    /// Maps what unreadable pages held, as far as the next page of their block repeats their notes, so that a read
    /// reports those sectors as lost.
    ///
    /// A torn page was never valid, nor was a paired page that it corrupted: pages of earlier requests had been backed
    /// up. The older copies are still before them. Only the block's last page can be torn, and only those that share
    /// its cells be corrupted.
    fn note_lost<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        at: Scanned,
        Gap { first, last }: Gap,
        next: Tag,
    ) -> Result<(), Fault<D::Error>> {
        // What a page in order repeats covers all pages before it; any other page covers only one.
        let from = if next.kind == Kind::ChainInPlace { first } else { last };
        for page in from..=last {
            if self.was_torn(flash, at, page)? {
                continue;
            }
            match self.note_of_predecessor(next, page) {
                PageNote::Nothing => {}
                PageNote::Held { first, run } => {
                    let (ordinal, (_, first_slot)) = (at.ordinal, self.home(first));
                    for (slot, bit) in (first_slot..self.area.slots).zip(0..) {
                        if run >> bit & 1 != 0 && first + bit < self.sectors.get() {
                            self.maps.set(
                                at.map,
                                first + bit,
                                MapEntry::Log { ordinal, page, slot },
                            );
                        }
                    }
                }
                PageNote::Trimmed { first, count } => self.note_trimmed(at.map, first, count),
            }
        }
        Ok(())
    }

    /// The note that a page repeats of the page programmed before it in its block, which has that number.
    pub fn note_of_predecessor(&self, tag: Tag, page: u16) -> PageNote {
        match tag.kind {
            // All pages before it are full, and every sector is in place.
            Kind::ChainInPlace => {
                let slots = self.area.slots;
                PageNote::held_run(u32::from(page) * u32::from(slots), slots)
            }
            Kind::Chain | Kind::Trim => PageNote::of_code(tag.note, self.area.slots),
            _ => PageNote::Nothing,
        }
    }

    /// Whether an unreadable page may have been corrupted when the last page of its block was torn.
    fn was_torn<D: NandDevice, P: Probe>(
        &self,
        flash: &mut Flash<'_, D, P>,
        at: Scanned,
        page: u16,
    ) -> Result<bool, Fault<D::Error>> {
        let pairing = flash.chain_pairing();
        if pairing == Pairing::None || !at.may_be_torn {
            return Ok(false);
        }
        let mut last = self.area.pages;
        for later in (page + 1..self.area.pages).rev() {
            let seen = flash.look(Spot::chain(at.block, later), Cause::Scan)?;
            if !seen.is_erased() {
                let tag = seen.tag();
                if tag.is_some_and(|tag| flash.is_of_this_mount(tag.stamp)) {
                    return Ok(false);
                }
                last = later;
                break;
            }
        }
        // The torn page may read as erased; so do pages skipped before it.
        let pages = PageCount::new(u32::from(self.area.pages));
        Ok((last..self.area.pages).any(|later| {
            let mut ruined = pairing.endangered(PageIndex::new(later), pages);
            ruined.any(|ruined| ruined.get() == page)
        }))
    }

    fn note_trimmed(&mut self, map: MapId, first: u32, count: u32) {
        let end = first.saturating_add(count).min(self.sectors.get());
        for offset in first..end {
            self.maps.set(map, offset, MapEntry::Trimmed);
        }
    }

    /// Maps what a page holds, and returns its note, which the next page repeats.
    #[inline(always)]
    fn note_page(&mut self, found: &PageTag<'_>, at: Scanned, page: u16) -> PageNote {
        let Scanned { logical, map, ordinal, .. } = at;
        let (mut first, mut held) = (0, 0_u32);
        let start = self.sector(logical, 0).get();
        for slot in 0..self.area.slots {
            if let Some(sector) = found.slot(slot).copy_of() {
                // For a sector before the chain's first, the subtraction wraps to more than any offset.
                let offset = sector.get().wrapping_sub(start);
                if offset < self.sectors.get() {
                    self.maps.set(map, offset, MapEntry::Log { ordinal, page, slot });
                    if held == 0 {
                        first = offset;
                    }
                    held |= 1 << slot;
                    self.sketches.add(logical, offset);
                }
            }
        }
        PageNote::held_slots(first, held)
    }

    /// Reads a trim page and maps what it trims. Returns its note, which the next page repeats. `None`: it cannot be
    /// read.
    fn note_trim<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        logical: LogicalBlock,
        map: MapId,
        spot: Spot,
    ) -> Result<Option<PageNote>, Fault<D::Error>> {
        let trim = match self.read_trim(flash, spot, Cause::Scan) {
            Ok(trim) => trim,
            Err(Fault::Uncorrectable | Fault::Corrupt) => {
                self.sketches.fill(logical);
                return Ok(None);
            }
            Err(fault) => return Err(fault),
        };
        let (owner, start) = self.locate(trim.first);
        if owner != logical {
            return Err(Fault::Corrupt);
        }
        for offset in start..start.saturating_add(trim.count.get()).min(self.sectors.get()) {
            self.sketches.add(logical, offset);
        }
        self.note_trimmed(map, start, trim.count.get());
        Ok(Some(PageNote::Trimmed { first: start, count: trim.count.get() }))
    }

    /// Reads the payload of a trim page.
    pub fn read_trim<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        spot: Spot,
        cause: Cause,
    ) -> Result<Trim, Fault<D::Error>> {
        let mut payload = [0; Trim::BYTES];
        // The payload has a check of its own.
        let _ = flash.read(spot, 0, &mut payload, cause)?;
        Trim::parse(&payload, flash.key()).ok_or(Fault::Corrupt)
    }

    /// Finds the newest copy of a sector among the chain's pages.
    #[inline]
    pub fn find<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        logical: LogicalBlock,
        offset: u32,
    ) -> Result<NewestCopy, Fault<D::Error>> {
        if self.has_log(logical) && self.sketches.may_hold(logical, offset) {
            let map = self.map(flash, logical)?;
            match self.maps.get(map, offset) {
                MapEntry::InPlace => {}
                MapEntry::Trimmed => return Ok(NewestCopy::Nowhere),
                MapEntry::Log { ordinal, page, slot } => {
                    let block = self.log_block(logical, ordinal).ok_or(Fault::Corrupt)?;
                    return Ok(NewestCopy::At { spot: Spot::chain(block, page), slot });
                }
            }
        }
        let (page, slot) = self.home(offset);
        Ok(match self.chains.data(logical) {
            Some(data) => NewestCopy::InPlace { spot: Spot::chain(data, page), slot },
            None => NewestCopy::Nowhere,
        })
    }
}
