//! Host writes: page by page, and each pays for its space before it is programmed.

use ftl_iface::{Lifetime, NandDevice, Sector, SectorCount};

use crate::error::Fault;
use crate::layout::Slot;
use crate::paged::flash::PagedKind;
use crate::paged::plan::address::Spot;
use crate::paged::plan::numbers;
use crate::paged::program::page::{Before, Content, Written};
use crate::paged::rules;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::under_way::Stream;
use crate::paged::upkeep::lifetime::lives_long;
use crate::probe::{Cause, Event, Probe};

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    pub(crate) fn write_all(
        &mut self,
        asked: Stream,
        first: Sector,
        data: &[u8],
        lifetime: Lifetime,
    ) -> Result<(), Fault<D::Error>> {
        let bytes = self.shape.sector_bytes.as_usize();
        let (mut sector, mut rest) = (first, data);
        // Remaining sectors that follow one with short-lived old data: as many as fill a page of the main area, so that
        // no page there is left partly filled.
        let mut young = 0;
        if asked == Stream::Hot {
            let sectors = SectorCount::new(self.shape.whole_sectors(data.len()) as u32);
            self.flash.tell(Event::ToFast { sectors });
        }
        while !rest.is_empty() {
            let left = self.shape.whole_sectors(rest.len());
            let stream = match self.stream_for(asked, left, lifetime) {
                Stream::Host if lifetime != Lifetime::Unknown => self.hinted_stream(lifetime),
                Stream::Host if young > 0 => Stream::Hot,
                Stream::Host if self.heeds_history() && self.has_died_young(sector)? => {
                    young = usize::from(self.shape.main.slots);
                    Stream::Hot
                }
                Stream::Host => self.host_stream(sector)?,
                stream => stream,
            };
            let take = left.min(usize::from(self.shape_of(stream).slots));
            young = young.saturating_sub(take);
            let sectors = SectorCount::new(take as u32);
            match (asked, stream) {
                (Stream::Hot, _) => {}
                (_, Stream::Hot) => self.flash.tell(Event::RestToFast { sectors }),
                _ => self.flash.tell(Event::ToMain { sectors }),
            }
            self.pace(stream)?;
            self.make_room()?;
            let (now, after) = rest.split_at_checked(take * bytes).unwrap_or((rest, &[]));
            self.write_page(stream, sector, now)?;
            sector = sector + sectors;
            rest = after;
        }
        if core::mem::take(&mut self.shares) {
            self.rely();
        }
        if rules::must_rely_on_acknowledged() {
            self.rely_on(Stream::Hot);
            self.rely_on(Stream::Host);
            self.rely_on(Stream::Lasting);
            if lifetime != Lifetime::Unknown {
                self.rely_on(self.hinted_stream(lifetime));
            }
        }
        Ok(())
    }

    /// Returns the stream of the next page. Data that does not fill a page of the main area goes to the fast one,
    /// unless the throttle forbids it. So does data of a burst, if it is not expected to live long.
    const fn stream_for(&self, stream: Stream, left: usize, lifetime: Lifetime) -> Stream {
        let open = self.shape.has_fast() && !self.is_closed();
        let fits = open && left < self.shape.main.slots as usize;
        match stream {
            Stream::Host if fits || !lives_long(lifetime) && self.takes_bursts() => Stream::Hot,
            stream => stream,
        }
    }

    fn write_page(
        &mut self,
        stream: Stream,
        first: Sector,
        data: &[u8],
    ) -> Result<Spot, Fault<D::Error>> {
        let count = self.shape.whole_sectors(data.len()) as u16;
        let slots = self.shape_of(stream).slots;
        if !rules::is_data_first() {
            let spot = self.next_page(stream)?;
            self.remember(first, self.place(spot, 0), Before::Unknown)?;
            self.write_leaf(self.shape.leaf_of(first).0)?;
        }
        for slot in 0..count {
            self.flash.hold(slot, Slot::Holds(first + SectorCount::new(slot.into())));
        }
        self.flash.hold_no_more(count);
        let content = if count == slots {
            Content::Host(data)
        } else {
            self.buffer.fill(0xFF);
            if let Some(start) = self.buffer.get_mut(..data.len()) {
                numbers::copy(start, data);
            }
            Content::Buffer
        };
        let spot = self.program(stream, Written::New(PagedKind::Sectors), content, Cause::Host)?;
        self.map.written = self.shape.leaf_of(first).0;
        for slot in 0..count {
            let sector = first + SectorCount::new(slot.into());
            self.remember(sector, self.place(spot, slot), Before::Unknown)?;
        }
        Ok(spot)
    }
}
