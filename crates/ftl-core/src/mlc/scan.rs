//! Finding out which page of a chain holds which sector, from the tags of its log blocks.
//!
//! The data block need not be looked at: it holds its sectors in place. Log blocks are read from the oldest to the
//! youngest and from the first page to the last, so that what is found later is newer.

use ftl_iface::{NandDevice, PageCount, PageIndex, Pairing};

use crate::address::{ChainBlock, LogicalBlock};
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::flash::{Flash, Seen, Spot};
use crate::layout::{Kind, Said, Tag, Trim};
use crate::probe::{Cause, Event, Probe};

use super::Mlc;
use super::maps::{MapId, Place};

/// Pages of a log block that cannot be read.
#[derive(Clone, Copy, Debug)]
struct Lost {
    block: ChainBlock,
    ordinal: u16,
    /// The first of those since a page that can be read, and the last.
    first: u16,
    page: u16,
    /// Whether power may have failed while its block was the chain's last.
    may_be_torn: bool,
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
        // It is drawn anew by what is found.
        self.sketches.blank(logical);
        let outcome = self.scan_into(flash, logical, map);
        if outcome.is_err() {
            // Half a map would be worse than none.
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
        let mut block = self.chains.first_log(logical);
        let mut ordinal = 0;
        while let Some(at) = block {
            let (mut end, mut in_order) = (0, true);
            let mut said = Said::Nothing;
            let mut lost: Option<(u16, u16)> = None;
            for page in 0..self.part.pages {
                let spot = Spot::chain(at, page);
                let seen = flash.look_here(spot, Cause::Scan)?;
                read += 1;
                match seen {
                    Seen::Erased
                        if flash.may_be_left_out(spot) && !planted(Bug::StopAtLeftOutPage) =>
                    {
                        continue;
                    }
                    Seen::Erased => break,
                    Seen::Unreadable => {
                        in_order = false;
                        said = Said::Nothing;
                        lost = Some((lost.map_or(page, |(first, _)| first), page));
                        // What it held is found in other ways, or never counted.
                        self.sketches.fill(logical);
                    }
                    Seen::Page(tag) => {
                        let mut still_read = true;
                        if let Some((first, last)) = lost.take() {
                            let may_be_torn = sealed || self.chains.next(at).is_some();
                            let gap = Lost { block: at, ordinal, first, page: last, may_be_torn };
                            still_read = self.note_lost(flash, map, gap, tag, spot)?;
                        }
                        let noted = if !still_read {
                            None
                        } else if tag.kind == Kind::Trim {
                            read += 1;
                            self.note_trim(flash, logical, map, spot)?
                        } else {
                            Some(self.note_page(flash, logical, map, ordinal, page))
                        };
                        in_order &= tag.kind == Kind::ChainInPlace;
                        said = noted.unwrap_or(Said::Nothing);
                        if noted.is_none() {
                            lost = Some((page, page));
                        }
                    }
                }
                in_order &= end == page;
                end = page + 1;
            }
            self.maps.set_next_page(map, end, in_order);
            self.maps.set_said(map, said.note(self.part.slots));
            ordinal += 1;
            block = self.chains.next(at);
        }
        if self.fold.seals(logical, ordinal) || sealed {
            self.maps.set_next_page(map, self.part.pages, false);
        }
        if ordinal > 0 {
            flash.tell(Event::Scanned { pages: read });
        }
        Ok(())
    }

