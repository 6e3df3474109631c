//! Finding out which page of a chain holds which sector, from the tags of its log blocks.
//!
//! The data block need not be looked at: it holds its sectors in place. Log blocks are read from the oldest to the
//! youngest and from the first page to the last, so that what is found later is newer.

use ftl_iface::NandDevice;

use crate::address::LogicalBlock;
use crate::bugs::{Bug, planted};
use crate::error::Fault;
use crate::flash::{Flash, Seen, Spot};
use crate::layout::{Kind, Trim};
use crate::probe::{Cause, Event, Probe};

use super::Mlc;
use super::maps::{MapId, Place};

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
        let outcome = self.scan_into(flash, logical, map);
        if outcome.is_err() {
            // Half a map would be worse than none.
            self.maps.forget(logical);
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
        let mut block = self.chains.first_log(logical);
        let mut ordinal = 0;
        while let Some(at) = block {
            let mut end = 0;
            let mut in_order = true;
            for page in 0..self.part.pages {
                let spot = Spot::chain(at, page);
                let seen = flash.look(spot, Cause::Scan)?;
                read += 1;
                match seen {
                    Seen::Erased
                        if flash.may_be_left_out(spot) && !planted(Bug::StopAtLeftOutPage) =>
                    {
                        continue;
                    }
                    Seen::Erased => break,
                    // A page that was torn never counted. What it was to replace stands before it.
                    Seen::Unreadable => in_order = false,
                    Seen::Page(tag) if tag.kind == Kind::Trim => {
                        in_order = false;
                        read += 1;
                        self.note_trim(flash, logical, map, spot)?;
                    }
                    Seen::Page(tag) => {
                        in_order &= tag.kind == Kind::ChainInPlace;
                        self.note_page(flash, logical, map, ordinal, page);
                    }
                }
                in_order &= end == page;
                end = page + 1;
            }
            self.maps.set_next_page(map, end, in_order);
            ordinal += 1;
            block = self.chains.next(at);
        }
        if self.fold.seals(logical, ordinal) || self.sealed.get(logical) {
            self.maps.set_next_page(map, self.part.pages, false);
        }
        if ordinal > 0 {
            flash.tell(Event::Scanned { pages: read });
        }
        Ok(())
    }

    /// Notes what the page read last holds.
    fn note_page<D: NandDevice, P: Probe>(
        &mut self,
        flash: &Flash<'_, D, P>,
        logical: LogicalBlock,
        map: MapId,
        ordinal: u16,
        page: u16,
    ) {
        for slot in 0..self.part.slots {
            if let Some(sector) = flash.slot(usize::from(slot)).copy_of() {
                let (owner, offset) = self.locate(sector);
                if owner == logical {
                    self.maps.set(map, offset, Place::Log { ordinal, page, slot });
                }
            }
        }
    }

    /// Reads a trim and notes what it forgets.
    fn note_trim<D: NandDevice, P: Probe>(
        &mut self,
        flash: &mut Flash<'_, D, P>,
        logical: LogicalBlock,
        map: MapId,
        spot: Spot,
    ) -> Result<(), Fault<D::Error>> {
        let trim = match self.read_trim(flash, spot, Cause::Scan) {
            Ok(trim) => trim,
            // Torn between two looks at it.
            Err(Fault::Uncorrectable | Fault::Corrupt) => return Ok(()),
            Err(fault) => return Err(fault),
        };
        let (owner, start) = self.locate(trim.first);
        if owner != logical {
            return Err(Fault::Corrupt);
        }
        let end = start.saturating_add(trim.count.get()).min(self.sectors.get());
        for offset in start..end {
            self.maps.set(map, offset, Place::Trimmed);
        }
        Ok(())
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
