//! How long data lives, and which stream it goes to because of that.
//!
//! What a write replaces tells: it lived from the birth of the block that held it until now, and what replaces it will
//! live about as long (`SepBIT`, FAST '22). Nothing is stored for that but a block's birth.

use ftl_iface::{NandDevice, Sector};

use super::address::{BlockNumber, Mapped};
use super::blocks::AGE_MAX;
use super::config::Streams;
use super::ftl::{PageFtl, Stream};
use super::shape::Area;
use crate::error::Fault;
use crate::probe::Probe;

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
        // What stood in the fast area was written lately.
        let main = self.shape.area_of(block) == Area::Main;
        Ok(Some(if main { self.age(block) } else { 0 }))
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

    /// Learns from a block that is emptied how long it took to be worth it.
    pub(super) fn note_lifetime(&mut self, victim: BlockNumber) {
        if self.shape.area_of(victim) == Area::Main {
            let age = u16::from(self.age(victim));
            self.lifetime = self.lifetime - self.lifetime / 16 + age;
        }
    }
}