    /// Notes what a page held that cannot be read, as far as the next page of its block, at `next`, tells: whoever asks
    /// for it is to learn that it is lost. Looks at that next page again. `false`: it cannot be read any more.
    ///
    /// A page that was torn never counted, nor did one that was ruined with it: pages of earlier requests were copied
    /// before. What they were to replace stands before them. They are the block's last and what shares its cells.
    #[cold]
    #[inline(never)]
    fn note_lost<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        map: MapId,
        lost: Lost,
        next: Tag,
        spot: Spot,
    ) -> Result<bool, Fault<D::Error>> {
        // A page in order tells of all before it, any other of one.
        let from = if next.kind == Kind::ChainInPlace { lost.first } else { lost.page };
        for page in from..=lost.page {
            if self.was_torn(flash, Lost { page, ..lost })? {
                continue;
            }
            match self.said_before(next, page) {
                Said::Nothing => {}
                Said::Held { first, run } => {
                    let (ordinal, (_, first_slot)) = (lost.ordinal, self.home(first));
                    for (slot, bit) in (first_slot..self.part.slots).zip(0..) {
                        if run >> bit & 1 != 0 && first + bit < self.sectors.get() {
                            self.maps.set(map, first + bit, Place::Log { ordinal, page, slot });
                        }
                    }
                }
                Said::Trimmed { first, count } => self.note_trimmed(map, first, count),
            }
        }
        Ok(flash.look(spot, Cause::Scan)? == Seen::Page(next))
    }

    /// What a page says of the page programmed before it in its block, which has that number.
    pub fn said_before(&self, tag: Tag, page: u16) -> Said {
        match tag.kind {
            // All before it are full, and every sector is in its place.
            Kind::ChainInPlace => {
                let slots = self.part.slots;
                Said::held_run(u32::from(page) * u32::from(slots), slots)
            }
            Kind::Chain | Kind::Trim => Said::of_note(tag.note, self.part.slots),
            _ => Said::Nothing,
        }
    }

    /// Whether a page that cannot be read may have been ruined when the last page of its block was torn.
    fn was_torn<D: NandDevice, P: Probe>(
        &self,
        flash: &mut Flash<'_, D, P>,
        lost: Lost,
    ) -> Result<bool, Fault<D::Error>> {
        let pairing = flash.chain_pairing();
        if pairing == Pairing::None || !lost.may_be_torn {
            return Ok(false);
        }
        let mut last = self.part.pages;
        for page in (lost.page + 1..self.part.pages).rev() {
            if flash.look(Spot::chain(lost.block, page), Cause::Scan)? != Seen::Erased {
                last = page;
                break;
            }
        }
        // The page that was torn may read as erased; so may those left out before it.
        let pages = PageCount::new(u32::from(self.part.pages));
        Ok((last..self.part.pages).any(|page| {
            let mut ruined = pairing.endangered(PageIndex::new(page), pages);
            ruined.any(|ruined| ruined.get() == lost.page)
        }))
    }

    fn note_trimmed(&mut self, map: MapId, first: u32, count: u32) {
        let end = first.saturating_add(count).min(self.sectors.get());
        for offset in first..end {
            self.maps.set(map, offset, Place::Trimmed);
        }
    }

    /// Notes what the page read last holds, and what it says for the page after it.
    #[inline]
    fn note_page<D: NandDevice, P: Probe>(
        &mut self,
        flash: &Flash<'_, D, P>,
        logical: LogicalBlock,
        map: MapId,
        ordinal: u16,
        page: u16,
    ) -> Said {
        let (mut first, mut held) = (0, 0_u32);
        let start = self.sector(logical, 0).get();
        for slot in 0..self.part.slots {
            if let Some(sector) = flash.slot(usize::from(slot)).copy_of() {
                // A sector before the chain's comes out larger than any offset.
                let offset = sector.get().wrapping_sub(start);
                if offset < self.sectors.get() {
                    self.maps.set(map, offset, Place::Log { ordinal, page, slot });
                    if held == 0 {
                        first = offset;
                    }
                    held |= 1 << slot;
                    self.sketches.add(logical, offset);
                }
            }
        }
        Said::held_slots(first, held)
    }

    /// Reads a trim and notes what it forgets, and what it says for the page after it. `None`: it cannot be read.
    fn note_trim<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        logical: LogicalBlock,
        map: MapId,
        spot: Spot,
    ) -> Result<Option<Said>, Fault<D::Error>> {
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
        Ok(Some(Said::Trimmed { first: start, count: trim.count.get() }))
    }

    /// Reads the payload of a trim page.
    pub fn read_trim<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        spot: Spot,
        cause: Cause,
    ) -> Result<Trim, Fault<D::Error>> {
        let mut payload = [0; Trim::BYTES];
        flash.read(spot, 0, &mut payload, cause)?;
        Trim::parse(&payload, flash.key()).ok_or(Fault::Corrupt)
    }
}
