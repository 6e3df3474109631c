//! How long data lives, and which stream it goes to because of that.
//!
//! A write shows the lifetime of the data it replaces: from the time its block was opened until now. The new data is
//! expected to live about as long (`SepBIT`, FAST '22). Only the time when a block was opened is stored for that.

use ftl_iface::{NandDevice, Sector};

use super::address::{BlockNumber, Mapped};
use super::blocks::AGE_MAX;
use super::config::{History, Streams};
use super::shape::Area;
use super::store::PageFtl;
use super::under_way::Stream;
use crate::error::Fault;
use crate::probe::Probe;

/// Where more of the fast area's victims than this many 256ths was still in use recently, it takes no more.
const STAYS: u16 = 64;

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// The turn of an area's clock.
    pub(super) fn now(&self, area: Area) -> u8 {
        self.blocks.clock(area, self.door.stamp())
    }

    /// The age of a block's data, in turns of its area's clock.
    pub(super) fn age(&mut self, block: BlockNumber) -> u8 {
        let now = self.now(self.shape.area_of(block));
        self.blocks.age(block, now)
    }

    /// The stream of what the host writes to the main area: likely to die soon is what replaces what did not live as
    /// long as blocks do.
    pub(super) const fn host_stream(&self, lived: Option<u8>) -> Stream {
        match lived {
            Some(lived) if lived as u16 >= self.lifetime / 16 => Stream::Lasting,
            _ => Stream::Host,
        }
    }

    /// How long what a write to the main area replaces has lived.
    pub(super) fn lived(&mut self, sector: Sector) -> Result<Option<u8>, Fault<D::Error>> {
        if self.config.streams != Streams::ByLifetime {
            return Ok(None);
        }
        let Mapped::At(place) = self.lookup(sector)? else { return Ok(Some(AGE_MAX)) };
        let block = self.shape.block_of(place);
        // What was in the fast area was written lately.
        let main = self.shape.area_of(block) == Area::Main;
        Ok(Some(if main { self.age(block) } else { 0 }))
    }

    /// Whether what was replaced young enters the fast area: what enters must for the most part be replaced there.
    #[inline]
    pub(super) fn heeds_history(&self) -> bool {
        let heeds = self.config.history == History::Heeded && self.shape.fast.is_some();
        heeds && !self.is_closed() && self.stayed / 16 <= STAYS
    }

    /// Whether what a large write replaces died young, so that what replaces it is likely to.
    pub(super) fn died_young(&mut self, sector: Sector) -> Result<bool, Fault<D::Error>> {
        let Mapped::At(place) = self.lookup(sector)? else { return Ok(false) };
        let block = self.shape.block_of(place);
        if self.shape.area_of(block) == Area::Fast {
            return Ok(true);
        }
        Ok(self.age(block) == 0 && !self.is_throttled())
    }

    /// The stream of what is copied out of a block.
    pub(super) fn stream_of_copies(&mut self, victim: BlockNumber) -> Stream {
        match self.config.streams {
            Streams::One => Stream::Host,
            Streams::Two => Stream::Copies,
            Streams::ByLifetime if self.shape.area_of(victim) == Area::Fast => Stream::Left,
            Streams::ByLifetime => {
                let age = self.age(victim);
                let old = u16::from(age) >= self.lifetime / 16 || age == AGE_MAX;
                if old { Stream::Old } else { Stream::Copies }
            }
        }
    }

    /// Learns from a block that is emptied: in the main area how long it took to be worth it, in the fast one how much
    /// of what the host wrote was not replaced there.
    pub(super) fn note_lifetime(&mut self, victim: BlockNumber) {
        if self.shape.area_of(victim) == Area::Main {
            let age = u16::from(self.age(victim));
            self.lifetime = self.lifetime - self.lifetime / 16 + age;
        } else if self.config.history == History::Heeded && !self.blocks.holds_map(victim) {
            let in_use = u32::from(self.blocks.references(victim)) * 256;
            let full = self.shape.area(Area::Fast).block_slots();
            let share = in_use.checked_div(full).unwrap_or(0);
            self.stayed = self.stayed - self.stayed / 16 + share as u16;
            if self.stayed / 16 > STAYS {
                // It stays out until the main area has opened blocks enough to bring this down again.
                self.stayed = 16 * 256;
            }
        }
    }
}
