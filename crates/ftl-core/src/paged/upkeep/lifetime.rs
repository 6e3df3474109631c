//! Lifetimes of data, and the choice of streams by them.
//!
//! A write shows the lifetime of the data it replaces: from the time its block was opened until now. The new data is
//! expected to live about as long (`SepBIT`, FAST '22). Only the time when a block was opened is stored for that.

use ftl_iface::{Lifetime, NandDevice, Sector};

use crate::error::Fault;
use crate::paged::plan::address::{BlockNumber, Mapped};
use crate::paged::plan::config::Streams;
use crate::paged::plan::feature::Feature;
use crate::paged::plan::shape::Area;
use crate::paged::tables::store::PageFtl;
use crate::paged::tables::times::Age;
use crate::paged::tables::under_way::Stream;
use crate::probe::Probe;

/// The typical age of victims is kept in such parts of a tick.
const FINE: u16 = 16;
/// Each victim moves it by this part.
const LEARNED: u16 = 32;
/// The share of valid data in recent victims of the fast area, in 256ths, above which it takes no more such writes.
const STAYS: u16 = 64;

/// Whether the host expects data to live long: the fast area is not for it.
pub(crate) const fn lives_long(lifetime: Lifetime) -> bool {
    matches!(lifetime, Lifetime::Long | Lifetime::Extreme)
}

impl<D: NandDevice, P: Probe> PageFtl<'_, D, P> {
    /// Returns the stream of a host write to the main area. Data is expected to be short-lived if it replaces data that
    /// was.
    pub(crate) fn host_stream(&mut self, sector: Sector) -> Result<Stream, Fault<D::Error>> {
        if self.streams() != Streams::ByLifetime {
            return Ok(Stream::Host);
        }
        let Mapped::At(place) = self.lookup(sector)? else { return Ok(Stream::Lasting) };
        let block = self.shape.block_of(place);
        // Data in the fast area was written recently.
        let main = self.shape.area_of(block) == Area::Main;
        let is_short = !main || self.blocks.times.age(block).ticks() < self.victims_age / FINE;
        Ok(if is_short { Stream::Host } else { Stream::Lasting })
    }

    /// Returns the stream of a write to the main area whose lifetime the host expects: the streams that there are, in
    /// the order of their data's lives.
    pub(crate) const fn hinted_stream(&self, lifetime: Lifetime) -> Stream {
        match (self.streams(), lifetime) {
            (Streams::One, _)
            | (_, Lifetime::Unknown | Lifetime::Short)
            | (Streams::Two, Lifetime::Medium) => Stream::Host,
            (Streams::Two, Lifetime::Long | Lifetime::Extreme) => Stream::Copies,
            (Streams::ByLifetime, Lifetime::Medium) => Stream::Lasting,
            (Streams::ByLifetime, Lifetime::Long) => Stream::Left,
            (Streams::ByLifetime, Lifetime::Extreme) => Stream::Old,
        }
    }

    /// Whether writes that replace young data enter the fast area: most data that enters must also be replaced there.
    #[inline]
    pub(crate) fn heeds_history(&self) -> bool {
        self.has_history()
            && self.shape.has_fast()
            && !self.is_closed()
            && self.stayed / 16 <= STAYS
    }

    /// Whether a large write replaces data that was short-lived, so that the new data probably is, too.
    pub(crate) fn has_died_young(&mut self, sector: Sector) -> Result<bool, Fault<D::Error>> {
        let Mapped::At(place) = self.lookup(sector)? else { return Ok(false) };
        let block = self.shape.block_of(place);
        if self.shape.area_of(block) == Area::Fast {
            return Ok(true);
        }
        Ok(self.blocks.times.age(block) < Age::YOUNG && !self.is_throttled())
    }

    /// Returns the stream for copies out of a block.
    pub(crate) fn stream_of_copies(&mut self, victim: BlockNumber) -> Stream {
        match self.streams() {
            Streams::One => Stream::Host,
            Streams::Two => Stream::Copies,
            Streams::ByLifetime if self.shape.area_of(victim) == Area::Fast => Stream::Left,
            Streams::ByLifetime => {
                let age = self.blocks.times.age(victim);
                let old = age.ticks() >= self.victims_age / FINE / 2 || age == Age::MAX;
                if old { Stream::Old } else { Stream::Copies }
            }
        }
    }

    /// Learns from a victim: in the main area the age that a third of the victims do not reach, which a few very old
    /// ones hardly move; in the fast area the share of host data that was not replaced there.
    pub(crate) fn note_lifetime(&mut self, victim: BlockNumber) {
        if self.shape.area_of(victim) == Area::Main {
            if !Feature::Lifetimes.is_built() {
                return;
            }
            let step = self.victims_age / LEARNED + 1;
            let older = self.blocks.times.age(victim).ticks() > self.victims_age / FINE;
            self.victims_age = if older {
                (self.victims_age + step).min(Age::MAX.ticks() * FINE)
            } else {
                self.victims_age.saturating_sub(2 * step)
            };
        } else if self.has_history() && !self.blocks.holds_map(victim) {
            let in_use = u32::from(self.blocks.references(victim)) * 256;
            let full = self.shape.area(Area::Fast).block_slots();
            let share = in_use.checked_div(full).unwrap_or(0);
            self.stayed = self.stayed - self.stayed / 16 + share as u16;
            if self.stayed / 16 > STAYS {
                // Such writes stay out until the main area has opened enough blocks to lower the share again.
                self.stayed = 16 * 256;
            }
        }
    }
}
